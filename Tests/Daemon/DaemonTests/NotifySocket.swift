// A test's stand-in for the service manager's end of sd_notify(3).

import Foundation
import TestSupport
import Testing
import UnixSocket

/// A socket like the one on which a service manager listens (sd_notify(3)).
final class NotifySocket {
    private let descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0)
    let path: String

    init(at path: String = Files.temporary().path) throws {
        self.path = path
        let bound = try System.withAddress(path) { [descriptor] in bind(descriptor, $0, $1) }
        try #require(bound == 0)
    }

    deinit {
        close(descriptor)
        unlink(path)
    }

    /// Returns the next datagram that is not a watchdog's; `nil` if none comes within a minute.
    func receive() -> String? {
        while let message = next() { if !message.hasPrefix("WATCHDOG=1") { return message } }
        return nil
    }

    /// Reads until the daemon asks whether everything has been read, for which it waits at its end.
    func readToTheEnd() { while let message = next(), !message.hasPrefix("BARRIER=1") {} }

    /// Returns the next datagram; `nil` if none comes within a minute.
    func next() -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        guard isReadable(descriptor) else { return nil }
        return String(decoding: buffer[..<max(recv(descriptor, &buffer, buffer.count, 0), 0)], as: UTF8.self)
    }
}
