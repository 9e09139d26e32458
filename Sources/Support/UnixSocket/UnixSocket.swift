// Stream sockets in the file system: listening on one of our own, and connecting to one.

import Glibc
import Synchronization

/// A socket file that this process listens on. A lock file beside it tells a living daemon's socket from a stale one.
public final class ListeningSocket {
    public let descriptor: CInt
    public let path: String
    /// The locked file beside the socket, as long as this is open.
    public let lock: CInt

    /// Listens on a path, in the place of a stale socket file if there is one.
    ///
    /// - Parameters:
    ///   - mode: the permissions of the socket file.
    ///   - group: its group; `nil` for this process's.
    /// - Throws: `EADDRINUSE` if another process lives there, `EEXIST` if something else than a socket does.
    public init(path: String, mode: mode_t, group: gid_t? = nil, backlog: CInt = 4096) throws(SystemError) {
        try SocketPath.prepareFolder(of: path)
        lock = try Self.lock(path)
        do throws(SystemError) {
            try Self.removeStale(path)
            descriptor = try Self.listen(path, mode: mode, group: group, backlog: backlog)
        } catch {
            _ = unsafe unlink(Self.lockPath(path))
            _ = close(lock)
            throw error
        }
        self.path = path
    }

    /// Goes on with a socket that the process before listened on, and left open with its lock.
    public init(path: String, descriptor: CInt, lock: CInt) {
        (self.path, self.descriptor, self.lock) = (path, descriptor, lock)
    }

    private static func lockPath(_ path: String) -> String { path + ".lock" }

    private static func lock(_ path: String) throws(SystemError) -> CInt {
        while true {
            let lock = unsafe open(lockPath(path), O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard lock >= 0 else { throw SystemError("open \(lockPath(path))") }
            guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
                let error = SystemError("\(path) is another daemon's socket", code: EADDRINUSE)
                _ = close(lock)
                throw error
            }
            // The daemon before may have removed the file between our opening and locking it.
            var (opened, named) = (stat(), stat())
            let isSame =
                unsafe fstat(lock, &opened) == 0 && stat(lockPath(path), &named) == 0 && opened.st_ino == named.st_ino
            if isSame { return lock }
            _ = close(lock)
        }
    }

    private static func removeStale(_ path: String) throws(SystemError) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw SystemError("\(path) is not a socket", code: EEXIST)
        }
        // Only a socket that nobody listens on is stale: one that refuses us for another reason is somebody's.
        do {
            _ = close(try UnixSocket.connect(path, flags: CInt(SOCK_NONBLOCK.rawValue)))
        } catch  where error.code == ECONNREFUSED {
            guard unsafe unlink(path) == 0 else { throw SystemError("unlink \(path)") }
            return
        } catch {}
        throw SystemError("\(path) is another program's socket", code: EADDRINUSE)
    }

    private static func listen(
        _ path: String, mode: mode_t, group: gid_t?, backlog: CInt
    ) throws(SystemError) -> CInt {
        let type = CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_UNIX, type, 0)
        guard descriptor >= 0 else { throw SystemError("socket") }
        do throws(SystemError) {
            // Only the owner may connect before group and mode are set as requested.
            let bound = try unsafe SocketPath.withAddress(path) { address, length in
                let before = umask(0o177)
                defer { _ = umask(before) }
                return unsafe bind(descriptor, address, length)
            }
            guard bound == 0 else { throw SystemError("bind \(path)") }
            do throws(SystemError) {
                try admitClients(path, descriptor, mode, group, backlog)
            } catch {
                _ = unsafe unlink(path)
                throw error
            }
        } catch {
            _ = close(descriptor)
            throw error
        }
        return descriptor
    }

    /// Lets clients in that may come in.
    private static func admitClients(
        _ path: String, _ descriptor: CInt, _ mode: mode_t, _ group: gid_t?, _ backlog: CInt
    ) throws(SystemError) {
        if let group, unsafe lchown(path, uid_t.max, group) != 0 {
            throw SystemError("chown \(path) to group \(group)")
        }
        guard unsafe chmod(path, mode) == 0 else { throw SystemError("chmod \(path)") }
        guard Glibc.listen(descriptor, backlog) == 0 else { throw SystemError("listen \(path)") }
    }

    /// Removes the socket file and the lock. The descriptor's owner closes it.
    public func remove() {
        _ = unsafe unlink(path)
        _ = unsafe unlink(Self.lockPath(path))
        _ = close(lock)
    }
}

public enum UnixSocket {
    /// Whether a descriptor is a stream socket of this family that connections can be accepted from.
    public static func listens(_ descriptor: CInt) -> Bool {
        let stream = CInt(SOCK_STREAM.rawValue)
        return [(SO_DOMAIN, AF_UNIX), (SO_TYPE, stream), (SO_ACCEPTCONN, 1)].allSatisfy { option, wanted in
            var (value, size) = (CInt(-1), socklen_t(MemoryLayout<CInt>.size))
            return unsafe getsockopt(descriptor, SOL_SOCKET, option, &value, &size) == 0 && value == wanted
        }
    }

    /// Connects to a path; the descriptor blocks, unless the flags of socket(2) say otherwise.
    ///
    /// - Parameter timeout: how long to wait for a daemon with a full queue, in milliseconds; `nil` is for ever. A descriptor
    ///   that does not block never waits.
    /// - Throws: `EAGAIN` when that is over; `EPERM` if the path lies in a folder of this user's name below /tmp that
    ///   others made or may enter.
    public static func connect(_ path: String, flags: CInt = 0, timeout: Int? = nil) throws(SystemError) -> CInt {
        try SocketPath.checkFolder(of: path)
        let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue) | flags, 0)
        guard descriptor >= 0 else { throw SystemError("socket") }
        if let timeout {
            var time = timeval(tv_sec: timeout / 1000, tv_usec: max(timeout % 1000, 1) * 1000)
            let length = socklen_t(MemoryLayout<timeval>.size)
            _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, length)
        }
        let connected: CInt
        do throws(SystemError) {
            connected = try unsafe SocketPath.withAddress(path) { unsafe Glibc.connect(descriptor, $0, $1) }
        } catch {
            _ = close(descriptor)
            throw error
        }
        guard connected == 0 else {
            let error = SystemError("connect \(path)")
            _ = close(descriptor)
            throw error
        }
        return descriptor
    }

    /// Connects to the first of several paths where a daemon lets this process in.
    ///
    /// - Returns: the descriptor, and the path that it is connected to.
    /// - Throws: `NoConnection`, when nobody does, or when one does not answer in time.
    public static func connect(
        toFirstOf paths: [String], flags: CInt = 0, timeout: Int? = nil
    ) throws(NoConnection) -> (descriptor: CInt, path: String) {
        var attempts: [NoConnection.Attempt] = []
        for path in paths {
            do {
                return (try connect(path, flags: flags, timeout: timeout), path)
            } catch {
                attempts.append(NoConnection.Attempt(path: path, error: error))
                guard NoConnection.passedOver.contains(error.code) else { break }
            }
        }
        throw NoConnection(attempts: attempts)
    }
}

/// What was tried in vain at each of the paths that a client looked at.
public struct NoConnection: Error, Sendable, CustomStringConvertible {
    public struct Attempt: Sendable {
        public let path: String
        public let error: SystemError
    }

    public let attempts: [Attempt]

    /// Errors of places that are not for this process, so that it looks at the next one.
    static let passedOver = [ENOENT, ENOTDIR, ECONNREFUSED, EACCES, EPERM]

    /// The attempt that tells most: the last one where there was something, otherwise the first.
    public var mainAttempt: Attempt? { attempts.last { $0.error.code != ENOENT } ?? attempts.first }

    public var description: String { mainAttempt.map { "\($0.error)" } ?? "there is no daemon" }
}

/// Where the daemon is, for a client with several connections. They all go to one daemon; only when it has not been there for
/// several attempts do they go to another place, so that a daemon that restarts keeps its clients.
public final class DaemonSocket: Sendable {
    private struct Last {
        let path: String
        /// How many attempts have failed since.
        var misses = 0
    }

    private let candidates: [String]
    /// Where a daemon was reached last.
    private let last = Mutex<Last?>(nil)
    private static let mostMisses = 5

    /// - Parameter candidates: the places to try, at least one; see ``SocketPath/candidates(_:environment:)``.
    public init(candidates: [String]) { self.candidates = candidates }

    /// Where a daemon was reached last; before that, the first place to try.
    public var path: String { last.withLock { $0?.path } ?? candidates[0] }

    /// Connects; the descriptor does not block.
    ///
    /// - Throws: `NoConnection`, when no daemon lets this process in.
    public func connect() throws(NoConnection) -> (descriptor: CInt, path: String) {
        // One at a time: of two first connections both go to the same daemon.
        try last.withLock { last throws(NoConnection) in
            do throws(NoConnection) {
                let connected = try UnixSocket.connect(
                    toFirstOf: paths(last), flags: CInt(SOCK_NONBLOCK.rawValue))
                last = Last(path: connected.path)
                return connected
            } catch {
                last?.misses += 1
                throw error
            }
        }
    }

    private func paths(_ last: Last?) -> [String] {
        guard let last else { return candidates }
        if last.misses < Self.mostMisses { return [last.path] }
        return [last.path] + candidates.filter { $0 != last.path }
    }
}
