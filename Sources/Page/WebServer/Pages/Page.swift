// A page that watches or feeds: its stream, and its own connection to the daemon, which ends with the stream. So the
// daemon cancels the gestures of a page that vanishes. Invariant: what a page sends never waits here without a limit,
// and none of it is a subscription or a trace, which are the server's part.

import GimbalProtocol
import HTTPTypes
import NIOCore
import Synchronization
import UnixSocket

/// A page, from the beginning of its stream to its end.
final class Page: Sendable {
    /// Identifies the page in its requests; no other client knows it.
    let id = Tokens.made()
    let role: Role
    let outbox = PageOutbox()
    private let socket: DaemonSocket
    private let group: any EventLoopGroup
    private let state: Mutex<State>

    /// A connection to the daemon, or the attempt to make one.
    private struct Connection {
        let number: Int
        let channel: Task<DaemonChannel, any Error>
    }

    private struct State {
        var connection: Connection?
        var lastConnection = 0
        var recording: DaemonChannel?
        var meter: RateMeter
        var isOver = false
    }

    init(_ role: Role, _ socket: DaemonSocket, on group: any EventLoopGroup, _ limits: Limits) {
        (self.role, self.socket, self.group) = (role, socket, group)
        state = Mutex(
            State(meter: RateMeter(perSecond: limits.requestsPerSecond, atOnce: limits.requestsAtOnce)))
    }

    /// Ends the page: the daemon cancels its fingers and gestures, and its recording.
    func finish() {
        outbox.finish()
        let (connection, recording) = state.withLock { state in
            state.isOver = true
            return (state.connection, state.recording)
        }
        recording?.close()
        Task { try? await connection?.channel.value.close() }
    }

    /// Whether its stream has ended.
    var isOver: Bool { state.withLock { $0.isOver } }
    static let gone = HTTPRefusal(.gone, "this page's stream has ended")

    // MARK: Lines

    /// Bytes of lines that count as one more request.
    private static let bytesOfARequest = 4 << 10
    /// The most bad lines in a request; the daemon answers each.
    private static let mostBadLines = 64

    /// Sends lines to the daemon. Its answers come over the page's stream.
    func send(_ bytes: [UInt8]) async throws(HTTPRefusal) {
        guard state.withLock({ $0.meter.take(Double(1 + bytes.count / Self.bytesOfARequest)) }) else {
            throw HTTPRefusal(.tooManyRequests, "too many requests, or too many bytes in them", retryAfter: 1)
        }
        try Self.check(bytes)
        let connection = try await openConnection()
        guard connection.isWritable else {
            throw HTTPRefusal(.serviceUnavailable, "the daemon has not taken the previous lines", retryAfter: 1)
        }
        connection.send(bytes.last == 0x0a ? bytes : bytes + [0x0a])
    }

    /// Refuses what a page may not ask for. Other errors are best explained by the daemon.
    private static func check(_ bytes: [UInt8]) throws(HTTPRefusal) {
        var lines = LineReader(status: .badRequest, longest: .max, mostBad: mostBadLines)
        var position = 0
        while let line = try lines.next(in: bytes.span, at: &position, isLast: true) {
            let isTrace = try lines.decode(bytes.span.extracting(line))
            if isTrace { throw lines.refusal("a trace must be sent as a recording, to /recording") }
            for request in lines.requests {
                switch request.body {
                case .trace, .traceEnd: throw lines.refusal("a trace must be sent as a recording, to /recording")
                case .subscribe, .subscribeAll, .unsubscribe, .unsubscribeAll:
                    throw lines.refusal("the stream covers all cameras; a page must not subscribe")
                default: break
                }
            }
        }
    }

    /// Returns the page's connection to the daemon; makes it when first needed, and again once it has ended.
    private func openConnection() async throws(HTTPRefusal) -> DaemonChannel {
        let connection = state.withLock { state -> Connection? in
            guard !state.isOver else { return nil }
            if let connection = state.connection { return connection }
            let number = state.lastConnection + 1
            let forget: @Sendable () -> Void = { [weak self] in self?.forgetConnection(number) }
            let channel = Task { [socket, group, pass] in
                try await DaemonChannel(socket, on: group, receive: pass, end: forget)
            }
            let connection = Connection(number: number, channel: channel)
            (state.connection, state.lastConnection) = (connection, number)
            return connection
        }
        guard let connection else { throw Self.gone }
        do {
            return try await connection.channel.value
        } catch {
            forgetConnection(connection.number)
            throw HTTPRefusal(.badGateway, "there is no daemon: \(error)", retryAfter: 1)
        }
    }

    /// Passes an answer of the daemon on; a page that reads none is ended.
    private var pass: @Sendable (ArraySlice<UInt8>) -> Void {
        { [weak self] line in
            guard let self, !outbox.add(reply: line + [0x0a]) else { return }
            finish()
        }
    }

    /// Forgets a connection that has ended, but not a newer one.
    private func forgetConnection(_ number: Int) {
        state.withLock { if $0.connection?.number == number { $0.connection = nil } }
    }

    // MARK: Recordings

    /// Tells the page the progress of its recording.
    ///
    /// - Parameters:
    ///   - ahead: how many recordings come before it.
    ///   - progress: how much of it has been read, from 0 to 1.
    func tell(ofRecordingFor camera: String, ahead: Int, progress: Double) {
        let line = PageLine([
            "type": .string("recording"), "camera": .string(camera), "ahead": .number(Double(ahead)),
            "progress": .number((progress * 100).rounded() / 100),
        ])
        if !outbox.add(reply: line.bytes) { finish() }
    }

    /// Makes a connection to play a trace over, replacing the page's previous one; the page's stream reports its end.
    func openRecording() async throws(HTTPRefusal) -> DaemonChannel {
        // The camera must be free again before the next trace begins.
        await setRecording(nil)?.end()
        do {
            let connection = try await DaemonChannel(socket, on: group, receive: pass, end: {})
            _ = setRecording(connection)
            return connection
        } catch {
            throw HTTPRefusal(.badGateway, "there is no daemon: \(error)", retryAfter: 1)
        }
    }

    /// Returns the connection before, which this closes.
    private func setRecording(_ connection: DaemonChannel?) -> DaemonChannel? {
        let (before, isOver) = state.withLock { state in
            defer { state.recording = connection }
            return (state.recording, state.isOver)
        }
        before?.close()
        if isOver { connection?.close() }
        return before
    }

    /// Plays a trace, as fast as the daemon reads it.
    ///
    /// - Parameter lease: the camera's lease that this connection joins first; `nil` if it needs none.
    func play(_ trace: [UInt8], by lease: Int?, of camera: String, over connection: DaemonChannel) async {
        // The daemon reads as far ahead as it wants to; the rest waits here.
        do {
            if let lease {
                try await connection.sendAndWait(
                    ClientRequest.joinLease(lease).line(camera: camera, id: .text("recording"), creates: false))
            }
            for start in stride(from: 0, to: trace.count, by: Self.piece) {
                try await connection.sendAndWait(trace[start..<min(start + Self.piece, trace.count)])
            }
        } catch {
            // Ended by an `end-replay` request or by the next recording.
            return
        }
    }

    private static let piece = 64 << 10
}
