// The gestures in requests: direct reports, and reports derived from fingers exactly as the daemon does it, for readers
// of a trace or a recording that have no camera.

import Gestures
import Touches

/// A report of a gesture, and the key of the gesture.
package struct GestureReport: Sendable {
    package let key: GestureKey
    package let event: GestureEvent

    package init(_ event: GestureEvent, of key: GestureKey) { (self.event, self.key) = (event, key) }
}

/// Derives the gesture reports from the requests that one connection sends to one camera.
package struct GestureReporter: Sendable {
    /// The feed of directly reported gestures. Each surface is a feed of its own.
    private static let feed = 0

    private var surfaces = TouchSurfaces(limit: TouchSurfaces.usualLimit)

    /// Creates a reporter that has seen no fingers.
    package init() {}

    /// The number of fingers that are down, on all surfaces.
    package var fingersDown: Int { surfaces.all.reduce(0) { $0 + $1.touches.count } }

    /// Whether a tap was seen that could be the first of a double tap.
    package var waitsForSecondTap: Bool { surfaces.all.contains { $0.recognizer.waitsForSecondTap } }

    /// Returns the fingers on a surface.
    package func touches(on surface: GestureKey.Label) -> [Touch] { surfaces[Self.key(surface)]?.touches ?? [] }

    /// Returns the reports of a request, in order; none if it is not about gestures.
    ///
    /// - Parameter timeMs: the line's time in milliseconds: in an array, only the first object needs one.
    package mutating func reports(of request: Request, at timeMs: Double) -> [GestureReport] {
        switch request.body {
        case .gesture(let gesture):
            let key = GestureKey(feed: Self.feed, kind: gesture.event.kind, label: gesture.label)
            return [GestureReport(gesture.event, of: key)]
        case .touch(let fingers):
            let outcome = surfaces.handle(
                fingers.touches, of: Self.key(fingers.surface), at: fingers.surfaceTimeMs ?? timeMs,
                isCancelled: fingers.isCancelled, tellsAngles: fingers.tellsAngles)
            guard let outcome else { return [] }
            return outcome.events.map {
                GestureReport($0, of: GestureKey(feed: outcome.surface.gestureFeed, kind: $0.kind))
            }
        default: return []
        }
    }

    private static func key(_ surface: GestureKey.Label) -> SurfaceKey { SurfaceKey(feed: feed, label: surface) }
}
