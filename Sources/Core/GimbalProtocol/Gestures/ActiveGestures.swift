// The active gestures of a camera, derived from reports and commands as the daemon's `GestureTracker` does, for readers
// of a trace or a recording. A test compares the two.

import Gestures

/// The active gestures of one camera, each with a value of the caller's, such as the time it began.
package struct ActiveGestures<Value> {
    package struct Gesture {
        package let key: GestureKey
        /// The caller's value from the gesture's beginning.
        package let value: Value
    }

    /// The active gestures, in the order they began.
    package private(set) var all: [Gesture] = []
    /// The gestures that move the camera; the others are never active.
    package private(set) var settings: GestureSettings
    /// The most gestures active at one time; further ones are ignored.
    private let limit: Int

    /// Creates a tracker without active gestures.
    package init(_ settings: GestureSettings = GestureSettings(), limit: Int = .max) {
        self.settings = settings
        self.limit = limit
    }

    package var isEmpty: Bool { all.isEmpty }

    /// The value of a gesture; `nil` if it is not active.
    package subscript(key: GestureKey) -> Value? { all.first { $0.key == key }?.value }

    /// Follows a report. A tap is never active: it is over when it is reported.
    ///
    /// - Parameter value: stored with the gesture if this report begins it.
    /// - Returns: the gesture that ended. One that begins again ends first.
    @discardableResult
    package mutating func handle(_ report: GestureReport, _ value: Value) -> Gesture? {
        let (kind, phase) = (report.event.kind, report.event.phase)
        guard !kind.isTap, settings.allows(kind) else { return nil }
        let found = all.firstIndex { $0.key == report.key }
        if found != nil, phase == .changed { return nil }
        let ended = found.map { all.remove(at: $0) }
        switch phase {
        case .began, .changed:
            if all.count < limit { all.append(Gesture(key: report.key, value: value)) }
        case .ended, .cancelled: break
        }
        return ended
    }

    /// Follows a command; other requests change nothing.
    ///
    /// - Returns: the cancelled gestures. If their fingers stay down, they become active again with their next report.
    @discardableResult
    package mutating func handle(_ command: ClientRequest) -> [Gesture] {
        if command.cancelsGestures { return cancelAll() }
        guard case .set(.gestures(let switches)) = command else { return [] }
        settings = switches.applied(to: settings)
        let cancelled = all.filter { !settings.allows($0.key.kind) }
        all.removeAll { !settings.allows($0.key.kind) }
        return cancelled
    }

    /// Cancels every gesture, as the end of a trace does.
    ///
    /// - Returns: the gestures that were active.
    package mutating func cancelAll() -> [Gesture] {
        defer { all = [] }
        return all
    }
}

extension ActiveGestures: Sendable where Value: Sendable {}
extension ActiveGestures.Gesture: Sendable where Value: Sendable {}
