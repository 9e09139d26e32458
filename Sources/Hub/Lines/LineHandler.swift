// One line: decoded, admitted, and applied; or answered with its error. In a replay it waits for its time first.

import Gestures
import MapCamera
import GimbalProtocol

final class LineHandler {
    private let limits: Limits
    private let server: String
    private let registry: CameraRegistry
    private let clients: ClientRegistry
    private let runner: CameraRunner
    private let replays: Replays
    private let subscriptions: Subscriptions
    private let waits: RestWaits
    private let queries: Queries
    private let sender: Sender
    private let turns: Turns
    private let counters: Counters
    private let observer: ClientObserver

    // Sound: it knows nothing of the hub, so no two lines are decoded at a time.
    @exclusivity(unchecked) private var decoder: RequestDecoder
    /// Kept from line to line, so that nothing is allocated.
    private var requests: [Request] = []

    /// As many gestures as may be active on a camera before their number is looked at more closely.
    private let fewGestures: Int

    init(_ hub: HubParts, _ queries: Queries) {
        limits = hub.limits
        server = hub.server
        (registry, clients, runner, replays) = (hub.registry, hub.clients, hub.runner, hub.replays)
        (subscriptions, waits, sender, turns) = (hub.subscriptions, hub.waits, hub.sender, hub.turns)
        (counters, observer) = (hub.counters, hub.observer)
        self.queries = queries
        unsafe decoder = RequestDecoder(longestLine: limits.line, largestFrame: limits.frame)
        fewGestures = min(limits.gestures, limits.cameraGestures)
    }

    // MARK: A line

    /// Handles a line; `false` if its time has not come.
    func handle(_ text: Span<UInt8>, from peer: Peer, at now: Double) -> Bool {
        var line = GestureLine()
        if line.read(text), !peer.isWatchOnly {
            if let replay = peer.replay {
                if let time = freeTime(of: line, text, in: replay) {
                    return handle(line, text, at: time, in: replay, from: peer, at: now)
                }
            } else if let camera = freeCamera(of: line, text, peer) {
                handle(line, text, on: camera, from: peer, at: now)
                return true
            }
        }
        if Self.isBlank(text) { return true }
        // Nothing that is done for a line handles another one.
        var requests: [Request] = []
        swap(&requests, &self.requests)
        defer { swap(&requests, &self.requests) }
        do {
            try unsafe decoder.decode(text, into: &requests)
        } catch {
            reject(error, text, from: peer, at: now)
            return true
        }
        return handle(requests, text, from: peer, at: now)
    }

    private static func isBlank(_ text: Span<UInt8>) -> Bool {
        for index in 0..<text.count where text[index] != 0x20 && text[index] != 0x09 { return false }
        return true
    }

    // MARK: A line that is one gesture

    /// The camera of a live gesture, if nothing can be wrong with it as things stand: what ``Admission`` asks of it, in
    /// short.
    @inline(__always)
    private func freeCamera(of line: GestureLine, _ text: Span<UInt8>, _ peer: Peer) -> HostedCamera? {
        let name = text.extracting(line.camera.range)
        guard let camera = name.isEmpty ? registry.mainCamera(of: peer) : registry.camera(name, of: peer),
            camera.replay == nil, isFree(camera)
        else { return nil }
        return camera
    }

    /// The time of a gesture in a replay, in the trace's `timeMs`, if nothing can be wrong with it: what ``Admission`` and
    /// ``traceTime(_:_:)`` ask of it, in short.
    private func freeTime(of line: GestureLine, _ text: Span<UInt8>, in replay: Replay) -> Double? {
        let name = text.extracting(line.camera.range)
        guard let time = line.event.time, replay.mayGoOn(at: time), name.isEmpty || replay.camera.isNamed(name),
            isFree(replay.stage)
        else { return nil }
        return time
    }

    private func isFree(_ camera: HostedCamera) -> Bool {
        camera.standing == .permanent && camera.activeGestures < fewGestures
    }

    /// Handles a line that is one live gesture.
    private func handle(
        _ line: GestureLine, _ text: Span<UInt8>, on camera: HostedCamera, from peer: Peer, at now: Double
    ) {
        counters.lines += 1
        turns.add(work: 1)
        input(line.event, line.label, text.extracting(line.id.range), to: camera, from: peer, at: now)
        runner.endBatch(of: camera, at: now - camera.clockStart)
        endLine(at: now)
    }

    /// Handles a line that is one gesture of a replay; `false` if its time has not come.
    private func handle(
        _ line: GestureLine, _ text: Span<UInt8>, at time: Double, in replay: Replay, from peer: Peer, at now: Double
    ) -> Bool {
        let arrival = replays.reach(time, in: replay, at: now)
        if arrival == .later { return false }
        counters.lines += 1
        turns.add(work: 1)
        let id = text.extracting(line.id.range)
        if arrival == .now {
            let camera = replay.stage
            input(line.event, line.label, id, to: camera, from: peer, at: now)
            endBatch(of: camera, at: now)
            replays.took(text, in: replay, at: now)
        } else {
            sender.acknowledge(id, to: peer)
        }
        endLine(at: now)
        return true
    }

    // MARK: Any line

    /// Handles the objects of a line; `false` if their time has not come.
    private func handle(
        _ requests: [Request], _ text: Span<UInt8>, from peer: Peer, at now: Double
    ) -> Bool {
        let time: Double?
        do throws(Refusal) {
            time = try traceTime(requests, peer.replay)
            try Admission(requests, from: peer, registry, limits).admit()
        } catch {
            let isHeader = if case .trace = requests[error.index].body { peer.replay == nil } else { false }
            let rejection = Rejection(
                error: error.error, index: error.index, ids: requests.map(\.id), isHeader: isHeader)
            reject(rejection, text, from: peer, at: now)
            return true
        }
        if let time, let replay = peer.replay {
            switch replays.reach(time, in: replay, at: now) {
            case .later: return false
            case .now, .passedOver: break
            }
        }
        counters.lines += 1
        turns.add(work: requests.count)
        var line = LineContext(from: peer, at: now, timeMs: requests[0].timeMs)
        for index in requests.indices { apply(requests[index], text, &line) }
        if let first = line.first { endBatch(of: first, at: now) }
        for camera in line.others { endBatch(of: camera, at: now) }
        if time != nil, let replay = peer.replay, !replay.movesNothing {
            replays.took(text, in: replay, at: now)
        }
        endLine(at: now)
        return true
    }

    private func endBatch(of camera: HostedCamera, at now: Double) {
        if !camera.isRemoved { replays.endBatch(of: camera, at: camera.time(at: now)) }
    }

    /// Does what waits for the end of a line.
    private func endLine(at now: Double) {
        waits.start(at: now) { runner.catchUp($0, at: now) }
        subscriptions.startRecorders(at: now)
        runner.removeUnwanted()
    }

    /// The time of the line in a replay, in the trace's `timeMs`; `nil` live, and for lines that ask only.
    private func traceTime(_ requests: [Request], _ replay: Replay?) throws(Refusal) -> Double? {
        guard let replay else { return nil }
        var time: Double?
        for index in requests.indices {
            guard requests[index].body.isOfTraces else { continue }
            guard let given = requests[index].timeMs ?? time else {
                throw Refusal(
                    index, .missingField, "timeMs",
                    "timeMs is missing: in a trace gestures, touches, commands and markers have one")
            }
            guard given == time ?? given else {
                throw Refusal(index, .invalidValue, "timeMs", "timeMs must be the same in all objects of an array")
            }
            if replay.movesNothing { return given }
            guard replay.mayGoOn(at: given) else {
                throw replay.clock.time(of: given) > ReplayClock.longest
                    ? Refusal(
                        index, .invalidValue, "timeMs", "timeMs must be at most 1e14 after the first of the trace")
                    : Refusal(index, .timeReversed, "timeMs", "timeMs must not be before that of the line before")
            }
            time = given
        }
        return time
    }

    // MARK: An object

    /// Applies an object of a line.
    private func apply(_ request: Request, _ text: Span<UInt8>, _ line: inout LineContext) {
        let id = text.extracting(request.id?.range ?? 0..<0)
        let (name, peer, now) = (request.camera, line.peer, line.now)
        if let replay = peer.replay, replay.movesNothing, request.body.isOfTraces {
            return sender.acknowledge(id, to: peer)
        }
        switch request.body {
        case .gesture(let gesture):
            let camera = cameraToChange(name, &line)
            input(gesture.event, gesture.label, id, to: camera, from: peer, at: now)
        case .touch(let fingers):
            let camera = cameraToChange(name, &line)
            input(fingers, request.timeMs ?? line.timeMs, id, to: camera, from: peer, at: now)
        case .command(.removeCamera):
            sender.acknowledge(id, to: peer)
            guard let camera = registry.camera(name, of: peer) else { break }
            runner.remove(camera)
            observer.note(.removed(camera: camera.name), of: peer)
        case .command(let command):
            let camera = cameraToChange(name, &line)
            runner.catchUp(camera, at: now)
            sender.acknowledge(id, to: peer)
            camera.apply(command, at: camera.time(at: now))
        case .query(.getReplay): queries.answer(.getReplay, registry.camera(name, of: peer)?.seen, id, in: line)
        case .query(let query):
            queries.answer(query, request.body.needsCamera ? cameraAsked(request, line) : nil, id, in: line)
        case .subscribe(let subscribe):
            subscriptions.subscribe(
                peer, to: runner.camera(name, for: peer, at: now).seen, subscribe, id, at: now)
        case .unsubscribe:
            subscriptions.unsubscribe(peer, from: registry.camera(name, of: peer)?.seen)
            sender.acknowledge(id, to: peer)
        case .subscribeAll(let subscribe, let points):
            subscriptions.subscribeAll(peer, subscribe, since: points, id)
        case .unsubscribeAll:
            subscriptions.unsubscribeAll(peer)
            sender.acknowledge(id, to: peer)
        case .awaitIdle(let timeoutMs):
            waits.add(timeoutMs, for: cameraAsked(request, line).seen, id, of: peer, at: now)
        case .steerReplay(let steering):
            guard let replay = registry.camera(name, of: peer)?.replay else { break }
            if let error = replays.objection(to: steering, of: replay, at: now) {
                refuse(error, id, of: replay.cameraName, to: peer)
            } else {
                sender.acknowledge(id, to: peer)
                replays.steer(replay, steering, at: now)
            }
        case .marker(let label):
            let camera = cameraToChange(name, &line)
            runner.catchUp(camera, at: now)
            sender.acknowledge(id, to: peer)
            let time = camera.time(at: now)
            if let replay = peer.replay {
                replays.mark(replay, label, at: time)
            } else {
                replays.mark(camera, label, at: time)
            }
        case .hello:
            sender.reply(to: peer) { $0.hello(server: server, id) }
        case .trace(let header):
            let camera = runner.camera(name, for: peer, at: now)
            replays.start(header, on: camera, from: peer, id: (0..<id.count).map { id[$0] }, at: now)
        case .traceEnd:
            sender.acknowledge(id, to: peer)
            if let replay = peer.replay { replays.end(replay, at: now) }
        }
    }

    /// The camera of a gesture, fingers or a command; its batch ends with the line.
    private func cameraToChange(_ name: String?, _ line: inout LineContext) -> HostedCamera {
        let camera = runner.camera(name, for: line.peer, at: line.now)
        line.noteChange(of: camera)
        return camera
    }

    private func cameraAsked(_ request: Request, _ line: LineContext) -> HostedCamera {
        runner.cameraAsked(request.camera, creates: request.creates, by: line.peer, at: line.now)
    }

    /// Gives a report of a gesture to a camera.
    private func input(
        _ report: GestureEvent, _ label: GestureKey.Label, _ id: Span<UInt8>, to camera: HostedCamera, from peer: Peer,
        at now: Double
    ) {
        runner.catchUp(camera, at: now)
        turns.add(work: camera.activeGestures >> 6)
        // In a trace the camera's clock is the trace's, also where an array names the time once for all its objects.
        var event = report
        if camera.replay != nil { event.time = nil } else { peer.inputs.insert(camera) }
        sender.acknowledge(id, to: peer)
        let key = GestureKey(feed: peer.number, kind: event.kind, label: label)
        camera.apply(event, of: key, at: camera.time(at: now))
    }

    /// Gives the fingers of a surface to a camera.
    ///
    /// - Parameter timeMs: the line's own time.
    private func input(
        _ fingers: Request.Fingers, _ timeMs: Double?, _ id: Span<UInt8>, to camera: HostedCamera, from peer: Peer,
        at now: Double
    ) {
        runner.catchUp(camera, at: now)
        // Fingers are looked up among each other.
        turns.add(work: fingers.touches.count * fingers.touches.count >> 10 + camera.activeGestures >> 6)
        if camera.replay == nil { peer.inputs.insert(camera) }
        sender.acknowledge(id, to: peer)
        // In a trace the surface's clock is the trace's, unless the line says otherwise.
        let told = fingers.surfaceTimeMs ?? (camera.replay == nil ? timeMs : nil)
        camera.apply(fingers, of: peer.number, told: told, at: camera.time(at: now))
    }

    // MARK: Errors

    /// An error's texts are made for it alone.
    private static let workOfError = 8

    /// Answers a line beyond the limit, of which only the beginning need be there.
    func rejectTooLong(_ beginning: Span<UInt8>, from peer: Peer, at now: Double) {
        reject(unsafe decoder.rejectTooLong(beginning), beginning, from: peer, at: now)
    }

    /// Answers a request that stands on a line of its own, and turned out to be wrong as it was to be done.
    private func refuse(_ error: WireError, _ id: Span<UInt8>, of camera: String, to peer: Peer) {
        counters.errors += 1
        sender.refuse(error, id, to: peer)
        observer.note(.refused(error, line: peer.input.framer.lineNumber, camera: camera), of: peer)
    }

    /// Answers every request of a rejected line that can be answered.
    private func reject(_ rejection: Rejection, _ text: Span<UInt8>, from peer: Peer, at now: Double) {
        counters.errors += 1
        observer.note(
            .refused(rejection.error, line: peer.input.framer.lineNumber, camera: peer.lastCamera?.name), of: peer)
        turns.add(work: Self.workOfError * max(rejection.ids.count, 1))
        peer.replay?.lineWasRejected()
        var isAnswered = false
        for (index, id) in rejection.ids.enumerated() {
            let isWrong = rejection.index.map { $0 == index } ?? (rejection.ids.count == 1)
            guard isWrong || id != nil else { continue }
            var error = rejection.error
            if !isWrong {
                error.message = "the array was rejected as a whole: \(error.message)"
                error.field = nil
            }
            sender.refuse(error, text.extracting(id?.range ?? 0..<0), to: peer)
            isAnswered = true
        }
        if !isAnswered { sender.refuse(rejection.error, Span(), to: peer) }
        // What follows a header that was refused must not be taken for live input.
        if rejection.isHeader, peer.replay == nil {
            clients.linger(peer)
            runner.cancelGestures(of: peer, at: now)
        }
    }
}
