// What a process leaves to the one after it: a file in memory that tells all, and open descriptors. The next process is
// either this one, which begins anew with its descriptors open, or one that the service manager starts, which kept them.
// A connection is known by its socket's inode, which stays the same whoever holds it and under whatever number.

import Glibc
import Hub
import UnixSocket

/// What is left of the sockets; the hub's own part stands behind it.
struct Handover {
    /// A client's connection.
    struct Client {
        var descriptor: CInt
        var entrance: Entrance
        var hasEnded: Bool
        var saidItsEnd: Bool
    }

    /// Where clients connect, if that is handed on: sockets of the service manager's, and the daemon's own.
    var listeners: [(descriptor: CInt, entrance: Entrance)] = []
    var ownSockets: [(socket: ListeningSocket, entrance: Entrance)] = []
    /// By their sockets' inodes.
    var clients: [UInt64: Client] = [:]

    init() {}

    /// Every descriptor that it tells of.
    var descriptors: [CInt] {
        listeners.map(\.descriptor) + ownSockets.flatMap { [$0.socket.descriptor, $0.socket.lock] }
            + clients.values.map(\.descriptor)
    }

    static func inode(of descriptor: CInt) -> UInt64? {
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 ? UInt64(status.st_ino) : nil
    }

    // MARK: Writing and reading

    /// The order of what is written here. It changes whenever a line below does.
    private static let version: UInt64 = 0x1002

    func write(to out: inout ByteWriter) {
        out.put(Self.version)
        out.put(listeners.count)
        for (descriptor, entrance) in listeners {
            out.put(Int(descriptor))
            out.put(entrance.rawValue)
        }
        out.put(ownSockets.count)
        for (socket, entrance) in ownSockets {
            out.put(socket.path.utf8)
            out.put(Int(socket.descriptor))
            out.put(Int(socket.lock))
            out.put(entrance.rawValue)
        }
        out.put(clients.count)
        for (inode, client) in clients {
            out.put(inode)
            out.put(Int(client.descriptor))
            out.put(client.entrance.rawValue)
            out.put(client.hasEnded)
            out.put(client.saidItsEnd)
        }
    }

    init(from row: inout ByteReader) throws(ByteReader.Damage) {
        guard try row.number() == Self.version else { throw ByteReader.Damage() }
        for _ in 0..<(try row.integer()) {
            listeners.append((try Self.descriptor(&row), try Self.entrance(&row)))
        }
        for _ in 0..<(try row.integer()) {
            let path = String(decoding: try row.bytes(), as: UTF8.self)
            let (descriptor, lock) = (try Self.descriptor(&row), try Self.descriptor(&row))
            let socket = ListeningSocket(path: path, descriptor: descriptor, lock: lock)
            ownSockets.append((socket, try Self.entrance(&row)))
        }
        for _ in 0..<(try row.integer()) {
            let inode = try row.number()
            clients[inode] = Client(
                descriptor: try Self.descriptor(&row), entrance: try Self.entrance(&row), hasEnded: try row.flag(),
                saidItsEnd: try row.flag())
        }
    }

    private static func entrance(_ row: inout ByteReader) throws(ByteReader.Damage) -> Entrance {
        guard let entrance = Entrance(rawValue: try row.number()) else { throw ByteReader.Damage() }
        return entrance
    }

    private static func descriptor(_ row: inout ByteReader) throws(ByteReader.Damage) -> CInt {
        guard let descriptor = CInt(exactly: try row.number()) else { throw ByteReader.Damage() }
        return descriptor
    }

    /// Puts in the descriptors by which the service manager has passed the connections.
    mutating func renumber(_ stored: [CInt]) {
        var found: [UInt64: Client] = [:]
        for descriptor in stored {
            guard let inode = Self.inode(of: descriptor), var client = clients[inode] else { continue }
            client.descriptor = descriptor
            found[inode] = client
        }
        clients = found
    }

    // MARK: The file in memory

    /// Makes a file in memory, open across exec(3).
    static func memory(_ bytes: [UInt8]) throws(SystemError) -> CInt {
        let file = unsafe memfd_create("gimbal-state", 0)
        guard file >= 0 else { throw SystemError("memfd_create") }
        var count = 0
        while count < bytes.count {
            let more = unsafe bytes[count...].withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) }
            guard more > 0 else {
                let error = SystemError("write to memory")
                _ = close(file)
                throw error
            }
            count += more
        }
        return file
    }

    /// Takes what a file in memory holds, and closes it.
    static func take(_ file: CInt) -> [UInt8] {
        defer { _ = close(file) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else {
            return []
        }
        _ = lseek(file, 0, SEEK_SET)
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        var count = 0
        while count < bytes.count {
            let more = unsafe bytes.withUnsafeMutableBytes { buffer in
                let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
                return unsafe read(file, rest.baseAddress, rest.count)
            }
            guard more > 0 else { return [] }
            count += more
        }
        return bytes
    }

    // MARK: Beginning anew

    /// The program as it was started: what has been installed in its place since is what begins anew.
    private static let program = path(of: "/proc/self/exe")
    private static let variable = "GIMBAL_HANDOVER"

    private static func path(of link: String) -> String {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = unsafe bytes.withUnsafeMutableBytes { buffer in
            unsafe buffer.withMemoryRebound(to: CChar.self) { text in
                unsafe text.baseAddress.map { unsafe readlink(link, $0, text.count) } ?? -1
            }
        }
        return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : link
    }

    /// Takes note of the program's place, before another takes it.
    static func prepare() { _ = program }

    /// The file that this process left to itself when it began anew.
    static func inherited(environment: (String) -> String?) -> CInt? {
        defer { unsafe unsetenv(variable) }
        return environment(variable).flatMap { CInt($0) }
    }

    /// Replaces this process by a new one of the same program, with some descriptors left open. Returns if it cannot.
    static func beginAnew(_ file: CInt, leaving descriptors: [CInt]) -> SystemError {
        for descriptor in descriptors { _ = fcntl(descriptor, F_SETFD, 0) }
        unsafe setenv(variable, String(file), 1)
        unsafe execv(program, CommandLine.unsafeArgv)
        // It may have been removed; as long as this process lives, the kernel has it.
        unsafe execv("/proc/self/exe", CommandLine.unsafeArgv)
        let error = SystemError("exec \(program)")
        unsafe unsetenv(variable)
        for descriptor in descriptors { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        return error
    }
}
