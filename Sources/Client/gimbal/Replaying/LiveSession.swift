// Feeds a camera with gestures as fingers touch, without a trace: the camera continues from where it is, flings run on
// between touches, and others may move it, too. When the connection ends, the daemon cancels active gestures.

import GimbalClient
import TouchTraces

/// The source of a live session's fingers.
protocol LiveFingers: AnyObject {
    /// The name of the source in error messages.
    var name: String { get }
    /// The lines for the daemon before any finger.
    var opening: [UInt8] { get throws }
    /// The descriptor that is readable when there is more input; `nil` while none can be read.
    var descriptor: CInt? { get }
    /// Milliseconds until there are lines even without input; `nil` for never.
    var timeout: Int? { get }
    /// Whether there will be no more input.
    var isAtEnd: Bool { get }
    /// Returns lines for the daemon from the input that has arrived.
    func lines() throws -> [UInt8]
    /// Takes the daemon's answer to one of these lines, which may be an error.
    func take(_ answer: ReceivedLine) throws
    /// Reports, at the end, what was wrong with the input.
    func conclude()
}

final class LiveSession {
    private let fingers: any LiveFingers
    private let connection: DaemonConnection
    private let output: Output
    private let camera: CameraName
    private let options: Replay
    private var isOver = false
    private var rejected = 0

    private static let endMark: RequestID = "gimbal-live-end"

    init(_ fingers: any LiveFingers, _ options: Replay, _ output: Output) throws {
        self.fingers = fingers
        camera = options.camera ?? .main
        connection = try DaemonConnection(options.socket, isStrict: false)
        (self.output, self.options) = (output, options)
        if options.follow { output.showRows(of: [camera.text]) }
    }

    /// Feeds the camera until the input ends; returns the number of errors.
    func run() throws -> Int {
        try connection.joinLeases(of: camera.text)
        if options.lease {
            let lease = LeaseRequest(forMs: Lease.longest, label: "gimbal replay")
            connection.queue(try ClientRequest.takeLease(lease).line(camera: camera.text))
        }
        if options.follow { connection.queue(try ClientRequest.subscribe().line(camera: camera.text)) }
        connection.queue(try fingers.opening)
        while !isOver {
            let takes = !fingers.isAtEnd && connection.wantsMore
            let turn = try connection.turn(
                source: takes ? fingers.descriptor : nil, timeout: takes ? fingers.timeout : nil, handle)
            try output.flush()
            if turn.end != nil, !isOver { throw Failure.daemonWentAway }
            guard turn.isSourceReady || takes && fingers.timeout == 0 else { continue }
            connection.queue(try fingers.lines())
            if fingers.isAtEnd { connection.queue(try ClientRequest.ping.line(id: Self.endMark)) }
        }
        fingers.conclude()
        return rejected
    }

    private func handle(_ message: ReceivedLine) throws {
        switch message.type {
        case .error:
            guard let error = message.error else { return }
            rejected += 1
            say("\(fingers.name): \(error)")
            try fingers.take(message)
        case .pong: isOver = isOver || message.id == Self.endMark
        case _ where options.follow && message.isOfStream: output.show(message)
        default: try fingers.take(message)
        }
    }
}

/// Fingers of a recording that is still in progress.
final class RecordedFingers: LiveFingers {
    private let source: TraceSource
    private let camera: CameraName
    private let trace: TraceOptions
    private var hasSurface = false

    init(_ name: String, _ options: Replay) throws {
        camera = options.camera ?? .main
        var trace = try options.recording.traceOptions()
        trace.isLive = true
        trace.camera = camera == .main ? nil : camera.text
        self.trace = trace
        source = try TraceSource(InputFile(name), options.recording, trace)
    }

    var name: String { source.name }
    var opening: [UInt8] { [] }
    var descriptor: CInt? { source.descriptor }
    var timeout: Int? { nil }
    var isAtEnd: Bool { source.isAtEnd }

    func lines() throws -> [UInt8] {
        var lines = try source.read()
        guard source.format != .trace else {
            throw Failure(.usage, "\(source.name) is a trace: play it without --live")
        }
        if let surface = source.converter.reader.surface, !hasSurface {
            hasSurface = true
            lines = try trace.lines(surface.viewport, camera: camera) + lines
        }
        return lines
    }

    func take(_ answer: ReceivedLine) {}

    func conclude() { source.reportDamage() }
}

extension TraceOptions {
    /// Returns lines that give a camera a viewport, and the position in the options.
    func lines(_ viewport: Viewport?, camera: CameraName) throws -> [UInt8] {
        var requests: [ClientRequest] = []
        if let viewport { requests.append(.set(.viewport(viewport))) }
        if let position { requests.append(.move(.setCamera(position))) }
        return try requests.flatMap { try $0.line(camera: camera.text) }
    }
}
