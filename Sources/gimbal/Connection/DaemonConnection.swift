// The client's end of a connection. One wait is for everything: room to send, lines from the daemon, input, ^C. So neither
// side ever waits for the other to read.

import GimbalClient
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

    private let descriptor: CInt
    /// What is to be sent, of which the first `sent` bytes are.
    private var outgoing: [UInt8] = []
    private var sent = 0
    /// Whether the daemon still takes what is sent.
    private(set) var canSend = true
    private var isFinishing = false
    /// The beginning of a line that has not come to its end.
    private var incoming: [UInt8] = []
    private var buffer = [UInt8](repeating: 0, count: 128 << 10)

    /// Connects to the daemon.
    init(_ options: SocketOptions) throws(Failure) {
        do {
            descriptor = try UnixSocket.connect(options.path)
        } catch {
            throw Self.failure(error, options)
        }
    }

    deinit { _ = close(descriptor) }

    private static func failure(_ error: SystemError, _ options: SocketOptions) -> Failure {
        switch error.code {
        case ECONNREFUSED where !isSocket(options.path): Failure(.usage, "\(options.path) is no socket")
        case ENOENT, ECONNREFUSED, ENOTDIR:
            Failure(.unavailable, "no daemon at \(options.path); start it with: \(options.daemonCommand)")
        case EACCES, EPERM: Failure(.noPermission, "\(error)")
        case ENAMETOOLONG: Failure(.usage, "\(error)")
        default: Failure(.unavailable, "\(error)")
        }
    }

    private static func isSocket(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }

    // MARK: Sending

    /// Bytes that are queued and not sent.
    var unsent: Int { outgoing.count - sent }

    /// Whether all that was queued has been sent, and more can be.
    var wantsMore: Bool { unsent == 0 && canSend && !isFinishing }

    /// Queues bytes; `turn` sends them.
    func queue(_ bytes: some Collection<UInt8>) {
        if sent > 0, sent == outgoing.count {
            outgoing.removeAll(keepingCapacity: true)
            sent = 0
        }
        outgoing.append(contentsOf: bytes)
    }

    /// Tells the daemon, once all is sent, that nothing more will come.
    func finishSending() {
        isFinishing = true
        shutDownIfDone()
    }

    private func shutDownIfDone() {
        if isFinishing, unsent == 0 { _ = shutdown(descriptor, CInt(SHUT_WR)) }
    }

    private func send() {
        while unsent > 0 {
            let count = unsafe outgoing.withUnsafeBytes { all in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: all[sent...])
                let flags = CInt(MSG_NOSIGNAL | MSG_DONTWAIT)
                return unsafe Glibc.send(descriptor, rest.baseAddress, rest.count, flags)
            }
            if count >= 0 {
                sent += count
            } else if errno == EAGAIN {
                return
            } else if errno != EINTR {
                // The daemon is gone; what it said before is still to be read.
                canSend = false
                sent = outgoing.count
            }
        }
        shutDownIfDone()
    }

    // MARK: Waiting

    /// Waits until something has happened, sends what there is room for, and hands over the lines that have come.
    ///
    /// - Parameters:
    ///   - source: a descriptor to wait for as well.
    ///   - timeout: milliseconds to wait at the most; `nil` is for ever.
    ///   - take: takes a line from the daemon, without its LF.
    func turn(
        source: CInt? = nil, timeout: Int? = nil, _ take: (ArraySlice<UInt8>) throws -> Void
    ) throws -> Turn {
        let wanted = CShort(POLLIN) | (unsent > 0 ? CShort(POLLOUT) : 0)
        var ready = [
            pollfd(fd: descriptor, events: wanted, revents: 0),
            pollfd(fd: source ?? -1, events: CShort(POLLIN), revents: 0),
            pollfd(fd: Interrupt.descriptor, events: CShort(POLLIN), revents: 0),
        ]
        let count = unsafe poll(&ready, nfds_t(ready.count), timeout.map { CInt($0) } ?? -1)
        try Interrupt.check()
        guard count > 0 else { return Turn() }
        var turn = Turn(isSourceReady: ready[1].revents != 0)
        if ready[0].revents & CShort(POLLOUT) != 0 { send() }
        if ready[0].revents & CShort(POLLIN | POLLHUP | POLLERR) != 0, try !receive(take) {
            turn.end = ready[0].revents & CShort(POLLHUP) != 0 ? .closed : .quiet
        }
        return turn
    }

    /// Reads what has come; `false` at the end.
    private func receive(_ take: (ArraySlice<UInt8>) throws -> Void) throws -> Bool {
        let count = unsafe buffer.withUnsafeMutableBytes { room in
            unsafe recv(descriptor, room.baseAddress, room.count, CInt(MSG_DONTWAIT))
        }
        guard count > 0 else { return count < 0 && (errno == EAGAIN || errno == EINTR) }
        incoming += buffer[..<count]
        // No line ends in what was there before.
        var (start, searched) = (0, incoming.count - count)
        while let end = incoming[searched...].firstIndex(of: 0x0a) {
            try take(incoming[start..<end])
            start = end + 1
            searched = start
        }
        incoming.removeFirst(start)
        guard incoming.count <= JSONLine.longest else {
            throw Failure(.unavailable, "\(GimbalConnectionError.lineTooLong)")
        }
        return true
    }
}
