// The fingers of a web page as they come and go, whether a page, Chrome's debugger, or a WebDriver script reports them.

/// Keeps the fingers of a page, and makes frames of them.
struct WebFrames {
    private struct Finger {
        var identifier: Double
        var contact: Contact
    }

    /// The frames that the last value made.
    private(set) var frames: [ContactFrame] = []

    private var fingers: [Finger] = []
    private var before: [Contact] = []
    private var clock = FrameClock()
    private var numbers = ContactNumbers()

    /// The most fingers of a device.
    private static let mostFingers = 64
    private static let positions = -1e9...1e9
    /// Milliseconds: those of ``FrameClock/recorded``.
    private static let times = -1e13...1e13

    var isEmpty: Bool { fingers.isEmpty }

    /// Whether a time can be one of a recording, in milliseconds.
    static func isTime(_ timeMs: Double) -> Bool { times.contains(timeMs) }

    func isDown(_ identifier: Double) -> Bool { fingers.contains { $0.identifier == identifier } }

    /// Drops the frames that have been returned.
    mutating func clear() { frames.removeAll(keepingCapacity: true) }

    // MARK: Fingers

    private static func check(_ x: Double, _ y: Double) throws(Damaged) {
        guard positions.contains(x), positions.contains(y) else { throw Damaged() }
    }

    /// These fingers are there, and no others.
    mutating func set(_ touches: [WebValue.Touch]) throws(Damaged) {
        guard touches.count <= Self.mostFingers else { throw Damaged() }
        for touch in touches { try Self.check(touch.x, touch.y) }
        let known = fingers
        fingers.removeAll(keepingCapacity: true)
        for touch in touches {
            let number = known.first { $0.identifier == touch.identifier }?.contact.id ?? numbers.next()
            fingers.append(Finger(identifier: touch.identifier, contact: Contact(id: number, x: touch.x, y: touch.y)))
        }
    }

    /// A finger lands; one of the same identifier that was there has lifted.
    mutating func land(_ identifier: Double, _ x: Double, _ y: Double) throws(Damaged) {
        try Self.check(x, y)
        lift(identifier)
        guard fingers.count < Self.mostFingers else { throw Damaged() }
        fingers.append(Finger(identifier: identifier, contact: Contact(id: numbers.next(), x: x, y: y)))
    }

    /// A finger moves, if it is there.
    mutating func move(_ identifier: Double, _ x: Double, _ y: Double) throws(Damaged) {
        try Self.check(x, y)
        guard let found = fingers.firstIndex(where: { $0.identifier == identifier }) else { return }
        fingers[found].contact.x = x
        fingers[found].contact.y = y
    }

    /// A finger lifts, if it is there.
    mutating func lift(_ identifier: Double) { fingers.removeAll { $0.identifier == identifier } }

    mutating func liftAll() { fingers.removeAll(keepingCapacity: true) }

    /// One finger is lost. The others are cancelled as well; they land again.
    mutating func lose(_ identifier: Double) {
        lift(identifier)
        for index in fingers.indices { fingers[index].contact.id = numbers.next() }
    }

    // MARK: Frames

    /// Ends a frame, at a time in milliseconds.
    mutating func complete(at timeMs: Double, isCancelled: Bool = false, _ notes: inout RecordingNotes) {
        var frame = ContactFrame(time: clock.advance(to: Int((timeMs * 1000).rounded()), &notes), contacts: [])
        frame.isCancelled = isCancelled
        if !isCancelled {
            frame.contacts = fingers.map(\.contact)
            notes.count(frame, after: before)
        }
        before = frame.contacts
        frames.append(frame)
    }

    /// Ends the recording; fingers that are still there are cancelled.
    mutating func finish(_ notes: inout RecordingNotes) {
        guard !fingers.isEmpty else { return }
        notes.add(.leftDown, fingers.count)
        fingers.removeAll()
        frames.append(ContactFrame(time: clock.time ?? 0, contacts: [], isCancelled: true, isImplied: true))
    }
}
