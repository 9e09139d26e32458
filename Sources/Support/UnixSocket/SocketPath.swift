// Where the daemon's socket is. Daemon and client look in the same order.

import Glibc

/// A system call that failed.
public struct SystemError: Error, CustomStringConvertible, Sendable {
    /// What was tried, such as "bind /run/gimbal/gimbal.sock".
    public let call: String
    /// The error number.
    public let code: CInt

    public init(_ call: String, code: CInt? = nil) {
        self.code = code ?? errno
        self.call = call
    }

    public var description: String { unsafe "\(call): \(String(cString: strerror(code)))" }
}

/// The place of a daemon's socket in the file system.
public enum SocketPath {
    /// The path where no option names one: in `$RUNTIME_DIRECTORY` (a system service), in `$XDG_RUNTIME_DIR` (a user's
    /// session), or in a folder of the user's own below /tmp.
    public static func standard(environment: (String) -> String? = environmentValue) -> String {
        if let folder = environment("RUNTIME_DIRECTORY")?.split(separator: ":").first {
            return "\(folder)/gimbal.sock"
        }
        if let folder = environment("XDG_RUNTIME_DIR"), !folder.isEmpty { return "\(folder)/gimbal.sock" }
        return "\(privateFolder)/gimbal.sock"
    }

    /// A folder that only this user may enter.
    static var privateFolder: String { "/tmp/gimbal-\(getuid())" }

    /// The system's daemon: what everybody may use whom it lets in, and where everybody may watch.
    static let system = ["/run/gimbal/gimbal.sock", "/run/gimbal/watch.sock"]

    /// Where a client looks for a daemon, in this order: an option's path alone, else that of `$GIMBAL_SOCKET` alone; else
    /// gimbal.sock in `$RUNTIME_DIRECTORY`, in `$XDG_RUNTIME_DIR` and in the user's folder below /tmp, then the system's
    /// sockets.
    public static func candidates(
        _ option: String?, environment: (String) -> String? = environmentValue
    ) -> [String] {
        if let option { return [option] }
        if let path = environment("GIMBAL_SOCKET"), !path.isEmpty { return [path] }
        let folders =
            [environment("RUNTIME_DIRECTORY")?.split(separator: ":").first.map(String.init)]
            + [environment("XDG_RUNTIME_DIR"), privateFolder]
        let own = folders.compactMap { $0.flatMap { $0.isEmpty ? nil : "\($0)/gimbal.sock" } }
        return (own + system).reduce(into: []) { paths, path in if !paths.contains(path) { paths.append(path) } }
    }

    public static func environmentValue(_ name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }

    /// Makes the private folder if the path lies in it, and checks that it is this user's alone.
    static func prepareFolder(of path: String) throws(SystemError) {
        guard path.hasPrefix(privateFolder + "/") else { return }
        if unsafe mkdir(privateFolder, 0o700) != 0, errno != EEXIST { throw SystemError("mkdir \(privateFolder)") }
        try checkIsPrivate(privateFolder)
    }

    /// Checks, before a client connects, that the private folder is this user's alone if the path lies in it. Anybody
    /// may make a folder of that name in /tmp, with a daemon of their own in it.
    static func checkFolder(of path: String) throws(SystemError) {
        guard path.hasPrefix(privateFolder + "/") else { return }
        do throws(SystemError) {
            try checkIsPrivate(privateFolder)
        } catch  where error.code == ENOENT {
            throw SystemError("connect \(path)", code: ENOENT)
        }
    }

    /// Throws `EPERM` unless a folder belongs to this user, and nobody else may enter it.
    static func checkIsPrivate(_ folder: String) throws(SystemError) {
        var status = stat()
        guard unsafe lstat(folder, &status) == 0 else { throw SystemError("stat \(folder)") }
        let why: String? =
            if status.st_mode & S_IFMT != S_IFDIR {
                "is no folder"
            } else if status.st_uid != getuid() {
                "belongs to user \(status.st_uid), not to user \(getuid())"
            } else if status.st_mode & 0o077 != 0 {
                "is open to other users, and must have the mode 0700"
            } else {
                nil
            }
        if let why { throw SystemError("\(folder) \(why)", code: EPERM) }
    }

    /// Calls a body with the address of a path.
    static func withAddress<Result>(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) throws(SystemError) -> Result {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard bytes.count < room, !bytes.isEmpty else {
            throw SystemError("socket path \"\(path)\" must have 1 to \(room - 1) bytes", code: ENAMETOOLONG)
        }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        // Sound: sockaddr_un begins as sockaddr does, and the length says how much is meant.
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
