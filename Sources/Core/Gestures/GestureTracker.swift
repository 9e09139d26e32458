// Turns gesture reports into camera updates. Keeps each active gesture's last value, since reports are cumulative and
// updates are differences, and the last 100 ms of gestures that may fling or glide, for their final velocity.
// Invariant: only gestures that the settings allow are active. A tap never is: it is over when it is reported.

import MapCamera

/// The active gestures of one camera.
public struct GestureTracker: Codable, Sendable {
    /// What continues after the last finger has left the screen.
    public enum Release: Equatable, Sendable {
        /// The camera glides.
        case glide(Momentum)
        /// A tap changes the camera, over ``tapDuration``.
        case tap(CameraUpdate)
    }

    /// How long the camera change of a tap takes, in milliseconds: the default duration of an animation.
    public static let tapDuration = CameraAnimation.usualDuration
    /// How far a finger moves for one level of zoom, in points.
    static let pointsPerLevel = 128.0

    private struct Active: Codable, Sendable {
        let key: GestureKey
        /// `nil` for a position, which is absolute.
        var value: GestureEvent.Value?
        /// The point that a one-finger zoom is about: its first reported focus.
        var origin: ScreenPoint?
        var samples: SampleWindow?
        /// Whether a pan has waited for a gesture that zooms or rotates; such a pan does not fling.
        var waiting = false
    }

    /// Which gestures move the camera; changed by ``set(_:)``.
    public private(set) var settings = GestureSettings()
    private var active: [Active] = []
    /// Where ``find(_:)`` last found a gesture.
    private var lastFound = 0
    private var release: Release?

    /// Creates a tracker without gestures, with the settings of a new camera.
    public init() {}

    /// Creates a tracker without gestures.
    package init(_ settings: GestureSettings) { self.settings = settings }

    /// Whether any gesture is active.
    public var isActive: Bool { !active.isEmpty }

    /// How many gestures are active.
    public var count: Int { active.count }

    /// Roughly how many bytes it takes beyond its own size.
    package var byteCount: Int {
        active.reduce(0) { $0 + MemoryLayout<Active>.stride + ($1.samples?.byteCount ?? 0) }
    }

    /// Whether a gesture is active.
    public func contains(_ key: GestureKey) -> Bool { active.contains { $0.key == key } }

    /// Returns the active gestures of one feed.
    public func keys(of feed: Int) -> [GestureKey] { active.map(\.key).filter { $0.feed == feed } }

    /// Reports that bring another tracker's active gestures to where they are in this one.
    public var reports: [(key: GestureKey, event: GestureEvent)] {
        active.map {
            ($0.key, GestureEvent($0.key.kind, $0.value == nil ? .began : .changed, $0.value, focus: $0.origin))
        }
    }

    // MARK: Handover

    private enum CodingKeys: CodingKey { case settings, active }

    /// Decodes a tracker as encoded between two batches; gestures that the settings do not allow are dropped.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        settings = try members.decode(GestureSettings.self, forKey: .settings)
        active = try members.decode([Active].self, forKey: .active)
        active.removeAll {
            let kind = $0.key.kind
            return kind.isTap || !settings.allows(kind) || $0.value?.kind != kind.zero?.kind
        }
    }

    // MARK: Reports

    /// Handles a report that arrived at a time in milliseconds; returns the camera update that it makes.
    public mutating func handle(
        _ event: GestureEvent, of key: GestureKey, at arrival: Double, viewport: Viewport
    ) -> CameraUpdate? {
        guard settings.allows(event.kind) else { return nil }
        guard let zero = event.kind.zero else {
            if event.kind == .position { return follow(event, of: key) }
            tap(event)
            return nil
        }
        let found = find(key)
        let index: Int
        switch (event.phase, found) {
        case (.began, let found):
            if let found { active.remove(at: found) }
            index = begin(key, from: zero)
        case (.changed, nil):
            // No `began`: the gesture begins here, and its value so far is no change.
            index = begin(key, from: event.value ?? zero)
        case (.changed, let found?), (.ended, let found?):
            index = found
        case (.cancelled, let found?):
            active.remove(at: found)
            return nil
        case (.ended, nil), (.cancelled, nil):
            return nil
        }
        let old = active[index].value ?? zero
        let value = event.value ?? (event.phase == .ended ? old : zero)
        let waits = isHeldBack(event.kind)
        if waits { active[index].waiting = true }
        if event.kind == .oneFingerZoom { active[index].origin = active[index].origin ?? event.focus }
        let focus = (active[index].origin ?? event.focus).map { viewport.clamp($0) }
        let update =
            waits ? nil : change(from: old, to: value, focus: focus, center: viewport.center)
        active[index].value = value
        if event.phase == .ended {
            let last = active.remove(at: index)
            if !last.waiting { noteVelocity(last, at: value, event, focus: focus, center: viewport.center, arrival) }
        } else {
            active[index].samples?.append(value.sample, at: event.time, arrival: arrival)
        }
        return update
    }

    /// Returns the index of an active gesture. Gestures nearly always report in the order in which they began, so the
    /// search starts behind the last hit.
    private mutating func find(_ key: GestureKey) -> Int? {
        var index = lastFound
        for _ in 0..<active.count {
            index += 1
            if index >= active.count { index = 0 }
            if active[index].key == key {
                lastFound = index
                return index
            }
        }
        return nil
    }

    /// Makes a gesture active, and drops what was to continue after earlier ones; returns its index.
    private mutating func begin(_ key: GestureKey, from value: GestureEvent.Value?) -> Int {
        let isSampled =
            switch key.kind {
            case .pan: true
            case .pinch, .rotate: settings.inertia
            case .tilt, .oneFingerZoom, .doubleTap, .twoFingerTap, .position: false
            }
        active.append(Active(key: key, value: value, samples: isSampled ? SampleWindow() : nil))
        release = nil
        return active.count - 1
    }

    /// Follows another recognizer's position reports: they are absolute, and nothing continues when they end.
    private mutating func follow(_ event: GestureEvent, of key: GestureKey) -> CameraUpdate? {
        let found = active.firstIndex { $0.key == key }
        switch event.phase {
        case .began, .changed: if found == nil { _ = begin(key, from: nil) }
        case .ended, .cancelled:
            guard let found else { return nil }
            active.remove(at: found)
        }
        guard event.phase != .cancelled, case .position(let position) = event.value else { return nil }
        return .setCamera(position)
    }

    /// Whether a gesture has to wait: a pan does while another gesture zooms or rotates, if the settings say so.
    private func isHeldBack(_ kind: GestureKind) -> Bool {
        guard kind == .pan, !settings.scrollDuringRotateOrZoom else { return false }
        return active.contains { $0.key.kind.zoomsOrRotates }
    }

    /// Returns the point about which zoom and bearing change; `nil` is the target.
    private func anchor(_ focus: ScreenPoint?) -> ScreenPoint? {
        settings.scroll && settings.scrollDuringRotateOrZoom ? focus : nil
    }

    /// Returns the camera update for a difference of values.
    private func change(
        from old: GestureEvent.Value, to new: GestureEvent.Value, focus: ScreenPoint?, center: ScreenPoint
    ) -> CameraUpdate? {
        guard old != new else { return nil }
        switch new {
        case .pan(let translation):
            guard case .pan(let before) = old else { return nil }
            return .pan(from: (focus ?? center) - (translation - before), to: focus ?? center)
        case .pinch(let scale):
            guard case .pinch(let before) = old else { return nil }
            return .zoomBy(Elementary.log2(scale / before), focus: anchor(focus))
        case .rotate(let degrees):
            guard case .rotate(let before) = old else { return nil }
            return .rotateBy(before - degrees, focus: anchor(focus))
        case .tilt(let y):
            guard case .tilt(let before) = old else { return nil }
            return .tiltBy(-0.5 * (y - before))
        case .oneFingerZoom(let y):
            guard case .oneFingerZoom(let before) = old else { return nil }
            return .zoomBy((y - before) / Self.pointsPerLevel, focus: anchor(focus))
        case .position: return nil
        }
    }

    // MARK: Release

    private mutating func tap(_ event: GestureEvent) {
        guard event.phase == .ended else { return }
        var amount = event.kind == .doubleTap ? 1.0 : -1
        if case .tap(.zoomBy(let earlier, _)) = release { amount += earlier }
        release = .tap(.zoomBy(amount, focus: anchor(event.focus)))
    }

    /// Notes the velocity with which a gesture ended, if the settings let it continue.
    private mutating func noteVelocity(
        _ gesture: Active, at value: GestureEvent.Value, _ event: GestureEvent, focus: ScreenPoint?,
        center: ScreenPoint, _ arrival: Double
    ) {
        let measured = gesture.samples?.velocity(of: value.sample, at: event.time, arrival: arrival)
        var momentum = Momentum()
        switch release {
        case .glide(let earlier): momentum = earlier
        case .tap: return  // A tap stops what glides.
        case nil: break
        }
        switch event.kind {
        case .pan:
            guard settings.fling else { return }
            momentum.focus = focus ?? center
            momentum.pan = event.velocity ?? measured ?? ScreenPoint(x: 0, y: 0)
        case .pinch:
            guard settings.inertia else { return }
            momentum.anchor = anchor(focus)
            momentum.zoom = measured?.x ?? 0
        case .rotate:
            guard settings.inertia else { return }
            momentum.anchor = anchor(focus)
            momentum.bearing = -(measured?.x ?? 0)
        case .tilt, .oneFingerZoom, .doubleTap, .twoFingerTap, .position: return
        }
        release = .glide(momentum)
    }

    /// Returns what continues after this batch if it has left no gesture active. Call it at the end of each batch.
    public mutating func takeRelease() -> Release? {
        defer { release = nil }
        return isActive ? nil : release
    }

    // MARK: Cancelling

    /// Cancels every gesture, as a command does.
    public mutating func cancelAll() {
        active.removeAll(keepingCapacity: true)
        release = nil
    }

    /// Cancels the gestures of a feed that has ended.
    public mutating func cancel(feed: Int) {
        active.removeAll { $0.key.feed == feed }
    }

    /// Switches gestures on and off; an active gesture that is switched off is cancelled.
    public mutating func set(_ settings: GestureSettings) {
        self.settings = settings
        active.removeAll { !settings.allows($0.key.kind) }
        switch release {
        case .tap where !settings.zoom: release = nil
        case .glide(var momentum):
            momentum.anchor = anchor(momentum.anchor)
            if !settings.scroll || !settings.fling { momentum.pan = ScreenPoint(x: 0, y: 0) }
            if !settings.zoom || !settings.inertia { momentum.zoom = 0 }
            if !settings.rotate || !settings.inertia { momentum.bearing = 0 }
            release = .glide(momentum)
        default: break
        }
    }
}

extension GestureKind {
    /// The value of a gesture that has just begun; `nil` for a tap, and for a position.
    var zero: GestureEvent.Value? {
        switch self {
        case .pan: .pan(ScreenPoint(x: 0, y: 0))
        case .pinch: .pinch(1)
        case .rotate: .rotate(0)
        case .tilt: .tilt(0)
        case .oneFingerZoom: .oneFingerZoom(0)
        case .doubleTap, .twoFingerTap, .position: nil
        }
    }
}

extension GestureEvent.Value {
    /// The quantity whose velocity is measured: a translation, or levels or degrees in x.
    fileprivate var sample: ScreenPoint {
        switch self {
        case .pan(let translation): translation
        case .pinch(let scale): ScreenPoint(x: Elementary.log2(scale), y: 0)
        case .rotate(let degrees): ScreenPoint(x: degrees, y: 0)
        case .tilt(let y), .oneFingerZoom(let y): ScreenPoint(x: 0, y: y)
        case .position: ScreenPoint(x: 0, y: 0)
        }
    }
}
