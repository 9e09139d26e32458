// The devices that a recording's head describes.

/// One axis of a device that reports positions.
public struct DeviceAxis: Equatable, Sendable {
    /// The smallest position, in device units.
    public var minimum: Double
    /// The largest position, in device units.
    public var maximum: Double
    /// Device units per millimetre, or 0 if unknown.
    public var resolution = 0.0

    /// The length of the axis, in device units.
    var length: Double { maximum - minimum }
}

/// A device that fingers touch, as far as its recording describes it.
public struct DeviceDescription: Equatable, Sendable {
    /// The kernel's name for the device.
    public var name: String?
    /// From left to right.
    public var x: DeviceAxis?
    /// From top to bottom.
    public var y: DeviceAxis?
    /// Whether it reports only the bounding box of two fingers, so that their positions may be swapped. (Kernel:
    /// `INPUT_PROP_SEMI_MT`.)
    public var isSemiMT = false
    /// Whether its positions are already points of a viewport.
    public var isInPoints = false
    /// The header of the trace that was exported, if the recording contains it: its viewport is the device's.
    package var header: ToldHeader?
}

extension DeviceDescription {
    /// Reads a description from a file of its own: any head that a recording could have.
    ///
    /// - Throws: ``RecordingError`` if it is not a head, or gives no range of positions.
    public init(_ bytes: Span<UInt8>) throws {
        var reader = RecordingReader()
        try reader.read(bytes) { _ in }
        do {
            try reader.finish { _ in }
        } catch RecordingError.notUnderstood {
            // Events do not matter in a description, damaged or not.
        }
        guard let device = reader.device, device.ranges != nil else { throw RecordingError.noDevice }
        self = device
    }

    /// Plausible screen sizes in millimetres; a resolution that results in others is ignored.
    private static let believable = 30.0...3000.0

    /// The size of the surface in millimetres, if it is known and plausible.
    public var sizeMm: (width: Double, height: Double)? {
        guard let (x, y) = ranges, x.resolution > 0, y.resolution > 0 else { return nil }
        let (width, height) = (x.length / x.resolution, y.length / y.resolution)
        guard Self.believable.contains(width), Self.believable.contains(height) else { return nil }
        return (width, height)
    }

    /// Both axes, if both are known and not empty.
    var ranges: (x: DeviceAxis, y: DeviceAxis)? {
        guard let x, let y, x.length > 0, y.length > 0 else { return nil }
        return (x, y)
    }
}

/// The devices that a recording's head describes, in order.
struct DeviceHeads {
    private struct Head {
        let device: Int
        var name: String?
        var axes: [Int: DeviceAxis] = [:]
        var isSemiMT = false
        var header: ToldHeader?
        /// Whether its axes extend into the codes of contact axes, which then mean something else.
        var hasAxesBelowContacts = false

        var hasContacts: Bool {
            !hasAxesBelowContacts && axes[AxisCode.contactX] != nil && axes[AxisCode.contactY] != nil
        }

        var description: DeviceDescription {
            var description = DeviceDescription(
                name: name, x: hasContacts ? axes[AxisCode.contactX] : axes[AxisCode.x],
                y: hasContacts ? axes[AxisCode.contactY] : axes[AxisCode.y], isSemiMT: isSemiMT)
            description.header = header
            return description
        }
    }

    /// The maximum; no machine has more devices.
    private static let most = 256
    private var heads: [Head] = []
    /// The devices in the order in which they were first named or sent an event.
    private var order: [Int] = []
    /// The device that the next lines are about.
    private var current: Int?

    /// Makes a device the one that the next lines are about.
    mutating func begin(_ device: Int) {
        _ = number(of: device)
        current = heads.firstIndex { $0.device == device }
        guard current == nil, heads.count < Self.most else { return }
        current = heads.count
        heads.append(Head(device: device))
    }

    /// The number of devices.
    var numbered: Int { order.count }

    /// Returns the number of a device, from 1; 0 if there are too many.
    mutating func number(of device: Int) -> Int {
        if let found = order.firstIndex(of: device) { return found + 1 }
        guard order.count < Self.most else { return 0 }
        order.append(device)
        return order.count
    }

    private mutating func change(_ body: (inout Head) -> Void) {
        if current == nil { begin(InputEvent.onlyDevice) }
        if let current { body(&heads[current]) }
    }

    mutating func set(name: String) { change { $0.name = name } }
    mutating func setSemiMT() { change { $0.isSemiMT = true } }
    mutating func set(_ header: ToldHeader) { change { $0.header = header } }

    mutating func set(_ axis: DeviceAxis, _ code: Int) {
        let isPosition = [AxisCode.x, AxisCode.y, AxisCode.contactX, AxisCode.contactY].contains(code)
        if isPosition { change { $0.axes[code] = axis } }
        if code == AxisCode.belowContacts { change { $0.hasAxesBelowContacts = true } }
    }

    mutating func set(_ code: Int, change body: (inout DeviceAxis) -> Void) {
        var axis = current.flatMap { heads[$0].axes[code] } ?? DeviceAxis(minimum: 0, maximum: 0)
        body(&axis)
        set(axis, code)
    }

    /// Returns whether a device's contact axes are known to mean something else.
    func hasOtherAxes(_ device: Int) -> Bool { heads.contains { $0.device == device && $0.hasAxesBelowContacts } }

    /// Returns whether a device other than this one tells contacts apart.
    func isOtherForContacts(than device: Int) -> Bool {
        guard let contacts = heads.first(where: \.hasContacts) else { return false }
        return contacts.device != device && heads.contains { $0.device == device }
    }

    /// Describes a device. A recording that names no devices is from the one that tells contacts apart.
    func description(of device: Int?) -> DeviceDescription? {
        let named = heads.first { $0.device == device }
        guard named == nil, device ?? InputEvent.onlyDevice == InputEvent.onlyDevice else { return named?.description }
        return (heads.first(where: \.hasContacts) ?? heads.first)?.description
    }
}
