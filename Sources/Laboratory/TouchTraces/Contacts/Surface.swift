// Maps device units to points of a viewport: a pure mapping, chosen once per recording from what is known about its
// device. Each axis has its own scale, since the units of many devices are not square.

import MapCamera
import Touches

/// How a device is held, relative to how it reports positions.
public enum Rotation: Int, CaseIterable, Sendable {
    /// As reported.
    case none = 0
    /// A quarter turn clockwise.
    case quarter = 90
    /// Upside down.
    case half = 180
    /// A quarter turn counterclockwise.
    case threeQuarters = 270

    /// Returns a difference in points, turned.
    func turn(_ difference: ScreenPoint) -> ScreenPoint {
        switch self {
        case .none: difference
        case .quarter: ScreenPoint(x: -difference.y, y: difference.x)
        case .half: ScreenPoint(x: -difference.x, y: -difference.y)
        case .threeQuarters: ScreenPoint(x: difference.y, y: -difference.x)
        }
    }
}

/// The largest observed positions of contacts, and the smallest if negative; in device units.
struct ObservedRange {
    private(set) var least = ScreenPoint(x: 0, y: 0)
    private(set) var most = ScreenPoint(x: 0, y: 0)

    /// The ranges assumed for touchscreens of unknown range, smallest first: pixels of phones, then ranges of drivers
    /// that do not know the pixels.
    private static let usual = [(1080.0, 2400.0), (1440, 3200), (4095, 4095), (32767, 32767)]

    /// Assumes the smallest usual range that includes everything observed so far, because more is still to come.
    mutating func assumeUsual() {
        guard let (x, y) = Self.usual.first(where: { most.x <= $0.0 && most.y <= $0.1 }) else { return }
        most = ScreenPoint(x: x, y: y)
    }

    mutating func add(_ contact: Contact) {
        least = ScreenPoint(x: min(least.x, contact.x), y: min(least.y, contact.y))
        most = ScreenPoint(x: max(most.x, contact.x), y: max(most.y, contact.y))
    }

    /// The axes of the range, never empty.
    var axes: (x: DeviceAxis, y: DeviceAxis) {
        (
            DeviceAxis(minimum: least.x, maximum: max(most.x, least.x + 1)),
            DeviceAxis(minimum: least.y, maximum: max(most.y, least.y + 1))
        )
    }
}

/// A device's surface as a viewport.
public struct Surface: Equatable, Sendable {
    /// Points per millimetre of a device that reports its size: 160 per inch, as on Android and nearly on iOS.
    static let pointsPerMillimetre = 160 / 25.4
    /// The longer side of a device that does not report its size, in points: a phone's.
    static let longerSide = 844.0
    /// The valid widths and heights of a trace's viewport, in points.
    static let sizes = 0.001...100_000.0
    /// Positions are clamped to this distance, in points.
    static let farthest = 1e6
    /// From this length on, two equal axes are not pixels, but an abstract range over a 16:9 screen.
    static let abstractLength = 4096.0

    /// The viewport of the touches: the surface, turned.
    public let viewport: Viewport
    private let origin: ScreenPoint
    private let scale: ScreenPoint
    private let rotation: Rotation
    /// The size of the surface before turning.
    private let flat: ScreenPoint

    /// Creates the surface of a device, from its description or its observed range.
    init(of device: DeviceDescription?, observed: ObservedRange, options: TraceOptions) {
        guard let (x, y) = device?.ranges else {
            self.init(observed, isInPoints: device?.isInPoints ?? false, options)
            return
        }
        if options.viewport == nil, let viewport = device?.header?.viewport, x.resolution > 0, y.resolution > 0 {
            // Ranges are whole units, so for other viewport sizes only the resolution is exact.
            let scale = ScreenPoint(
                x: Self.pointsPerMillimetre / x.resolution, y: Self.pointsPerMillimetre / y.resolution)
            self.init(viewport, options, origin: ScreenPoint(x: x.minimum, y: y.minimum), scale: scale)
            return
        }
        let viewport = options.viewport ?? device.flatMap(Self.size) ?? Self.size(x, y)
        self.init(
            viewport, options, origin: ScreenPoint(x: x.minimum, y: y.minimum),
            scale: ScreenPoint(x: viewport.width / x.length, y: viewport.height / y.length))
    }

    /// Assumes square units, since nothing says otherwise.
    private init(_ observed: ObservedRange, isInPoints: Bool, _ options: TraceOptions) {
        let (x, y) = observed.axes
        if isInPoints {
            let standard = Viewport(
                width: min(max(x.maximum, Viewport.standard.width), Self.sizes.upperBound),
                height: min(max(y.maximum, Viewport.standard.height), Self.sizes.upperBound))
            self.init(
                options.viewport ?? standard, options, origin: ScreenPoint(x: 0, y: 0),
                scale: ScreenPoint(x: 1, y: 1))
            return
        }
        let viewport = options.viewport ?? Self.square(x, y)
        let scale = min(viewport.width / x.length, viewport.height / y.length)
        self.init(
            viewport, options, origin: ScreenPoint(x: x.minimum, y: y.minimum), scale: ScreenPoint(x: scale, y: scale))
    }

    private init(_ viewport: Viewport, _ options: TraceOptions, origin: ScreenPoint, scale: ScreenPoint) {
        rotation = options.rotation
        self.origin = origin
        self.scale = scale
        flat = ScreenPoint(x: viewport.width, y: viewport.height)
        let isUpright = rotation == .none || rotation == .half
        self.viewport = isUpright ? viewport : Viewport(width: viewport.height, height: viewport.width)
    }

    // MARK: Sizes

    /// Returns the viewport of a device that reports its size.
    private static func size(_ device: DeviceDescription) -> Viewport? {
        guard let (x, y) = device.ranges else { return nil }
        if device.isInPoints { return Viewport(width: x.length, height: y.length) }
        guard let size = device.sizeMm else { return nil }
        return Viewport(width: size.width * pointsPerMillimetre, height: size.height * pointsPerMillimetre)
    }

    /// Returns the viewport of a device that reports only its ranges.
    private static func size(_ x: DeviceAxis, _ y: DeviceAxis) -> Viewport {
        if x.minimum == y.minimum, x.maximum == y.maximum, x.length >= abstractLength - 1 {
            return Viewport(width: longerSide, height: longerSide * 9 / 16)
        }
        return square(x, y)
    }

    private static func square(_ x: DeviceAxis, _ y: DeviceAxis) -> Viewport {
        // Even a line needs some width.
        if x.length < y.length { return Viewport(width: max(longerSide * x.length / y.length, 1), height: longerSide) }
        return Viewport(width: longerSide, height: max(longerSide * y.length / x.length, 1))
    }

    /// The extent of the viewport in device units.
    public var range: ScreenPoint { ScreenPoint(x: flat.x / scale.x, y: flat.y / scale.y) }

    // MARK: Points

    /// Returns the point of a position in device units. It may be outside the viewport.
    public func point(x: Double, y: Double) -> ScreenPoint {
        let (x, y) = (Self.near((x - origin.x) * scale.x), Self.near((y - origin.y) * scale.y))
        return switch rotation {
        case .none: ScreenPoint(x: x, y: y)
        case .quarter: ScreenPoint(x: flat.y - y, y: x)
        case .half: ScreenPoint(x: flat.x - x, y: flat.y - y)
        case .threeQuarters: ScreenPoint(x: y, y: flat.x - x)
        }
    }

    private static func near(_ length: Double) -> Double { min(max(length, -farthest), farthest) }

    /// Converts a frame of contacts into a frame of touches, whose memory is reused.
    public func map(_ frame: ContactFrame, into touches: inout TouchFrame) {
        touches.timeMs = Double(frame.time) / 1000
        touches.isCancelled = frame.isCancelled
        touches.touches.removeAll(keepingCapacity: true)
        for contact in frame.contacts {
            touches.touches.append(Touch(id: contact.id, position: point(x: contact.x, y: contact.y)))
        }
    }
}
