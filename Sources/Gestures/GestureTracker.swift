// Gesture reports in, camera updates out. Keeps the last value of each active gesture, since reports are cumulative and
// updates are differences, and the last 100 ms of each pan, for the velocity that it ends with.
// Invariant: only gestures that the settings allow are active.

import MapCamera

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The active gestures of one camera.
public struct GestureTracker: Sendable {
    /// A pan that left the screen: what a fling begins with.
    public struct Release: Equatable, Sendable {
        public var focus: ScreenPoint
        /// Points per second.
        public var velocity: ScreenPoint
    }

    private struct Active: Sendable {
        let key: GestureKey
        var value: GestureEvent.Value
        var samples: SampleWindow?
        /// A pan that waited for a pinch or a rotation throws no fling.
        var waiting = false
    }

    public private(set) var settings = GestureSettings()
    private var active: [Active] = []
    private var release: Release?

    public init() {}

    /// Whether any finger is down, as far as the camera is concerned.
    public var isActive: Bool { !active.isEmpty }

    /// How many gestures of one feed are active.
    public func count(of feed: Int) -> Int { active.count { $0.key.feed == feed } }

    public func contains(_ key: GestureKey) -> Bool { active.contains { $0.key == key } }

    // MARK: Reports

    /// Takes a report that arrived at a time in milliseconds, and says what it does to the camera.
    public mutating func handle(
        _ event: GestureEvent, of key: GestureKey, at arrival: Double, viewport: Viewport
    ) -> CameraUpdate? {
        guard settings.allows(event.kind) else { return nil }
        let found = active.firstIndex { $0.key == key }
        switch event.phase {
        case .began:
            if let found { active.remove(at: found) }
            begin(key, from: event.kind.zero)
        case .changed:
            // No `began`: it begins here, and what it already was is no change.
            if found == nil { begin(key, from: event.value ?? event.kind.zero) }
        case .ended:
            guard found != nil else { return nil }
        case .cancelled:
            if let found { active.remove(at: found) }
            return nil
        }
        let index = active.firstIndex { $0.key == key } ?? 0
        let value = event.value ?? (event.phase == .ended ? active[index].value : event.kind.zero)
        let focus = event.focus.map(viewport.clamp) ?? viewport.center
        let waits = isHeldBack(event.kind)
        if waits { active[index].waiting = true }
        let update = waits ? nil : change(from: active[index].value, to: value, focus: focus)
        active[index].value = value
        if case .pan(let translation) = value {
            sample(event, translation, focus: focus, at: arrival, index: index)
        }
        if event.phase == .ended { active.remove(at: index) }
        return update
    }

    private mutating func begin(_ key: GestureKey, from value: GestureEvent.Value) {
        active.append(Active(key: key, value: value, samples: key.kind == .pan ? SampleWindow() : nil))
        release = nil
    }

    /// A pan waits while a pinch or a rotation is active, if the settings say so.
    private func isHeldBack(_ kind: GestureKind) -> Bool {
        guard kind == .pan, !settings.scrollDuringRotateOrZoom else { return false }
        return active.contains { $0.key.kind == .pinch || $0.key.kind == .rotate }
    }

    /// The camera update that a difference of values makes.
    private func change(from old: GestureEvent.Value, to new: GestureEvent.Value, focus: ScreenPoint) -> CameraUpdate? {
        let anchor = settings.scroll && settings.scrollDuringRotateOrZoom ? focus : nil
        switch (old, new) {
        case (.pan(let old), .pan(let new)) where old != new:
            return .pan(from: focus - (new - old), to: focus)
        case (.pinch(let old), .pinch(let new)) where old != new:
            return .zoomBy(log2(new / old), focus: anchor)
        case (.rotate(let old), .rotate(let new)) where old != new:
            return .rotateBy(old - new, focus: anchor)
        case (.tilt(let old), .tilt(let new)) where old != new:
            return .tiltBy(-0.5 * (new - old))
        default:
            return nil
        }
    }

    private mutating func sample(
        _ event: GestureEvent, _ translation: ScreenPoint, focus: ScreenPoint, at arrival: Double, index: Int
    ) {
        guard event.phase == .ended else {
            active[index].samples?.append(translation, at: event.time, arrival: arrival)
            return
        }
        guard !active[index].waiting else { return }
        let measured = active[index].samples?.velocity(of: translation, at: event.time, arrival: arrival)
        release = Release(focus: focus, velocity: event.velocity ?? measured ?? ScreenPoint(x: 0, y: 0))
    }

    // MARK: The end of a frame

    /// The pan that ended in this frame, if the frame has left no gesture active. To be asked at the end of each frame.
    public mutating func takeRelease() -> Release? {
        defer { release = nil }
        return isActive ? nil : release
    }

    // MARK: What ends gestures from outside

    /// Cancels every gesture, as a command does.
    public mutating func cancelAll() {
        active.removeAll(keepingCapacity: true)
        release = nil
    }

    /// Cancels the gestures of a feed that is gone.
    public mutating func cancel(feed: Int) {
        active.removeAll { $0.key.feed == feed }
    }

    /// Switches gestures on and off; an active gesture that is switched off is cancelled.
    public mutating func set(_ settings: GestureSettings) {
        self.settings = settings
        active.removeAll { !settings.allows($0.key.kind) }
        if !settings.scroll { release = nil }
    }
}

extension GestureKind {
    /// The value of a gesture that has just begun.
    var zero: GestureEvent.Value {
        switch self {
        case .pan: .pan(ScreenPoint(x: 0, y: 0))
        case .pinch: .pinch(1)
        case .rotate: .rotate(0)
        case .tilt: .tilt(0)
        }
    }
}
