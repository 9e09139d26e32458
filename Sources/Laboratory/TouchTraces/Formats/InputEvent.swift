// The events of input devices, which every Linux tool records in its own notation. Types and codes are numbers from the
// kernel's input-event-codes.h; those not named here do not matter for touches.

/// One event of one input device.
struct InputEvent: Equatable {
    /// Microseconds of the recorder's clock.
    var time: Int
    var type: Int
    var code: Int
    var value: Int
    /// Identifies the device within the recording.
    var device = onlyDevice

    /// The device of a recording that does not tell devices apart.
    static let onlyDevice = 0
}

enum EventType {
    static let synchronization = 0
    static let key = 1
    static let absolute = 3
}

enum SynchronizationCode {
    static let report = 0
    static let configuration = 1
    static let contact = 2
    static let dropped = 3
}

enum KeyCode {
    static let touch = 0x14a
}

enum AxisCode {
    static let x = 0x00
    static let y = 0x01
    static let pressure = 0x18
    /// The code just below the slots. A device with this axis has so many that they extend into the contact axes, which
    /// then mean something else: a gamepad's pressures.
    static let belowContacts = 0x2e
    static let slot = 0x2f
    static let touchMajor = 0x30
    static let contactX = 0x35
    static let contactY = 0x36
    static let toolType = 0x37
    static let trackingID = 0x39
    /// The distance of a finger above the surface; 0 is a touch.
    static let distance = 0x3b
    /// The axes of one of several contacts.
    static let contact = 0x2f...0x3d
}

extension InputEvent {
    /// Whether it ends a frame.
    var isReport: Bool { type == EventType.synchronization && code == SynchronizationCode.report }

    /// Whether a device that sends this tells several contacts apart.
    var isOfContact: Bool {
        type == EventType.absolute && AxisCode.contact.contains(code)
            || type == EventType.synchronization && code == SynchronizationCode.contact
    }

    /// Whether it begins a contact.
    var isLanding: Bool { type == EventType.absolute && code == AxisCode.trackingID && value >= 0 }

    /// Whether a device that sends this follows at least one finger.
    var isOfTouch: Bool {
        isOfContact || type == EventType.absolute && (code == AxisCode.x || code == AxisCode.y)
            || type == EventType.key && code == KeyCode.touch
    }
}

/// The content of a recording's line.
enum RecordedLine: Equatable {
    case event(InputEvent)
    /// Events with valid times; empty for a report without touches.
    case events([InputEvent])
    /// A report of a pen, which is not a finger.
    case pen
    /// An event without a time.
    case timeless(InputEvent)
    /// The first line of a recording: fingers known so far belong to another one.
    case beginning
    /// Something about the device, a comment, or nothing.
    case nothing
    case damaged
}

/// A line that cannot be read.
struct Damaged: Error {
    /// Whether only its time is missing.
    var isTimeless = false
}

/// A parser of the text of a tool that records input events.
protocol EventLineParser {
    init()
    /// Returns whether only recordings of this tool can contain a line that is not an event.
    static func isHead(_ line: Span<UInt8>) -> Bool
    /// Reads a line without its line feed. Stores what it says about a device in the heads.
    mutating func parse(_ line: Span<UInt8>, _ heads: inout DeviceHeads) -> RecordedLine
}

extension EventLineParser {
    /// Returns whether only recordings of this tool can contain a line.
    static func recognizes(_ line: Span<UInt8>) -> Bool {
        var parser = Self()
        var heads = DeviceHeads()
        switch parser.parse(line, &heads) {
        case .event, .events, .timeless: return true
        case .pen, .beginning, .nothing, .damaged: return isHead(line)
        }
    }
}
