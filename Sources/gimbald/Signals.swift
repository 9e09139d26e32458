// The signals that ask the daemon for something. They are held until it listens to them, so that one that comes early, or
// while the process begins anew, is neither lost nor the end of it.

import Glibc

enum Signals {
    static let ending = [SIGTERM, SIGINT]
    static let beginningAnew = SIGUSR2
    static let reloading = SIGHUP

    /// Lets them wait. Others come as ever, even if who started us had held them.
    static func hold() {
        var held = sigset_t()
        _ = unsafe sigemptyset(&held)
        for signal in ending + [beginningAnew, reloading] { _ = unsafe sigaddset(&held, signal) }
        _ = unsafe sigprocmask(SIG_SETMASK, &held, nil)
    }

    /// Lets them come, and what has waited first.
    static func release() {
        var none = sigset_t()
        _ = unsafe sigemptyset(&none)
        _ = unsafe sigprocmask(SIG_SETMASK, &none, nil)
    }
}
