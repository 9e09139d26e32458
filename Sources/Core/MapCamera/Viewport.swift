// The rectangle of the screen that shows the map, in points; the origin is top-left, y points down.

/// A point of the screen, in points from the viewport's top-left corner; or the difference of two points.
public struct ScreenPoint: Equatable, Codable, Sendable {
    /// Points to the right.
    public var x: Double
    /// Points down.
    public var y: Double

    /// Creates a point, or a difference of two points.
    public init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }

    /// Adds a difference to a point.
    public static func + (a: ScreenPoint, b: ScreenPoint) -> ScreenPoint { ScreenPoint(x: a.x + b.x, y: a.y + b.y) }
    /// Returns the difference of two points.
    public static func - (a: ScreenPoint, b: ScreenPoint) -> ScreenPoint { ScreenPoint(x: a.x - b.x, y: a.y - b.y) }

    /// Returns the point at a share of the straight way to another one.
    package func towards(_ other: ScreenPoint, _ share: Double) -> ScreenPoint {
        ScreenPoint(x: x + (other.x - x) * share, y: y + (other.y - y) * share)
    }
}

/// Distances from the four edges of a viewport, in points. (UIKit: `UIEdgeInsets`.)
public struct EdgeInsets: Equatable, Codable, Sendable {
    /// Points from the top edge.
    public var top: Double
    /// Points from the left edge.
    public var left: Double
    /// Points from the bottom edge.
    public var bottom: Double
    /// Points from the right edge.
    public var right: Double

    /// Creates insets in points; omitted sides have none.
    public init(top: Double = 0, left: Double = 0, bottom: Double = 0, right: Double = 0) {
        self.top = top
        self.left = left
        self.bottom = bottom
        self.right = right
    }

    /// Creates the same inset on all four sides.
    public init(all inset: Double) {
        self.init(top: inset, left: inset, bottom: inset, right: inset)
    }

    static func + (a: EdgeInsets, b: EdgeInsets) -> EdgeInsets {
        EdgeInsets(top: a.top + b.top, left: a.left + b.left, bottom: a.bottom + b.bottom, right: a.right + b.right)
    }
}

/// The size of the map on the screen and the padding that moves its centre. (Google: `GMSMapView.padding`.)
public struct Viewport: Equatable, Codable, Sendable {
    /// The width in points, above 0.
    public var width: Double
    /// The height in points, above 0.
    public var height: Double
    /// The insets that cover the map at its edges, in points; each 0 or more.
    public var padding: EdgeInsets

    /// Creates a viewport in points, by default without padding.
    public init(width: Double, height: Double, padding: EdgeInsets = EdgeInsets()) {
        self.width = width
        self.height = height
        self.padding = padding
    }

    /// Whether a camera can have this viewport.
    package var isPossible: Bool {
        min(width, height) > 0 && max(width, height).isFinite
            && [padding.top, padding.left, padding.bottom, padding.right].allSatisfy { $0 >= 0 && $0.isFinite }
    }

    /// The viewport of a new camera: an iPhone screen.
    public static let standard = Viewport(width: 390, height: 844)

    /// The centre of the viewport minus its padding: where the target is on the screen.
    public var center: ScreenPoint { center(insetBy: EdgeInsets()) }

    /// Returns the centre of the area inside the padding and further insets.
    func center(insetBy insets: EdgeInsets) -> ScreenPoint {
        let edges = padding + insets
        return ScreenPoint(
            x: (width + edges.left - edges.right) / 2,
            y: (height + edges.top - edges.bottom) / 2)
    }

    /// Returns the nearest point within the viewport.
    public func clamp(_ point: ScreenPoint) -> ScreenPoint {
        ScreenPoint(x: point.x.clamped(to: 0...width), y: point.y.clamped(to: 0...height))
    }
}
