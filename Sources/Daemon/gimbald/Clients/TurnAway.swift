// Sends an error to a refused client, before its connection is closed.

import GimbalProtocol
import Glibc

/// Sends a client the reason why it is not served, as far as the socket has room.
func turnAway(_ client: CInt, _ reason: GimbalError) {
    var line = LineWriter()
    line.answer(.error(reason.at(line: 0)), Span())
    let bytes = line.bytes
    _ = unsafe send(client, bytes, bytes.count, CInt(MSG_NOSIGNAL | MSG_DONTWAIT))
    _ = shutdown(client, CInt(SHUT_WR))
    // Closing with a request still unread resets the connection, and some clients read nothing after that.
    unsafe withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 1) { buffer in
        _ = unsafe recv(client, buffer.baseAddress, buffer.count, CInt(MSG_DONTWAIT))
    }
}
