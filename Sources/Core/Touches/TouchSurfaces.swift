// The surfaces whose fingers move one camera: a recognizer for each, and a clock that never goes back. Used by live
// feeds, traces, and readers of traces.
// Invariant: at most `limit` surfaces are known; those without fingers are kept only for what may follow a tap or a
// fling, and make way for others.

import Gestures
import MapCamera

/// Identifies one of the surfaces that feed a camera.
package struct SurfaceKey: Hashable, Codable, Sendable {
    /// The feed of its fingers, as in a ``/Gestures/GestureKey``.
    package var feed: Int
    /// The reporter's own name for the surface.
    package var label: GestureKey.Label

    package init(feed: Int, label: GestureKey.Label) { (self.feed, self.label) = (feed, label) }
}

/// The surfaces that feed one camera.
package struct TouchSurfaces: Codable, Sendable {
    /// A surface and its recognizer.
    package struct Surface: Codable, Sendable {
        package let key: SurfaceKey
        /// A number that no other surface of the camera has had.
        package let number: Int
        package var recognizer: GestureRecognizer
        fileprivate var clock = SurfaceClock()

        /// The feed of the gestures made from its fingers. Feeds that report gestures themselves count from 1.
        package var gestureFeed: Int { -number }
        /// The fingers on the surface.
        package var touches: [Touch] { recognizer.grip.touches }
        package var isTouched: Bool { recognizer.grip.count > 0 }

        fileprivate init(_ key: SurfaceKey, number: Int) {
            (self.key, self.number, recognizer) = (key, number, GestureRecognizer())
        }
    }

    /// The result of a frame of fingers.
    package struct Outcome: Sendable {
        /// The surface, after the frame.
        package let surface: Surface
        /// The frame's time on the surface's own clock, in milliseconds.
        package let timeMs: Double
        /// Whether a new surface would have handled the frame in the same way.
        package let wasNew: Bool

        /// The reports of the frame, in order, rounded to the digits of a trace made of a recording: the same fingers
        /// move a camera to the same place, whichever program recognizes them.
        package var events: [GestureEvent] { surface.recognizer.events.map(\.rounded) }
    }

    /// The known surfaces, the least recently used first.
    package private(set) var all: [Surface] = []
    /// The number of the newest surface.
    package private(set) var lastNumber = 0
    package var limit: Int

    /// The default of a camera's surface limit.
    package static let usualLimit = 64

    package init(limit: Int) { self.limit = limit }

    /// Whether the numbers are valid; values from another process are checked.
    package var isPossible: Bool { lastNumber >= 0 && all.allSatisfy { 0 < $0.number && $0.number <= lastNumber } }

    /// Roughly how many bytes it takes beyond its own size.
    package var byteCount: Int {
        all.reduce(0) { $0 + MemoryLayout<Surface>.stride + $1.recognizer.byteCount }
    }

    /// Returns the surface of a key, if it is known.
    package subscript(key: SurfaceKey) -> Surface? { all.last { $0.key == key } }

    /// Handles a frame of a surface's fingers.
    ///
    /// - Parameters:
    ///   - timeMs: the surface's time; it may go back.
    ///   - isCancelled: whether the fingers that were there before are lost rather than lifted.
    ///   - tellsAngles: whether the angle between two fingers can be trusted.
    /// - Returns: `nil` if there was no finger and none has come, or at the limit if all surfaces have fingers.
    package mutating func handle(
        _ touches: [Touch], of key: SurfaceKey, at timeMs: Double, isCancelled: Bool = false, tellsAngles: Bool = true
    ) -> Outcome? {
        var surface: Surface
        if let index = all.lastIndex(where: { $0.key == key }) {
            surface = all.remove(at: index)
        } else {
            guard !touches.isEmpty else { return nil }
            if all.count >= limit {
                guard let index = all.firstIndex(where: { !$0.isTouched }) else { return nil }
                all.remove(at: index)
            }
            lastNumber += 1
            surface = Surface(key, number: lastNumber)
        }
        let time = surface.clock.time(of: timeMs)
        let wasNew = surface.recognizer.isNew(at: time)
        surface.recognizer.recognizesRotation = tellsAngles
        surface.recognizer.handle(TouchFrame(timeMs: time, touches: touches, isCancelled: isCancelled))
        all.append(surface)
        return Outcome(surface: surface, timeMs: time, wasNew: wasNew)
    }

    /// Removes a surface that is gone, and cancels its fingers.
    ///
    /// - Returns: the result; `nil` if it had no fingers.
    package mutating func remove(_ key: SurfaceKey) -> Outcome? {
        guard let surface = self[key] else { return nil }
        let outcome = handle([], of: key, at: surface.clock.last - surface.clock.shift, isCancelled: true)
        all.removeAll { $0.key == key }
        return surface.isTouched ? outcome : nil
    }
}

extension GestureEvent {
    /// The report with points and degrees rounded to 6 decimals, and a scale to 9.
    fileprivate var rounded: GestureEvent {
        var event = self
        event.value = value?.rounded
        event.focus = focus?.rounded
        event.velocity = velocity?.rounded
        return event
    }
}

/// A surface's clock, corrected: it may be set, but never goes back.
struct SurfaceClock: Codable, Sendable {
    /// A clock that goes back further than this was set; less is jitter. In milliseconds.
    private static let jitter = 1000.0
    /// The latest time, which is the end of the range of times in lines.
    private static let latest = 1e15

    private(set) var last = -Double.infinity
    /// The offset that continues the time after the clock was set.
    private(set) var shift = 0.0

    mutating func time(of told: Double) -> Double {
        var time = min(told + shift, Self.latest)
        if time < last {
            if last - time > Self.jitter { shift += last - time }
            time = last
        }
        last = time
        return time
    }
}
