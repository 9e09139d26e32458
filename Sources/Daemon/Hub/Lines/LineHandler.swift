// Decodes, admits and applies one line, or answers it with its error. In a replay, the line waits for its time first.

import MapCamera
import GimbalProtocol

final class LineHandler {
    private let parts: HubParts
    private let applier: RequestApplier

    private var decoder: RequestDecoder
    /// Kept from line to line, so that nothing is allocated.
    private var (requests, meant): ([Request], [MeantCamera]) = ([], [])

    init(_ parts: HubParts, _ applier: RequestApplier) {
        (self.parts, self.applier) = (parts, applier)
        decoder = RequestDecoder(longestLine: parts.limits.line, largestBatch: parts.limits.batch)
    }

    // MARK: A line

    /// Handles a line; returns `false` if its time has not come.
    func handle(_ text: Span<UInt8>, from peer: Peer, at now: Double) -> Bool {
        var line = GestureLine()
        let isGesture = line.read(text)
        if isGesture {
            switch peer.sentTrace.state {
            case .none:
                if let camera = freeCamera(of: line, text, peer) {
                    handle(line, text, on: camera, from: peer, at: now)
                    return true
                }
            case .playing(let replay):
                if let time = freeTime(of: line, text, in: replay, from: peer) {
                    return handle(line, text, at: time, in: replay, from: peer, at: now)
                }
            case .passedOver: break
            }
        }
        if Self.isBlank(text) { return true }
        // Lent out while the line is applied; that never handles another line.
        var (requests, meant): ([Request], [MeantCamera]) = ([], [])
        swap(&requests, &self.requests)
        swap(&meant, &self.meant)
        defer {
            meant.removeAll(keepingCapacity: true)
            swap(&requests, &self.requests)
            swap(&meant, &self.meant)
        }
        do {
            if !isGesture || !decoder.take(line, text, into: &requests) { try decoder.decodeAny(text, into: &requests) }
        } catch {
            reject(error, text, from: peer, at: now)
            return true
        }
        for request in requests { meant.append(parts.registry.meant(by: request.camera, of: peer)) }
        return handle(requests, meant, text, from: peer, at: now)
    }

    private static func isBlank(_ text: Span<UInt8>) -> Bool {
        for index in 0..<text.count where text[index] != 0x20 && text[index] != 0x09 { return false }
        return true
    }

    // MARK: A line that is one gesture

    /// Returns the camera of a live gesture, if nothing can be wrong with the gesture in the current state.
    @inline(__always)
    private func freeCamera(of line: GestureLine, _ text: Span<UInt8>, _ peer: Peer) -> HostedCamera? {
        let name = text.extracting(line.camera.range)
        guard let camera = name.isEmpty ? parts.registry.mainCamera(of: peer) : parts.registry.camera(name, of: peer),
            Admission.admitsAnyGesture(of: peer, on: camera, parts.limits)
        else { return nil }
        return camera
    }

    /// Returns the time of a gesture in a replay, in the trace's `timeMs`, if nothing can be wrong with it: a short
    /// form of the checks of ``traceTime(_:of:)``.
    private func freeTime(
        of line: GestureLine, _ text: Span<UInt8>, in replay: Replay, from peer: Peer
    ) -> Double? {
        let name = text.extracting(line.camera.range)
        guard let time = line.gesture.event.time, replay.mayGoOn(at: time), name.isEmpty || replay.camera.isNamed(name),
            Admission.admitsAnyGesture(of: peer, on: replay.playbackCamera, parts.limits)
        else { return nil }
        return time
    }

    /// Handles a line that is one live gesture.
    private func handle(
        _ line: GestureLine, _ text: Span<UInt8>, on camera: HostedCamera, from peer: Peer, at now: Double
    ) {
        parts.counters.lines += 1
        parts.turns.add(work: 1)
        applier.apply(line.gesture, text.extracting(line.id.range), to: camera, from: peer, at: now)
        parts.runner.commitBatch(of: camera, at: camera.time(at: now))
        parts.runner.settle(at: now)
    }

    /// Handles a line that is one gesture of a replay; returns `false` if its time has not come.
    private func handle(
        _ line: GestureLine, _ text: Span<UInt8>, at time: Double, in replay: Replay, from peer: Peer, at now: Double
    ) -> Bool {
        guard parts.replays.schedule(time, in: replay, at: now) else { return false }
        parts.counters.lines += 1
        parts.turns.add(work: 1)
        let id = text.extracting(line.id.range)
        if replay.passesOver {
            parts.sender.acknowledge(id, to: peer)
        } else {
            let camera = replay.playbackCamera
            applier.apply(line.gesture, id, to: camera, from: peer, at: now)
            parts.runner.commitBatch(of: camera, at: camera.time(at: now))
            parts.replays.didApply(text, in: replay, at: now)
        }
        parts.runner.settle(at: now)
        return true
    }

    // MARK: Any line

    /// Handles the objects of a line; returns `false` if their time has not come.
    private func handle(
        _ requests: [Request], _ meant: [MeantCamera], _ text: Span<UInt8>, from peer: Peer, at now: Double
    ) -> Bool {
        let time: Double?
        do throws(Refusal) {
            time = try traceTime(requests, of: peer)
            for case (.present(let camera), let request) in zip(meant, requests) {
                if camera.leases.current != nil { parts.leases.update(camera, at: now) }
                // Of positions that came late together, only the last is shown.
                if case .present = request.body { continue }
                if camera.isPresenting { parts.playOuts.show(camera, at: now) }
            }
            var admission = Admission(requests, meant, from: peer, parts, at: now)
            try admission.admit()
        } catch {
            let isHeader = if case .trace = requests[error.index].body { !peer.sendsTrace } else { false }
            let rejection = Rejection(
                error: error.error, index: error.index, ids: requests.map(\.id), isHeader: isHeader)
            reject(rejection, text, from: peer, at: now)
            return true
        }
        if let time, let replay = peer.replay, !parts.replays.schedule(time, in: replay, at: now) { return false }
        parts.counters.lines += 1
        parts.turns.add(work: requests.count)
        var line = LineContext(from: peer, at: now, timeMs: requests[0].timeMs)
        for index in requests.indices { applier.apply(requests[index], meant[index], text, &line) }
        applier.commitBatches(of: line)
        if time != nil, let replay = peer.replay, !replay.passesOver {
            parts.replays.didApply(text, requests, in: replay, at: now)
        }
        parts.runner.settle(at: now)
        return true
    }

    /// Returns the time of the line in a trace, in its `timeMs`; `nil` live, and for lines that only ask.
    private func traceTime(_ requests: [Request], of peer: Peer) throws(Refusal) -> Double? {
        guard peer.sendsTrace else { return nil }
        var time: Double?
        for index in requests.indices {
            guard requests[index].body.isOfTraces else { continue }
            func refusal(_ code: ErrorCode, _ message: String) -> Refusal {
                Refusal(index: index, error: GimbalError(code, field: "timeMs", "timeMs \(message)"))
            }
            guard let given = requests[index].timeMs ?? time else {
                throw refusal(.missingField, "is missing: in a trace, gestures, touches, commands and markers need it")
            }
            guard given == time ?? given else {
                throw refusal(.invalidValue, "must be the same in all objects of an array")
            }
            guard let replay = peer.replay, !replay.passesOver else { return given }
            guard replay.mayGoOn(at: given) else {
                throw replay.clock.time(of: given) > ReplayClock.longest
                    ? refusal(.invalidValue, "must be at most 1e14 ms after the trace's first")
                    : refusal(.timeReversed, "must not be before that of the previous line")
            }
            time = given
        }
        return time
    }

    // MARK: Errors

    /// Answers a line beyond the limit, of which only the beginning has to be present.
    func rejectTooLong(_ beginning: Span<UInt8>, from peer: Peer, at now: Double) {
        reject(decoder.rejectTooLong(beginning), beginning, from: peer, at: now)
    }

    private func reject(_ rejection: Rejection, _ text: Span<UInt8>, from peer: Peer, at now: Double) {
        parts.sender.reject(rejection, text, from: peer)
        // Lines after a refused header must not be taken for live input.
        if rejection.isHeader, !peer.sendsTrace {
            parts.clients.linger(peer)
            // A peer that cannot be sent its error is closed, too.
            parts.sender.enqueue(peer)
            parts.runner.cancelGestures(of: peer, at: now)
            parts.leases.release(peer, at: now)
        }
    }
}
