// Fingers into a camera as they touch: gestures without a trace, so that the camera goes on from where it is, flings run on
// between two touches, and others may move it too. When the connection ends, the daemon cancels what is still going on.

import GimbalClient
import Glibc
import TouchTraces

final class LiveSession {
    private let source: TraceSource
    private let connection: DaemonConnection
    private let output: Output
    private let camera: CameraName
    private let position: CameraPosition?
    private let follows: Bool
    private let takesLease: Bool
    private var hasSurface = false
    private var isOver = false
    private var rejected = 0

    private static let endMark: RequestID = "gimbal-live-end"

    init(_ name: String, _ options: Replay, _ output: Output) throws {
        camera = options.camera ?? .main
        var trace = try options.recording.traceOptions()
        trace.isLive = true
        trace.camera = camera == .main ? nil : camera.text
        position = trace.position
        source = try TraceSource(name, options.recording, trace)
        connection = try DaemonConnection(options.socket)
        self.output = output
        (follows, takesLease) = (options.follow, options.lease)
        if follows { output.showRows(of: [camera.text]) }
    }

    /// Feeds the camera until the input ends; says how many errors there were.
    func run() throws -> Int {
        try connection.joinLeases(of: camera.text)
        if takesLease {
            let lease = LeaseRequest(forMs: Lease.longest, label: "gimbal replay")
            connection.queue(try ClientRequest.takeLease(lease).line(camera: camera.text))
        }
        if follows { connection.queue(try ClientRequest.subscribe().line(camera: camera.text)) }
        while !isOver {
            let descriptor = !source.isAtEnd && connection.wantsMore ? source.descriptor : nil
            let turn = try connection.turn(source: descriptor, timeout: nil, handle)
            try output.flush()
            if turn.end != nil, !isOver { throw Failure.daemonWentAway }
            if turn.isSourceReady { try feed() }
        }
        source.reportDamage()
        return rejected
    }

    private func feed() throws {
        let lines = try source.read()
        guard source.format != .trace else {
            throw Failure(.usage, "\(source.name) is a trace: it is played, without --live")
        }
        if let surface = source.surface, !hasSurface {
            hasSurface = true
            connection.queue(try ClientRequest.set(.viewport(surface.viewport)).line(camera: camera.text))
            if let position { connection.queue(try ClientRequest.move(.setCamera(position)).line(camera: camera.text)) }
        }
        connection.queue(lines)
        if source.isAtEnd { connection.queue(try ClientRequest.ping.line(id: Self.endMark)) }
    }

    private func handle(_ line: ArraySlice<UInt8>) throws {
        let message = ReceivedLine(line)
        switch message.type {
        case .error:
            guard let error = message.error else { return }
            rejected += 1
            say("\(source.name): \(error)")
        case .pong: isOver = isOver || message.id == Self.endMark
        case _ where follows && message.isOfStream: output.show(message)
        default: break
        }
    }
}
