// The client and a real daemon over a real socket.

import Foundation
import TestSupport
import Testing

@testable import GimbalClient

private let paris = LatLng(latitude: 48.8584, longitude: 2.2945)

/// Returns the error that a body throws.
private func error(_ body: () async throws -> Void) async -> (any Error)? {
    do {
        try await body()
        return nil
    } catch {
        return error
    }
}

@Suite struct RequestingTests {
    private let daemon: DaemonProcess
    private let gimbal: Gimbal
    private let camera: RemoteCamera

    init() throws {
        daemon = try DaemonProcess()
        gimbal = Gimbal(path: daemon.socket)
        camera = gimbal.camera()
    }

    @Test func commandsMoveTheCamera() async throws {
        let camera = gimbal.camera("left")
        var expected = Camera()
        let updates: [CameraUpdate] = [
            .setTarget(paris, zoom: 12), .zoomIn, .zoomBy(0.25, focus: ScreenPoint(x: 100, y: 200)),
            .scrollBy(x: 30, y: -20), .setBearing(370), .setViewingAngle(20), .zoomOut,
        ]
        for update in updates {
            try await camera.move(update)
            expected.apply(update)
            let position = try await camera.state().position
            #expect(abs(position.target.latitude - expected.position.target.latitude) <= 1e-9)
            #expect(abs(position.target.longitude - expected.position.target.longitude) <= 1e-9)
            #expect(abs(position.zoom - expected.position.zoom) <= 1e-6)
            #expect(abs(position.bearing - expected.position.bearing) <= 1e-6)
            #expect(abs(position.viewingAngle - expected.position.viewingAngle) <= 1e-6)
        }
    }

    @Test func settingsThatAreSetAreInTheCamerasState() async throws {
        let bounds = try #require(CoordinateBounds(southWest: paris, northEast: LatLng(latitude: 50, longitude: 3)))
        let viewport = Viewport(width: 1280, height: 720, padding: EdgeInsets(left: 320))
        try await camera.setGestures(GestureSwitches(tilt: false, inertia: true))
        try await camera.setZoomRange(min: 4)
        try await camera.setZoomRange(max: 18.5)
        try await camera.setTargetBounds(bounds)
        try await camera.setViewport(viewport)
        let home = IdleAction(afterMs: 60_000, .flyHome(CameraPosition(target: paris, zoom: 5)))
        try await camera.setIdleAction(home)
        let state = try await camera.state()
        #expect(state.camera == "main" && state.zoomRange == ZoomRange(min: 4, max: 18.5))
        #expect(state.targetBounds == bounds && state.viewport == viewport && state.position.target == paris)
        #expect(!state.gestures.tilt && state.gestures.inertia && state.gestures.scroll && state.idleAction == home)
        try await camera.setTargetBounds(nil)
        #expect(try await camera.state().targetBounds == nil)
    }

    @Test func questionsAreAnsweredAsTheCameraComputesThem() async throws {
        let hello = try await gimbal.connect()
        #expect(hello.version == 1 && hello.server.hasPrefix("gimbald "))
        let camera = gimbal.camera("b")
        try await camera.move(.setCamera(CameraPosition(target: paris, zoom: 16, bearing: 40, viewingAngle: 30)))
        let center = try await camera.point(for: paris)
        #expect(center == ScreenPoint(x: 195, y: 422))
        let place = try await camera.coordinate(for: center)
        #expect(abs(place.latitude - paris.latitude) < 1e-8 && abs(place.longitude - paris.longitude) < 1e-8)
        let region = try await camera.visibleRegion()
        #expect(region.farLeft != region.nearLeft && region.farRight != region.nearRight)
        let bounds = try #require(CoordinateBounds(southWest: paris, northEast: LatLng(latitude: 50, longitude: 3)))
        #expect(try await camera.position(fitting: bounds).fits)
        #expect(try await camera.position(fitting: bounds, insets: EdgeInsets(top: 1000)).position == nil)
        try await gimbal.camera("a").stop()
        #expect(try await gimbal.cameras() == ["a", "b"])
        try await gimbal.ping()
        let stats = try await gimbal.stats()
        #expect(stats.cameras == 2 && stats.connections == 1 && stats.lines > 8)
        try await camera.remove()
        #expect(try await gimbal.cameras() == ["a"])
    }

    @Test func gesturesOfOneFrameMoveTheCameraOnce() async throws {
        let focus = ScreenPoint(x: 210, y: 310)
        try await camera.send([GestureEvent(.pinch, .began, focus: focus), GestureEvent(.rotate, .began, focus: focus)])
        try await camera.send([
            GestureEvent(.pinch, .changed, .pinch(4), focus: focus),
            GestureEvent(.rotate, .changed, .rotate(-30), focus: focus),
        ])
        try await camera.send(GestureEvent(.pinch, .ended))
        try await camera.send(GestureEvent(.rotate, .ended))
        let state = try await camera.state()
        // move-started, camera-changed, idle
        #expect(state.seq == 3 && state.position.zoom == 4 && state.position.bearing == 30)
    }

    @Test func whatIsRefusedSaysWhy() async throws {
        try await gimbal.ping()
        let connections = try await gimbal.stats().connectionsTotal
        let range = await error { try await camera.setZoomRange(min: 1) } as? GimbalError
        #expect(range?.code == .invalidValue && range?.field == "minZoom" && range?.line == 3)
        #expect(range?.message.isEmpty == false)
        let name = await error { try await gimbal.camera("a b").stop() } as? GimbalError
        #expect(name?.code == .invalidValue && name?.field == "camera")
        let sky = await error { _ = try await camera.coordinate(for: ScreenPoint(x: 0, y: 2e9)) } as? GimbalError
        #expect(sky?.code == .invalidValue)
        #expect(await error { try await camera.move(.zoomTo(.nan)) } is EncodingError)
        // The connection survives.
        try await camera.move(.zoomTo(5))
        #expect(try await camera.state().position.zoom == 5)
        #expect(try await gimbal.stats().connectionsTotal == connections)
    }

    @Test func leasedCameraIsMovedByItsHolderAndByWhoJoinsAlone() async throws {
        let (guide, other) = (camera, Gimbal(path: daemon.socket).camera())
        let lease = try await guide.lease(for: .seconds(3600), label: "guide")
        #expect(lease.untilMs - lease.timeMs == 3_600_000 && lease.label == "guide")
        let refusal = await error { try await other.move(.zoomTo(9)) } as? GimbalError
        #expect(
            refusal?.code == .leased && refusal?.message.hasPrefix("\"guide\" has leased this camera, for ") == true)
        #expect(try await other.joinLease(lease.lease).lease == lease.lease)
        try await other.move(.zoomTo(9))
        try await other.endLease()
        #expect(await error { try await other.stop() } as? GimbalError != nil)
        async let next = other.lease(for: .seconds(3600), waiting: true)
        try await guide.endLease()
        #expect(try await next.lease == lease.lease + 1)
        #expect((await error { try await guide.endLease() } as? GimbalError)?.code == .noLease)
    }

    @Test func aFrameIsRefusedAsAWholeByTheOneAtFault() async throws {
        let refused = await error {
            try await camera.send([.move(.zoomTo(9)), .set(.zoomRange(min: 22, max: nil)), .move(.zoomIn)])
        }
        #expect((refused as? GimbalError)?.field == "minZoom")
        #expect(try await camera.state().seq == 0)
        let tooMany = await error { try await camera.send(Array(repeating: .move(.zoomIn), count: 65)) }
        #expect((tooMany as? GimbalError)?.code == .limitReached)
        #expect(try await camera.state().seq == 0)
    }

    @Test func aRequestBeyondALinesLimitIsNotSent() async throws {
        let label = GestureKey.Label.text(String(repeating: "x", count: 65_536))
        let refused = await error { try await camera.send(GestureEvent(.pan, .began), label: label) }
        #expect(refused as? GimbalConnectionError == .requestTooLong)
        try await camera.stop()
    }

    @Test func manyLongRequestsWaitForRoom() async throws {
        let label = GestureKey.Label.text(String(repeating: "x", count: 60_000))
        let pid = daemon.process.processIdentifier
        kill(pid, SIGSTOP)
        let refused = await withTaskGroup { group in
            for _ in 0..<60 {
                group.addTask { [camera] in
                    await error { try await camera.send(GestureEvent(.pan, .began), label: label) }
                }
            }
            // Far more than a socket holds is in flight when the daemon resumes.
            group.addTask {
                kill(pid, SIGCONT)
                return nil
            }
            return await group.reduce(into: 0) { $0 += ($1 as? GimbalError)?.field == "gesture" ? 1 : 0 }
        }
        #expect(refused == 60)
    }

    @Test func only1024RequestsWaitAtATime() async throws {
        let pid = daemon.process.processIdentifier
        kill(pid, SIGSTOP)
        let errors = await withTaskGroup { group in
            for _ in 0...RequestConnection.mostWaiting {
                group.addTask { [gimbal] in
                    let refused = await error { try await gimbal.ping() }
                    // Only one returns while the daemon is stopped.
                    if refused != nil { kill(pid, SIGCONT) }
                    return refused
                }
            }
            return await group.reduce(into: [any Error]()) { if let error = $1 { $0.append(error) } }
        }
        #expect(errors.map { $0 as? GimbalConnectionError } == [.tooManyRequests])
    }

    // MARK: Endings

    @Test func whoWaitsWhenTheDaemonGoesIsTold() async throws {
        let camera = camera
        try await camera.stop()
        let pid = daemon.process.processIdentifier
        kill(pid, SIGSTOP)
        async let first = error { try await camera.move(.zoomIn) }
        async let second = error { _ = try await camera.state() }
        #expect(daemon.end(SIGKILL) == -SIGKILL)
        for error in [await first, await second] {
            switch error as? GimbalConnectionError {
            case .ended, .unreachable: break
            default: Issue.record("\(String(describing: error))")
            }
        }
        guard case .unreachable(daemon.socket, _)? = await error({ try await camera.stop() }) as? GimbalConnectionError
        else { return #expect(Bool(false)) }
        let next = try DaemonProcess(socket: daemon.socket)
        #expect(try await camera.state().seq == 0)
        #expect(next.end(SIGTERM) == 0)
    }

    @Test func aCancelledRequestStopsWaiting() async throws {
        try await gimbal.connect()
        let pid = daemon.process.processIdentifier
        kill(pid, SIGSTOP)
        let task = Task { [gimbal] in await error { try await gimbal.ping() } }
        task.cancel()
        #expect(await task.value is CancellationError)
        kill(pid, SIGCONT)
        // No other request gets its answer.
        #expect(try await gimbal.cameras() == [])
    }

    @Test func aFullDaemonSaysSo() async throws {
        let daemon = try DaemonProcess(["--max-connections", "1"])
        let (first, second) = (Gimbal(path: daemon.socket), Gimbal(path: daemon.socket))
        try await first.connect()
        #expect((await error { try await second.ping() } as? GimbalError)?.code == .limitReached)
    }

    @Test func theConnectionEndsWithItsOwner() async throws {
        for _ in 0..<5 {
            let other = Gimbal(path: daemon.socket)
            try await other.connect()
        }
        try await waitUntilAlone(gimbal)
    }
}

/// Waits until the daemon has no other connection.
private func waitUntilAlone(_ gimbal: Gimbal) async throws {
    try await waitUntil("no other connection is left") { try await gimbal.stats().connections == 1 }
}

@Suite struct LineBufferTests {
    @Test func linesDoNotDependOnHowBytesAreCut() throws {
        let bytes = Array("a\n\nbc\n\n\ndef\ng".utf8)
        var random = Seeded(1)
        for _ in 0..<200 {
            var buffer = LineBuffer()
            var lines: [String] = []
            var rest = bytes[...]
            while !rest.isEmpty {
                let piece = rest.prefix(random.integer(1...6))
                rest = rest.dropFirst(piece.count)
                _ = buffer.append(upTo: 16 << 10) { room in
                    room.copyBytes(from: piece)
                    return piece.count
                }
                while let line = try buffer.next() { lines.append(String(decoding: line, as: UTF8.self)) }
            }
            #expect(lines == ["a", "", "bc", "", "", "def"])
        }
    }
}

@Suite struct EventTests {
    private let daemon: DaemonProcess
    private let gimbal: Gimbal
    private let camera: RemoteCamera
    /// Reconnects soon.
    private let hasty = Reconnection(firstDelay: .milliseconds(1), longestDelay: .milliseconds(5))

    init() throws {
        daemon = try DaemonProcess()
        gimbal = Gimbal(path: daemon.socket)
        camera = gimbal.camera()
    }

    @Test func aMovementIsToldInOrder() async throws {
        var events: [CameraEvent] = []
        for try await event in camera.events() {
            events.append(event)
            if case .subscribed = event { try await camera.animate(.zoomTo(3), durationMs: 40, easing: .linear) }
            if case .idle = event { break }
        }
        let kinds = events.compactMap(\.kind)
        #expect(kinds.first == .moveStarted && kinds.last == .idle)
        #expect(kinds.dropFirst().dropLast().allSatisfy { $0 == .cameraChanged } && kinds.count == 5)
        #expect(events.compactMap(\.move).map(\.seq) == Array(1...5))
        #expect(events.last?.position?.zoom == 3 && events.last?.move?.reason == .animation)
        #expect(events.allSatisfy { $0.camera == "main" })
    }

    @Test func onlyTheKindsThatAreAskedForCome() async throws {
        var loop = camera.events([.idle]).makeAsyncIterator()
        guard case .subscribed? = try await loop.next() else { return #expect(Bool(false)) }
        for _ in 0..<3 { try await camera.move(.zoomIn) }
        for seq in [3, 6, 9] { #expect(try await loop.next()?.seq == seq) }
        #expect(loop.resumePoint?.seq == 9)
    }

    @Test func aCameraThatIsRemovedEndsTheSequence() async throws {
        var loop = camera.events().makeAsyncIterator()
        _ = try await loop.next()
        try await camera.remove()
        #expect(try await loop.next() == .removed(camera: "main"))
        #expect(try await loop.next() == nil)
    }

    @Test func aReaderGoesOnWhereAnotherStopped() async throws {
        var first = camera.events().makeAsyncIterator()
        _ = try await first.next()
        for _ in 0..<2 { try await camera.move(.zoomIn) }
        for _ in 0..<4 { _ = try await first.next() }
        let point = try #require(first.resumePoint)
        #expect(point.seq == 4)
        var second = camera.events(since: point).makeAsyncIterator()
        guard case .subscribed? = try await second.next() else { return #expect(Bool(false)) }
        #expect(second.resumePoint == point)
        #expect(try await second.next()?.seq == 5)
        #expect(try await second.next()?.seq == 6)
        var stranger = camera.events(since: ResumePoint(seq: 4, epoch: "other")).makeAsyncIterator()
        guard case .subscribed? = try await stranger.next(), case .lagged(let lagged)? = try await stranger.next()
        else { return #expect(Bool(false)) }
        #expect(lagged.missed == 6 && stranger.resumePoint == ResumePoint(seq: 6, epoch: point.epoch))
    }

    // MARK: Reconnecting

    @Test func nothingIsLostOrDoubledWhenConnectionsBreak() async throws {
        // Cuts within lines, between them, and before the first is whole.
        let budgets = [2500, 1, 0, 700, 40, 3333, 900, 219, 220, 221, 5000, 10]
        let proxy = try StandIn.cutting(after: budgets, before: daemon.socket)
        let events = Gimbal(path: proxy.path).camera().events(reconnecting: hasty)
        var (seqs, subscriptions): ([Int], Int) = ([], 0)
        for try await event in events {
            switch event {
            case .subscribed:
                subscriptions += 1
                if subscriptions == 1 {
                    for bearing in 1...60 { try await camera.move(.setBearing(Double(bearing))) }
                }
            case .lagged: Issue.record("\(event)")
            default: seqs.append(event.seq ?? 0)
            }
            if seqs.last == 180 { break }
        }
        #expect(seqs == Array(1...180))
        #expect(subscriptions > 4)
    }

    @Test func nothingOfAnyCameraIsLostOrDoubledWhenConnectionsBreak() async throws {
        let names = ["a", "b", "c"]
        for name in names { try await gimbal.camera(name).stop() }
        let budgets = [3000, 1, 0, 700, 40, 3333, 900, 619, 620, 621, 5000, 10]
        let proxy = try StandIn.cutting(after: budgets, before: daemon.socket)
        var seqs: [String: [Int]] = [:]
        var beginnings = 0
        for try await event in Gimbal(path: proxy.path).events(reconnecting: hasty) {
            switch event {
            case .subscribedToAll(let cameras):
                #expect(cameras == 3)
                beginnings += 1
            case .subscribed(let now):
                // Once the first connection knows all of them.
                guard beginnings == 1, now.camera == "c" else { break }
                for bearing in 1...20 {
                    for name in names { try await gimbal.camera(name).move(.setBearing(Double(bearing))) }
                }
            case .lagged: Issue.record("\(event)")
            default: seqs[event.camera, default: []].append(event.seq ?? 0)
            }
            if names.allSatisfy({ seqs[$0]?.last == 60 }) { break }
        }
        #expect(names.allSatisfy { seqs[$0] == Array(1...60) })
        #expect(beginnings > 4)
    }

    @Test func aCameraIsWaitedForUntilItRests() async throws {
        let camera = gimbal.camera("left")
        // It is already there: nothing moves, and still the animation ends.
        #expect(try await camera.animateToRest(.zoomTo(2), durationMs: 20).seq == 0)
        // Constraints keep it from its destination.
        try await camera.setZoomRange(max: 6)
        #expect(try await camera.animateToRest(.zoomTo(9), durationMs: 40).position.zoom == 6)
        try await camera.animate(.zoomTo(3), durationMs: 3_600_000)
        let late = await error { try await camera.rest(timeoutMs: 1) } as? GimbalError
        #expect(late?.code == .timeout)
        async let rest = camera.rest()
        try await waitUntil("the daemon has the request") { try await gimbal.clients().contains { $0.waits > 0 } }
        try await camera.stop()
        #expect(try await rest.position == camera.state().position)
        let none = await error { try await camera.endReplay() } as? GimbalError
        #expect(none?.code == .noReplay)
        let clients = try await gimbal.clients()
        #expect(clients.count == 1 && clients[0].isSelf && clients[0].role == .everything)
        #expect(clients[0].user == Int(getuid()) && clients[0].process == Int(getpid()))
    }

    @Test func aNewDaemonIsAnotherEpoch() async throws {
        var loop = camera.events(reconnecting: hasty).makeAsyncIterator()
        guard case .subscribed(let before)? = try await loop.next() else { return #expect(Bool(false)) }
        try await camera.move(.zoomTo(7))
        for _ in 0..<3 { _ = try await loop.next() }
        #expect(daemon.end(SIGTERM) == 0)
        let next = try DaemonProcess(socket: daemon.socket)
        // The end of the previous connection may not have been noticed yet.
        try await waitUntil("the next daemon answers") { await error { try await gimbal.ping() } == nil }
        try await camera.move(.zoomTo(9))
        guard case .subscribed(let after)? = try await loop.next(), case .lagged(let lagged)? = try await loop.next()
        else { return #expect(Bool(false)) }
        #expect(after.epoch != before.epoch)
        #expect(lagged.missed == 3 && lagged.position.zoom == 9)
        #expect(loop.resumePoint == ResumePoint(seq: 3, epoch: after.epoch))
        try await camera.move(.zoomTo(8))
        #expect(try await loop.next()?.seq == 4)
        #expect(next.end(SIGTERM) == 0)
    }

    @Test func aResetIsTold() async throws {
        var loop = camera.events().makeAsyncIterator()
        _ = try await loop.next()
        let feed = try SocketClient(daemon.socket)
        try feed.send(
            #"{"type":"trace","version":1,"speed":"max","position":{"target":{"latitude":1,"longitude":2},"zoom":9}}"#)
        guard case .reset(let reset)? = try await loop.next() else { return #expect(Bool(false)) }
        #expect(reset.seq == 0 && reset.timeMs == 0 && reset.position.zoom == 9)
    }

    @Test func delaysDoubleUpToTheLongest() async throws {
        let clock = PatientClock()
        let reconnection = Reconnection(
            firstDelay: .milliseconds(100), longestDelay: .milliseconds(700), attempts: 5, clock: clock)
        var loop = camera.events(reconnecting: reconnection).makeAsyncIterator()
        _ = try await loop.next()
        #expect(daemon.end(SIGTERM) == 0)
        let end = await error { _ = try await loop.next() } as? GimbalConnectionError
        guard case .unreachable? = end else { return #expect(Bool(false)) }
        #expect(clock.slept == [100, 200, 400, 700, 700].map { .milliseconds($0) })
        #expect(try await loop.next() == nil)
    }

    @Test func aDaemonThatWasNeverThereIsAnError() async throws {
        let clock = PatientClock()
        let events = Gimbal(path: "/nonexistent/gimbal.sock").camera().events(reconnecting: Reconnection(clock: clock))
        let end = await error { for try await _ in events {} } as? GimbalConnectionError
        guard case .unreachable("/nonexistent/gimbal.sock", _)? = end else { return #expect(Bool(false)) }
        #expect(clock.slept.isEmpty)
    }

    @Test func whoDoesNotWantToComeBackIsTold() async throws {
        var loop = camera.events(reconnecting: .never).makeAsyncIterator()
        _ = try await loop.next()
        #expect(daemon.end(SIGTERM) == 0)
        #expect(await error { _ = try await loop.next() } as? GimbalConnectionError == .ended)
    }

    @Test func aCameraThatCannotBeIsAnError() async throws {
        let events = gimbal.camera("a b").events()
        #expect((await error { for try await _ in events {} } as? GimbalError)?.field == "camera")
    }

    // MARK: Slow readers, and readers that leave

    /// Moves the camera so often that neither history nor socket holds its events; returns the number of events.
    private func flood() throws -> Int {
        let feed = try SocketClient(daemon.socket)
        for round in 0..<20 {
            let lines = (0..<400).map {
                #"{"type":"move","update":{"kind":"set-bearing","bearing":\#(($0 + round) % 359)}}"#
            }
            try feed.send(Array((lines.joined(separator: "\n") + "\n").utf8))
        }
        return Int(try feed.ask(#"{"type":"get-camera"}"#)["seq"]?.number ?? 0)
    }

    @Test func aSlowReaderOfTheLatestSkips() async throws {
        var loop = camera.events(delivery: .latest).makeAsyncIterator()
        _ = try await loop.next()
        let last = try flood()
        var events: [CameraEvent] = []
        while events.last?.seq != last, let event = try await loop.next() { events.append(event) }
        #expect(events.count < last / 2)
        #expect(events.allSatisfy { $0.move != nil })
        let seqs = events.compactMap(\.seq)
        #expect(zip(seqs, seqs.dropFirst()).allSatisfy { $0 < $1 })
        #expect(events.last?.kind == .idle)
        #expect(events.last?.position == (try await camera.state().position))
    }

    @Test func aSlowReaderOfEveryEventIsToldWhatItMissed() async throws {
        var loop = camera.events().makeAsyncIterator()
        _ = try await loop.next()
        let last = try flood()
        var (read, missed) = (0, 0)
        while read + missed < last, let event = try await loop.next() {
            if case .lagged(let lagged) = event {
                missed += lagged.missed
            } else {
                read += 1
                #expect(event.seq == read + missed)
            }
        }
        #expect(missed > 0 && read > 0)
        #expect(loop.resumePoint?.seq == last)
    }

    @Test func aCancelledLoopEndsItsConnection() async throws {
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        let task = Task { [camera] in
            await error {
                for try await event in camera.events() {
                    if case .subscribed = event { start.finish() }
                }
            }
        }
        for await _ in started {}
        task.cancel()
        #expect(await task.value is CancellationError)
        try await waitUntilAlone(gimbal)
    }

    @Test func aLoopThatIsLeftEndsItsConnection() async throws {
        for try await _ in camera.events() { break }
        try await waitUntilAlone(gimbal)
    }

    @Test func cancellationEndsTheWaitForAnotherAttempt() async throws {
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        let socket = daemon.socket
        let task = Task {
            await error {
                let reconnection = Reconnection(firstDelay: .seconds(3600), longestDelay: .seconds(3600))
                for try await event in Gimbal(path: socket).camera().events(reconnecting: reconnection) {
                    if case .subscribed = event { end.finish() }
                }
            }
        }
        for await _ in ended {}
        #expect(daemon.end(SIGTERM) == 0)
        task.cancel()
        #expect(await task.value is CancellationError)
    }
}
