// Recordings in, frames out: bytes as they come, memory flat however many. Binary events are known by their first bytes;
// text by the first line that only one format can have, or by the first object of JSON that is of a known shape. What
// came before that line is kept, and then read again as of its format.
// Invariant: what is handed out does not depend on how the bytes are cut into reads.

import Gestures
import GimbalProtocol
import MapCamera

/// Reads recorded touches, whatever tool has written them.
///
/// Give it the bytes of a file by ``read(_:_:)``, then call ``finish(_:)``. After an error it must not be used again.
public struct RecordingReader: Sendable {
    /// How the file's bytes are read.
    private enum Shape {
        /// So far there are too few to tell events from text.
        case beginning
        /// Lines, or objects of JSON: none of them has told the format yet.
        case unknown
        case lines
        case objects
        case events(BinaryEvents)
        case trace
    }

    /// What the recording is, once that is known.
    public private(set) var format: RecordingFormat?
    /// The device's surface as a viewport. It is known before the first frame is handed out, and then never changes.
    public private(set) var surface: Surface?
    /// What was met beside the touches so far.
    public private(set) var notes = RecordingNotes()
    /// Whether fingers are held back until more is known of the range of their positions. ``assumeRange(_:)`` ends that.
    public var isHolding: Bool { !held.isEmpty }

    private let given: DeviceDescription?
    private let options: SurfaceOptions

    private var shape = Shape.beginning
    private var framer = LineFramer()
    /// The beginning of a line or of an event whose end is not there yet.
    private var rest: [UInt8] = []
    /// Looks for objects as long as the format is not known, and reads them when that is one of theirs.
    private var splitter: JSONSplitter? = JSONSplitter()
    /// The bytes that have been read.
    private var consumed = 0
    /// All lines that were read before the format was known.
    private var prelude: [UInt8] = []
    /// Whether any of that was more than blank.
    private var hasText = false
    /// Frames whose device's range must be observed first.
    private var held: [ContactFrame] = []
    private var heldContacts = 0
    private var observed = ObservedRange()
    /// Whether the surface was handed out.
    private var hasBegun = false
    /// Lines, objects or events that told something.
    private var understood = 0
    /// Whether any finger or gesture came of them.
    private var hasTouches = false

    private var heads = DeviceHeads()
    private var tracker = ContactTracker()
    private var evemu = EvemuParser()
    private var getevent = GeteventParser()
    private var evtest = EvtestParser()
    private var libinputRecord = LibinputRecordParser()
    private var gestures = LibinputGestures()
    private var libinputTouches = LibinputTouches()
    /// The clock of both: a program writes all lines.
    private var libinputClock = FrameClock()
    private var motionEvents: MotionEvents
    private var web: WebTouches
    private var steps: FrameSteps

    /// How much of a file may come before a line that is recognized, or before an object that is.
    private static let longestPrelude = 65536
    private static let longestSearch = 1 << 20
    /// How much of a file is observed for the range of a device that is not described, and how many contacts are held for
    /// it at the most.
    private static let observedLength = 1 << 20
    private static let mostHeld = 1 << 18
    /// The values of the kernel's events.
    private static let values = Int(Int32.min)...Int(UInt32.max)

    /// A reader of one recording.
    ///
    /// - Parameters:
    ///   - device: counts instead of what the recording says about its device.
    ///   - rate: how many frames a second there are where the recording tells no times, above 0. Without it such a
    ///     recording is ``RecordingError/noTimes``.
    public init(
        device: DeviceDescription? = nil, surface: SurfaceOptions = SurfaceOptions(), rate: Double? = nil
    ) {
        given = device
        options = surface
        steps = FrameSteps(rate: rate)
        web = WebTouches(rate: rate)
        motionEvents = MotionEvents(rate: rate)
    }

    /// The device that the touches are of, as far as it is known.
    public var device: DeviceDescription? {
        if let given { return given }
        switch format {
        case .webTouches, .devTools, .webDriver: return web.device
        case .libinputDebugEvents: return libinputTouches.device
        case .motionEvents: return nil
        case .evemu, .getevent, .evtest, .libinputRecord, .inputEvents, .trace, nil:
            return heads.description(of: tracker.device)
        }
    }

    // MARK: Bytes

    /// Reads the next bytes of the file, and hands out what they complete.
    ///
    /// - Throws: ``RecordingError`` if it is no recording, and what `body` throws.
    public mutating func read(_ bytes: Span<UInt8>, _ body: (RecordedFrame) throws -> Void) throws {
        guard bytes.count > 0 else { return }
        switch shape {
        case .beginning:
            Self.append(bytes, to: &rest)
            if rest.count >= BinaryEvents.enough { try begin(body) }
        case .unknown:
            let position = try search(bytes, body)
            guard position < bytes.count else { return }
            if case .unknown = shape {
                try readText(bytes.extracting(position...), body)
            } else {
                try read(bytes.extracting(position...), body)
            }
        case .lines: try readText(bytes, body)
        case .objects: try readObjects(bytes, body)
        case .events(let events): try readEvents(bytes, events, body)
        case .trace: try body(.trace(Self.copy(bytes)))
        }
    }

    /// Chooses between events and text, and reads what has come so far.
    private mutating func begin(_ body: (RecordedFrame) throws -> Void) throws {
        var first: [UInt8] = []
        swap(&first, &rest)
        if let events = BinaryEvents.recognize(first.span) {
            format = .inputEvents
            shape = .events(events)
        } else {
            first.removeFirst(Self.markLength(first.span))
            shape = .unknown
        }
        try read(first.span, body)
    }

    /// Ends the file, and hands out what that completes.
    ///
    /// - Throws: ``RecordingError`` if it was no recording or hardly anything of it was understood, and what `body`
    ///   throws.
    public mutating func finish(_ body: (RecordedFrame) throws -> Void) throws {
        if case .beginning = shape { try begin(body) }
        try finishShape(body)
        switch format {
        case nil: throw RecordingError(prelude.span)
        case .trace: return
        case .libinputDebugEvents:
            if libinputTouches.finishFrame(&libinputClock, &notes) { try hand(libinputTouches.frame, body) }
            if libinputTouches.finish(libinputClock, &notes) { try hand(libinputTouches.frame, body) }
            if gestures.finish(libinputClock, &notes) { try handGestures(body) }
        case .webTouches, .devTools, .webDriver:
            web.finish(&notes)
            for frame in web.frames { try hand(frame, body) }
        case .motionEvents: if motionEvents.finish(&notes) { try hand(motionEvents.frame, body) }
        case .evemu, .getevent, .evtest, .libinputRecord, .inputEvents:
            if tracker.finish(&notes) { try hand(tracker.frame, body) }
        }
        if let first = notes.damaged.first, !hasTouches || notes.damagedCount > 9 * understood {
            throw RecordingError.notUnderstood(first, count: notes.damagedCount)
        }
        try release(body)
    }

    /// Reads what has no end but the file's.
    private mutating func finishShape(_ body: (RecordedFrame) throws -> Void) throws {
        var end: [UInt8] = []
        swap(&end, &rest)
        switch shape {
        case .beginning, .unknown, .lines:
            var position = 0
            if let last = framer.last(in: end.span, at: &position) {
                try read(last, end.span, raw: 0..<end.count, body)
            }
        case .objects: if let piece = splitter?.last() { try read(piece, body) }
        case .events: if !end.isEmpty { notes.addDamaged(understood + 1, "an event that is cut off") }
        case .trace: break
        }
    }

    private static func copy(_ bytes: Span<UInt8>) -> [UInt8] {
        var copy: [UInt8] = []
        append(bytes, to: &copy)
        return copy
    }

    private static func append(_ bytes: Span<UInt8>, to array: inout [UInt8]) {
        unsafe bytes.withUnsafeBufferPointer { unsafe array.append(contentsOf: $0) }
    }

    /// How long the byte order mark is that some editors put in front, or 0.
    private static func markLength(_ bytes: Span<UInt8>) -> Int {
        let isMarked = bytes.count >= 3 && bytes[0] == 0xef && bytes[1] == 0xbb && bytes[2] == 0xbf
        return isMarked ? 3 : 0
    }

    // MARK: Events

    private mutating func readEvents(
        _ bytes: Span<UInt8>, _ events: BinaryEvents, _ body: (RecordedFrame) throws -> Void
    ) throws {
        let size = events.rawValue
        var position = 0
        if !rest.isEmpty {
            position = min(size - rest.count, bytes.count)
            Self.append(bytes.extracting(..<position), to: &rest)
            guard rest.count == size else { return }
            var event: [UInt8] = []
            swap(&event, &rest)
            try readEvent(events.event(event.span), body)
        }
        while position + size <= bytes.count {
            try readEvent(events.event(bytes.extracting(position..<(position + size))), body)
            position += size
        }
        Self.append(bytes.extracting(position...), to: &rest)
    }

    @inline(__always)
    private mutating func readEvent(_ event: InputEvent?, _ body: (RecordedFrame) throws -> Void) throws {
        guard let event else { return notes.addDamaged(understood + notes.damagedCount + 1, "an event without a time") }
        try follow(event, body)
    }

    @inline(__always)
    private mutating func follow(_ event: InputEvent, _ body: (RecordedFrame) throws -> Void) throws {
        understood += 1
        if tracker.handle(event, heads, &notes) { try hand(tracker.frame, body) }
    }

    // MARK: Objects

    /// Looks for an object of a known shape, where bytes may be JSON and no format is known. Says how far to read on: to
    /// the end of that object, or not at all.
    private mutating func search(_ bytes: Span<UInt8>, _ body: (RecordedFrame) throws -> Void) throws -> Int {
        guard var splitter else { return 0 }
        var position = 0
        while let piece = splitter.next(in: bytes, at: &position) {
            guard case .value = piece else {
                // Getevent's lines begin with a bracket, too.
                if case .endOfArray = piece { continue }
                self.splitter = nil
                return 0
            }
            // A line that holds an object is read as a line, unless it may be longer than lines are.
            let isLine = !splitter.isInArray && splitter.isOnOneLine
            let isKnown =
                WebTouches.recognizes(splitter.value.span) && (!isLine || WebTouches.isScript(splitter.value.span))
            guard isKnown else {
                guard isLine || splitter.consumed > Self.longestSearch else { continue }
                self.splitter = nil
                return 0
            }
            format = .webTouches
            shape = .objects
            prelude = []
            rest = []
            self.splitter = splitter
            try read(.value, body)
            return position
        }
        self.splitter = splitter
        return 0
    }

    private mutating func readObjects(_ bytes: Span<UInt8>, _ body: (RecordedFrame) throws -> Void) throws {
        consumed += bytes.count
        var position = 0
        while let piece = splitter?.next(in: bytes, at: &position) { try read(piece, body) }
    }

    private mutating func read(_ piece: JSONSplitter.Piece, _ body: (RecordedFrame) throws -> Void) throws {
        guard let object = splitter else { return }
        switch piece {
        case .value: try readWeb(object.value.span, number: object.line, body)
        case .damaged: notes.addDamaged(object.line, Scan.excerpt(object.value.span))
        case .endOfArray:
            web.endArray(&notes)
            for frame in web.frames { try hand(frame, body) }
        }
    }

    private mutating func readWeb(
        _ text: Span<UInt8>, number: Int, _ body: (RecordedFrame) throws -> Void
    ) throws {
        do {
            try web.parse(text, &notes)
            understood += 1
        } catch {
            try damaged(error, text, number)
        }
        format = web.format
        for frame in web.frames { try hand(frame, body) }
    }

    // MARK: Lines

    private mutating func readText(_ bytes: Span<UInt8>, _ body: (RecordedFrame) throws -> Void) throws {
        var position = 0
        if !rest.isEmpty { try readRest(bytes, &position, body) }
        let piece = bytes.extracting(position...)
        position = 0
        try readLines(piece, &position, body)
        guard position < piece.count else { return }
        let tail = piece.extracting(position...)
        if case .trace = shape {
            try body(.trace(Self.copy(tail)))
        } else {
            Self.append(tail, to: &rest)
        }
    }

    /// Completes the line that the last read broke off.
    private mutating func readRest(
        _ bytes: Span<UInt8>, _ position: inout Int, _ body: (RecordedFrame) throws -> Void
    ) throws {
        while position < bytes.count, bytes[position] != 0x0a { position += 1 }
        position = min(position + 1, bytes.count)
        var line: [UInt8] = []
        swap(&line, &rest)
        Self.append(bytes.extracting(..<position), to: &line)
        var used = 0
        try readLines(line.span, &used, body)
        line.removeFirst(used)
        swap(&line, &rest)
    }

    private mutating func readLines(
        _ bytes: Span<UInt8>, _ position: inout Int, _ body: (RecordedFrame) throws -> Void
    ) throws {
        while format != .trace {
            let start = position
            guard let line = framer.next(in: bytes, at: &position) else { return }
            try read(line, bytes, raw: start..<position, body)
        }
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
            consumed += RequestDecoder.longestLine
            notes.addDamaged(number, "longer than \(RequestDecoder.longestLine) bytes")
        case .line(let range):
            consumed += range.count + 1
            let line = bytes.extracting(range)
            try parse(line.extracting(..<Scan.endWithoutReturns(line)), number: number, body)
        }
    }

    @inline(__always)
    private mutating func parse(
        _ line: Span<UInt8>, number: Int, _ body: (RecordedFrame) throws -> Void
    ) throws {
        let content: RecordedLine
        switch format {
        case .evemu: content = evemu.parse(line, &heads)
        case .getevent: content = getevent.parse(line, &heads)
        case .evtest: content = evtest.parse(line, &heads)
        case .libinputRecord: content = libinputRecord.parse(line, &heads)
        case .libinputDebugEvents, .webTouches, .devTools, .webDriver, .motionEvents, .inputEvents, .trace, nil:
            return try parseOther(line, number: number, body)
        }
        switch content {
        case .event(let event):
            guard FrameClock.recorded.contains(event.time), Self.values.contains(event.value) else {
                return notes.addDamaged(number, Scan.excerpt(line))
            }
            try follow(event, body)
        case .nothing: break
        case .beginning: if tracker.startOver(&notes) { try hand(tracker.frame, body) }
        case .timeless(let event): try follow(timeless: event, line, number, body)
        case .damaged: notes.addDamaged(number, Scan.excerpt(line))
        }
    }

    /// Follows an event without a time, where whoever reads knows how many frames a second there are.
    private mutating func follow(
        timeless event: InputEvent, _ line: Span<UInt8>, _ number: Int, _ body: (RecordedFrame) throws -> Void
    ) throws {
        guard let now = event.isReport ? steps.next() : steps.now else {
            return try damaged(Damaged(isTimeless: true), line, number)
        }
        var event = event
        event.time = now
        try follow(event, body)
    }

    private mutating func parseOther(
        _ line: Span<UInt8>, number: Int, _ body: (RecordedFrame) throws -> Void
    ) throws {
        switch format {
        case .webTouches, .devTools, .webDriver: return try readWeb(line, number: number, body)
        case .motionEvents:
            do {
                guard try motionEvents.parse(line, &notes) else { return }
            } catch {
                return try damaged(error, line, number)
            }
            understood += 1
            try hand(motionEvents.frame, body)
        case .libinputDebugEvents: try parseDebugEvents(line, number: number, body)
        // Of these no text is parsed, or it was before.
        case .inputEvents, .trace, .evemu, .getevent, .evtest, .libinputRecord, nil: break
        }
    }

    private mutating func parseDebugEvents(
        _ line: Span<UInt8>, number: Int, _ body: (RecordedFrame) throws -> Void
    ) throws {
        var index = 0
        do {
            if LibinputGestures.skipToTouch(line, &index) {
                if try libinputTouches.parse(line, &index, &libinputClock, &notes) {
                    try hand(libinputTouches.frame, body)
                }
            } else if let report = try LibinputGestures.report(line) {
                // What fingers did before this line comes before it.
                if libinputTouches.finishFrame(&libinputClock, &notes) { try hand(libinputTouches.frame, body) }
                if gestures.follow(report, options.rotation, &libinputClock, &notes) { try handGestures(body) }
            }
            understood += 1
        } catch let error as Damaged {
            try damaged(error, line, number)
        }
    }

    /// Takes note of a line that could not be read.
    private mutating func damaged(_ error: Damaged, _ line: Span<UInt8>, _ number: Int) throws {
        if error.isTimeless, understood == 0 { throw RecordingError.noTimes }
        notes.addDamaged(number, Scan.excerpt(line))
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
            format = !hasText && RecordingFormat.isHeader(text) ? .trace : RecordingFormat.recognize(text)
            hasText = hasText || !Scan.isAtEnd(text, 0)
        }
        guard format == nil else { return try readPrelude(bytes.extracting(raw.dropFirst(room)), body) }
        // An object may have many lines before it is known.
        if raw.count >= room, splitter == nil { throw RecordingError(prelude.span) }
    }

    /// Reads again what came before the format was known, and its last line.
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
        while let line = again.next(in: lines.span, at: &position) ?? again.last(in: lines.span, at: &position) {
            try parse(line, lines.span, number: Int(again.lineNumber), body)
        }
    }

    // MARK: Frames

    /// Hands out a frame, unless the range of its device must be observed first.
    @inline(__always)
    private mutating func hand(_ frame: ContactFrame, _ body: (RecordedFrame) throws -> Void) throws {
        hasTouches = hasTouches || !frame.contacts.isEmpty
        if surface == nil || !held.isEmpty { guard try canBegin(frame, body) else { return } }
        try body(.touches(frame))
    }

    /// Chooses the surface, or else holds the frame back.
    private mutating func canBegin(_ frame: ContactFrame, _ body: (RecordedFrame) throws -> Void) throws -> Bool {
        let isKnown = device?.ranges != nil || surface != nil
        if isKnown || consumed > Self.observedLength || heldContacts > Self.mostHeld {
            try release(body)
            return true
        }
        for contact in frame.contacts { observed.add(contact) }
        held.append(frame)
        heldContacts += frame.contacts.count + 1
        return false
    }

    /// Hands out what is held back, though nothing tells the range of the device's positions, and the fingers of a stream
    /// that goes on have not shown it yet: it is taken for a usual one.
    public mutating func assumeRange(_ body: (RecordedFrame) throws -> Void) throws {
        guard isHolding else { return }
        if device?.isInPoints != true { observed.assumeUsual() }
        try release(body)
    }

    /// Chooses the surface from what is known, and hands out what was held back.
    private mutating func release(_ body: (RecordedFrame) throws -> Void) throws {
        try begin(surfaceOf: body)
        let frames = held
        held = []
        for frame in frames { try body(.touches(frame)) }
    }

    /// Hands out the surface, once.
    private mutating func begin(surfaceOf body: (RecordedFrame) throws -> Void) throws {
        guard !hasBegun else { return }
        hasBegun = true
        try body(.surface(chosenSurface(), device))
    }

    private mutating func handGestures(_ body: (RecordedFrame) throws -> Void) throws {
        hasTouches = true
        try release(body)
        try body(.gestures(timeMs: gestures.timeMs, gestures.events))
    }

    private mutating func chosenSurface() -> Surface {
        if let surface { return surface }
        let chosen: Surface
        switch format {
        case .trace, nil: chosen = Surface(options: options)
        case .libinputDebugEvents where device == nil:
            // Gestures are in points. Should fingers follow, they are somewhere on the same viewport.
            let device = DeviceDescription(x: LibinputTouches.range, y: LibinputTouches.range)
            let viewport = options.viewport ?? .standard
            chosen = Surface(
                of: device, observed: observed, options: SurfaceOptions(viewport: viewport, rotation: options.rotation))
        default:
            if device?.ranges == nil, hasTouches { notes.add(.noHead) }
            chosen = Surface(of: device, observed: observed, options: options)
        }
        surface = chosen
        return chosen
    }
}
