// A camera of the daemon, with what an app can ask of its map, from another process. Each method is one request.

/// A camera that the daemon owns.
///
/// Every method throws ``/GimbalProtocol/GimbalError`` if the daemon refuses, which leaves the camera unchanged;
/// ``GimbalConnectionError`` if the daemon cannot be reached or goes away; and `EncodingError` for what the protocol
/// cannot express, such as an infinite number. A cancelled task stops waiting; its request may still be applied.
public struct RemoteCamera: Sendable {
    /// The camera's name.
    public let name: String
    /// The daemon that owns it.
    public let gimbal: Gimbal

    // MARK: Gestures

    /// Sends a gesture report, and returns when the daemon has applied it.
    ///
    /// - Parameters:
    ///   - gesture: the report, with values that count from the beginning of the gesture.
    ///   - label: distinguishes two gestures of one kind; a text has at most 64 bytes.
    public func send(_ gesture: GestureEvent, label: GestureKey.Label = .none) async throws {
        try await send([.gesture(gesture, label: label)])
    }

    /// Sends reports that belong together, such as those of two fingers: the camera changes once.
    ///
    /// - Parameter gestures: at most 64.
    public func send(_ gestures: [GestureEvent]) async throws {
        try await send(gestures.map { .gesture($0) })
    }

    /// Sends gestures and commands as one batch: they are applied in order and together, or not at all.
    ///
    /// - Parameter batch: at most 64 gestures, commands and settings.
    /// - Precondition: `batch` has nothing else: requests that a trace may not have get answers of their own.
    public func send(_ batch: [ClientRequest]) async throws {
        precondition(
            batch.allSatisfy(\.isOfTraces), "a camera's batch may have only gestures, commands and settings")
        if !batch.isEmpty { _ = try await gimbal.answers(to: batch, camera: name) }
    }

    /// Sends the daemon the fingers on a surface, from which it recognizes gestures; returns when the daemon has
    /// applied them. Call it whenever a finger has landed, moved or lifted.
    ///
    /// - Parameters:
    ///   - touches: all fingers that are on the surface now, at most 256, in points of the camera's viewport; empty if
    ///     all have lifted.
    ///   - timeMs: the time in milliseconds of the surface's own clock, -1e15 to 1e15; `nil` is the time of arrival.
    ///   - surface: distinguishes several surfaces; a text has at most 64 bytes.
    ///   - isCancelled: whether the fingers that were there before are lost rather than lifted.
    /// - Throws: ``/GimbalProtocol/GimbalError`` with the code `limitReached` if too many surfaces are touched at once.
    public func touch(
        _ touches: [Touch], timeMs: Double? = nil, surface: GestureKey.Label = .none, isCancelled: Bool = false
    ) async throws {
        try await send([.touch(Fingers(touches, timeMs: timeMs, surface: surface, isCancelled: isCancelled))])
    }

    /// Reports where another gesture recognizer, such as a map engine's, has moved the camera. The camera goes there
    /// within its constraints, and rests when that has ended.
    ///
    /// - Parameters:
    ///   - position: the new position; `nil` keeps the last one, but ``/Gestures/GesturePhase/changed`` needs one.
    ///   - phase: whether the movement begins, continues or ends.
    ///   - label: distinguishes two that move the camera at one time; a text has at most 64 bytes.
    public func position(
        _ position: CameraPosition?, _ phase: GesturePhase, label: GestureKey.Label = .none
    ) async throws {
        try await send(GestureEvent(.position, phase, position.map { .position($0) }), label: label)
    }

    // MARK: Commands

    /// Changes the camera at once.
    public func move(_ update: CameraUpdate) async throws { try await send([.move(update)]) }

    /// Changes the camera over a time. Returns when the animation has begun;
    /// ``animateToRest(_:durationMs:easing:path:)`` returns when it is over.
    ///
    /// - Parameters:
    ///   - update: what to change.
    ///   - durationMs: 0 to 3,600,000 milliseconds; `nil` is 250, or for a flight a time that depends on its speed.
    ///   - easing: the pace.
    ///   - path: straight, or a flight.
    public func animate(
        _ update: CameraUpdate, durationMs: Double? = nil, easing: EasingName = .default,
        path: AnimationPath = .straight
    ) async throws {
        try await send([.animate(update, durationMs: durationMs, easing: easing, path: path)])
    }

    /// Changes the camera over a time, and returns when it rests: when the animation is over, or what has replaced it,
    /// such as a gesture or another command. An animation to where the camera already is ends at once.
    ///
    /// - Parameters:
    ///   - update: what to change. If constraints keep the camera from it, the camera comes to rest elsewhere.
    ///   - durationMs: 0 to 3,600,000 milliseconds; `nil` is 250, or for a flight a time that depends on its speed.
    ///   - easing: the pace.
    ///   - path: straight, or a flight.
    /// - Returns: where the camera rests.
    /// - Throws: ``/GimbalProtocol/GimbalError`` with the code `removed` if the camera is removed meanwhile.
    @discardableResult
    public func animateToRest(
        _ update: CameraUpdate, durationMs: Double? = nil, easing: EasingName = .default,
        path: AnimationPath = .straight
    ) async throws -> CameraRest {
        // In one batch, so that no other request can come between.
        let animation = ClientRequest.animate(update, durationMs: durationMs, easing: easing, path: path)
        return try await gimbal.ask([animation, .awaitIdle()], camera: name)
    }

    /// Moves the camera through keyframes from where it is. Returns when the tour has begun.
    ///
    /// - Parameter keyframes: 1 to 256.
    public func tour(_ keyframes: [TourKeyframe]) async throws { try await send([.tour(keyframes)]) }

    /// Returns when the camera rests: no gesture is active, and nothing moves it. Returns at once if it already rests.
    ///
    /// - Parameter timeoutMs: how long to wait at most, 0 to 3,600,000 milliseconds; `nil` is for ever.
    /// - Returns: where the camera rests.
    /// - Throws: ``/GimbalProtocol/GimbalError`` with the code `timeout` if the camera still moves then, or `removed`.
    @discardableResult
    public func rest(timeoutMs: Double? = nil) async throws -> CameraRest {
        try await ask(.awaitIdle(timeoutMs: timeoutMs))
    }

    /// Stops animation, fling and active gestures where they are.
    public func stop() async throws { try await send([.stop]) }

    // MARK: Settings

    /// Switches gestures on and off; omitted switches stay as they are.
    public func setGestures(_ switches: GestureSwitches) async throws { try await send([.set(.gestures(switches))]) }

    /// Sets the ends of the zoom range, 2 to 21; the camera moves inside at once. An omitted end stays as it is.
    public func setZoomRange(min: Double? = nil, max: Double? = nil) async throws {
        try await send([.set(.zoomRange(min: min, max: max))])
    }

    /// Keeps the target within bounds, and moves it there at once; `nil` removes the bounds.
    public func setTargetBounds(_ bounds: CoordinateBounds?) async throws {
        try await send([.set(.targetBounds(bounds))])
    }

    /// Sets the size of the screen, 0.001 to 100,000 points, and its padding. The position stays.
    public func setViewport(_ viewport: Viewport) async throws { try await send([.set(.viewport(viewport))]) }

    /// Sets what the camera does when nothing has moved it for a time; `nil` is nothing.
    public func setIdleAction(_ action: IdleAction?) async throws { try await send([.set(.idleAction(action))]) }

    /// Frees the camera's name and notifies its subscribers.
    public func remove() async throws { try await send([.removeCamera]) }

    // MARK: Leases

    /// Lets only this ``Gimbal``'s connection move the camera for a time, or prolongs that. Requests of others are
    /// refused with the code `leased` meanwhile.
    ///
    /// - Parameters:
    ///   - duration: how long, from when it is granted: 1 millisecond to an hour, or until the connection ends.
    ///   - label: the holder's name as others see it, 1 to 256 bytes.
    ///   - waiting: whether to wait while another connection holds the lease, or plays a trace.
    /// - Returns: the lease; other connections join it by its number.
    /// - Throws: ``/GimbalProtocol/GimbalError`` with the code `leased` or `busy` if it does not wait and another
    ///   connection has the camera.
    @discardableResult
    public func lease(
        for duration: Duration, label: String? = nil, waiting: Bool = false
    ) async throws -> CameraLease {
        try await ask(.takeLease(LeaseRequest(forMs: duration / .milliseconds(1), label: label, wait: waiting)))
    }

    /// Joins another connection's lease: this connection may move the camera, too, as long as the lease lasts.
    ///
    /// - Throws: ``/GimbalProtocol/GimbalError`` with the code `noLease` if there is no lease of that number.
    @discardableResult
    public func joinLease(_ number: Int) async throws -> CameraLease { try await ask(.joinLease(number)) }

    /// Ends this connection's lease, or its part in another's; with a number, ends that lease, even another's.
    ///
    /// - Throws: ``/GimbalProtocol/GimbalError`` with the code `noLease` if there is none.
    public func endLease(_ number: Int? = nil) async throws { try await ask(.endLease(number)) as Void }

    // MARK: Queries

    /// Returns the camera's whole state now, or with its position at a time of the wall clock.
    public func state(at time: WallTime? = nil) async throws -> CameraState { try await ask(.getCamera(at: time)) }

    /// Returns where the camera would be to show bounds inside insets, without moving it.
    ///
    /// - Parameters:
    ///   - bounds: what is to be visible.
    ///   - insets: the distance of the bounds from the edges of the screen and its padding, in points, 0 or more.
    public func position(fitting bounds: CoordinateBounds, insets: EdgeInsets = EdgeInsets()) async throws -> BoundsFit
    {
        try await ask(.cameraForBounds(bounds, insets: insets))
    }

    /// Returns the point of the screen that shows a place, in points from the top left.
    ///
    /// - Throws: ``/GimbalProtocol/GimbalError`` with the code `invalidValue` for a place behind the camera.
    public func point(for coordinate: LatLng) async throws -> ScreenPoint {
        try await ask(.project(coordinate))
    }

    /// Returns the place that a point of the screen shows.
    ///
    /// - Throws: ``/GimbalProtocol/GimbalError`` with the code `invalidValue` for a point at or above the horizon.
    public func coordinate(for point: ScreenPoint) async throws -> LatLng {
        try await ask(.unproject(point))
    }

    /// Returns the corners of the ground that the screen shows.
    ///
    /// - Throws: ``/GimbalProtocol/GimbalError`` with the code `invalidValue` if a corner shows no ground.
    public func visibleRegion() async throws -> VisibleRegion { try await ask(.visibleRegion) }

    func ask<Answer: Sendable>(_ request: ClientRequest) async throws -> Answer {
        try await gimbal.ask(request, camera: name)
    }

    // MARK: Events

    /// Returns the camera's events, from now on or from where a reader stopped.
    ///
    /// - Parameters:
    ///   - kinds: the kinds wanted; the subscription itself, gaps and resets always come.
    ///   - delivery: what to skip while the reader is slow.
    ///   - since: where to resume; see ``CameraEvents/AsyncIterator/resumePoint``.
    ///   - reconnecting: how to reconnect when the daemon goes away.
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
