// A daemon's socket, read and written in lines, for all connections of this package, however they wait. Invariant: no
// call blocks. The caller that made the descriptor closes it.

import UnixSocket

package struct LineSocket {
    /// The result of an attempt to read.
    package enum Reading {
        case bytes
        case nothing
        /// The daemon sends nothing more: it has ended the connection, or this error has.
        case end(SystemError?)
    }

    package let descriptor: CInt
    private var incoming = LineBuffer()
    /// The bytes to send, of which the first `sent` are already sent.
    private var outgoing: [UInt8] = []
    private var sent = 0
    /// Whether the daemon still reads. If not, its earlier output can still be read up to its end.
    package private(set) var canSend = true

    package init(_ descriptor: CInt) { self.descriptor = descriptor }

    // MARK: Reading

    /// Reads what has arrived, at most so many bytes.
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

    /// Returns the next line without its LF, if it has been read completely.
    package mutating func nextLine() throws(GimbalConnectionError) -> ArraySlice<UInt8>? { try incoming.next() }

    // MARK: Sending

    /// The number of queued bytes that have not been sent.
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
