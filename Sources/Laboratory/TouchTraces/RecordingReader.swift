// Reads recordings and hands out frames, from bytes as they arrive, in constant memory. Binary events are recognized by
// their first bytes; text by the first line that only one format can have, or by the first JSON object of a known
// shape. Lines before that are kept, and then read again in that format.
// Invariant: the output does not depend on how reads cut the bytes.

import Gestures
import GimbalProtocol
import MapCamera

/// A reader of recorded touches, from any of the supported tools.
///
/// Pass the bytes of a file to ``read(_:_:)``, then call ``finish(_:)``. Do not use it after an error.
public struct RecordingReader: Sendable {
    /// How to read the file's bytes.
    private enum Shape {
        /// Too few bytes so far to tell events from text.
        case beginning
        /// Lines or JSON objects, none of which has shown the format yet.
        case unknown
        case lines
        case objects
        case events(BinaryEvents)
        case trace
    }

    private var parser: RecordingParser

    private var shape = Shape.beginning
    /// Converts the file's text to UTF-8, if it is UTF-16.
    private var utf16: UTF16Text?
    private var framer = LineFramer()
    /// The beginning of an incomplete line or event.
    private var rest: [UInt8] = []
    /// Looks for objects while the format is unknown, and splits them if it turns out to be a JSON format.
    private var splitter: JSONSplitter? = JSONSplitter()
    /// All lines read before the format was known.
    private var prelude: [UInt8] = []
    /// Whether any of those lines was not blank.
    private var hasText = false

    /// How many bytes may precede the first recognized line, or the start of the first recognized object.
    private static let longestPrelude = 65536
    private static let longestSearch = 1 << 20

    /// Creates a reader of one recording. Of the options, only those of reading matter.
    public init(_ options: TraceOptions = TraceOptions()) { parser = RecordingParser(options) }

    // MARK: State

    /// The recording's format, once it is known.
    public var format: RecordingFormat? { parser.format }

    /// The device that reported the touches, as far as it is known.
    public var device: DeviceDescription? { parser.device }

    /// The device's surface as a viewport. It is known before the first frame, and never changes afterwards.
    public var surface: Surface? { parser.surface }

    /// What was found besides the touches so far.
    public var notes: RecordingNotes { parser.notes }

    /// Whether fingers are held back until the range of their positions is known. ``assumeRange(_:)`` ends that.
    public var isHolding: Bool { parser.isHolding }

    /// Hands out what is held back, for a live stream whose fingers have not shown the range of the device's positions
    /// yet: assumes a common range.
    public mutating func assumeRange(_ body: (RecordedFrame) throws -> Void) throws {
        try parser.assumeRange(body)
    }

    // MARK: Bytes

    /// Reads the next bytes of the file, and hands out what they complete.
    ///
    /// - Throws: ``RecordingError`` if it is not a recording, and whatever `body` throws.
    public mutating func read(_ bytes: Span<UInt8>, _ body: (RecordedFrame) throws -> Void) throws {
        guard let text = utf16?.read(bytes) else { return try readPiece(bytes, body) }
        try readPiece(text.span, body)
    }

    private mutating func readPiece(_ bytes: Span<UInt8>, _ body: (RecordedFrame) throws -> Void) throws {
        guard bytes.count > 0 else { return }
        switch shape {
        case .beginning:
            Self.append(bytes, to: &rest)
            if rest.count >= BinaryEvents.enough { try begin(body) }
        case .unknown: try readUnknown(bytes, body)
        case .lines: try readText(bytes, body)
        case .objects:
            parser.consumed += bytes.count
            var position = 0
            while let piece = splitter?.next(in: bytes, at: &position) { try read(piece, body) }
        case .events(let events): try readEvents(bytes, events, body)
        case .trace: try body(.trace(joined(bytes)))
        }
    }

    /// Checks for each line whether an object of a known shape ends in it, and then the line itself.
    private mutating func readUnknown(_ bytes: Span<UInt8>, _ body: (RecordedFrame) throws -> Void) throws {
        var start = 0
        while start < bytes.count, case .unknown = shape {
            var end = start
            while end < bytes.count, bytes[end] != 0x0a { end += 1 }
            let line = bytes.extracting(start..<min(end + 1, bytes.count))
            let position = try search(line, isWhole: end < bytes.count, body)
            if case .unknown = shape { try readText(line, body) } else { end = start + position - 1 }
            start = end + 1
        }
        if start < bytes.count { try readPiece(bytes.extracting(start...), body) }
    }

    /// Decides between events and text, and reads the bytes so far.
    private mutating func begin(_ body: (RecordedFrame) throws -> Void) throws {
        var first: [UInt8] = []
        swap(&first, &rest)
        if let events = BinaryEvents.recognize(first.span) {
            parser.format = .inputEvents
            shape = .events(events)
        } else {
            shape = .unknown
            utf16 = UTF16Text(first.span)
            // Some editors put a byte order mark in front of UTF-8, too.
            let mark = utf16 != nil ? UTF16Text.markLength : first.starts(with: [0xef, 0xbb, 0xbf]) ? 3 : 0
            first.removeFirst(mark)
        }
        try read(first.span, body)
    }

    /// Ends the file, and hands out what this completes.
    ///
    /// - Throws: ``RecordingError`` if it was not a recording or hardly any of it was understood, and whatever `body`
    ///   throws.
    public mutating func finish(_ body: (RecordedFrame) throws -> Void) throws {
        if case .beginning = shape { try begin(body) }
        // The last piece is complete only now.
        var end: [UInt8] = []
        swap(&end, &rest)
        switch shape {
        case .beginning, .unknown, .lines:
            var position = 0
            if let last = framer.next(in: end.span, at: &position, isLast: true) {
                try read(last, end.span, raw: 0..<end.count, body)
            }
        case .objects: if let piece = splitter?.last() { try read(piece, body) }
        case .events: if !end.isEmpty { parser.eventWasCutOff() }
        case .trace: break
        }
        guard format != nil else { throw RecordingError(prelude.span) }
        try parser.finish(body)
    }

    /// Takes what the previous read cut off, and returns it in front of the next bytes.
    private mutating func joined(_ bytes: Span<UInt8>) -> [UInt8] {
        defer { rest = [] }
        Self.append(bytes, to: &rest)
        return rest
    }

    private static func append(_ bytes: Span<UInt8>, to array: inout [UInt8]) {
        unsafe bytes.withUnsafeBufferPointer { unsafe array.append(contentsOf: $0) }
    }

    // MARK: Events

    private mutating func readEvents(
        _ bytes: Span<UInt8>, _ events: BinaryEvents, _ body: (RecordedFrame) throws -> Void
    ) throws {
        let size = events.rawValue
        let bytes = joined(bytes)
        var position = 0
        while position + size <= bytes.count {
            try parser.parse(events.event(bytes.span.extracting(position..<(position + size))), body)
            position += size
        }
        rest = Array(bytes[position...])
    }

    // MARK: Objects

    /// Looks for an object of a known shape in a line or a piece of one, while bytes may be JSON and no format is
    /// known. Returns how far it has read: to the end of that object, or 0.
    private mutating func search(
        _ bytes: Span<UInt8>, isWhole: Bool, _ body: (RecordedFrame) throws -> Void
    ) throws -> Int {
        guard var splitter else { return 0 }
        var position = 0
        while let piece = splitter.next(in: bytes, at: &position) {
            guard case .value = piece else {
                // Getevent's lines begin with a bracket, too.
                if case .endOfArray = piece { continue }
                self.splitter = nil
                return 0
            }
            // A line that holds an object is read as a line, unless it may exceed the maximum line length.
            let isLine = !splitter.isInArray && splitter.isOnOneLine
            let isTooFar = splitter.start > Self.longestSearch
            let text = splitter.value.span
            let isSession = RRWeb.recognizes(text)
            let isOfWeb = WebTouches.recognizes(text) && (!isLine || WebTouches.isScript(text))
            guard !isTooFar, isSession || isOfWeb else {
                guard isLine || isTooFar else { continue }
                self.splitter = nil
                return 0
            }
            parser.format = isSession ? .rrweb : .webTouches
            shape = .objects
            prelude = []
            rest = []
            self.splitter = splitter
            try read(.value, body)
            return position
        }
        // An object without an end may be anything.
        self.splitter = isWhole && splitter.start > Self.longestSearch ? nil : splitter
        return 0
    }

    private mutating func read(_ piece: JSONSplitter.Piece, _ body: (RecordedFrame) throws -> Void) throws {
        guard let object = splitter else { return }
        switch piece {
        case .value: try parser.parse(object: object.value.span, number: object.line, body)
        case .damaged: parser.addDamaged(object.line, Scan.excerpt(object.value.span))
        case .endOfArray: try parser.endArray(body)
        }
    }

    // MARK: Lines

    private mutating func readText(_ bytes: Span<UInt8>, _ body: (RecordedFrame) throws -> Void) throws {
        let text = joined(bytes)
        var (start, position) = (0, 0)
        while format != .trace, let line = framer.next(in: text.span, at: &position) {
            try read(line, text.span, raw: start..<position, body)
            start = position
        }
        let tail = Array(text[position...])
        guard case .trace = shape else { return rest = tail }
        if !tail.isEmpty { try body(.trace(tail)) }
    }

    private mutating func read(
        _ line: LineFramer.Line, _ bytes: Span<UInt8>, raw: Range<Int>, _ body: (RecordedFrame) throws -> Void
    ) throws {
        guard format != nil else { return try recognize(line, bytes, raw: raw, body) }
        try parse(line, bytes, number: Int(framer.lineNumber), body)
    }

    private mutating func parse(
        _ line: LineFramer.Line, _ bytes: Span<UInt8>, number: Int, _ body: (RecordedFrame) throws -> Void
    ) throws {
        switch line {
        case .tooLong:
            parser.consumed += RequestDecoder.longestLine
            parser.addDamaged(number, "longer than \(RequestDecoder.longestLine) bytes")
        case .line(let range):
            parser.consumed += range.count + 1
            let line = bytes.extracting(range)
            try parser.parse(line.extracting(..<Scan.endWithoutReturns(line)), number: number, body)
        }
    }

    // MARK: Recognition

    private mutating func recognize(
        _ line: LineFramer.Line, _ bytes: Span<UInt8>, raw: Range<Int>, _ body: (RecordedFrame) throws -> Void
    ) throws {
        let room = max(Self.longestPrelude - prelude.count, 0)
        Self.append(bytes.extracting(raw.prefix(room)), to: &prelude)
        if case .line(let range) = line {
            let line = bytes.extracting(range)
            let text = line.extracting(..<Scan.endWithoutReturns(line))
            parser.format = !hasText && RecordingFormat.isHeader(text) ? .trace : RecordingFormat.recognize(text)
            hasText = hasText || !Scan.isAtEnd(text, 0)
        }
        guard format == nil else { return try readPrelude(bytes.extracting(raw.dropFirst(room)), body) }
        // An object may span many lines before it is recognized.
        if raw.count >= room, splitter == nil { throw RecordingError(prelude.span) }
    }

    /// Rereads the lines up to and including the one that showed the format.
    private mutating func readPrelude(_ beyond: Span<UInt8>, _ body: (RecordedFrame) throws -> Void) throws {
        var lines = prelude
        prelude = []
        splitter = nil
        Self.append(beyond, to: &lines)
        guard format != .trace else {
            shape = .trace
            return try body(.trace(lines))
        }
        shape = .lines
        var again = LineFramer()
        var position = 0
        while let line = again.next(in: lines.span, at: &position, isLast: true) {
            try parse(line, lines.span, number: Int(again.lineNumber), body)
        }
    }
}
