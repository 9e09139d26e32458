// A daemon's socket, read and written in lines: what all our own connections have in common, however they wait.
// Invariant: no call blocks. The caller that made it closes the descriptor.

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
        do throws(SystemError) {
            let count = try unsafe incoming.append(upTo: count) { [descriptor] room throws(SystemError) in
                try unsafe System.receive(into: room, from: descriptor)
            }
            guard let count else { return .nothing }
            return count > 0 ? .bytes : .end(nil)
        } catch {
            return .end(error)
        }
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
        while canSend, unsent > 0 {
            do throws(SystemError) {
                guard let count = try transmitRest() else { return }
                sent += count
            } catch {
                canSend = false
            }
        }
        outgoing.removeAll(keepingCapacity: true)
        sent = 0
    }

    private func transmitRest() throws(SystemError) -> Int? {
        try unsafe outgoing.span.bytes.extracting(sent...).withUnsafeBytes { rest throws(SystemError) in
            try unsafe System.transmit(rest, to: descriptor)
        }
    }
}
