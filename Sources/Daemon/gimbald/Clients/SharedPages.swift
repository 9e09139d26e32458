// What hundreds of subscribers are sent is copied into the kernel once; tee(2) and splice(2) hand on its pages. With a copy for
// each it would be written to, and read from, more memory than the processor's caches hold: a delivery of what a client feeds
// without pause takes 0.029 µs instead of 0.053 where there are 100 subscribers, and 0.017 instead of 0.046 where there are 1,000.

import CLinux
import Glibc

/// Writes the same piece to many sockets. It lies in a pipe; for each socket, a second pipe is given the same pages and emptied
/// into the socket. SIGPIPE has to be ignored, and sockets must not block: splice(2) has a flag for neither.
final class SharedPages {
    private enum Piece {
        /// So many bytes of it have been copied to sockets.
        case copied(bytes: Int)
        /// So many bytes of it lie in the pipe: all.
        case shared(bytes: Int)
        /// There are no pipes for it.
        case onlyCopied
    }

    /// Which pieces are shared: shorter ones are copied faster, longer ones do not fit into a pipe.
    static let lengths = 8 << 10...64 << 10
    /// How many bytes of a piece are copied before it is shared: copies that the caches hold cost less.
    static let mostCopied = 256 << 10

    /// Whether no client's recv(2) is waited for on this machine.
    static let isSafe = {
        var system = utsname()
        guard unsafe uname(&system) == 0 else { return false }
        let release = unsafe withUnsafeBytes(of: system.release) { unsafe Array($0.prefix { $0 != 0 }) }
        return isSafe(on: String(decoding: release, as: UTF8.self))
    }()

    /// Before Linux 6.5, splice(2) waits for a recv(2) on the socket's other end, and a reader can make that take for ever.
    static func isSafe(on release: String) -> Bool {
        let version = release.split(whereSeparator: { !$0.isASCII || !$0.isNumber }).prefix(2).compactMap { Int($0) }
        return !version.lexicographicallyPrecedes([6, 5])
    }

    private let isOn = SharedPages.isSafe
    private var piece = Piece.copied(bytes: 0)
    private var pipes: (piece: Pipe, copy: Pipe)?

    deinit { closePipes() }

    /// Writes a piece to a socket, unless it is better copied. As send(2): below 0 is an error.
    ///
    /// - Parameter isRepeated: whether the piece is that of the call before.
    /// - Returns: `nil` if the caller is to send a copy, which reports any other error.
    func write(_ socket: CInt, _ bytes: UnsafeRawBufferPointer, isRepeated: Bool) -> Int? {
        guard isOn, Self.lengths.contains(bytes.count) else { return nil }
        if !isRepeated { forgetPiece() }
        if case .copied(let copied) = piece {
            guard copied >= Self.mostCopied else {
                piece = .copied(bytes: copied + bytes.count)
                return nil
            }
            piece = unsafe fillPipe(bytes) ? .shared(bytes: bytes.count) : .onlyCopied
        }
        guard case .shared(let count) = piece, let pipes else { return nil }
        guard tee(pipes.piece.readable, pipes.copy.writable, count, 0) == count else {
            closePipes()
            return nil
        }
        let taken = splice(pipes.copy.readable, nil, socket, nil, count, UInt32(SPLICE_F_NONBLOCK))
        guard taken < count else { return taken }
        let isFull = taken >= 0 || errno == EAGAIN
        if !pipes.copy.drop(count - max(taken, 0)) { closePipes() }
        errno = EAGAIN
        return isFull ? taken : nil
    }

    /// Writes the piece to its pipe.
    private func fillPipe(_ bytes: UnsafeRawBufferPointer) -> Bool {
        if pipes == nil, let piece = Pipe() {
            if let copy = Pipe() { pipes = (piece, copy) } else { piece.close() }
        }
        guard let pipes else { return false }
        // A user with very many pipes is given shorter ones.
        let isHeld = unsafe Glibc.write(pipes.piece.writable, bytes.baseAddress, bytes.count) == bytes.count
        if !isHeld { closePipes() }
        return isHeld
    }

    private func forgetPiece() {
        if case .shared(let count) = piece, pipes?.piece.drop(count) == false { closePipes() }
        piece = .copied(bytes: 0)
    }

    private func closePipes() {
        pipes?.piece.close()
        pipes?.copy.close()
        pipes = nil
        piece = .onlyCopied
    }
}

extension SharedPages {
    private struct Pipe {
        let readable: CInt
        let writable: CInt

        init?() {
            var ends: [CInt] = [-1, -1]
            guard unsafe pipe2(&ends, O_CLOEXEC | O_NONBLOCK) == 0 else { return nil }
            (readable, writable) = (ends[0], ends[1])
        }

        func close() {
            _ = Glibc.close(readable)
            _ = Glibc.close(writable)
        }

        /// Reads and drops so many bytes; says whether they were there.
        func drop(_ count: Int) -> Bool {
            unsafe withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 16) { buffer in
                var left = count
                while left > 0 {
                    let count = unsafe read(readable, buffer.baseAddress, min(left, buffer.count))
                    guard count > 0 else { return false }
                    left -= count
                }
                return true
            }
        }
    }
}
