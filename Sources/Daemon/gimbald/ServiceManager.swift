// The service manager's notify protocol (sd_notify(3)), socket activation (sd_listen_fds(3)) and descriptor store
// (sd_pid_notify_with_fds(3)), implemented directly: datagrams and a few variables. libsystemd would bring eight
// libraries into a process of a few megabytes.

import Glibc
import Service
import UnixSocket

/// The service manager that started this process, if one did.
struct ServiceManager {
    /// The names of stored descriptors.
    enum Stored: String, Equatable {
        case state = "gimbal-state"
        case client = "gimbal-client"
    }

    /// How often to try sending what must not be lost, for at most a second each.
    private static let attempts = 10

    /// The most descriptors in one datagram. (The kernel's SCM_MAX_FD.)
    private static let mostDescriptors = 253

    private let notifySocket: String?
    private let channel: CInt
    private let watchdogVariable: String?
    /// Milliseconds between watchdog messages; `nil` if the manager does not expect them.
    let watchdogInterval: Double?
    /// The passed sockets, which are listening.
    private(set) var sockets: [(descriptor: CInt, socketKind: SocketKind)] = []
    /// The descriptors that the process before has stored.
    private(set) var stored: [(name: Stored, descriptor: CInt)] = []

    /// All descriptors that the manager has opened or that lead to it.
    var descriptors: Set<CInt> {
        Set(sockets.map(\.descriptor) + stored.map(\.descriptor) + (channel < 0 ? [] : [channel]))
    }

    /// The shortest watchdog time that is honoured, in microseconds.
    private static let shortestWatchdog: UInt64 = 10_000

    /// Reads the environment, and removes from it what is meant for this process alone.
    init(_ log: Log) {
        let variables = ManagerVariables(log)
        notifySocket = variables["NOTIFY_SOCKET"]
        channel = notifySocket == nil ? -1 : Self.openChannel()
        let isWatched = variables["WATCHDOG_PID"] == nil || variables.namesThisProcess("WATCHDOG_PID")
        let watchdog = isWatched ? variables.number("WATCHDOG_USEC", Self.shortestWatchdog...(UInt64.max - 1)) : nil
        watchdogVariable = watchdog.map(String.init)
        watchdogInterval = watchdog.map { Double($0) / 1000 / 2 }
        for (name, descriptor) in variables.takeDescriptors() {
            if let name = Stored(rawValue: name) {
                stored.append((name, descriptor))
            } else {
                _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
                sockets.append((descriptor, SocketKind(descriptorName: name)))
            }
        }
        variables.remove(["NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC"])
    }

    /// Restores what was removed from the environment, for the process that this one becomes.
    func passOn() {
        if let notifySocket { unsafe setenv("NOTIFY_SOCKET", notifySocket, 1) }
        if let watchdogVariable { unsafe setenv("WATCHDOG_USEC", watchdogVariable, 1) }
    }

    // MARK: The descriptor store

    /// Stores descriptors for the next process. Without a store, or without room in it, they are lost. The manager must
    /// not poll them: it would drop those of clients that are gone, whose lines are still to be read.
    ///
    /// - Returns: how many could not even be sent.
    func store(_ descriptors: [CInt], as name: Stored) -> Int {
        var lost = 0
        for start in stride(from: 0, to: descriptors.count, by: Self.mostDescriptors) {
            let some = descriptors[start..<min(start + Self.mostDescriptors, descriptors.count)]
            if !send("FDSTORE=1\nFDPOLL=0\nFDNAME=\(name.rawValue)", with: Array(some)) { lost += some.count }
        }
        return lost
    }

    /// Sends what must not be lost: a busy manager accepts it a little later.
    private func send(_ state: String, with descriptors: [CInt]) -> Bool {
        for _ in 0..<Self.attempts {
            if notify(state, with: descriptors) { return true }
            // ETOOMANYREFS: too many descriptors are in flight.
            guard [EAGAIN, ENOBUFS, ENOMEM, EINTR, ETOOMANYREFS].contains(errno) else { return false }
            extendTimeout()
            waitForBarrier()
        }
        return false
    }

    /// Removes everything from the descriptor store.
    func forgetStored() {
        for name in [Stored.state, .client] where stored.contains(where: { $0.name == name }) {
            notify("FDSTOREREMOVE=1\nFDNAME=\(name.rawValue)")
        }
    }

    /// Waits until the manager has processed all messages, for some seconds at most. (sd_notify_barrier(3))
    func waitForBarrier() {
        var ends: [CInt] = [-1, -1]
        guard hasNotifySocket, unsafe pipe2(&ends, O_CLOEXEC) == 0 else { return }
        let isSent = notify("BARRIER=1", with: [ends[1]])
        _ = close(ends[1])
        var end = pollfd(fd: ends[0], events: 0, revents: 0)
        for _ in 0..<(isSent ? Self.attempts : 0) {
            if unsafe poll(&end, 1, 1000) != 0 { break }
            extendTimeout()
        }
        _ = close(ends[0])
    }

    // MARK: Notifications

    /// Whether there is a service manager to notify.
    var hasNotifySocket: Bool { notifySocket != nil }

    /// Notifies that the daemon restarts in place: it counts as reloading until it is ready again.
    ///
    /// - Parameter now: milliseconds of the monotonic clock.
    func notifyReloading(at now: Double) { notify("RELOADING=1\nMONOTONIC_USEC=\(UInt64(now * 1000))") }

    /// Asks the manager to wait another ten seconds for the current step, during which the loop does not turn.
    func extendTimeout() { notify("EXTEND_TIMEOUT_USEC=10000000\nWATCHDOG=1") }

    /// Sends the status from the loop, without waiting for a manager that does not read.
    func keepAlive(_ status: String) { notify("WATCHDOG=1\nSTATUS=\(status)", waits: false) }

    /// Sends a state, such as "READY=1". Most errors do not matter: a manager that is gone misses nothing.
    ///
    /// - Parameters:
    ///   - descriptors: sent along with it, at most ``mostDescriptors``.
    ///   - waits: whether to wait for a manager that does not read, for a second at most.
    /// - Returns: whether it was sent, or there is no receiver; otherwise `errno` says why not.
    @discardableResult func notify(
        _ state: String, with descriptors: [CInt] = [], waits: Bool = true
    ) -> Bool {
        guard let path = notifySocket, path.hasPrefix("/") || path.hasPrefix("@") else { return true }
        let flags = CInt(MSG_NOSIGNAL) | (waits ? 0 : CInt(MSG_DONTWAIT))
        var (text, control) = (Array(state.utf8), Self.controlMessage(descriptors))
        // Sound: the message points into the address and these two only during the call.
        let isSent: Bool? = unsafe try? System.withAddress(path, isAbstract: path.hasPrefix("@")) { address, length in
            unsafe text.withUnsafeMutableBytes { text in
                unsafe control.withUnsafeMutableBytes { control in
                    var vector = unsafe iovec(iov_base: text.baseAddress, iov_len: text.count)
                    return unsafe withUnsafeMutablePointer(to: &vector) { vector in
                        var message = unsafe msghdr()
                        unsafe message.msg_name = UnsafeMutableRawPointer(mutating: address)
                        unsafe message.msg_namelen = length
                        unsafe message.msg_iov = vector
                        unsafe message.msg_iovlen = 1
                        unsafe message.msg_control = control.count > 0 ? control.baseAddress : nil
                        unsafe message.msg_controllen = control.count
                        return unsafe sendmsg(channel, &message, flags) >= 0
                    }
                }
            }
        }
        return isSent ?? true
    }

    /// Opens the socket to the manager; done at the start, since later there may be no descriptor left for it.
    private static func openChannel() -> CInt {
        let descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        // A manager that does not read must not block the daemon.
        var timeout = timeval(tv_sec: 1, tv_usec: 0)
        _ = unsafe setsockopt(
            descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        return descriptor
    }

    /// Returns the ancillary data for descriptors, as the macros of cmsg(3) would make it, in whole words.
    private static func controlMessage(_ descriptors: [CInt]) -> [UInt64] {
        guard !descriptors.isEmpty else { return [] }
        let rights: UInt64 = 1  // SCM_RIGHTS, of an enumeration that Swift does not see
        let header = MemoryLayout<cmsghdr>.size
        var words = [UInt64(header + 4 * descriptors.count), UInt64(SOL_SOCKET) | rights << 32]
        for start in stride(from: 0, to: descriptors.count, by: 2) {
            let second = start + 1 < descriptors.count ? descriptors[start + 1] : 0
            words.append(UInt64(UInt32(bitPattern: descriptors[start])) | UInt64(UInt32(bitPattern: second)) << 32)
        }
        return words
    }
}
