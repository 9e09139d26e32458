// The surfaces whose fingers move one camera: a recognizer for each, and a clock that never goes back. Live feeds,
// traces, and readers of a trace all use it.
// Invariant: at most `limit` surfaces are known; those without fingers are only kept for what may still follow a tap or
// a fling, and make way for others.

import Gestures
import MapCamera

/// Tells apart the surfaces that feed one camera.
package struct SurfaceKey: Hashable, Codable, Sendable {
    /// The feed of its fingers, as in a ``/Gestures/GestureKey``.
    package var feed: Int
    /// The reporter's own name for it.
    package var label: GestureKey.Label

    package init(feed: Int, label: GestureKey.Label) { (self.feed, self.label) = (feed, label) }
}

/// The surfaces that feed one camera.
package struct TouchSurfaces: Codable, Sendable {
    /// One of them.
    package struct Surface: Codable, Sendable {
        package let key: SurfaceKey
        /// No other surface of the camera has had it.
        package let number: Int
        package var recognizer: GestureRecognizer
        fileprivate var clock = SurfaceClock()

        /// The feed of the gestures made from its fingers. Feeds that report gestures themselves count from 1.
        package var gestureFeed: Int { -number }
        /// The fingers that are on it.
        package var touches: [Touch] { recognizer.grip.touches }
        package var isTouched: Bool { recognizer.grip.count > 0 }

        fileprivate init(_ key: SurfaceKey, number: Int) {
            (self.key, self.number, recognizer) = (key, number, GestureRecognizer())
        }
    }

    /// What a frame of fingers has come to.
    package struct Outcome: Sendable {
        /// The surface, after the frame.
        package let surface: Surface
        /// The frame's time on the surface's own clock, in milliseconds.
        package let timeMs: Double
        /// Whether a surface that was not there before would have made the same of it.
        package let wasNew: Bool

        /// The reports that it makes, in order, rounded to the digits that a trace has which is made of a recording: the same
        /// fingers move a camera to the same place, whichever program recognizes them.
        package var events: [GestureEvent] { surface.recognizer.events.map(\.rounded) }
    }

    /// The least recently used first.
    package private(set) var all: [Surface] = []
    /// The number of the newest.
    package private(set) var lastNumber = 0
    package var limit: Int

    /// The default limit of surfaces of a camera.
    package static let usualLimit = 64

    package init(limit: Int) { self.limit = limit }

    /// Whether its numbers are such as it gives: what comes from another process may have any.
    package var isPossible: Bool { lastNumber >= 0 && all.allSatisfy { 0 < $0.number && $0.number <= lastNumber } }

    /// How many bytes it takes beside its own size, roughly.
    package var byteCount: Int {
        all.reduce(0) { $0 + MemoryLayout<Surface>.stride + $1.recognizer.byteCount }
    }

    /// The surface of a key, if it is known.
    package subscript(key: SurfaceKey) -> Surface? { all.last { $0.key == key } }

    /// Follows the fingers of a surface into a frame.
    ///
    /// - Parameters:
    ///   - timeMs: what the surface tells; it may go back.
    ///   - isCancelled: whether the fingers that were there before are lost, and have not lifted.
    ///   - tellsAngles: whether the angle between two fingers can be trusted.
    /// - Returns: `nil` where there was no finger and none has come, and for one surface too many where all have fingers.
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

    /// Loses the fingers of a surface that is gone, and forgets it.
    ///
    /// - Returns: what that has come to; `nil` where there were none.
    package mutating func remove(_ key: SurfaceKey) -> Outcome? {
        guard let surface = self[key] else { return nil }
        let outcome = handle([], of: key, at: surface.clock.last - surface.clock.shift, isCancelled: true)
        all.removeAll { $0.key == key }
        return surface.isTouched ? outcome : nil
    }
}

extension GestureEvent {
    /// Points and degrees with 6 decimals, and a scale with 9.
    fileprivate var rounded: GestureEvent {
        var event = self
        event.value = value?.rounded
        event.focus = focus?.rounded
        event.velocity = velocity?.rounded
        return event
    }
}

/// A surface's own clock, made fit: it may be set, but never goes back.
struct SurfaceClock: Codable, Sendable {
    /// A clock that goes back further than this was set; less is a jitter. Milliseconds.
    private static let jitter = 1000.0
    /// No clock goes on beyond this: a line's times end there.
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
