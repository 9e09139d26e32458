// What every Linux tool records, however it writes it: one event of one input device.
// Types and codes are numbers of the kernel's input-event-codes.h; what is not named here means nothing to a touch.

/// One event of one device.
struct InputEvent: Equatable {
    /// Microseconds of the recorder's clock.
    var time: Int
    var type: Int
    var code: Int
    var value: Int
    /// Tells the devices of a recording apart.
    var device = onlyDevice

    /// The device of a recording that tells none apart.
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
    /// One below the slots. A device that has this axis has so many that they reach into those of contacts, which then
    /// mean something else: a gamepad's pressures.
    static let belowContacts = 0x2e
    static let slot = 0x2f
    static let touchMajor = 0x30
    static let contactX = 0x35
    static let contactY = 0x36
    static let toolType = 0x37
    static let trackingID = 0x39
    /// How far a finger is above the surface; 0 is a touch.
    static let distance = 0x3b
    /// The axes that tell about one of several contacts.
    static let contact = 0x2f...0x3d
}

extension InputEvent {
    /// Whether it ends a frame.
    var isReport: Bool { type == EventType.synchronization && code == SynchronizationCode.report }

    /// Whether a device that says this tells several contacts apart.
    var isOfContact: Bool {
        type == EventType.absolute && AxisCode.contact.contains(code)
            || type == EventType.synchronization && code == SynchronizationCode.contact
    }

    /// Whether a contact begins.
    var isLanding: Bool { type == EventType.absolute && code == AxisCode.trackingID && value >= 0 }

    /// Whether a device that says this follows at least one finger.
    var isOfTouch: Bool {
        isOfContact || type == EventType.absolute && (code == AxisCode.x || code == AxisCode.y)
            || type == EventType.key && code == KeyCode.touch
    }
}

/// What a line of a recording holds.
enum RecordedLine: Equatable {
    case event(InputEvent)
    /// Events with times that are right; none is a report that tells nothing of touches.
    case events([InputEvent])
    /// A report of a pen, which is no finger.
    case pen
    /// An event without a time.
    case timeless(InputEvent)
    /// The first line of a recording: what is known of fingers is of another one.
    case beginning
    /// Something about the device, a comment, or nothing.
    case nothing
    case damaged
}

/// A line that cannot be read.
struct Damaged: Error {
    /// Whether all that it lacks is a time.
    var isTimeless = false
}

/// Reads the text of one of the tools that record input events.
protocol EventLineParser {
    init()
    /// Whether a line that is no event can stand in recordings of this tool only.
    static func isHead(_ line: Span<UInt8>) -> Bool
    /// Reads a line without its line feed. What it tells about a device goes to the heads.
    mutating func parse(_ line: Span<UInt8>, _ heads: inout DeviceHeads) -> RecordedLine
}

extension EventLineParser {
    /// Whether a line can stand in recordings of this tool only.
    static func recognizes(_ line: Span<UInt8>) -> Bool {
        var parser = Self()
        var heads = DeviceHeads()
        switch parser.parse(line, &heads) {
        case .event, .events, .timeless: return true
        case .pen, .beginning, .nothing, .damaged: return isHead(line)
        }
    }
}
