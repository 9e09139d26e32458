// The libraries' system calls, by POSIX. Their other files make none, and call no C library. The differences between C
// libraries are handled here alone: the socket's type, and how to send without SIGPIPE to a peer that is gone.

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A system call that failed.
public struct SystemError: Error, CustomStringConvertible, Sendable {
    /// The failed call, such as "bind /run/gimbal/gimbal.sock".
    public let call: String
    /// The error number.
    public let code: CInt

    public init(_ call: String, code: CInt? = nil) {
        self.code = code ?? errno
        self.call = call
    }

    public var description: String { unsafe "\(call): \(String(cString: strerror(code)))" }

    /// Whether there is no daemon at this path, or one that does not admit this process.
    var meansAnotherPlace: Bool { [ENOENT, ENOTDIR, ECONNREFUSED, EACCES, EPERM].contains(code) }

    /// Whether the file does not exist.
    package var meansNoFile: Bool { code == ENOENT }
}

/// System calls. Their names differ from those of C, which refer to the C functions within this type.
package enum System {
    static func environmentValue(_ name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }

    /// The user of this process.
    static var user: uid_t { getuid() }

    // MARK: Folders

    /// Makes a folder that only this user may enter, unless something of its name exists.
    static func makePrivateFolder(_ folder: String) throws(SystemError) {
        if unsafe mkdir(folder, 0o700) != 0, errno != EEXIST { throw SystemError("mkdir \(folder)") }
    }

    /// Throws `EPERM` unless a folder belongs to this user, and no other user may enter it.
    static func checkIsPrivate(_ folder: String) throws(SystemError) {
        var status = stat()
        guard unsafe lstat(folder, &status) == 0 else { throw SystemError("stat \(folder)") }
        let why: String? =
            if status.st_mode & S_IFMT != S_IFDIR {
                "is not a folder"
            } else if status.st_uid != user {
                "belongs to user \(status.st_uid), not to user \(user)"
            } else if status.st_mode & 0o077 != 0 {
                "is open to other users: its mode must be 0700"
            } else {
                nil
            }
        if let why { throw SystemError("\(folder) \(why)", code: EPERM) }
    }

    // MARK: Sockets

    #if canImport(Glibc)
    private static var streamType: CInt { CInt(SOCK_STREAM.rawValue) }
    #else
    private static var streamType: CInt { SOCK_STREAM }
    #endif

    #if canImport(Darwin)
    private static var sendFlags: CInt { MSG_DONTWAIT }
    #else
    private static var sendFlags: CInt { CInt(MSG_DONTWAIT) | CInt(MSG_NOSIGNAL) }
    #endif

    /// Makes a Unix stream socket that programs started by this one do not inherit.
    package static func makeStreamSocket(blocks: Bool) throws(SystemError) -> CInt {
        let descriptor = socket(AF_UNIX, streamType, 0)
        guard descriptor >= 0 else { throw SystemError("socket") }
        let isSet =
            fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 && (blocks || fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0)
        guard isSet else {
            let error = SystemError("fcntl")
            closeDescriptor(descriptor)
            throw error
        }
        #if canImport(Darwin)
        var isOn: CInt = 1
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &isOn, socklen_t(MemoryLayout<CInt>.size))
        #endif
        return descriptor
    }

    /// Calls a body with a path's socket address, or that of an abstract name, whose first byte stands for a 0.
    package static func withAddress<Result>(
        _ path: String, isAbstract: Bool = false, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) throws(SystemError) -> Result {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(path.utf8)
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard bytes.count < room, !bytes.isEmpty else {
            throw SystemError("socket path \"\(path)\" must have 1 to \(room - 1) bytes", code: ENAMETOOLONG)
        }
        if isAbstract { bytes[0] = 0 }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        // All bytes of an abstract name count.
        let length = MemoryLayout<sockaddr_un>.size - (isAbstract ? room - bytes.count : 0)
        // Sound: sockaddr_un begins as sockaddr does, and the length says how much of it is used.
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(length))
            }
        }
    }

    /// Connects a socket to a path.
    ///
    /// - Parameter timeout: how long to wait for room in the listener's queue, in milliseconds; `nil` is for ever.
    static func join(_ descriptor: CInt, to path: String, timeout: Int?) throws(SystemError) {
        if let timeout {
            var time = timeval()
            time.tv_sec = timeout / 1000
            time.tv_usec = .init(max(timeout % 1000, 1) * 1000)
            let length = socklen_t(MemoryLayout<timeval>.size)
            _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, length)
        }
        let result = try unsafe withAddress(path) { unsafe connect(descriptor, $0, $1) }
        guard result == 0 else { throw SystemError("connect \(path)") }
    }

    /// Receives what has arrived, without waiting.
    ///
    /// - Returns: the number of bytes, 0 at the end; `nil` if nothing has arrived.
    package static func receive(
        into room: UnsafeMutableRawBufferPointer, from descriptor: CInt
    ) throws(SystemError) -> Int? {
        let count = unsafe recv(descriptor, room.baseAddress, room.count, CInt(MSG_DONTWAIT))
        if count >= 0 { return count }
        guard errno == EAGAIN || errno == EINTR else { throw SystemError("recv") }
        return nil
    }

    /// Sends as much as there is room for, without waiting.
    ///
    /// - Returns: the number of bytes; `nil` if there is no room, or the kernel is short of memory for now.
    package static func transmit(_ bytes: UnsafeRawBufferPointer, to descriptor: CInt) throws(SystemError) -> Int? {
        while true {
            let count = unsafe send(descriptor, bytes.baseAddress, bytes.count, sendFlags)
            if count >= 0 { return count }
            if [EAGAIN, ENOBUFS, ENOMEM].contains(errno) { return nil }
            guard errno == EINTR else { throw SystemError("send") }
        }
    }

    /// Ends a connection in both directions; its descriptor stays open.
    package static func endConnection(_ descriptor: CInt) { _ = shutdown(descriptor, CInt(SHUT_RDWR)) }

    // MARK: Descriptors

    /// Returns another descriptor of the same file; `nil` if there are too many.
    package static func duplicate(_ descriptor: CInt) -> CInt? {
        let other = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        return other < 0 ? nil : other
    }

    package static func closeDescriptor(_ descriptor: CInt) { _ = close(descriptor) }
}
