// The signals that the daemon handles. They are blocked until it listens to them, so that one that comes early, or
// during a restart in place, neither is lost nor ends the daemon.

import Glibc

enum Signals {
    static let ending = [SIGTERM, SIGINT]
    static let restarting = SIGUSR2
    static let hangUp = SIGHUP

    /// Blocks the signals, and unblocks others that the parent process may have blocked.
    static func block() {
        var blocked = sigset_t()
        _ = unsafe sigemptyset(&blocked)
        for signal in ending + [restarting, hangUp] { _ = unsafe sigaddset(&blocked, signal) }
        _ = unsafe sigprocmask(SIG_SETMASK, &blocked, nil)
    }

    /// Unblocks the signals; pending ones are delivered now.
    static func unblock() {
        var none = sigset_t()
        _ = unsafe sigemptyset(&none)
        _ = unsafe sigprocmask(SIG_SETMASK, &none, nil)
    }
}
