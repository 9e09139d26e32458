// Fingers that other programs send by TUIO. TouchTraces decodes the datagrams; this has the socket, the clock, and the
// camera's viewport.

import ArgumentParser
import GimbalClient
import Glibc
import TouchTraces
import UnixSocket

/// Where TUIO is received: an address of this machine, and a port.
struct TUIOAddress {
    let host: String
    let port: UInt16

    /// The address that only this machine can send to.
    private static let ownHost = "127.0.0.1"

    /// Reads a port such as `3333`, or an address in numbers and a port, such as `0.0.0.0:3333` or `[::]:3333`; nothing
    /// stands for 3333.
    init(typed typedText: String) throws {
        let text = typedText.isEmpty ? "3333" : typedText
        let colon = text.lastIndex(of: ":")
        let digits = colon.map { text[text.index(after: $0)...] } ?? text[...]
        var host = colon.map { String(text[..<$0]) } ?? Self.ownHost
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        guard let port = UInt16(digits), !host.isEmpty else {
            throw ValidationError(
                "--tuio \(text): write a port, or an address and a port, such as 3333, 0.0.0.0:3333 or [::]:3333.")
        }
        (self.host, self.port) = (host, port)
    }
}

final class TUIOFingers: LiveFingers {
    private let socket: DatagramSocket
    private let camera: CameraName
    private let trace: TraceOptions
    private var decoder = TUIODecoder()
    /// The viewport that positions are fractions of: the camera's, as it was when the first finger landed.
    private var viewport = Viewport.standard
    /// Whether the viewport has been requested. Until the answer, these frames wait, and no datagram is read.
    private var isAsking = false
    private var waiting: [TUIOFrame] = []
    private let start = ContinuousClock.now
    /// The number of invalid datagrams since the last report, and the time of that report, in milliseconds.
    private var damage = (untold: 0, toldMs: -Double.infinity)

    private static let cameraMark: RequestID = "gimbal-live-camera"
    /// The most datagrams that are read before anything else is done.
    private static let mostAtOnce = 64
    /// The shortest time between two reports of invalid datagrams, in milliseconds.
    private static let damageIntervalMs = 10_000.0

    let name: String = "TUIO"
    var isAtEnd: Bool { false }
    var descriptor: CInt? { isAsking ? nil : socket.descriptor }

    init(_ address: TUIOAddress, _ options: Replay) throws {
        camera = options.camera ?? .main
        trace = try options.recording.traceOptions()
        socket = try DatagramSocket(address)
        say("gimbal: receiving TUIO at \(socket.name)")
    }

    var opening: [UInt8] { get throws { try trace.lines(trace.viewport, camera: camera) } }

    func take(_ answer: ReceivedLine) {
        guard answer.id == Self.cameraMark else { return }
        if case .camera(let state)? = answer.content { viewport = state.viewport }
        isAsking = false
    }

    // MARK: Fingers

    private var nowMs: Double { (ContinuousClock.now - start) / .milliseconds(1) }

    var timeout: Int? {
        if isAsking { return nil }
        return waiting.isEmpty ? decoder.expiryMs.map { Int(max($0 - nowMs, 0).rounded(.up)) } : 0
    }

    func lines() throws -> [UInt8] {
        var lines = try waiting.flatMap(line)
        waiting = []
        for _ in 0..<Self.mostAtOnce {
            guard let datagram = try socket.receive() else { break }
            let isFirst = decoder.expiryMs == nil
            do {
                let frames = try decoder.read(datagram.bytes, from: datagram.host, port: datagram.port, at: nowMs)
                if isFirst, !frames.isEmpty {
                    (isAsking, waiting) = (true, frames)
                    return try lines + ClientRequest.getCamera().line(camera: camera.text, id: Self.cameraMark)
                }
                for frame in frames { lines += try line(frame) }
            } catch let error as TUIOError {
                tell(error, of: datagram)
            }
        }
        for frame in decoder.expire(at: nowMs) { lines += try line(frame) }
        return lines
    }

    private func line(_ frame: TUIOFrame) throws -> [UInt8] {
        let touches = frame.fingers.map { finger in
            let (x, y) = (finger.position.x * viewport.width, finger.position.y * viewport.height)
            return Touch(id: finger.id, position: ScreenPoint(x: x, y: y))
        }
        let fingers = Fingers(
            touches, timeMs: frame.timeMs, surface: .text(frame.source), isCancelled: frame.isCancelled)
        return try ClientRequest.touch(fingers).line(camera: camera.text)
    }

    private func tell(_ error: TUIOError, of datagram: DatagramSocket.Datagram) {
        damage.untold += 1
        guard nowMs - damage.toldMs >= Self.damageIntervalMs else { return }
        let before = damage.untold - 1
        let more: PrintableText = before > 0 ? "; \(counted(before, "other invalid datagram")) before" : ""
        say("\(name): \(datagram.sender) sent \(error.message)\(more)")
        damage = (0, nowMs)
    }

    func conclude() {}
}

/// A nonblocking UDP socket that receives.
final class DatagramSocket {
    struct Datagram {
        let bytes: ArraySlice<UInt8>
        let host: String
        let port: Int
        var sender: String { DatagramSocket.text(host, port) }
    }

    let descriptor: CInt
    /// The address and the port of the socket; the kernel chooses the port for 0.
    private(set) var name: PrintableText = ""
    /// A buffer for one datagram; UDP has no larger ones.
    private var room = [UInt8](repeating: 0, count: 1 << 16)

    /// Opens the socket.
    ///
    /// - Throws: a `Failure` if there is no such address, or the port is taken.
    init(_ address: TUIOAddress) throws {
        var hints = unsafe addrinfo()
        unsafe hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE
        unsafe hints.ai_socktype = CInt(SOCK_DGRAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(address.host, "\(address.port)", &hints, &found) == 0, let info = unsafe found else {
            throw Failure(.usage, "\(address.host) is not a numeric address, such as 127.0.0.1 or ::1")
        }
        defer { unsafe freeaddrinfo(found) }
        descriptor = unsafe socket(
            info.pointee.ai_family, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0, unsafe bind(descriptor, info.pointee.ai_addr, info.pointee.ai_addrlen) == 0 else {
            let error = SystemError("cannot receive TUIO at \(Self.text(address.host, Int(address.port)))")
            throw Failure(.unavailable, "\(error)")
        }
        var (own, size) = (sockaddr_storage(), socklen_t(MemoryLayout<sockaddr_storage>.size))
        unsafe withUnsafeMutableBytes(of: &own) { bytes in
            _ = unsafe getsockname(descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), &size)
        }
        let (host, port) = Self.text(of: own, size)
        name = "\(Self.text(host, port))"
    }

    deinit { if descriptor >= 0 { _ = close(descriptor) } }

    /// Returns a datagram that has arrived; `nil` if there is none.
    func receive() throws -> Datagram? {
        var (sender, size) = (sockaddr_storage(), socklen_t(MemoryLayout<sockaddr_storage>.size))
        let count = unsafe withUnsafeMutableBytes(of: &sender) { bytes in
            unsafe recvfrom(
                descriptor, &room, room.count, 0, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), &size)
        }
        guard count >= 0 else {
            let error = SystemError("cannot receive TUIO")
            try Interrupt.check()
            if [EAGAIN, EINTR, ECONNREFUSED].contains(error.code) { return nil }
            throw Failure(.ioError, "\(error)")
        }
        let (host, port) = Self.text(of: sender, size)
        return Datagram(bytes: Array(room[..<count])[...], host: host, port: port)
    }

    fileprivate static func text(_ host: String, _ port: Int) -> String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    private static func text(of address: sockaddr_storage, _ size: socklen_t) -> (host: String, port: Int) {
        var (host, port) = ([CChar](repeating: 0, count: Int(NI_MAXHOST)), [CChar](repeating: 0, count: 32))
        var address = address
        let result = unsafe withUnsafeMutableBytes(of: &address) { bytes in
            unsafe getnameinfo(
                bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), size, &host, socklen_t(host.count), &port,
                socklen_t(port.count), NI_NUMERICHOST | NI_NUMERICSERV)
        }
        guard result == 0 else { return ("unknown", 0) }
        let texts = [host, port].map { text in
            String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        return (texts[0], Int(texts[1]) ?? 0)
    }
}
