// A socket in the file system that a service listens on.

import Glibc
import UnixSocket

/// A socket file that this process listens on. A lock file beside it distinguishes a living daemon's socket from a
/// stale one. A decoded one continues with the descriptor and the lock that the process before left open.
package final class ListeningSocket: Codable {
    package let descriptor: CInt
    package let path: String
    /// The locked file beside the socket, as long as this is open.
    package let lock: CInt

    /// Listens on a path, replacing a stale socket file if there is one.
    ///
    /// - Parameters:
    ///   - mode: the permissions of the socket file.
    ///   - group: its group; `nil` for this process's.
    /// - Throws: `EADDRINUSE` if another process uses the path, `EEXIST` if it is not a socket.
    package init(path: String, mode: mode_t, group: gid_t? = nil) throws(SystemError) {
        try SocketPath.prepareFolder(of: path)
        lock = try Self.lock(path)
        do throws(SystemError) {
            try Self.removeStale(path)
            descriptor = try Self.listen(path, mode: mode, group: group)
        } catch {
            _ = unsafe unlink(Self.lockPath(path))
            _ = close(lock)
            throw error
        }
        self.path = path
    }

    private static func lockPath(_ path: String) -> String { path + ".lock" }

    private static func lock(_ path: String) throws(SystemError) -> CInt {
        while true {
            let lock = unsafe open(lockPath(path), O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard lock >= 0 else {
                throw SystemError(errno == ENOENT ? "the folder of \(path)" : "open \(lockPath(path))")
            }
            guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
                let error = SystemError("\(path) is another daemon's socket", code: EADDRINUSE)
                _ = close(lock)
                throw error
            }
            // The daemon before may have removed the file after it was opened and before it was locked.
            if isLock(lock, of: path) { return lock }
            _ = close(lock)
        }
    }

    /// Whether an open file is the one that locks a path now.
    private static func isLock(_ lock: CInt, of path: String) -> Bool {
        var (opened, named) = (stat(), stat())
        return unsafe fstat(lock, &opened) == 0 && stat(lockPath(path), &named) == 0 && opened.st_dev == named.st_dev
            && opened.st_ino == named.st_ino
    }

    private static func removeStale(_ path: String) throws(SystemError) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw SystemError("\(path) is not a socket", code: EEXIST)
        }
        // Only a socket without a listener is stale: one that refuses a connection for another reason is in use.
        do {
            _ = close(try UnixSocket.connect(path, blocks: false))
        } catch  where error.code == ECONNREFUSED {
            guard unsafe unlink(path) == 0 else { throw SystemError("unlink \(path)") }
            return
        } catch {}
        throw SystemError("\(path) is another program's socket", code: EADDRINUSE)
    }

    private static func listen(_ path: String, mode: mode_t, group: gid_t?) throws(SystemError) -> CInt {
        let descriptor = try System.makeStreamSocket(blocks: false)
        var isBound = false
        do throws(SystemError) {
            // Until group and mode are set as requested, only the owner may connect: the file gets the socket's mode.
            guard fchmod(descriptor, 0o600) == 0 else { throw SystemError("fchmod of a socket") }
            let bound = try unsafe System.withAddress(path) { address, length in
                unsafe bind(descriptor, address, length)
            }
            guard bound == 0 else { throw SystemError("bind \(path)") }
            isBound = true
            if let group, unsafe lchown(path, uid_t.max, group) != 0 {
                throw SystemError("chown \(path) to group \(group)")
            }
            guard unsafe chmod(path, mode) == 0 else { throw SystemError("chmod \(path)") }
            guard Glibc.listen(descriptor, 4096) == 0 else { throw SystemError("listen \(path)") }
            return descriptor
        } catch {
            if isBound { _ = unsafe unlink(path) }
            _ = close(descriptor)
            throw error
        }
    }

    /// Removes the socket file and the lock, unless they are another daemon's by now. The descriptor's owner closes it.
    package func remove() {
        if unsafe Self.isLock(lock, of: path) || access(Self.lockPath(path), F_OK) != 0 {
            _ = unsafe unlink(path)
            _ = unsafe unlink(Self.lockPath(path))
        }
        _ = close(lock)
    }

    /// Whether a descriptor is a Unix stream socket that accepts connections.
    package static func isListening(_ descriptor: CInt) -> Bool {
        let stream = CInt(SOCK_STREAM.rawValue)
        return [(SO_DOMAIN, AF_UNIX), (SO_TYPE, stream), (SO_ACCEPTCONN, 1)].allSatisfy { option, wanted in
            var (value, size) = (CInt(-1), socklen_t(MemoryLayout<CInt>.size))
            return unsafe getsockopt(descriptor, SOL_SOCKET, option, &value, &size) == 0 && value == wanted
        }
    }
}
