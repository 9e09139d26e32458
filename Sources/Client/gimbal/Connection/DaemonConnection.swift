// The client's end of a connection. One wait is for everything: room to send, lines from the daemon, input, ^C, the time
// limit. So neither side ever waits for the other to read, and no command waits longer than --timeout says.

import GimbalClient
import GimbalProtocol
import Glibc
import UnixSocket

final class DaemonConnection {
    /// How the daemon's side ended.
    enum End {
        /// It says nothing more, but it still reads.
        case quiet
        case closed
    }

    /// What a wait has brought.
    struct Turn {
        /// The source has something to read, or its end.
        var isSourceReady = false
        var end: End?
    }

    private var socket: LineSocket
    /// What the person said with --timeout: for the whole command.
    private let limit: TimeLimit?
    /// Until when the daemon has to answer; `nil` if it owes no answer.
    private var answerLimit: TimeLimit?
    private var isFinishing = false
    /// The leases that have been joined.
    private var joined: [HeldLease] = []
    /// How many of them the daemon has not answered yet.
    private var unanswered = 0

    /// As much as is read at once.
    private static let piece = 128 << 10

    /// Connects to the daemon.
    ///
    /// - Parameter isLimited: whether the time of --timeout holds for all that is waited for.
    init(_ options: SocketOptions, isLimited: Bool = true) throws {
        limit = isLimited ? options.timeout.map { TimeLimit(milliseconds: $0.milliseconds) } : nil
        let timeout = options.timeout?.milliseconds ?? TimeLimit.usualAnswer
        do {
            socket = LineSocket(
                try UnixSocket.connect(
                    toFirstOf: options.candidates, timeout: Int(min(timeout, 1e12).rounded(.up))
                ).descriptor)
        } catch {
            try Interrupt.check()
            throw Self.failure(error, options, timeout)
        }
    }

    deinit { _ = close(socket.descriptor) }

    /// Readable when the daemon has said something.
    var source: CInt { socket.descriptor }

    private static func failure(_ error: NoConnection, _ options: SocketOptions, _ timeout: Double) -> Failure {
        guard let last = error.attempts.last else { return Failure(.unavailable, "no daemon") }
        let places = error.attempts.map(\.path)
        let isOne = places.count == 1
        let isLocked = error.attempts.first { [EACCES, EPERM].contains($0.error.code) }
        switch last.error.code {
        case ECONNREFUSED where isOne && !isSocket(last.path): return Failure(.usage, "\(last.path) is no socket")
        case EAGAIN:
            return Failure(.unavailable, "the daemon at \(last.path) took no connection within \(spoken(timeout))")
        case ENAMETOOLONG: return Failure(.usage, "\(last.error)")
        case _ where isLocked != nil:
            let path = isLocked?.path ?? last.path
            let hint: PrintableText =
                path.hasPrefix("/run/gimbal/") ? ": it is for members of the group that owns it" : ""
            let error: PrintableText = isLocked.map { "\($0.error)" } ?? ""
            return Failure(.noPermission, isOne ? error : "no daemon lets you in: \(error)\(hint)")
        case ENOENT, ECONNREFUSED, ENOTDIR:
            return Failure(
                .unavailable, "no daemon at \(listed(places, "or")); start one with: \(options.daemonCommand)")
        default: return Failure(.unavailable, "\(last.error)")
        }
    }

    private static func isSocket(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }

    // MARK: Sending

    /// Bytes that are queued and not sent.
    var unsent: Int { socket.unsent }

    /// Whether the daemon still reads what is sent.
    var canSend: Bool { socket.canSend }

    /// Whether all that was queued has been sent, and more can be.
    var wantsMore: Bool { unsent == 0 && canSend && !isFinishing }

    /// Queues bytes; `turn` sends them.
    func queue(_ bytes: some Collection<UInt8>) { socket.queue(bytes) }

    /// Has this connection move cameras by the leases that "gimbal lease" holds for this command.
    ///
    /// - Parameter camera: the one that is about to be moved; `nil` is any.
    /// - Returns: how many lines are sent for it, ahead of what is queued next.
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

    /// Whether a line answers that a lease is joined; a refusal ends the command.
    private func isJoining(_ line: ArraySlice<UInt8>) throws(Failure) -> Bool {
        guard unanswered > 0 else { return false }
        let message = ReceivedLine(line)
        guard message.id == Self.joinID else { return false }
        unanswered -= 1
        if let error = message.error { throw Failure(error) }
        return true
    }

    /// Tells the daemon, once all is sent, that nothing more will come.
    func finishSending() {
        isFinishing = true
        shutDownIfDone()
    }

    private func shutDownIfDone() {
        if isFinishing, unsent == 0 { _ = shutdown(socket.descriptor, CInt(SHUT_WR)) }
    }

    // MARK: Waiting

    /// Gives the daemon the usual time to answer, unless the person has set one for the whole command.
    func expectAnswer() { answerLimit = limit ?? TimeLimit(milliseconds: TimeLimit.usualAnswer) }

    /// Gives the daemon so many milliseconds to answer, whatever the person has said.
    func expectAnswer(within milliseconds: Double) {
        answerLimit = milliseconds.isFinite ? TimeLimit(milliseconds: milliseconds) : nil
    }

    /// Takes note that the daemon has answered: what comes next may take its time.
    func hasAnswered() { answerLimit = nil }

    /// How long to wait, in milliseconds: as long as the caller says, and not beyond the time limit.
    private func wait(_ timeout: Int?) -> CInt {
        let left = [timeout, limit?.left, answerLimit?.left].compactMap(\.self).min()
        return left.map { CInt(min(max($0, 0), 1 << 30)) } ?? -1
    }

    /// - Throws: a `Failure` if the time is over.
    private func checkTime() throws(Failure) {
        guard let limit = answerLimit ?? limit, limit.left == 0 else { return }
        throw limit.failure(isUnanswered: answerLimit != nil)
    }

    /// Waits until something has happened, sends what there is room for, and hands over the lines that have come.
    ///
    /// - Parameters:
    ///   - source: a descriptor to wait for as well.
    ///   - others: more descriptors that end the wait when they are readable.
    ///   - timeout: milliseconds to wait at the most; `nil` is for ever.
    ///   - body: takes a line from the daemon, without its LF.
    func turn(
        source: CInt? = nil, others: [CInt] = [], timeout: Int? = nil, _ body: (ArraySlice<UInt8>) throws -> Void
    ) throws -> Turn {
        let wanted = CShort(POLLIN) | (unsent > 0 ? CShort(POLLOUT) : 0)
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

    /// Reads what has come; `false` at the end.
    private func receive(_ body: (ArraySlice<UInt8>) throws -> Void) throws -> Bool {
        switch socket.receive(upTo: Self.piece) {
        case .bytes: while let line = try nextLine() { if try !isJoining(line) { try body(line) } }
        case .nothing: break
        case .end: return false
        }
        return true
    }

    private func nextLine() throws(Failure) -> ArraySlice<UInt8>? {
        do throws(GimbalConnectionError) {
            return try socket.nextLine()
        } catch {
            throw Failure(.unavailable, "\(error)")
        }
    }
}
