// The fingers on a device at one instant, in the device's own units.

import Gestures

/// One finger, or whatever a device takes for one.
public struct Contact: Equatable, Sendable {
    /// The contact's number from landing to lifting. It is never reused within a recording.
    public var id: Int
    /// From left to right, in device units.
    public var x: Double
    /// From top to bottom, in device units.
    public var y: Double
}

/// All contacts at one instant.
public struct ContactFrame: Equatable, Sendable {
    /// Microseconds of the recorder's clock; never less than in the previous frame.
    public var time: Int
    /// The current contacts. One that was in the previous frame and is missing here has lifted.
    public var contacts: [Contact]
    /// Whether the previous contacts were lost, rather than lifted. There are no contacts then.
    public var isCancelled = false
    /// Whether no report says this: the recording ended, or another one began, while contacts were down.
    public var isImplied = false

    /// Returns how many contacts have landed since the previous frame. Contacts may appear in any order of numbers.
    func landed(since before: [Contact]) -> Int {
        var landed = 0
        for (index, contact) in contacts.enumerated() {
            // Most contacts keep their index.
            if index < before.count, before[index].id == contact.id { continue }
            if !before.contains(where: { $0.id == contact.id }) { landed += 1 }
        }
        return landed
    }
}

/// One piece of a recording's content.
public enum RecordedFrame: Sendable {
    /// The surface of all touches, and the device as far as it is known. Comes once, before the first frame.
    case surface(Surface, DeviceDescription?)
    /// Contacts in device units.
    case touches(ContactFrame)
    /// Reports of gestures that the recorder recognized itself, at a time in milliseconds.
    case gestures(timeMs: Double, [GestureEvent])
    /// The next bytes of a Gimbal trace, unchanged.
    case trace([UInt8])
}
