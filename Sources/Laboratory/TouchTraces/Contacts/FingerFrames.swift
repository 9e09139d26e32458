// Tracks the fingers of formats that tell them apart themselves: touches of web pages, scripts, logs of Android and of
// libinput.

/// Fingers, each with an identifier that may be used again, the frames made of them, and what was found besides.
struct FingerFrames {
    private struct Finger {
        var identifier: Double
        var contact: Contact
    }

    private var frames: [RecordedFrame] = []
    var clock = FrameClock()
    var notes = RecordingNotes()
    /// The frames per second of a recording without times, if known, and how many frames had none.
    private let rate: Double?
    private var steps = 0

    private var fingers: [Finger] = []
    private var before: [Contact] = []
    private var numbers = ContactNumbers()

    /// The maximum number of fingers of a device.
    private static let mostFingers = 64
    private static let positions = -1e9...1e9
    /// Milliseconds: the same range as ``FrameClock/recorded``.
    private static let times = -1e13...1e13

    init(rate: Double?) { self.rate = rate }

    var isEmpty: Bool { fingers.isEmpty }

    /// Returns whether a time in milliseconds is valid in a recording.
    static func isTime(_ timeMs: Double) -> Bool { times.contains(timeMs) }

    func isDown(_ identifier: Double) -> Bool { fingers.contains { $0.identifier == identifier } }

    /// Returns the frames and gestures since the last call.
    mutating func take() -> [RecordedFrame] {
        defer { frames = [] }
        return frames
    }

    // MARK: Fingers

    private static func check(_ x: Double, _ y: Double) throws(Damaged) {
        guard positions.contains(x), positions.contains(y) else { throw Damaged() }
    }

    /// Sets the fingers that are down.
    mutating func set(_ touches: [WebValue.Touch]) throws(Damaged) {
        guard touches.count <= Self.mostFingers, Set(touches.map(\.identifier)).count == touches.count else {
            throw Damaged()
        }
        for touch in touches { try Self.check(touch.x, touch.y) }
        let known = fingers
        fingers.removeAll(keepingCapacity: true)
        for touch in touches {
            let number = known.first { $0.identifier == touch.identifier }?.contact.id ?? numbers.next()
            fingers.append(Finger(identifier: touch.identifier, contact: Contact(id: number, x: touch.x, y: touch.y)))
        }
    }

    /// Lands a finger; lifts one with the same identifier first.
    mutating func land(_ identifier: Double, _ x: Double, _ y: Double) throws(Damaged) {
        try Self.check(x, y)
        lift(identifier)
        guard fingers.count < Self.mostFingers else { throw Damaged() }
        fingers.append(Finger(identifier: identifier, contact: Contact(id: numbers.next(), x: x, y: y)))
    }

    /// Moves a finger, if it is down.
    mutating func move(_ identifier: Double, _ x: Double, _ y: Double) throws(Damaged) {
        try Self.check(x, y)
        guard let found = fingers.firstIndex(where: { $0.identifier == identifier }) else { return }
        fingers[found].contact.x = x
        fingers[found].contact.y = y
    }

    /// Lifts a finger, if it is down.
    mutating func lift(_ identifier: Double) { fingers.removeAll { $0.identifier == identifier } }

    mutating func liftAll() { fingers.removeAll(keepingCapacity: true) }

    /// Drops a lost finger. The others are cancelled as well, and land again.
    mutating func lose(_ identifier: Double) {
        lift(identifier)
        for index in fingers.indices { fingers[index].contact.id = numbers.next() }
    }

    // MARK: Frames

    /// The time of a frame that has none, in microseconds from the first such frame; `nil` without a rate.
    var step: Int? { rate.map { Int((Double(steps) * 1_000_000 / $0).rounded()) } }

    /// Returns the time of a frame that has none, and advances to the next one.
    mutating func nextStep() -> Int? {
        defer { steps += 1 }
        return step
    }

    /// Ends a frame, at a time in milliseconds.
    mutating func complete(at timeMs: Double, isCancelled: Bool = false) {
        complete(atMicroseconds: Int((timeMs * 1000).rounded()), isCancelled: isCancelled)
    }

    /// Ends a frame, at a time of the recorder's clock.
    mutating func complete(atMicroseconds time: Int, isCancelled: Bool) {
        var frame = ContactFrame(time: clock.advance(to: time, &notes), contacts: [])
        frame.isCancelled = isCancelled
        if !isCancelled {
            frame.contacts = fingers.map(\.contact)
            notes.count(frame, after: before)
        }
        before = frame.contacts
        frames.append(.touches(frame))
    }

    /// Adds gestures that the recorder recognized itself.
    mutating func add(gestures: RecordedFrame) { frames.append(gestures) }

    /// Ends the recording; fingers that are still down are cancelled.
    mutating func finish() {
        guard !fingers.isEmpty else { return }
        notes.add(.leftDown, fingers.count)
        fingers.removeAll()
        frames.append(
            .touches(ContactFrame(time: clock.time ?? 0, contacts: [], isCancelled: true, isImplied: true)))
    }
}
