// A camera of the daemon: what an app can ask of its map, asked from another process. Each method is one request and
// its answer.

import Gestures
import MapCamera
import Touches

/// A camera that the daemon owns.
///
/// Every method throws ``/GimbalProtocol/GimbalError`` if the daemon refuses, and the camera is then exactly what it was;
/// ``GimbalConnectionError`` if it cannot be reached or goes away; and `EncodingError` for what the protocol cannot
/// say, such as a number that is not finite. A task that is cancelled stops waiting; what it sent may still be done.
public struct RemoteCamera: Sendable {
    /// The camera's name.
    public let name: String
    /// The daemon that owns it.
    public let gimbal: Gimbal

    // MARK: Gestures

    /// Sends a report of a gesture, and returns when the daemon has taken it.
    ///
    /// - Parameters:
    ///   - gesture: the report, with values that count from the beginning of the gesture.
    ///   - label: tells apart two gestures of one kind; a text has at most 64 bytes.
    public func send(_ gesture: GestureEvent, label: GestureKey.Label = .none) async throws {
        try await send([.gesture(gesture, label: label)])
    }

    /// Sends reports that belong together, as those of two fingers do: the camera changes once.
    ///
    /// - Parameter gestures: at most 64.
    public func send(_ gestures: [GestureEvent]) async throws {
        try await send(gestures.map { .gesture($0) })
    }

    /// Sends gestures and commands as one frame: they are applied in order and together, or not at all.
    ///
    /// - Parameter frame: at most 64 gestures, commands and settings.
    /// - Precondition: nothing else is in it: what a trace may not have has answers of its own.
    public func send(_ frame: [ClientRequest]) async throws {
        precondition(
            frame.allSatisfy(\.isOfTraces), "a frame of a camera is made of gestures, commands and settings")
        try await gimbal.send(frame, camera: name)
    }

    /// Sends the daemon the fingers on a surface, from which it recognizes gestures, and returns when the daemon has
    /// taken them. Call it whenever one of them has landed, moved or lifted.
    ///
    /// - Parameters:
    ///   - touches: all fingers that are on the surface now, at most 256, in points of the camera's viewport; none where all
    ///     have lifted.
    ///   - timeMs: when that was, in milliseconds of the surface's own clock, -1e15 to 1e15; `nil` is when it arrives.
    ///   - surface: which of several surfaces it is; a text has at most 64 bytes.
    ///   - isCancelled: whether the fingers that were there before are lost, and have not lifted.
    /// - Throws: ``/GimbalProtocol/GimbalError`` with the code `limitReached` if too many surfaces are touched at one time.
    public func touch(
        _ touches: [Touch], timeMs: Double? = nil, surface: GestureKey.Label = .none, isCancelled: Bool = false
    ) async throws {
        try await send([.touch(Fingers(touches, timeMs: timeMs, surface: surface, isCancelled: isCancelled))])
    }

    /// Reports where something else that recognizes gestures, such as a map engine, has moved the camera. The camera goes
    /// there within its constraints, and rests when that has ended.
    ///
    /// - Parameters:
    ///   - position: where it is; `nil` is where it was, and is no position for ``/Gestures/GesturePhase/changed``.
    ///   - phase: whether that begins, goes on or ends.
    ///   - label: tells apart two that move the camera at one time; a text has at most 64 bytes.
    public func position(
        _ position: CameraPosition?, _ phase: GesturePhase, label: GestureKey.Label = .none
    ) async throws {
        try await send(GestureEvent(.position, phase, position.map { .position($0) }), label: label)
    }

    // MARK: Commands

    /// Changes the camera at once.
    public func move(_ update: CameraUpdate) async throws { try await send([.move(update)]) }

    /// Changes the camera over a time. Returns when the animation has begun; ``animateToRest(_:durationMs:easing:path:)``
    /// when it is over.
    ///
    /// - Parameters:
    ///   - update: what is to change.
    ///   - durationMs: 0 to 3,600,000 milliseconds; `nil` is 250 on a straight path, and as long as the speed of a flight asks for.
    ///   - easing: the pace.
    ///   - path: straight, or a flight.
    public func animate(
        _ update: CameraUpdate, durationMs: Double? = nil, easing: EasingName = .default,
        path: AnimationPath = .straight
    ) async throws {
        try await send([.animate(update, durationMs: durationMs, easing: easing, path: path)])
    }

    /// Changes the camera over a time, and returns when it rests: when the animation is over, or what has taken its
    /// place, such as a finger or another command. An animation that changes nothing takes its time as well.
    ///
    /// - Parameters:
    ///   - update: what is to change. Where constraints keep the camera from it, it comes to rest elsewhere.
    ///   - durationMs: 0 to 3,600,000 milliseconds; `nil` is 250 on a straight path, and as long as the speed of a flight asks for.
    ///   - easing: the pace.
    ///   - path: straight, or a flight.
    /// - Returns: where the camera rests.
    /// - Throws: ``/GimbalProtocol/GimbalError`` with the code `removed` if the camera is removed meanwhile.
    @discardableResult
    public func animateToRest(
        _ update: CameraUpdate, durationMs: Double? = nil, easing: EasingName = .default,
        path: AnimationPath = .straight
    ) async throws -> CameraRest {
        // In one frame, so that no other request can come between.
        let animation = ClientRequest.animate(update, durationMs: durationMs, easing: easing, path: path)
        return try await gimbal.ask([animation, .awaitIdle()], camera: name)
    }

    /// Takes the camera through keyframes, from where it is. Returns when the tour has begun.
    ///
    /// - Parameter keyframes: 1 to 256.
    public func tour(_ keyframes: [TourKeyframe]) async throws { try await send([.tour(keyframes)]) }

    /// Returns when the camera rests: no gesture is active, and nothing moves it. At once where it rests already.
    ///
    /// - Parameter timeoutMs: how long to wait at the most, 0 to 3,600,000 milliseconds; `nil` is for ever.
    /// - Returns: where the camera rests.
    /// - Throws: ``/GimbalProtocol/GimbalError`` with the code `timeout` if it still moves then, and `removed` if it is removed meanwhile.
    @discardableResult
    public func rest(timeoutMs: Double? = nil) async throws -> CameraRest {
        try await ask(.awaitIdle(timeoutMs: timeoutMs))
    }

    /// Ends animation, fling and active gestures where they are.
    public func stop() async throws { try await send([.stop]) }

    // MARK: Settings

    /// Switches gestures on and off; switches that are left out stay as they are.
    public func setGestures(_ switches: GestureSwitches) async throws { try await send([.set(.gestures(switches))]) }

    /// Sets the ends of the zoom range, 2 to 21; the camera moves inside at once. One end may be left out, and stays.
    public func setZoomRange(min: Double? = nil, max: Double? = nil) async throws {
        try await send([.set(.zoomRange(min: min, max: max))])
    }

    /// Keeps the target inside of bounds, and moves it there at once; `nil` lets it go anywhere.
    public func setTargetBounds(_ bounds: CoordinateBounds?) async throws {
        try await send([.set(.targetBounds(bounds))])
    }

    /// Sets the size of the screen, 0.001 to 100,000 points, and its padding. The position stays.
    public func setViewport(_ viewport: Viewport) async throws { try await send([.set(.viewport(viewport))]) }

    /// Has the camera do something when nothing has moved it for a time; `nil` is nothing.
    public func setIdleAction(_ action: IdleAction?) async throws { try await send([.set(.idleAction(action))]) }

    /// Frees the camera's name and tells its subscribers.
    public func remove() async throws { try await send([.removeCamera]) }

    // MARK: Leases

    /// Has only this ``Gimbal``'s connection move the camera for a time, or prolongs that. Requests of others are refused with the
    /// code `leased` meanwhile.
    ///
    /// - Parameters:
    ///   - duration: how long, from when it is granted: 1 millisecond to an hour. It ends with the connection, too.
    ///   - label: what others are told of who holds it, 1 to 256 bytes.
    ///   - waiting: whether to wait while another connection holds the lease, or plays a trace.
    /// - Returns: the lease; other connections join it by its number.
    /// - Throws: ``/GimbalProtocol/GimbalError`` with the code `leased` or `busy` where it does not wait and another one has the
    ///   camera.
    @discardableResult
    public func lease(
        for duration: Duration, label: String? = nil, waiting: Bool = false
    ) async throws -> CameraLease {
        try await ask(.takeLease(LeaseRequest(forMs: duration / .milliseconds(1), label: label, wait: waiting)))
    }

    /// Moves the camera, too, as long as a lease of another connection's lasts.
    ///
    /// - Throws: ``/GimbalProtocol/GimbalError`` with the code `noLease` if there is none of that number.
    @discardableResult
    public func joinLease(_ number: Int) async throws -> CameraLease { try await ask(.joinLease(number)) }

    /// Ends this connection's lease, or its part in that of another one; with a number, that lease, even of another one.
    ///
    /// - Throws: ``/GimbalProtocol/GimbalError`` with the code `noLease` if there is none.
    public func endLease(_ number: Int? = nil) async throws { try await ask(.endLease(number)) as Void }

    // MARK: Queries

    /// All that is to be known of the camera: now, or with where it is at a time of the wall clock.
    public func state(at time: WallTime? = nil) async throws -> CameraState { try await ask(.getCamera(at: time)) }

    /// Where the camera would be to show bounds inside of insets, without going there.
    ///
    /// - Parameters:
    ///   - bounds: what is to be in sight.
    ///   - insets: how far that stays from the edges of the screen and its padding, in points, 0 or more.
    public func position(fitting bounds: CoordinateBounds, insets: EdgeInsets = EdgeInsets()) async throws -> BoundsFit
    {
        try await ask(.cameraForBounds(bounds, insets: insets))
    }

    /// The point of the screen that shows a place, in points from the top left.
    ///
    /// - Throws: ``/GimbalProtocol/GimbalError`` with the code `invalidValue` for a place behind the camera.
    public func point(for coordinate: LatLng) async throws -> ScreenPoint {
        try await ask(.project(coordinate))
    }

    /// The place that a point of the screen shows.
    ///
    /// - Throws: ``/GimbalProtocol/GimbalError`` with the code `invalidValue` for a point at the horizon or above.
    public func coordinate(for point: ScreenPoint) async throws -> LatLng {
        try await ask(.unproject(point))
    }

    /// The corners of what the screen shows.
    ///
    /// - Throws: ``/GimbalProtocol/GimbalError`` with the code `invalidValue` if a corner shows no ground.
    public func visibleRegion() async throws -> VisibleRegion { try await ask(.visibleRegion) }

    func ask<Answer: Sendable>(_ request: ClientRequest) async throws -> Answer {
        try await gimbal.ask(request, camera: name)
    }

    // MARK: Events

    /// What the camera does, from now on or from where a reader stopped.
    ///
    /// - Parameters:
    ///   - kinds: the kinds wanted; the subscription itself, gaps and resets always come.
    ///   - delivery: what is to be skipped while the reader is slow.
    ///   - since: where to go on; see ``CameraEvents/AsyncIterator/resumePoint``.
    ///   - reconnecting: what happens when the daemon goes away.
    public func events(
        _ kinds: Set<EventKind> = EventKind.movements, delivery: EventDelivery = .every,
        since: ResumePoint? = nil, reconnecting: Reconnection = Reconnection()
    ) -> CameraEvents {
        CameraEvents(
            socket: gimbal.socket, monitor: gimbal.monitor, camera: name, kinds: kinds, delivery: delivery,
            since: since.map { [name: $0] } ?? [:],
            reconnection: reconnecting)
    }
}
