// One line: decoded, admitted, and applied; or answered with its error. In a replay it waits for its time first.

import MapCamera
import Wire

extension Hub {
    // MARK: A line

    /// Takes a line; `false` if its time has not come.
    func take(line bytes: Span<UInt8>, from peer: Peer, at now: Double) -> Bool {
        if Self.isBlank(bytes) { return true }
        var requests: [Request] = []
        swap(&requests, &roomForRequests)
        defer { swap(&requests, &roomForRequests) }
        do {
            try unsafe decoder.decode(bytes, into: &requests)
        } catch {
            reject(error, bytes, peer, at: now)
            return true
        }
        // Found once, since nearly every line is one object about the camera of the line before.
        let camera = existingCamera(requests[0].camera, peer)
        let time: Double?
        do throws(Refusal) {
            time = try traceTime(requests, peer)
            try admit(requests, of: camera, peer)
        } catch {
            let isHeader = if case .trace = requests[error.member].body { peer.replay == nil } else { false }
            let rejection = Rejection(
                error: error.error, member: error.member, ids: requests.map(\.id), isHeader: isHeader)
            reject(rejection, bytes, peer, at: now)
            return true
        }
        if let time, let replay = peer.replay, !reach(time, in: replay, at: now) { return false }
        counters.lines += 1
        work.add(requests.count)
        apply(requests, to: camera, bytes, from: peer, at: now, traceTime: time)
        return true
    }

    static func isBlank(_ bytes: Span<UInt8>) -> Bool {
        for index in 0..<bytes.count where bytes[index] != 0x20 && bytes[index] != 0x09 { return false }
        return true
    }

    /// The time of the line in a replay, in the trace's `timeMs`; `nil` live, and for lines that ask only.
    func traceTime(_ requests: [Request], _ peer: Peer) throws(Refusal) -> Double? {
        guard let replay = peer.replay else { return nil }
        var time: Double?
        for (member, request) in requests.enumerated() {
            switch request.body {
            case .gesture, .command: break
            default: continue
            }
            guard let given = request.timeMs ?? time else {
                throw Refusal(
                    member, .missingField, "timeMs", "timeMs is missing: in a trace every gesture and command has one")
            }
            guard given == time ?? given else {
                throw Refusal(member, .invalidValue, "timeMs", "timeMs must be the same in all objects of an array")
            }
            guard replay.time(of: given) <= Replay.longest else {
                throw Refusal(
                    member, .invalidValue, "timeMs", "timeMs must be at most 1e14 after the first of the trace")
            }
            if replay.time(of: given) < replay.clock {
                throw Refusal(member, .timeReversed, "timeMs", "timeMs must not be before that of the line before")
            }
            time = given
        }
        return time
    }

    /// Brings a replay to a line's time, as far as its pace allows; `false` if the line has to wait.
    func reach(_ timeMs: Double, in replay: Replay, at now: Double) -> Bool {
        replay.arrived(timeMs, at: now, late: replay.wake == nil)
        let time = replay.time(of: timeMs)
        guard play(replay, upTo: time, at: now) else { return false }
        replay.wake = replay.due(time)
        return replay.due(time) <= now
    }

    // MARK: Errors

    /// Answers every request of a rejected line that can be answered.
    func reject(_ rejection: Rejection, _ bytes: Span<UInt8>, _ peer: Peer, at now: Double) {
        counters.errors += 1
        takeNote(
            .refused(rejection.error, line: peer.framer.lineNumber, camera: peer.lastCamera?.name), of: peer)
        work.add(Self.workOfError * max(rejection.ids.count, 1))
        peer.replay?.summary.rejected += 1
        var isAnswered = false
        for (member, id) in rejection.ids.enumerated() {
            let isWrong = rejection.member.map { $0 == member } ?? (rejection.ids.count == 1)
            guard isWrong || id != nil else { continue }
            var error = rejection.error
            if !isWrong {
                error.message = "the array was rejected as a whole: \(error.message)"
                error.field = nil
            }
            answer(error, bytes.extracting(id?.range ?? 0..<0), peer)
            isAnswered = true
        }
        if !isAnswered { answer(rejection.error, Span(), peer) }
        if rejection.isHeader, peer.replay == nil {
            linger(peer)
            leave(peer, at: now)
        }
    }

    /// An error's texts are made for it alone.
    private static let workOfError = 8

    /// Takes nothing more from a peer, and gives it time to close once it has read what it was told.
    func linger(_ peer: Peer) {
        peer.lingerEnd = .infinity
        peer.input = []
        lingering.append(peer)
    }

    func answer(_ error: WireError, _ id: Span<UInt8>, _ peer: Peer) {
        prepareReply(to: peer)
        line.error(error, line: peer.framer.lineNumber, id)
        sendReply(to: peer)
    }
}
