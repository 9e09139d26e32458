// What release 0.1.0 left to the process after it: numbers of eight bytes in a fixed order, the lowest byte first. An upgrade
// beside running clients begins with it: the sockets on which it listened are gone on with, and so are its cameras, at
// rest. Its connections are closed; who was connected comes again.

import Glibc
import Hub
import Service
import UnixSocket

struct FirstHandover {
    private static let version: UInt64 = 0x1002
    private static let hubVersion: UInt64 = 2

    private(set) var handover = Handover()
    private(set) var cameras: SavedState?

    /// `nil` if the bytes are not of that version.
    init?(_ bytes: [UInt8]) {
        var row = Row(rest: bytes[...])
        guard row.number() == Self.version, let listeners = row.number() else { return nil }
        for _ in 0..<listeners {
            guard let descriptor = row.descriptor(), let socketKind = row.socketKind() else { return nil }
            handover.listeners.append((descriptor, socketKind))
        }
        guard let sockets = row.number() else { return nil }
        for _ in 0..<sockets {
            guard let path = row.bytes(), let descriptor = row.descriptor(), let lock = row.descriptor(),
                let socketKind = row.socketKind()
            else { return nil }
            let socket = ListeningSocket(
                path: String(decoding: path, as: UTF8.self), descriptor: descriptor, lock: lock)
            handover.ownSockets.append((socket, socketKind))
        }
        guard let clients = row.number() else { return nil }
        for _ in 0..<clients {
            guard let key = row.number(), let descriptor = row.descriptor(), let socketKind = row.socketKind(),
                row.number() != nil, row.number() != nil
            else { return nil }
            handover.clients[key] = Handover.Client(descriptor: descriptor, socketKind: socketKind)
        }
        // The hub's part: its version, six counters, how many peers it has numbered and when it started; then cameras.
        guard row.number() == Self.hubVersion, (0..<8).allSatisfy({ _ in row.number() != nil }),
            let state = row.bytes()
        else { return }
        cameras = try? SavedState(Array(state))
    }

    private struct Row {
        var rest: ArraySlice<UInt8>

        mutating func number() -> UInt64? {
            guard rest.count >= 8 else { return nil }
            defer { rest.removeFirst(8) }
            return rest.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }

        mutating func descriptor() -> CInt? { number().flatMap { CInt(exactly: $0) } }

        mutating func socketKind() -> SocketKind? { number().flatMap { SocketKind(rawValue: $0) } }

        mutating func bytes() -> ArraySlice<UInt8>? {
            guard let count = number().flatMap({ Int(exactly: $0) }), count <= rest.count else { return nil }
            defer { rest.removeFirst(count) }
            return rest.prefix(count)
        }
    }
}
