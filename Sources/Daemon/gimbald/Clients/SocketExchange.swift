// recv(2), send(2) and sendmsg(2) for all connections, through shared buffers. Nothing stays in them: the callee sees
// bytes only during one call, and written bytes are gone when the call returns.

import Glibc

@safe final class SocketExchange {
    // Sound: both live as long as this, and no other code sees them.
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 32 << 10, alignment: 16)
    private let vectors = UnsafeMutableBufferPointer<iovec>.allocate(capacity: 1024)
    private let sharedPages = SharedPages()

    private static let usualRead = 256
    private static let sending = CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT)

    deinit {
        unsafe buffer.deallocate()
        unsafe vectors.deallocate()
    }

    // MARK: Reading

    /// Reads what has arrived. As with recv(2), 0 is the end, and below 0 an error.
    ///
    /// While a client continues to send, recv(2) continues to read, byte by byte, as long as there is room. So it gets
    /// room only for what has arrived.
    ///
    /// - Parameter hasWaitingInput: whether bytes of the client wait already. Otherwise the first read is as long as
    ///   most clients' messages, so that a single line costs one call.
    func read(_ descriptor: CInt, hasWaitingInput: Bool, _ body: (Span<UInt8>) -> Void) -> Int {
        let first = hasWaitingInput ? available(descriptor, room: unsafe buffer.count) : Self.usualRead
        var count = receive(descriptor, at: 0, atMost: first)
        if !hasWaitingInput, count == first {
            let room = unsafe buffer.count - count
            count += max(receive(descriptor, at: count, atMost: available(descriptor, room: room)), 0)
        }
        if count > 0 {
            let bytes = unsafe UnsafeRawBufferPointer(rebasing: buffer[..<count]).assumingMemoryBound(to: UInt8.self)
            body(unsafe Span(_unsafeElements: bytes))
        }
        return count
    }

    /// Whether a read of this many bytes is more than most clients send at a time.
    static func isMuch(_ count: Int) -> Bool { count >= 8 << 10 }

    /// Returns how many bytes are available now; 1 if none are, or if that is unknown.
    private func available(_ descriptor: CInt, room: Int) -> Int {
        var count: CInt = 0
        guard unsafe ioctl(descriptor, UInt(FIONREAD), &count) == 0 else { return 1 }
        return min(max(Int(count), 1), room)
    }

    private func receive(_ descriptor: CInt, at offset: Int, atMost count: Int) -> Int {
        unsafe Glibc.recv(descriptor, buffer.baseAddress?.advanced(by: offset), count, CInt(MSG_DONTWAIT))
    }

    // MARK: Writing

    /// Writes one piece, the usual case: the kernel copies only the bytes. As with send(2), below 0 is an error.
    ///
    /// - Parameter isRepeated: whether the piece of the last call of this function was the same.
    func write(_ descriptor: CInt, _ piece: UnsafeRawBufferPointer, isRepeated: Bool) -> Int {
        if let taken = unsafe sharedPages.write(descriptor, piece, isRepeated: isRepeated) { return taken }
        return unsafe Glibc.send(descriptor, piece.baseAddress, piece.count, Self.sending)
    }

    /// Writes pieces in one call. As with sendmsg(2), below 0 is an error.
    func write(_ descriptor: CInt, _ pieces: [UnsafeRawBufferPointer]) -> Int {
        let count = unsafe min(pieces.count, vectors.count)
        for index in 0..<count {
            unsafe vectors[index] = iovec(
                iov_base: UnsafeMutableRawPointer(mutating: pieces[index].baseAddress), iov_len: pieces[index].count)
        }
        var message = unsafe msghdr()
        unsafe message.msg_iov = vectors.baseAddress
        unsafe message.msg_iovlen = count
        return unsafe sendmsg(descriptor, &message, Self.sending)
    }
}
