// What a process leaves to the next one: the hub, and open descriptors. The next process is either this one, which
// restarts with its descriptors open, or one started by the service manager, which has kept them.
// A connection is identified by its socket's inode, which is the same in every process that holds it.

import Glibc
import Hub
import Service
import UnixSocket

/// Everything that one process leaves to the next.
struct Handover: Codable {
    /// A client's connection.
    struct Client: Codable {
        var descriptor: CInt
        let socketKind: SocketKind
        let input: Connection.Input
    }

    /// The members that all versions write; they are read before the others.
    private struct Heading: Decodable {
        let revision: Int
        let server: String
    }

    /// A newer version wrote the handover, with members that this version may not know.
    struct Newer: Error, CustomStringConvertible {
        let description: String
    }

    private var revision = Hub.handoverRevision
    private let server: String
    /// Where clients connect, if the sockets are handed over.
    let own: [ListeningSockets.Own]
    let passed: [ListeningSockets.Passed]
    /// The clients by their sockets' inodes.
    private(set) var clients: [UInt64: Client]
    let hub: Hub.Record

    init(_ server: String, _ sockets: ListeningSockets?, _ clients: [UInt64: Client], _ hub: Hub.Record) {
        (self.server, self.clients, self.hub) = (server, clients, hub)
        (own, passed) = (sockets?.own ?? [], sockets?.passed ?? [])
    }

    /// Reads what another process has written.
    init(_ bytes: [UInt8]) throws {
        let heading = try StateDecoder.decode(Heading.self, from: bytes)
        guard heading.revision <= Hub.handoverRevision else {
            let (theirs, own) = (heading.revision, Hub.handoverRevision)
            throw Newer(
                description: "\(heading.server) wrote it in layout \(theirs), but this version reads layout \(own)")
        }
        self = try StateDecoder.decode(Self.self, from: bytes)
        guard descriptors.allSatisfy({ $0 >= 0 }) else { throw StateDecoder.Damage() }
    }

    /// All descriptors in the handover.
    var descriptors: [CInt] {
        passed.map(\.descriptor) + own.flatMap { [$0.socket.descriptor, $0.socket.lock] }
            + clients.values.map(\.descriptor)
    }

    static func inode(of descriptor: CInt) -> UInt64? {
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 ? UInt64(status.st_ino) : nil
    }

    /// Sets the descriptors by which the service manager has passed the connections.
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

    // MARK: Restarting in place

    /// The path of the program as it was started; a program installed there since then is what starts next.
    private static let program: String = {
        var bytes = [CChar](repeating: 0, count: 4096)
        let count = unsafe readlink("/proc/self/exe", &bytes, bytes.count)
        guard count > 0 else { return "/proc/self/exe" }
        let path = String(decoding: bytes.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // The kernel says so of a program that was removed; another may be installed there later.
        let removed = " (deleted)"
        return path.hasSuffix(removed) ? String(path.dropLast(removed.count)) : path
    }()
    private static let variable = "GIMBAL_HANDOVER"

    /// Notes the program's path before another program replaces it.
    static func prepare() { _ = program }

    /// Returns the file that this process left to itself when it restarted.
    static func inherited(environment: (String) -> String?) -> CInt? {
        defer { unsafe unsetenv(variable) }
        return environment(variable).flatMap { CInt($0) }.flatMap { $0 > STDERR_FILENO ? $0 : nil }
    }

    /// Replaces this process by a new one of the same program, with some descriptors left open. Returns if that fails.
    static func exec(_ file: CInt, leaving descriptors: [CInt]) -> SystemError {
        for descriptor in descriptors + [file] { _ = fcntl(descriptor, F_SETFD, 0) }
        unsafe setenv(variable, String(file), 1)
        unsafe execv(program, CommandLine.unsafeArgv)
        // The program may have been removed; as long as this process lives, the kernel has it.
        unsafe execv("/proc/self/exe", CommandLine.unsafeArgv)
        let error = SystemError("exec \(program)")
        unsafe unsetenv(variable)
        for descriptor in descriptors + [file] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        return error
    }
}
