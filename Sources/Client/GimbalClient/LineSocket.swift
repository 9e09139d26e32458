// A daemon's socket, read and written in lines: what all our own connections have in common, however they wait.
// Invariant: no call blocks. The caller that made it closes the descriptor.

import Glibc
import UnixSocket

package struct LineSocket {
    /// What an attempt to read has brought.
    package enum Reading {
        case bytes
        case nothing
        /// The daemon says nothing more: it has ended the connection, or this error has.
        case end(SystemError?)
    }

    package let descriptor: CInt
    private var incoming = LineBuffer()
    /// The bytes to send, of which the first `sent` are gone.
    private var outgoing: [UInt8] = []
    private var sent = 0
    /// Whether the daemon still reads. If it is gone, its earlier output can still be read, and then the end.
    package private(set) var canSend = true

    package init(_ descriptor: CInt) { self.descriptor = descriptor }

    // MARK: Reading

    /// Reads what has come, so many bytes at the most.
    package mutating func receive(upTo count: Int) -> Reading {
        let count = unsafe incoming.append(upTo: count) { [descriptor] room in
            unsafe recv(descriptor, room.baseAddress, room.count, CInt(MSG_DONTWAIT))
        }
        if count > 0 { return .bytes }
        if count == 0 { return .end(nil) }
        return errno == EAGAIN || errno == EINTR ? .nothing : .end(SystemError("recv"))
    }

    /// The next line without its LF, if it has been read whole.
    package mutating func nextLine() throws(GimbalConnectionError) -> ArraySlice<UInt8>? { try incoming.next() }

    // MARK: Sending

    /// Bytes that are queued and not sent.
    package var unsent: Int { outgoing.count - sent }

    /// Queues bytes; `send` sends them.
    package mutating func queue(_ bytes: some Collection<UInt8>) {
        if canSend { outgoing.append(contentsOf: bytes) }
    }

    /// Sends as much as there is room for.
    package mutating func send() {
        while unsent > 0 {
            let count = unsafe outgoing.withUnsafeBytes { all in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: all[sent...])
                return unsafe Glibc.send(descriptor, rest.baseAddress, rest.count, CInt(MSG_NOSIGNAL | MSG_DONTWAIT))
            }
            if count >= 0 {
                sent += count
            } else if [EAGAIN, ENOBUFS, ENOMEM].contains(errno) {
                // Where the kernel lacks memory, it may have some later.
                return
            } else if errno != EINTR {
                canSend = false
                break
            }
        }
        outgoing.removeAll(keepingCapacity: true)
        sent = 0
    }
}
