// Records a live camera as a tour: where it rests, how long it moves to get there, and how long it stays.

import GimbalProtocol

/// Makes keyframes from a camera's events.
package struct TourRecorder: Sendable {
    /// The places where the camera has rested so far.
    package private(set) var keyframes: [TourKeyframe] = []
    /// When the current movement began, in milliseconds of the camera's clock; `nil` at rest.
    private var startMs: Double?
    /// When the camera came to rest; `nil` before its first movement.
    private var restMs: Double?
    /// Whether an event would have made the tour longer than allowed.
    private var isOver = false

    package init() {}

    /// Whether the tour has as many keyframes as allowed, or lasts as long as allowed.
    package var isFull: Bool { isOver || keyframes.count == TourKeyframe.most }

    /// Reads an event: `subscribed`, which gives the first place, and movements. If a replayed trace resets the
    /// camera's clock, the camera is at the reset position at once. A movement whose beginning was missed becomes a
    /// flight without a given duration; one that was already under way at first leads to the first place.
    package mutating func read(_ event: CameraEvent) {
        guard !isOver else { return }
        let before = keyframes
        note(event)
        isOver = TourKeyframe.lastingMs(keyframes) > TourKeyframe.longestMs
        if isOver { keyframes = before }
    }

    private mutating func note(_ event: CameraEvent) {
        switch event {
        case .subscribed(let subscribed):
            if keyframes.isEmpty { keyframes.append(TourKeyframe(subscribed.position)) }
        case .moveStarted(let move):
            guard startMs == nil else { return }
            startMs = move.timeMs
            if let restMs, let last = keyframes.indices.last {
                keyframes[last].waitMs = Self.duration(from: restMs, to: move.timeMs)
            }
        case .idle(let move):
            guard !isFull else { return }
            let start = startMs
            (startMs, restMs) = (nil, move.timeMs)
            if start == nil, keyframes.count == 1 {
                keyframes[0].position = move.position
            } else {
                keyframes.append(
                    TourKeyframe(move.position, durationMs: start.map { Self.duration(from: $0, to: move.timeMs) }))
            }
        case .reset(let reset):
            (startMs, restMs) = (nil, nil)
            guard !isFull else { return }
            keyframes.append(TourKeyframe(reset.position, durationMs: 0))
            restMs = reset.timeMs
        case .lagged: (startMs, restMs) = (nil, nil)
        default: break
        }
    }

    /// Returns the milliseconds between two times, rounded to a microsecond and limited to what a keyframe may have.
    private static func duration(from start: Double, to end: Double) -> Double {
        min(max(((end - start) * 1000).rounded() / 1000, 0), TourKeyframe.longestMs)
    }
}
