// The rectangle of screen that a camera looks through, in points; the origin is top-left, y points down.

/// A point of the screen, in points from the top-left corner of the viewport; or a difference of two.
public struct ScreenPoint: Equatable, Codable, Sendable {
    /// Points to the right.
    public var x: Double
    /// Points down.
    public var y: Double

    /// A point, or a difference of two.
    public init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }

    /// Adds a difference to a point.
    public static func + (a: ScreenPoint, b: ScreenPoint) -> ScreenPoint { ScreenPoint(x: a.x + b.x, y: a.y + b.y) }
    /// The difference of two points.
    public static func - (a: ScreenPoint, b: ScreenPoint) -> ScreenPoint { ScreenPoint(x: a.x - b.x, y: a.y - b.y) }
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

    /// Insets, in points; none on the sides that are left out.
    public init(top: Double = 0, left: Double = 0, bottom: Double = 0, right: Double = 0) {
        self.top = top
        self.left = left
        self.bottom = bottom
        self.right = right
    }

    /// The same inset on all four sides.
    public init(all inset: Double) {
        self.init(top: inset, left: inset, bottom: inset, right: inset)
    }

    static func + (a: EdgeInsets, b: EdgeInsets) -> EdgeInsets {
        EdgeInsets(top: a.top + b.top, left: a.left + b.left, bottom: a.bottom + b.bottom, right: a.right + b.right)
    }
}

/// The size of the map on the screen and the padding that moves its centre. (Google: `GMSMapView.padding`.)
public struct Viewport: Equatable, Codable, Sendable {
    /// Points, above 0.
    public var width: Double
    /// Points, above 0.
    public var height: Double
    /// What covers the map at its edges, in points; each 0 or more.
    public var padding: EdgeInsets

    /// A viewport in points, without padding where it is left out.
    public init(width: Double, height: Double, padding: EdgeInsets = EdgeInsets()) {
        self.width = width
        self.height = height
        self.padding = padding
    }

    /// Whether it is one that a camera can be seen through.
    package var isPossible: Bool {
        min(width, height) > 0 && max(width, height).isFinite
            && [padding.top, padding.left, padding.bottom, padding.right].allSatisfy { $0 >= 0 && $0.isFinite }
    }

    /// The viewport of a new camera: an iPhone's screen.
    public static let standard = Viewport(width: 390, height: 844)

    /// The centre of the viewport less its padding: where the camera's target is on the screen.
    public var center: ScreenPoint { center(insetBy: EdgeInsets()) }

    /// The centre of what is left of the viewport within its padding and further insets.
    func center(insetBy insets: EdgeInsets) -> ScreenPoint {
        let edges = padding + insets
        return ScreenPoint(
            x: (width + edges.left - edges.right) / 2,
            y: (height + edges.top - edges.bottom) / 2)
    }

    /// The point itself, or the nearest point on the viewport's edge.
    public func clamp(_ point: ScreenPoint) -> ScreenPoint {
        ScreenPoint(x: point.x.clamped(to: 0...width), y: point.y.clamped(to: 0...height))
    }
}
