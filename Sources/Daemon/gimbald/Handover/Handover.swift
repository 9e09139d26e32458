// The process's own part of what it leaves to the next one: open descriptors. The next process is either this one, which
// restarts with its descriptors open, or one that the service manager starts, which kept them.
// A connection is known by its socket's inode, which stays the same for every process that holds it, under any number.

import Glibc
import Hub
import Service
import UnixSocket

/// Sockets that go from one process to the next.
struct Handover {
    /// A client's connection.
    struct Client {
        var descriptor: CInt
        var socketKind: SocketKind
        var input = Connection.Input.open
    }

    /// Where clients connect, if that is handed on: sockets of the service manager's, and the daemon's own.
    var listeners: [(descriptor: CInt, socketKind: SocketKind)] = []
    var ownSockets: [(socket: ListeningSocket, socketKind: SocketKind)] = []
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

    /// Writes a record of ``ProcessField``.
    func write(to out: inout FieldWriter) {
        for (descriptor, socketKind) in listeners {
            out.put(ProcessField.listener) { out in
                out.put(ListenerField.descriptor, Int(descriptor))
                out.put(ListenerField.socketKind, socketKind.rawValue)
            }
        }
        for (socket, socketKind) in ownSockets {
            out.put(ProcessField.ownSocket) { out in
                out.put(ListenerField.descriptor, Int(socket.descriptor))
                out.put(ListenerField.socketKind, socketKind.rawValue)
                out.put(ListenerField.path, socket.path)
                out.put(ListenerField.lock, Int(socket.lock))
            }
        }
        for (inode, client) in clients {
            out.put(ProcessField.client) { out in
                out.put(ClientField.key, inode)
                out.put(ClientField.descriptor, Int(client.descriptor))
                out.put(ClientField.socketKind, client.socketKind.rawValue)
                // The next process finds out again which clients are gone.
                out.put(ClientField.hasEnded, client.input == .ended)
                out.put(ClientField.hasHalfClosed, client.input == .halfClosed || client.input == .ended)
            }
        }
    }

    init(_ row: FieldReader) throws(FieldReader.Damage) {
        var row = row
        while let (tag, field) = try row.next(ProcessField.self) {
            switch tag {
            case .listener: try takeListener(field.record())
            case .ownSocket: try takeListener(field.record())
            case .client: try takeClient(field.record())
            }
        }
    }

    private mutating func takeListener(_ row: FieldReader) throws(FieldReader.Damage) {
        var row = row
        // Without a word, and where a later version knows more kinds, a client may do the least.
        var socketKind = SocketKind.watch
        var (descriptor, lock, path): (CInt?, CInt?, String?)
        while let (tag, field) = try row.next(ListenerField.self) {
            switch tag {
            case .descriptor: descriptor = try Self.descriptor(field)
            case .socketKind: socketKind = SocketKind(rawValue: try field.number()) ?? .watch
            case .path: path = try field.text()
            case .lock: lock = try Self.descriptor(field)
            }
        }
        guard let descriptor else { throw FieldReader.Damage() }
        if let path, let lock {
            ownSockets.append((ListeningSocket(path: path, descriptor: descriptor, lock: lock), socketKind))
        } else {
            listeners.append((descriptor, socketKind))
        }
    }

    private mutating func takeClient(_ row: FieldReader) throws(FieldReader.Damage) {
        var row = row
        var client = Client(descriptor: -1, socketKind: .watch)
        var key: UInt64?
        var (hasEnded, hasHalfClosed) = (false, false)
        while let (tag, field) = try row.next(ClientField.self) {
            switch tag {
            case .key: key = try field.number()
            case .descriptor: client.descriptor = try Self.descriptor(field)
            case .socketKind: client.socketKind = SocketKind(rawValue: try field.number()) ?? .watch
            case .hasEnded: hasEnded = try field.flag()
            case .hasHalfClosed: hasHalfClosed = try field.flag()
            }
        }
        guard let key else { throw FieldReader.Damage() }
        client.input = hasEnded ? .ended : hasHalfClosed ? .halfClosed : .open
        clients[key] = client
    }

    private static func descriptor(_ field: FieldReader.Field) throws(FieldReader.Damage) -> CInt {
        guard let descriptor = CInt(exactly: try field.number()) else { throw FieldReader.Damage() }
        return descriptor
    }

    /// Puts in the descriptors by which the service manager has passed the connections.
    mutating func renumber(_ stored: [CInt]) {
        var found: [UInt64: Client] = [:]
        for descriptor in stored {
            guard let inode = Self.inode(of: descriptor), var client = clients[inode] else {
                _ = close(descriptor)
                continue
            }
            client.descriptor = descriptor
            found[inode] = client
        }
        clients = found
    }

    // MARK: Beginning anew

    /// The program as it was started: what has been installed in its place since is what starts.
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

    /// The file that this process left to itself when it restarted.
    static func inherited(environment: (String) -> String?) -> CInt? {
        defer { unsafe unsetenv(variable) }
        return environment(variable).flatMap { CInt($0) }.flatMap { $0 > STDERR_FILENO ? $0 : nil }
    }

    /// Replaces this process by a new one of the same program, with some descriptors left open. Returns if it cannot.
    static func exec(_ file: CInt, leaving descriptors: [CInt]) -> SystemError {
        for descriptor in descriptors + [file] { _ = fcntl(descriptor, F_SETFD, 0) }
        unsafe setenv(variable, String(file), 1)
        unsafe execv(program, CommandLine.unsafeArgv)
        // It may have been removed; as long as this process lives, the kernel has it.
        unsafe execv("/proc/self/exe", CommandLine.unsafeArgv)
        let error = SystemError("exec \(program)")
        unsafe unsetenv(variable)
        for descriptor in descriptors + [file] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        return error
    }
}
