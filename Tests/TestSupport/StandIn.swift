// Servers between a client and its daemon, or in the daemon's place. Each runs on its own thread, because a test's
// tasks share only a few.

import Foundation
import Service
import UnixSocket

/// A socket in its own folder, and a function that serves each connection to it.
public final class StandIn: Sendable {
    public let path: String
    private let folder = Folder()

    /// - Parameter serve: receives each connection's number and descriptor, one after the other, and closes nothing.
    public init(_ serve: @escaping @Sendable (Int, CInt) -> Void) throws {
        path = folder.path("stand-in.sock")
        let listening = try ListeningSocket(path: path, mode: 0o600)
        let descriptor = listening.descriptor
        Thread.detachNewThread {
            var number = 0
            while isReadable(descriptor, within: -1) {
                let connection = accept(descriptor, nil, nil)
                guard connection >= 0 else { continue }
                serve(number, connection)
                close(connection)
                number += 1
            }
        }
    }

    /// Writes all bytes; returns `false` if the other side has gone.
    @discardableResult
    public static func write(_ bytes: some Collection<UInt8>, to descriptor: CInt) -> Bool {
        let bytes = Array(bytes)
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// Returns a proxy that cuts each connection after this many of the daemon's bytes; those beyond the list are kept.
    public static func cutting(after budgets: [Int], before daemon: String) throws -> StandIn {
        try StandIn { number, client in
            guard let server = try? UnixSocket.connect(daemon) else { return }
            defer { close(server) }
            var budget = number < budgets.count ? budgets[number] : .max
            var buffer = [UInt8](repeating: 0, count: 4096)
            while budget > 0 {
                var status = [client, server].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
                guard poll(&status, 2, -1) > 0 else { return }
                if status[0].revents != 0 {
                    let count = recv(client, &buffer, buffer.count, 0)
                    guard count > 0 else { return }
                    write(buffer[..<count], to: server)
                }
                if status[1].revents != 0 {
                    let count = recv(server, &buffer, min(buffer.count, budget), 0)
                    guard count > 0 else { return }
                    write(buffer[..<count], to: client)
                    budget -= count
                }
            }
        }
    }
}

extension StandIn {
    /// Sends pieces until there are no more, or the other side has hung up.
    public static func pour(_ pieces: some Sequence<[UInt8]>, to descriptor: CInt) {
        for piece in pieces { guard write(piece, to: descriptor) else { return } }
    }

    /// Returns a server that waits for a client's request, sends pieces, and hangs up.
    public static func answering(_ pieces: some Sequence<[UInt8]> & Sendable) throws -> StandIn {
        try StandIn { _, connection in
            _ = isReadable(connection)
            pour(pieces, to: connection)
        }
    }
}
