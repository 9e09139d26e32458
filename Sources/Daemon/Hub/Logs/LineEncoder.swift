// Writes one line at a time into memory that is kept from line to line, so that nothing is allocated for a line.
// Invariant: a line is used up within the call that writes it. Writing a line while another is being written traps.

import GimbalProtocol

final class LineEncoder {
    private var line = LineWriter()
    private var isWriting = false

    /// Writes a line and lends its bytes.
    @inline(__always)
    func encode(_ write: (inout LineWriter) -> Void, then use: (Span<UInt8>) -> Void) {
        precondition(!isWriting, "a line is already being written")
        isWriting = true
        line.clear()
        write(&line)
        line.withBytes(use)
        isWriting = false
    }
}
