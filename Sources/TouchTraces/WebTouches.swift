// Touches of a web page, one event to a line, as a page writes them that listens to TouchEvents or to PointerEvents:
//
//     {"viewport":{"width":390,"height":844}}
//     {"type":"touchmove","timeStamp":1234.5,"touches":[{"identifier":0,"clientX":101.5,"clientY":200}]}
//     {"type":"pointermove","timeStamp":1234.5,"pointerId":2,"clientX":101.5,"clientY":200}
//
// `touches` are all that are on the screen after the event. The first line may tell the viewport. What else a line has is
// ignored, and so is any other event. Times are milliseconds; positions are CSS pixels, which are points.

/// Reads touches of a web page.
struct WebTouches {
    private struct Finger {
        var identifier: Double
        var contact: Contact
    }

    /// The last frame.
    private(set) var frame = ContactFrame(time: 0, contacts: [])
    /// The viewport as a device, as far as it is known.
    private(set) var device = DeviceDescription(isInPoints: true)
    private var clock = FrameClock()
    private var numbers = ContactNumbers()
    private var line = WebLine()
    private var fingers: [Finger] = []
    /// The fingers of the line before, when all are told anew.
    private var before: [Finger] = []
    private var highest = 0

    /// As many as a device may have.
    private static let mostFingers = 64
    private static let positions = -1e9...1e9
    /// Milliseconds: those of ``FrameClock/recorded``.
    private static let times = -1e13...1e13

    /// Whether a line can stand in recordings of this shape only.
    static func recognizes(_ text: Span<UInt8>) -> Bool {
        var line = WebLine()
        guard Scan.begins(text, with: "{"), line.read(text) else { return false }
        if !line.hasType { return line.width != nil && line.height != nil }
        let isTouch = line.hasTouches && line.kind.isOfTouches
        return line.timeStamp != nil && (isTouch || line.pointerId != nil && line.kind.isOfPointers)
    }

    /// Reads a line. Says whether there is a frame now.
    mutating func parse(_ text: Span<UInt8>, _ notes: inout RecordingNotes) throws(Damaged) -> Bool {
        if Scan.isAtEnd(text, 0) { return false }
        guard line.read(text) else { throw Damaged() }
        guard line.hasType else {
            try setViewport()
            return false
        }
        guard let time = line.timeStamp, Self.times.contains(time) else { throw Damaged() }
        switch line.kind {
        case .touches: try takeTouches()
        case .pointerDown, .pointerMove, .pointerUp: guard try takePointer() else { return false }
        case .touchCancel, .pointerCancel:
            guard try cancel() else { return false }
            return complete(at: time, isCancelled: true, &notes)
        case .other: return false
        }
        return complete(at: time, &notes)
    }

    private mutating func setViewport() throws(Damaged) {
        guard let width = line.width, let height = line.height, Surface.sizes.contains(width),
            Surface.sizes.contains(height)
        else { throw Damaged() }
        // A viewport that changes later is another recording's business.
        guard device.x == nil else { return }
        device.x = DeviceAxis(minimum: 0, maximum: width)
        device.y = DeviceAxis(minimum: 0, maximum: height)
    }

    // MARK: Fingers

    /// All touches that are there.
    private mutating func takeTouches() throws(Damaged) {
        guard line.hasTouches, line.touches.count <= Self.mostFingers else { throw Damaged() }
        for touch in line.touches { try Self.check(touch.x, touch.y) }
        swap(&before, &fingers)
        fingers.removeAll(keepingCapacity: true)
        for touch in line.touches {
            let number = before.first { $0.identifier == touch.identifier }?.contact.id ?? numbers.next()
            fingers.append(
                Finger(identifier: touch.identifier, contact: Contact(id: number, x: touch.x, y: touch.y)))
        }
    }

    /// One pointer that came, moved or went. Says whether it is a finger's: a mouse moves without having come.
    private mutating func takePointer() throws(Damaged) -> Bool {
        guard let id = line.pointerId, let x = line.x, let y = line.y else { throw Damaged() }
        try Self.check(x, y)
        let found = fingers.firstIndex { $0.identifier == id }
        if line.kind == .pointerDown {
            guard fingers.count < Self.mostFingers else { throw Damaged() }
            if let found { fingers.remove(at: found) }
            fingers.append(Finger(identifier: id, contact: Contact(id: numbers.next(), x: x, y: y)))
            return true
        }
        guard let found else { return false }
        if line.kind == .pointerUp {
            fingers.remove(at: found)
        } else {
            fingers[found].contact.x = x
            fingers[found].contact.y = y
        }
        return true
    }

    /// Fingers are lost: all touches, or one pointer. What the others did is cancelled as well; they land anew.
    private mutating func cancel() throws(Damaged) -> Bool {
        guard line.kind == .pointerCancel else {
            defer { fingers.removeAll(keepingCapacity: true) }
            return !fingers.isEmpty
        }
        guard let id = line.pointerId else { throw Damaged() }
        guard let found = fingers.firstIndex(where: { $0.identifier == id }) else { return false }
        fingers.remove(at: found)
        for index in fingers.indices { fingers[index].contact.id = numbers.next() }
        return true
    }

    private static func check(_ x: Double, _ y: Double) throws(Damaged) {
        guard positions.contains(x), positions.contains(y) else { throw Damaged() }
    }

    // MARK: Frames

    private mutating func complete(
        at timeMs: Double, isCancelled: Bool = false, _ notes: inout RecordingNotes
    ) -> Bool {
        let before = frame.contacts.count
        frame.time = clock.advance(to: Int((timeMs * 1000).rounded()), &notes)
        frame.isCancelled = isCancelled
        frame.contacts.removeAll(keepingCapacity: true)
        if !isCancelled { for finger in fingers { frame.contacts.append(finger.contact) } }
        if !isCancelled { notes.count(frame, before: before, highest: &highest) }
        return true
    }

    /// Ends the recording, and says whether that makes a last frame: fingers that are still there are cancelled.
    mutating func finish(_ notes: inout RecordingNotes) -> Bool {
        guard !fingers.isEmpty else { return false }
        notes.add(.leftDown, fingers.count)
        fingers.removeAll()
        frame.contacts.removeAll()
        frame.isCancelled = true
        return true
    }
}

/// The members of a line that count.
private struct WebLine {
    enum Kind {
        case touches, touchCancel, pointerDown, pointerMove, pointerUp, pointerCancel, other

        var isOfTouches: Bool { self == .touches || self == .touchCancel }
        var isOfPointers: Bool { !isOfTouches && self != .other }
    }

    struct Touch {
        var identifier: Double
        var x: Double
        var y: Double
    }

    private(set) var kind = Kind.other
    private(set) var hasType = false
    private(set) var timeStamp: Double?
    private(set) var touches: [Touch] = []
    private(set) var hasTouches = false
    private(set) var pointerId: Double?
    private(set) var x: Double?
    private(set) var y: Double?
    private(set) var width: Double?
    private(set) var height: Double?

    /// Reads a line over the last. Says whether it is JSON of this shape.
    mutating func read(_ text: Span<UInt8>) -> Bool {
        kind = .other
        (hasType, hasTouches) = (false, false)
        (timeStamp, pointerId, x, y, width, height) = (nil, nil, nil, nil, nil, nil)
        touches.removeAll(keepingCapacity: true)
        var cursor = JSONCursor()
        return cursor.members(text) { cursor, name in member(text, &cursor, name) } && cursor.isAtEnd(text)
    }

    private mutating func member(_ text: Span<UInt8>, _ cursor: inout JSONCursor, _ name: Range<Int>) -> Bool {
        if Self.isSame(text, name, "type") { return readType(text, &cursor) }
        if Self.isSame(text, name, "timeStamp") { return Self.read(text, &cursor, &timeStamp) }
        if Self.isSame(text, name, "touches") {
            hasTouches = true
            touches.removeAll(keepingCapacity: true)
            return cursor.elements(text) { cursor in readTouch(text, &cursor) }
        }
        if Self.isSame(text, name, "pointerId") { return Self.read(text, &cursor, &pointerId) }
        if Self.isSame(text, name, "clientX") { return Self.read(text, &cursor, &x) }
        if Self.isSame(text, name, "clientY") { return Self.read(text, &cursor, &y) }
        if Self.isSame(text, name, "viewport") { return readViewport(text, &cursor) }
        return cursor.value(text)
    }

    private static func isSame(_ text: Span<UInt8>, _ name: Range<Int>, _ word: StaticString) -> Bool {
        var index = name.lowerBound
        return name.count == word.utf8CodeUnitCount && Scan.word(word, text, &index)
    }

    private static func read(_ text: Span<UInt8>, _ cursor: inout JSONCursor, _ number: inout Double?) -> Bool {
        number = cursor.number(text)
        return number != nil
    }

    private mutating func readType(_ text: Span<UInt8>, _ cursor: inout JSONCursor) -> Bool {
        guard let type = cursor.string(text) else { return false }
        hasType = true
        if Self.isSame(text, type, "touchmove") || Self.isSame(text, type, "touchstart")
            || Self.isSame(text, type, "touchend")
        {
            kind = .touches
        } else if Self.isSame(text, type, "pointermove") {
            kind = .pointerMove
        } else if Self.isSame(text, type, "pointerdown") {
            kind = .pointerDown
        } else if Self.isSame(text, type, "pointerup") {
            kind = .pointerUp
        } else if Self.isSame(text, type, "touchcancel") {
            kind = .touchCancel
        } else if Self.isSame(text, type, "pointercancel") {
            kind = .pointerCancel
        }
        return true
    }

    private mutating func readTouch(_ text: Span<UInt8>, _ cursor: inout JSONCursor) -> Bool {
        var (identifier, x, y): (Double?, Double?, Double?)
        let isRead = cursor.members(text) { cursor, name in
            if Self.isSame(text, name, "identifier") { return Self.read(text, &cursor, &identifier) }
            if Self.isSame(text, name, "clientX") { return Self.read(text, &cursor, &x) }
            if Self.isSame(text, name, "clientY") { return Self.read(text, &cursor, &y) }
            return cursor.value(text)
        }
        guard isRead, let identifier, let x, let y else { return false }
        touches.append(Touch(identifier: identifier, x: x, y: y))
        return true
    }

    private mutating func readViewport(_ text: Span<UInt8>, _ cursor: inout JSONCursor) -> Bool {
        cursor.members(text) { cursor, name in
            if Self.isSame(text, name, "width") { return Self.read(text, &cursor, &width) }
            if Self.isSame(text, name, "height") { return Self.read(text, &cursor, &height) }
            return cursor.value(text)
        }
    }
}
