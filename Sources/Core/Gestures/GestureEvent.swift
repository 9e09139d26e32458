// A gesture recognizer's reports, in UIKit's terms: a phase, a focus, and a value that is cumulative since `began`.

import MapCamera

/// The phase of a gesture. (UIKit: `UIGestureRecognizer.State`.)
public enum GesturePhase: CaseIterable, Codable, Sendable {
    /// The fingers have been recognized as this gesture.
    case began
    /// The fingers have moved.
    case changed
    /// The fingers have left the screen: a pan may fling.
    case ended
    /// The gesture was cancelled. The camera stays where it is, without a fling.
    case cancelled
}

/// The gestures of Google's map, plus the position reports of other recognizers.
///
/// The cases are in the order in which one frame reports them. Pan comes first: zooms and rotations are about the
/// focus, to which the pan has already moved its place.
public enum GestureKind: CaseIterable, Codable, Sendable {
    /// A finger drags the map. (UIKit: `UIPanGestureRecognizer`.)
    case pan
    /// Two fingers zoom. (UIKit: `UIPinchGestureRecognizer`.)
    case pinch
    /// Two fingers rotate the map. (UIKit: `UIRotationGestureRecognizer`.)
    case rotate
    /// Two fingers side by side tilt the map: up is towards the horizon.
    case tilt
    /// A tap and a drag by one finger.
    case oneFingerZoom
    /// Two taps by one finger.
    case doubleTap
    /// One tap by two fingers.
    case twoFingerTap
    /// Another gesture recognizer, such as a map with its own, moves the camera and reports its position.
    case position

    /// Whether the gesture is complete when it is reported, and so is never active.
    public var isTap: Bool {
        switch self {
        case .doubleTap, .twoFingerTap: true
        case .pan, .pinch, .rotate, .tilt, .oneFingerZoom, .position: false
        }
    }

    /// Whether the gesture changes the zoom or the bearing; meanwhile, a pan may have to wait.
    package var zoomsOrRotates: Bool {
        switch self {
        case .pinch, .rotate, .oneFingerZoom, .doubleTap, .twoFingerTap: true
        case .pan, .tilt, .position: false
        }
    }
}

/// One report of one gesture.
public struct GestureEvent: Equatable, Codable, Sendable {
    /// The cumulative value since `began`.
    public enum Value: Equatable, Codable, Sendable {
        /// Points.
        case pan(ScreenPoint)
        /// A factor above 0.
        case pinch(Double)
        /// Degrees, clockwise positive, not wrapped.
        case rotate(Double)
        /// Points, down positive.
        case tilt(Double)
        /// Points, down positive.
        case oneFingerZoom(Double)
        /// The camera's position: the only value that is absolute.
        case position(CameraPosition)
    }

    /// Which gesture it is.
    public var kind: GestureKind
    /// The phase of the gesture. A tap is always ``GesturePhase/ended``.
    public var phase: GesturePhase
    /// `nil` if it is omitted: then it is 0 (1 for a pinch), or the last value on `ended`; a position then stays as it
    /// is. A tap has none.
    public var value: Value?
    /// The centroid of the fingers; `nil` stands for the centre of the viewport less its padding.
    public var focus: ScreenPoint?
    /// The pan's velocity when it ended, in points per second; if `nil`, it is measured from the samples.
    public var velocity: ScreenPoint?
    /// The time of the report, in milliseconds of the reporter's clock; if `nil`, it is the time of arrival.
    public var time: Double?

    /// Creates a report; the members describe the defaults.
    ///
    /// The value's case must match the kind.
    @inlinable
    public init(
        _ kind: GestureKind, _ phase: GesturePhase, _ value: Value? = nil, focus: ScreenPoint? = nil,
        velocity: ScreenPoint? = nil, time: Double? = nil
    ) {
        self.kind = kind
        self.phase = phase
        self.value = value
        self.focus = focus
        self.velocity = velocity
        self.time = time
    }
}

extension GestureEvent.Value {
    /// The kind of gesture that has this value.
    package var kind: GestureKind {
        switch self {
        case .pan: .pan
        case .pinch: .pinch
        case .rotate: .rotate
        case .tilt: .tilt
        case .oneFingerZoom: .oneFingerZoom
        case .position: .position
        }
    }

    /// The value as it is printed: points and degrees with 6 decimals, a scale with 9; a position unchanged.
    package var rounded: Self {
        switch self {
        case .pan(let translation): .pan(translation.rounded)
        case .pinch(let scale): .pinch(max(Gestures.rounded(scale, 1e9), 1e-9))
        case .rotate(let degrees): .rotate(Gestures.rounded(degrees, 1e6))
        case .tilt(let y): .tilt(Gestures.rounded(y, 1e6))
        case .oneFingerZoom(let y): .oneFingerZoom(Gestures.rounded(y, 1e6))
        case .position: self
        }
    }
}

extension ScreenPoint {
    /// The point, rounded to 6 decimals.
    package var rounded: ScreenPoint { ScreenPoint(x: Gestures.rounded(x, 1e6), y: Gestures.rounded(y, 1e6)) }
}

private func rounded(_ number: Double, _ units: Double) -> Double { (number * units).rounded() / units }

/// Identifies one of a camera's gestures: its reporter, its kind, and the reporter's own name for it.
public struct GestureKey: Hashable, Codable, Sendable {
    /// The reporter's name for one of several gestures of a kind.
    public enum Label: Hashable, Codable, Sendable {
        /// No name, for the only gesture of its kind.
        case none
        /// A number, such as a finger's id.
        case number(Int64)
        /// A word.
        case text(String)
    }

    /// The reporter of the gesture: any unique number.
    public var feed: Int
    /// The gesture's kind.
    public var kind: GestureKind
    /// The reporter's own name for it.
    public var label: Label

    /// Creates a key from its three parts.
    public init(feed: Int, kind: GestureKind, label: Label = .none) {
        self.feed = feed
        self.kind = kind
        self.label = label
    }
}

/// Which gestures move the camera. (Google: `GMSUISettings`.)
public struct GestureSettings: Equatable, Codable, Sendable {
    /// Pans; if off, the other gestures leave the target where it is.
    public var scroll = true
    /// Pinches, taps and one-finger zooms.
    public var zoom = true
    /// Rotations.
    public var rotate = true
    /// Tilts.
    public var tilt = true
    /// If off, zoom and rotation are about the target, and pans wait until they end.
    public var scrollDuringRotateOrZoom = true
    /// Whether a pan continues as a fling once its finger has left the screen.
    public var fling = true
    /// Whether a pinch and a rotation continue likewise.
    public var inertia = false

    /// The settings of a new camera: everything but inertia.
    public init() {}

    /// Whether a gesture of this kind has an effect.
    public func allows(_ kind: GestureKind) -> Bool {
        switch kind {
        case .pan: scroll
        case .pinch, .oneFingerZoom, .doubleTap, .twoFingerTap: zoom
        case .rotate: rotate
        case .tilt: tilt
        case .position: true
        }
    }
}
