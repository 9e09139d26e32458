// The client's end of a connection. One wait covers everything: room to send, lines from the daemon, input, ^C and the
// time limit. So neither side ever waits for the other to read, and no command waits longer than --timeout says.

import GimbalClient
import Glibc
import UnixSocket

final class DaemonConnection {
    /// How the daemon's side ended.
    enum End {
        /// It sends nothing more, but still reads.
        case quiet
        case closed
    }

    /// The result of a wait.
    struct Turn {
        /// Whether the source has something to read, or has ended.
        var isSourceReady = false
        var end: End?
    }

    private(set) var socket: LineSocket
    /// The path of the daemon's socket.
    let path: String
    /// The limit of --timeout, for the whole command.
    private let limit: TimeLimit?
    /// The time limit of the daemon's answer; `nil` if it owes none.
    private var answerLimit: TimeLimit?
    private let isStrict: Bool
    private var isFinishing = false
    /// The leases that were joined.
    private var joined: [HeldLease] = []
    /// The number of joins that the daemon has not answered yet.
    private var unanswered = 0

    /// The most bytes that are read at once.
    private static let piece = 128 << 10

    /// Connects to the daemon.
    ///
    /// - Parameters:
    ///   - isLimited: whether --timeout limits all waits.
    ///   - isStrict: whether a line that is no message ends the command: another program may have the socket.
    init(_ options: SocketOptions, isLimited: Bool = true, isStrict: Bool = true) throws {
        self.isStrict = isStrict
        limit = isLimited ? options.timeout.map { TimeLimit(milliseconds: $0.milliseconds) } : nil
        let timeout = options.timeout?.milliseconds ?? TimeLimit.usualAnswer
        do {
            let connected = try UnixSocket.connect(
                toFirstOf: options.candidates, timeout: Int(min(timeout, 1e12).rounded(.up)))
            socket = LineSocket(connected.descriptor)
            path = connected.path
        } catch {
            try Interrupt.check()
            throw Self.failure(error, options, timeout)
        }
    }

    deinit { _ = close(socket.descriptor) }

    private static func failure(_ error: NoConnection, _ options: SocketOptions, _ timeout: Double) -> Failure {
        guard let last = error.attempts.last else { return Failure(.unavailable, "no daemon") }
        let places = error.attempts.map(\.path)
        let isOne = places.count == 1
        let isLocked = error.attempts.first { [EACCES, EPERM].contains($0.error.code) }
        switch last.error.code {
        case ECONNREFUSED where isOne && isOtherFile(last.path): return Failure(.usage, "\(last.path) is not a socket")
        case EAGAIN:
            return Failure(.unavailable, "the daemon at \(last.path) accepted no connection within \(spoken(timeout))")
        case ENAMETOOLONG: return Failure(.usage, "\(last.error)")
        case _ where isLocked != nil:
            let path = isLocked?.path ?? last.path
            let hint: PrintableText =
                path.hasPrefix("/run/gimbal/") ? ": only members of the group that owns it may connect" : ""
            let error: PrintableText = isLocked.map { "\($0.error)" } ?? ""
            return Failure(.noPermission, isOne ? error : "no daemon lets you in: \(error)\(hint)")
        case ENOENT, ECONNREFUSED, ENOTDIR:
            return Failure(
                .unavailable, "no daemon at \(listed(places, "or")); start one with: \(options.daemonCommand)")
        default: return Failure(.unavailable, "\(last.error)")
        }
    }

    /// Whether there is a file that is not a socket. A daemon that starts removes a stale socket.
    private static func isOtherFile(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFSOCK
    }

    // MARK: Sending

    /// Whether everything that was queued has been sent, and more can be.
    var wantsMore: Bool { socket.unsent == 0 && socket.canSend && !isFinishing }

    /// Queues bytes; `turn` sends them.
    func queue(_ bytes: some Collection<UInt8>) { socket.queue(bytes) }

    /// Joins the leases that "gimbal lease" holds for this command, so that this connection can move their cameras.
    ///
    /// - Parameter camera: the camera that is about to be moved; `nil` for any.
    /// - Returns: how many lines this sends, ahead of what is queued next.
    @discardableResult
    func joinLeases(of camera: String? = nil) throws -> Int {
        let new = HeldLease.all.filter { lease in
            (camera == nil || lease.camera == camera) && !joined.contains { $0.camera == lease.camera }
        }
        for lease in new {
            queue(try ClientRequest.joinLease(lease.number).line(camera: lease.camera, id: Self.joinID))
        }
        joined += new
        unanswered += new.count
        return new.count
    }

    private static let joinID: RequestID = "gimbal-join-lease"

    /// Returns whether a message answers a join; a refusal ends the command.
    private func isJoining(_ message: ReceivedLine) throws(Failure) -> Bool {
        guard unanswered > 0, message.id == Self.joinID else { return false }
        unanswered -= 1
        if let error = message.error { throw Failure(error) }
        return true
    }

    /// Tells the daemon, once everything is sent, that nothing more will come.
    func finishSending() {
        isFinishing = true
        shutDownIfDone()
    }

    private func shutDownIfDone() {
        if isFinishing, socket.unsent == 0 { _ = shutdown(socket.descriptor, CInt(SHUT_WR)) }
    }

    // MARK: Waiting

    /// Gives the daemon the usual time to answer, unless --timeout gives one for the whole command.
    func expectAnswer() { answerLimit = limit ?? TimeLimit(milliseconds: TimeLimit.usualAnswer) }

    /// Gives the daemon `milliseconds` to answer, whatever --timeout says.
    func expectAnswer(within milliseconds: Double) {
        answerLimit = milliseconds.isFinite ? TimeLimit(milliseconds: milliseconds) : nil
    }

    /// Notes that the daemon has answered: what comes next may take its time.
    func hasAnswered() { answerLimit = nil }

    /// Returns how long to wait, in milliseconds: as long as the caller says, but not beyond the time limits.
    private func wait(_ timeout: Int?) -> CInt {
        let left = [timeout, limit?.left, answerLimit?.left].compactMap(\.self).min()
        return left.map { CInt(min(max($0, 0), 1 << 30)) } ?? -1
    }

    /// - Throws: a `Failure` if the time is up.
    private func checkTime() throws(Failure) {
        guard let limit = answerLimit ?? limit, limit.left == 0 else { return }
        throw limit.failure(isUnanswered: answerLimit != nil)
    }

    /// Waits until something happens, sends what there is room for, and passes on the messages that have arrived.
    ///
    /// - Parameters:
    ///   - source: a descriptor to wait for as well.
    ///   - others: more descriptors that end the wait when they are readable.
    ///   - timeout: the most milliseconds to wait; `nil` for no limit.
    ///   - body: takes a message from the daemon.
    func turn(
        source: CInt? = nil, others: [CInt] = [], timeout: Int? = nil, _ body: (ReceivedLine) throws -> Void
    ) throws -> Turn {
        let wanted = CShort(POLLIN) | (socket.unsent > 0 ? CShort(POLLOUT) : 0)
        var ready = [
            pollfd(fd: socket.descriptor, events: wanted, revents: 0),
            pollfd(fd: source ?? -1, events: CShort(POLLIN), revents: 0),
            pollfd(fd: Interrupt.descriptor, events: CShort(POLLIN), revents: 0),
        ]
        for other in others { ready.append(pollfd(fd: other, events: CShort(POLLIN), revents: 0)) }
        let count = unsafe poll(&ready, nfds_t(ready.count), wait(timeout))
        try Interrupt.check()
        guard count > 0 else {
            try checkTime()
            return Turn()
        }
        var turn = Turn(isSourceReady: ready[1].revents != 0)
        if ready[0].revents & CShort(POLLOUT) != 0 {
            socket.send()
            shutDownIfDone()
        }
        if ready[0].revents & CShort(POLLIN | POLLHUP | POLLERR) != 0, try !receive(body) {
            turn.end = ready[0].revents & CShort(POLLHUP) != 0 ? .closed : .quiet
        }
        if turn.end == nil { try checkTime() }
        return turn
    }

    /// Reads what has arrived; returns `false` at the end.
    private func receive(_ body: (ReceivedLine) throws -> Void) throws -> Bool {
        switch socket.receive(upTo: Self.piece) {
        case .bytes: while let message = try nextMessage() { if try !isJoining(message) { try body(message) } }
        case .nothing: break
        case .end: return false
        }
        return true
    }

    private func nextMessage() throws(Failure) -> ReceivedLine? {
        do throws(GimbalConnectionError) {
            guard let line = try socket.nextLine() else { return nil }
            let message = ReceivedLine(line)
            if isStrict, message.type == nil, message.line == nil { throw .unexpected(line) }
            return message
        } catch {
            throw Failure(.unavailable, "\(error)")
        }
    }
}
