// The service manager's notify protocol (sd_notify(3)) and socket activation (sd_listen_fds(3)), spoken directly:
// a datagram and three variables. libsystemd would bring eight libraries into a process of a few megabytes.

import Glibc

/// The service manager that started this process, if one did.
struct ServiceManager {
    /// The first descriptor that a manager passes. (SD_LISTEN_FDS_START)
    private static let firstDescriptor: CInt = 3

    private let notifySocket: String?
    /// Milliseconds between signs of life; `nil` if nobody waits for them.
    let watchdogInterval: Double?
    /// The sockets that were passed, listening.
    let sockets: [CInt]

    /// Reads the environment, and takes from it what is meant for this process alone.
    init(environment: (String) -> String?) {
        notifySocket = environment("NOTIFY_SOCKET")
        let own = String(getpid())
        let isWatched = environment("WATCHDOG_PID").map { $0 == own } ?? true
        let watchdog = environment("WATCHDOG_USEC").flatMap(Double.init)
        watchdogInterval = isWatched ? watchdog.map { $0 / 1000 / 2 } : nil
        let count = environment("LISTEN_PID") == own ? environment("LISTEN_FDS").flatMap { CInt($0) } ?? 0 : 0
        sockets = (0..<max(count, 0)).map { Self.firstDescriptor + $0 }
        for name in ["NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC", "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] {
            unsafe unsetenv(name)
        }
        for socket in sockets { Self.prepare(socket) }
    }

    private static func prepare(_ socket: CInt) {
        _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
        _ = fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK)
    }

    /// Whether anybody hears what ``notify(_:)`` says.
    var isListening: Bool { notifySocket != nil }

    /// Sends a state, such as "READY=1". Errors are nobody's business: a manager that is gone misses nothing.
    func notify(_ state: String) {
        guard let path = notifySocket, path.hasPrefix("/") || path.hasPrefix("@") else { return }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        if bytes[0] == UInt8(ascii: "@") { bytes[0] = 0 }  // an abstract name
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        let descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let message = Array(state.utf8)
        // Sound: sockaddr_un begins as sockaddr does, and the length says how much is meant.
        _ = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe sendto(descriptor, message, message.count, CInt(MSG_NOSIGNAL), .init(__sockaddr__: $0), length)
            }
        }
    }
}
