// Other outputs of a followed camera: datagrams for a wall of Google Earths, and a KML file for one that reloads it.

import Glibc
import EarthViews
import MQTTBridge
import MapCamera
import Service
import UnixSocket

final class Views {
    private let height: Double
    private let log: Log
    private var socket: CInt = -1
    private let kmlPath: String?
    private var number = 0

    /// - Parameter address: the host and port for datagrams.
    init(viewsync address: String?, kml: String?, height: Double, _ log: Log) throws {
        (kmlPath, self.height, self.log) = (kml, height, log)
        if let address { socket = try Self.connected(address) }
    }

    deinit { if socket >= 0 { _ = close(socket) } }

    /// Returns the host and port of `HOST:PORT`.
    static func parts(of address: String) -> (host: String, port: UInt16)? {
        guard let colon = address.lastIndex(of: ":"), let port = UInt16(address[address.index(after: colon)...]),
            port > 0
        else { return nil }
        let host = address[..<colon]
        return (String(host.hasPrefix("[") && host.hasSuffix("]") ? host.dropFirst().dropLast() : host), port)
    }

    /// Returns a socket for datagrams to and from `HOST:PORT`, which never waits.
    static func connected(_ address: String) throws -> CInt {
        guard let (host, port) = parts(of: address) else { throw Failure("\(address): must be HOST:PORT") }
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = CInt(SOCK_DGRAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let result = unsafe getaddrinfo(host, String(port), &hints, &list)
        guard result == 0, let first = unsafe list else {
            throw Failure("\(address): \(unsafe String(cString: gai_strerror(result)))")
        }
        defer { unsafe freeaddrinfo(first) }
        let flags = CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = unsafe Glibc.socket(first.pointee.ai_family, flags, 0)
        guard descriptor >= 0 else { throw SystemError(address) }
        var yes: CInt = 1
        // A wall may be reached by broadcast.
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_BROADCAST, &yes, socklen_t(MemoryLayout<CInt>.size))
        let peer = unsafe __CONST_SOCKADDR_ARG(__sockaddr__: first.pointee.ai_addr)
        guard unsafe Glibc.connect(descriptor, peer, first.pointee.ai_addrlen) == 0 else {
            let error = SystemError(address)
            _ = close(descriptor)
            throw error
        }
        return descriptor
    }

    func show(_ position: CameraPosition, isMoving: Bool) {
        let view = EarthView(position, viewportHeight: height)
        if socket >= 0 {
            number += 1
            // A lost datagram is followed by another one; the last is sent twice.
            let bytes = Array(view.datagram(number: number, unixTime: time(nil)).utf8)
            for _ in 0..<(isMoving ? 1 : 2) {
                _ = unsafe bytes.withUnsafeBytes { unsafe send(socket, $0.baseAddress, $0.count, 0) }
            }
        }
        if let kmlPath, !isMoving { write(view.kml, to: kmlPath) }
    }

    /// Replaces a file in one step, so that no reader sees half of it.
    private func write(_ text: String, to path: String) {
        let slash = path.lastIndex(of: "/")
        let folder = slash.map { String(path[...$0]) } ?? "."
        let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
        do throws(SystemError) {
            let (new, descriptor) = try TemporaryFile.make(in: folder, named: name, ending: ".new")
            defer { _ = close(descriptor) }
            let bytes = Array(text.utf8)
            let count = unsafe Glibc.write(descriptor, bytes, bytes.count)
            // Often another user reads it.
            guard count == bytes.count, fchmod(descriptor, 0o644) == 0, unsafe rename(new, path) == 0 else {
                // A text this short is written at once, unless the disk is full.
                let error = SystemError(path, code: 0..<bytes.count ~= count ? ENOSPC : nil)
                _ = unsafe unlink(new)
                throw error
            }
        } catch {
            log(.error, "\(error)")
        }
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }
}
