// Sends one trace through one connection: the header, the lines as fast as the daemon takes them, and a ping that is
// answered at the end of the replay. The sending side stays open until then, so that the daemon ends the replay if this
// process vanishes.

import GimbalProtocol
import Traces

final class ReplaySession {
    private let reader: TraceSource
    private let connection: DaemonConnection
    private let output: Output
    private let opening: TraceSource.Opening
    private let options: Replay
    /// The display and the keys of the replay, if there is a terminal.
    private var player: PlayerControl?

    /// The number of lines sent before the trace's first.
    private var linesBefore = 0
    private var isOver = false
    /// Whether the replay was ended early: by a key, another client or a restart.
    private var isCut = false
    private var rejected = 0
    /// The daemon's last message, if it was an error.
    private var lastError: GimbalError?

    private static let endMark: RequestID = "gimbal-replay-end"

    init(_ name: String, _ options: Replay, _ output: Output) throws {
        reader = try TraceSource(InputFile(name), options.recording, number: options.selection.number)
        connection = try DaemonConnection(options.socket)
        (self.output, self.options) = (output, options)
        let startMs: Double?
        (opening, startMs) = try about(name) { [reader] in
            var opening = try reader.opening()
            try opening.header.set(options.members)
            let startMs = TraceTime.first(in: opening.rest)
            if opening.header.header?.playback.durationMs == nil, let durationMs = Self.duration(of: reader, startMs) {
                try opening.header.set([("durationMs", .number(durationMs))])
            }
            return (opening, startMs)
        }
        if options.follow { output.showRows(of: [opening.header.camera]) }
        let playback = opening.header.header?.playback ?? TracePlayback()
        player = try PlayerControl(
            InputFile.title(of: name), of: opening.header.camera, options.socket, isInputTaken: name == "-",
            hasRows: output.hasRows, loop: playback.loop, durationMs: playback.durationMs,
            markers: Self.markers(of: reader, startMs))
    }

    /// Returns how long a trace lasts, in milliseconds, if the end of its file tells it.
    private static func duration(of reader: TraceSource, _ startMs: Double?) -> Double? {
        guard let startMs, let endMs = reader.lastBytes(256 << 10).flatMap(TraceTime.last) else { return nil }
        // A last line that every daemon rejects may contain any time; a header may give at most this duration.
        return endMs > startMs && endMs - startMs <= 1e14 ? endMs - startMs : nil
    }

    /// Returns the times of a trace's markers, in milliseconds from its beginning; none for a file of more than 64 MiB.
    private static func markers(of reader: TraceSource, _ startMs: Double?) -> [Double] {
        guard let startMs, let size = reader.size, size <= 64 << 20 else { return [] }
        return TraceMarkers.times(in: reader.lastBytes(size) ?? []).map { max($0 - startMs, 0) }
    }

    // MARK: Running

    /// Whether a key has ended the replay.
    var isEndedByKey: Bool { player?.isEnding == true }

    /// Plays the trace; returns the number of errors.
    func run() throws -> Int {
        defer { player?.end() }
        if try player?.begin() == false {
            player?.end()
            player = nil
        }
        try begin()
        while !isOver {
            let source = !reader.isAtEnd && connection.wantsMore ? reader.descriptor : nil
            let turn = try connection.turn(
                source: source, others: player?.sources ?? [], timeout: player?.timeout, handle)
            try flush()
            if let end = turn.end, !isOver {
                if isCut, isEndedByKey { break }
                throw failure(end)
            }
            if turn.isSourceReady { try send(try reader.read()) }
            try player?.advance()
        }
        player?.end()
        reader.reportDamage()
        return rejected
    }

    private func begin() throws {
        if options.follow {
            connection.queue(try ClientRequest.subscribe().line(camera: opening.header.camera))
            linesBefore = 1
        }
        linesBefore += try connection.joinLeases(of: opening.header.camera)
        if options.lease {
            // The lease lasts until the trace has ended, and with it the connection.
            let lease = LeaseRequest(forMs: Lease.longest, label: "gimbal replay")
            connection.queue(try ClientRequest.takeLease(lease).line(camera: opening.header.camera))
            linesBefore += 1
        }
        connection.queue(opening.blank + opening.header.bytes + [0x0a])
        guard opening.header.isRight else {
            // The header will be refused, and nothing after it may be taken for live input.
            return connection.finishSending()
        }
        try send(opening.rest)
    }

    private func send(_ piece: [UInt8]) throws {
        connection.queue(piece)
        guard reader.isAtEnd else { return }
        connection.queue(reader.ending)
        connection.queue(try ClientRequest.ping.line(id: Self.endMark))
    }

    /// Returns why the daemon ended the connection before the replay was over.
    private func failure(_ end: DaemonConnection.End) -> Failure {
        if isCut {
            return Failure(
                .unavailable, "\(reader.name): the replay was ended early, by another client or a restart")
        }
        guard let lastError else { return .daemonWentAway }
        let line = lastError.line - linesBefore
        guard line > 0 else { return Failure(.unavailable, "\(lastError.message)") }
        // After refusing a header, the daemon still reads.
        guard line == opening.headerLine || end == .quiet else { return .daemonWentAway }
        return Failure([.busy, .leased].contains(lastError.code) ? .busy : .dataError, "\(reader.name) was not played")
    }

    // MARK: Messages from the daemon

    private func handle(_ message: ReceivedLine) throws {
        lastError = nil
        switch message.type {
        case .error: report(message)
        case .traceEnded:
            isCut = message.traceEnded?.cut == true
            player?.conclude()
            output.conclude(message, of: reader.name)
        case .pong: isOver = isOver || message.id == Self.endMark
        case .lagged where options.follow:
            if case .lagged(let lagged)? = message.event { announce("gimbal: \(lagged.text)") }
            output.show(message)
        case _ where options.follow && message.isOfStream: output.show(message, as: message.withoutEpoch)
        default: break
        }
    }

    private func report(_ message: ReceivedLine) {
        guard let error = message.error else { return }
        lastError = error
        let line = error.line - linesBefore
        guard line > 0 else { return }
        rejected += 1
        announce("\(reader.name):\(line): \(error)")
    }

    /// Writes a line to standard error, after removing the player's lines.
    private func announce(_ text: PrintableText) {
        player?.clear()
        say(text)
    }

    private func flush() throws {
        guard let player, output.isTerminal, !output.isEmpty else { return try output.flush() }
        try player.printing(output.flush)
    }
}
