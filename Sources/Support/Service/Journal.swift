// The journal's own protocol (systemd.io/JOURNAL_NATIVE_PROTOCOL): an entry is a datagram of fields. libsystemd's
// sd_journal_sendv() would block while the journal's queue is full, and a log must not keep a client waiting.

import GimbalProtocol
import Glibc
import UnixSocket

/// Fields of an entry besides its text.
package enum LogField: String, Sendable {
    case camera = "CAMERA"
    /// The number of a client's connection, as in the text.
    case client = "CLIENT"
    case clientUser = "CLIENT_UID"
    case clientProcess = "CLIENT_PID"
}

/// The journal, for a program whose standard error it reads.
struct Journal: Sendable {
    private let descriptor: CInt
    private let path: String

    /// - Parameters:
    ///   - stream: the device and inode of the stream that the journal reads, such as "8:4711"; `nil` if it reads none.
    ///   - path: the path of the journal's socket.
    /// - Returns: `nil` if standard error leads elsewhere.
    init?(
        stream: String? = SocketPath.environmentValue("JOURNAL_STREAM"), of output: CInt = STDERR_FILENO,
        path: String = "/run/systemd/journal/socket"
    ) {
        var status = stat()
        guard let stream, unsafe fstat(output, &status) == 0, stream == "\(status.st_dev):\(status.st_ino)" else {
            return nil
        }
        descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        self.path = path
        guard descriptor >= 0 else { return nil }
    }

    /// Sends an entry.
    ///
    /// - Returns: `false` if the journal does not accept it at once.
    func send(_ fields: [(name: String, value: String)]) -> Bool {
        let bytes = Self.entry(fields)
        let flags = CInt(MSG_DONTWAIT) | CInt(MSG_NOSIGNAL)
        let count = unsafe try? System.withAddress(path) { address, size in
            unsafe sendto(descriptor, bytes, bytes.count, flags, address, size)
        }
        return count == bytes.count
    }

    /// `NAME=value`; a value with a line feed is preceded by its length instead, so that it cannot forge a field.
    static func entry(_ fields: [(name: String, value: String)]) -> [UInt8] {
        var bytes: [UInt8] = []
        for (name, value) in fields {
            let text = Array(value.utf8)
            bytes += name.utf8
            if text.contains(UInt8(ascii: "\n")) {
                bytes.append(UInt8(ascii: "\n"))
                for shift in stride(from: 0, to: 64, by: 8) {
                    bytes.append(UInt8(truncatingIfNeeded: text.count >> shift))
                }
            } else {
                bytes.append(UInt8(ascii: "="))
            }
            bytes += text + [UInt8(ascii: "\n")]
        }
        return bytes
    }
}
