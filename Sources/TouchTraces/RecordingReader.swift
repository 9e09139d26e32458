// Recordings in, frames out: bytes as they come, memory flat however many. The format is recognized by the first line that
// only one format can have; what came before it is kept, and then read again as of that format.
// Invariant: what is handed out does not depend on how the bytes are cut into reads.

import Gestures
import MapCamera
import Wire

/// Reads recorded touches, whatever tool has written them.
///
/// Give it the bytes of a file by ``read(_:_:)``, then call ``finish(_:)``. After an error it must not be used again.
public struct RecordingReader: Sendable {
    /// What the recording is, once that is known.
    public private(set) var format: RecordingFormat?
    /// The device's surface as a viewport. It is known before the first frame is handed out, and then never changes.
    public private(set) var surface: Surface?
    /// What was met beside the touches so far.
    public private(set) var notes = RecordingNotes()

    private let given: DeviceDescription?
    private let options: SurfaceOptions

    private var framer = LineFramer()
    /// The beginning of a line whose end is not there yet.
    private var rest: [UInt8] = []
    /// The bytes of the lines that have been read.
    private var consumed = 0
    /// All that was read before the format was known.
    private var prelude: [UInt8] = []
    /// Whether any of that was more than blank.
    private var hasText = false
    /// Frames whose device's range must be observed first.
    private var held: [ContactFrame] = []
    private var heldContacts = 0
    private var observed = ObservedRange()
    /// Whether the surface was handed out.
    private var hasBegun = false

    private var heads = DeviceHeads()
    private var tracker = ContactTracker()
    private var evemu = EvemuParser()
    private var getevent = GeteventParser()
    private var evtest = EvtestParser()
    private var libinputRecord = LibinputRecordParser()
    private var gestures = LibinputGestures()
    private var web = WebTouches()

    /// How much of a file may come before a line that is recognized.
    private static let longestPrelude = 65536
    /// How much of a file is observed for the range of a device that is not described, and how many contacts are held for
    /// it at the most.
    private static let observedLength = 1 << 20
    private static let mostHeld = 1 << 18
    /// The values of the kernel's events.
    private static let values = Int(Int32.min)...Int(UInt32.max)

    /// A reader of one recording.
    ///
    /// - Parameter device: Counts instead of what the recording says about its device.
    public init(device: DeviceDescription? = nil, surface: SurfaceOptions = SurfaceOptions()) {
        given = device
        options = surface
    }

    /// The device that the touches are of, as far as it is known.
    public var device: DeviceDescription? {
        if let given { return given }
        return format == .webTouches ? web.device : heads.description(of: tracker.device)
    }

    // MARK: Bytes

    /// Reads the next bytes of the file, and hands out what they complete.
    ///
    /// - Throws: ``RecordingError`` if it is no recording, and what `take` throws.
    public mutating func read(_ bytes: Span<UInt8>, _ take: (RecordedFrame) throws -> Void) throws {
        var position = 0
        if !rest.isEmpty { try readRest(bytes, &position, take) }
        let piece = bytes.extracting(position...)
        position = 0
        try readLines(piece, &position, take)
        guard position < piece.count else { return }
        let tail = piece.extracting(position...)
        if format == .trace {
            try take(.trace(Self.copy(tail)))
        } else {
            Self.append(tail, to: &rest)
        }
    }

    /// Completes the line that the last read broke off.
    private mutating func readRest(
        _ bytes: Span<UInt8>, _ position: inout Int, _ take: (RecordedFrame) throws -> Void
    ) throws {
        while position < bytes.count, bytes[position] != 0x0a { position += 1 }
        position = min(position + 1, bytes.count)
        var line: [UInt8] = []
        swap(&line, &rest)
        Self.append(bytes.extracting(..<position), to: &line)
        var used = 0
        try readLines(line.span, &used, take)
        line.removeFirst(used)
        swap(&line, &rest)
    }

    private mutating func readLines(
        _ bytes: Span<UInt8>, _ position: inout Int, _ take: (RecordedFrame) throws -> Void
    ) throws {
        while format != .trace {
            let start = position
            guard let line = framer.next(in: bytes, at: &position) else { return }
            try read(line, bytes, raw: start..<position, take)
        }
    }

    /// Ends the file, and hands out what that completes.
    ///
    /// - Throws: ``RecordingError`` if it was no recording, and what `take` throws.
    public mutating func finish(_ take: (RecordedFrame) throws -> Void) throws {
        var line: [UInt8] = []
        swap(&line, &rest)
        var position = 0
        if format != .trace, let last = framer.last(in: line.span, at: &position) {
            try read(last, line.span, raw: 0..<line.count, take)
        }
        switch format {
        case nil: throw RecordingError(prelude.span)
        case .trace: break
        case .libinputDebugEvents: if gestures.finish(&notes) { try handGestures(take) }
        case .webTouches: if web.finish(&notes) { try hand(web.frame, take) }
        default: if tracker.finish(&notes) { try hand(tracker.frame, take) }
        }
        if format != .trace { try release(take) }
    }

    private static func copy(_ bytes: Span<UInt8>) -> [UInt8] {
        var copy: [UInt8] = []
        append(bytes, to: &copy)
        return copy
    }

    private static func append(_ bytes: Span<UInt8>, to array: inout [UInt8]) {
        unsafe bytes.withUnsafeBufferPointer { unsafe array.append(contentsOf: $0) }
    }

    // MARK: Lines

    private mutating func read(
        _ line: LineFramer.Line, _ bytes: Span<UInt8>, raw: Range<Int>, _ take: (RecordedFrame) throws -> Void
    ) throws {
        guard format != nil else { return try recognize(line, bytes, raw: raw, take) }
        try parse(line, bytes, number: Int(framer.lineNumber), take)
    }

    private mutating func parse(
        _ line: LineFramer.Line, _ bytes: Span<UInt8>, number: Int, _ take: (RecordedFrame) throws -> Void
    ) throws {
        switch line {
        case .tooLong:
            consumed += RequestDecoder.longestLine
            notes.addDamaged(number, "longer than \(RequestDecoder.longestLine) bytes")
        case .line(let range):
            consumed += range.count + 1
            try parse(bytes.extracting(range), number: number, take)
        }
    }

    @inline(__always)
    private mutating func parse(
        _ line: Span<UInt8>, number: Int, _ take: (RecordedFrame) throws -> Void
    ) throws {
        let content: RecordedLine
        switch format {
        case .evemu: content = evemu.parse(line, &heads)
        case .getevent: content = getevent.parse(line, &heads)
        case .evtest: content = evtest.parse(line, &heads)
        case .libinputRecord: content = libinputRecord.parse(line, &heads)
        default: return try parseOther(line, number: number, take)
        }
        switch content {
        case .event(let event):
            guard FrameClock.recorded.contains(event.time), Self.values.contains(event.value) else {
                return notes.addDamaged(number, Scan.excerpt(line))
            }
            if tracker.take(event, heads, &notes) { try hand(tracker.frame, take) }
        case .nothing: break
        case .timeless where tracker.device == nil: throw RecordingError.noTimes
        case .timeless, .damaged: notes.addDamaged(number, Scan.excerpt(line))
        }
    }

    private mutating func parseOther(
        _ line: Span<UInt8>, number: Int, _ take: (RecordedFrame) throws -> Void
    ) throws {
        var isComplete = false
        do {
            if format == .webTouches {
                isComplete = try web.parse(line, &notes)
            } else {
                isComplete = try gestures.parse(line, chosenSurface(), &notes)
            }
        } catch {
            notes.addDamaged(number, Scan.excerpt(line))
        }
        guard isComplete else { return }
        if format == .webTouches { try hand(web.frame, take) } else { try handGestures(take) }
    }

    // MARK: Recognition

    private mutating func recognize(
        _ line: LineFramer.Line, _ bytes: Span<UInt8>, raw: Range<Int>, _ take: (RecordedFrame) throws -> Void
    ) throws {
        let room = max(Self.longestPrelude - prelude.count, 0)
        Self.append(bytes.extracting(raw.prefix(room)), to: &prelude)
        if case .line(let range) = line {
            let line = bytes.extracting(range)
            let text = line.extracting((framer.lineNumber == 1 ? Self.markLength(line) : 0)...)
            format = !hasText && RecordingFormat.isHeader(text) ? .trace : RecordingFormat.recognize(text)
            hasText = hasText || !Scan.isAtEnd(text, 0)
        }
        guard format == nil else { return try readPrelude(bytes.extracting(raw.dropFirst(room)), take) }
        if raw.count >= room { throw RecordingError(prelude.span) }
    }

    /// Reads again what came before the format was known, and its last line.
    private mutating func readPrelude(_ beyond: Span<UInt8>, _ take: (RecordedFrame) throws -> Void) throws {
        var lines = prelude
        prelude = []
        Self.append(beyond, to: &lines)
        lines.removeFirst(Self.markLength(lines.span))
        guard format != .trace else { return try take(.trace(lines)) }
        var again = LineFramer()
        var position = 0
        while let line = again.next(in: lines.span, at: &position) ?? again.last(in: lines.span, at: &position) {
            try parse(line, lines.span, number: Int(again.lineNumber), take)
        }
    }

    /// How long the byte order mark is that some editors put in front, or 0.
    private static func markLength(_ bytes: Span<UInt8>) -> Int {
        let isMarked = bytes.count >= 3 && bytes[0] == 0xef && bytes[1] == 0xbb && bytes[2] == 0xbf
        return isMarked ? 3 : 0
    }

    // MARK: Frames

    /// Hands out a frame, unless the range of its device must be observed first.
    @inline(__always)
    private mutating func hand(_ frame: ContactFrame, _ take: (RecordedFrame) throws -> Void) throws {
        if surface == nil { guard try canBegin(frame, take) else { return } }
        try take(.touches(frame))
    }

    /// Chooses the surface, or else holds the frame back.
    private mutating func canBegin(_ frame: ContactFrame, _ take: (RecordedFrame) throws -> Void) throws -> Bool {
        if device?.ranges != nil || consumed > Self.observedLength || heldContacts > Self.mostHeld {
            try release(take)
            return true
        }
        for contact in frame.contacts { observed.add(contact) }
        held.append(frame)
        heldContacts += frame.contacts.count + 1
        return false
    }

    /// Chooses the surface from what is known, and hands out what was held back.
    private mutating func release(_ take: (RecordedFrame) throws -> Void) throws {
        try begin(take)
        let frames = held
        held = []
        for frame in frames { try take(.touches(frame)) }
    }

    /// Hands out the surface, once.
    private mutating func begin(_ take: (RecordedFrame) throws -> Void) throws {
        guard !hasBegun else { return }
        hasBegun = true
        try take(.surface(chosenSurface(), device))
    }

    private mutating func handGestures(_ take: (RecordedFrame) throws -> Void) throws {
        try begin(take)
        try take(.gestures(timeMs: gestures.timeMs, gestures.events))
    }

    private mutating func chosenSurface() -> Surface {
        if let surface { return surface }
        let chosen: Surface
        switch format {
        case .libinputDebugEvents, .trace, nil: chosen = Surface(options: options)
        default:
            if device?.ranges == nil, !held.isEmpty || tracker.device != nil { notes.add(.noHead) }
            chosen = Surface(of: device, observed: observed, options: options)
        }
        surface = chosen
        return chosen
    }
}
