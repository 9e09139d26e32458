// Fingers on a device at one instant, in the device's own units.

import Gestures

/// One finger, or whatever else a device takes for one.
public struct Contact: Equatable, Sendable {
    /// The contact's number from landing to lifting. It never returns within a recording.
    public var id: Int
    /// From left to right, in device units.
    public var x: Double
    /// From top to bottom, in device units.
    public var y: Double

    /// A contact in device units.
    public init(id: Int, x: Double, y: Double) {
        self.id = id
        self.x = x
        self.y = y
    }
}

/// All contacts at one instant.
public struct ContactFrame: Equatable, Sendable {
    /// Microseconds of the recorder's clock; never less than the frame's before.
    public var time: Int
    /// The contacts that are there. One that was there in the frame before and is not now has lifted.
    public var contacts: [Contact]
    /// Whether the contacts that were there before are lost and not lifted. Then none is there.
    public var isCancelled: Bool
    /// Whether no report says this: the recording ended, or another one began, while contacts were there.
    public var isImplied: Bool

    /// A frame of contacts.
    public init(time: Int, contacts: [Contact], isCancelled: Bool = false, isImplied: Bool = false) {
        self.time = time
        self.contacts = contacts
        self.isCancelled = isCancelled
        self.isImplied = isImplied
    }

    /// Becomes the last frame of a recording that ends while contacts are there: they are cancelled.
    ///
    /// - Returns: whether there were any; otherwise no frame is needed.
    mutating func endRecording(losing count: Int, _ notes: inout RecordingNotes) -> Bool {
        guard count > 0 else { return false }
        notes.add(.leftDown, count)
        contacts.removeAll()
        isCancelled = true
        isImplied = true
        return true
    }

    /// How many contacts have landed since the frame before. Numbers say nothing of the order in which contacts appear.
    func landed(since before: [Contact]) -> Int {
        var landed = 0
        for (index, contact) in contacts.enumerated() {
            // Mostly they stand where they stood.
            if index < before.count, before[index].id == contact.id { continue }
            if !before.contains(where: { $0.id == contact.id }) { landed += 1 }
        }
        return landed
    }
}

/// What a recording holds, piece by piece.
public enum RecordedFrame: Sendable {
    /// The surface that all touches are on, and the device as far as it is known: before the first frame, and once.
    case surface(Surface, DeviceDescription?)
    /// Contacts in device units.
    case touches(ContactFrame)
    /// Reports of gestures that the recorder had recognized already, at a time in milliseconds.
    case gestures(timeMs: Double, [GestureEvent])
    /// The next bytes of a Gimbal trace, as they are.
    case trace([UInt8])
}
