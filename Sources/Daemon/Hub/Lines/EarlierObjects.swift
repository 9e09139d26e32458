// What the earlier objects of an array change for the later ones, before any of them is applied.

import Gestures
import MapCamera
import GimbalProtocol
import Touches

/// The effects of the objects of a line that precede one. They are gathered only when a request comes near a limit or
/// depends on an earlier one, and each question reads each object once.
struct EarlierObjects {
    /// The gestures that are active on a camera.
    struct Active {
        var own: Set<GestureKey> = []
        /// Those of other peers.
        var others = 0

        init() {}

        init(on camera: HostedCamera?, of peer: Int) {
            own = Set(camera?.gestures.keys(of: peer) ?? [])
            others = (camera?.gestures.count ?? 0) - own.count
        }

        mutating func note(_ key: GestureKey, begins: Bool) {
            if begins { own.insert(key) } else { own.remove(key) }
        }
    }

    /// The surfaces that have fingers on a camera.
    struct Touched {
        var own: Set<GestureKey.Label> = []
        /// Those of other peers.
        var others = 0

        init() {}

        init(on camera: HostedCamera?, by peer: Int) {
            for surface in camera?.surfaces.all ?? [] where surface.isTouched {
                if surface.key.feed == peer { own.insert(surface.key.label) } else { others += 1 }
            }
        }

        mutating func note(_ fingers: Request.Fingers) {
            if fingers.touches.isEmpty { own.remove(fingers.surface) } else { own.insert(fingers.surface) }
        }
    }

    /// The cameras that come and go, by their names.
    struct Cameras {
        var made: Set<String> = []
        /// Those of the cameras that were there for everybody before the line. Some may be made anew.
        private(set) var removed: Set<String> = []

        mutating func remove(_ name: String, isPermanent: Bool) {
            if made.remove(name) == nil, isPermanent { removed.insert(name) }
        }

        /// Whether what was there before the line is not there any more.
        func isRemoved(_ name: String) -> Bool { removed.contains(name) }
    }

    var cameras = Lookback(Cameras())
    /// Whether one removes a camera.
    var removesCamera = false
    /// The names of cameras that the peer is subscribed to.
    var subscribed: Lookback<Set<String>>?
    /// By the camera's name.
    var active = Lookback<[String: Active]>([:])
    /// By the camera's name.
    var touched = Lookback<[String: Touched]>([:])
    /// How many fingers there are, that of the object at hand included.
    var fingers = 0
    /// How many markers there were.
    var markers = 0
    /// How many requests there were that wait.
    var waits = 0
    /// Those that are set, by the camera's name.
    var zoomRanges = Lookback<[String: ZoomRange]>([:])
}

/// Something that is gathered from the objects of a line, from the first on, each once.
struct Lookback<State> {
    private(set) var state: State
    private var seen = 0

    init(_ state: State) { self.state = state }

    /// Brings it up to date with all objects before one.
    mutating func advance(to index: Int, _ add: (inout State, Int) -> Void) {
        while seen < index {
            add(&state, seen)
            seen += 1
        }
    }
}

extension GestureEvent {
    /// Whether the gesture is active after this report, if its kind is enabled.
    var begins: Bool { !kind.isTap && (phase == .began || phase == .changed) }
}
