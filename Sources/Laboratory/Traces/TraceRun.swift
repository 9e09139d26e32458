// Plays a trace without a daemon: in the daemon's own hub, in this process, at the highest speed. Takes lines, passes
// on the answers and effects of each, and keeps none of them.

import GimbalProtocol
import Hub

/// A camera in this process that plays a trace.
package final class TraceRun {
    /// A line of the trace and its output; if there is much output, a part of it.
    package struct Line {
        /// The line as it was played, in the last part of its output, which has the answer; `nil` in earlier parts, and
        /// for the output at the end of the file.
        package let line: LineSplitter.Line?
        /// Answers and events, in the order in which they occurred.
        package let messages: [ReceivedLine]

        /// Returns the requests of the line; none if it was rejected.
        package func requests(_ decoder: inout RequestDecoder) -> [Request] {
            guard let line, !messages.contains(where: { $0.type == .error }) else { return [] }
            return (try? decoder.decode(line.text.span)) ?? []
        }
    }

    private let hub = Hub(server: "gimbal", epochSeed: 0, at: 0)
    private let collector = Collector()
    private let feeder: Peer
    private let watcher: Peer
    private let camera: String
    private let following: (HeaderLine) throws -> HeaderLine
    /// Whether a trace has ended, and no other has begun.
    private var isBetween = false

    /// The number of lines on the connection before the trace's first; errors count them, too.
    package static let linesBefore = 1

    /// Creates a run whose camera has not been moved yet.
    ///
    /// - Parameters:
    ///   - camera: the camera that the trace's header names.
    ///   - following: returns what is played instead of the header of a trace that follows another.
    /// - Throws: `EncodingError` if the name of the camera is invalid.
    package init(camera: String, following: @escaping (HeaderLine) throws -> HeaderLine = { $0 }) throws {
        (self.camera, self.following) = (camera, following)
        feeder = hub.connect(collector)
        watcher = hub.connect(collector)
        // On the feeder's connection, because that is where a trace itself subscribes and unsubscribes.
        send(try ClientRequest.subscribe().line(camera: camera), from: feeder)
        _ = collector.takeAll()
    }

    /// Plays a line that has no number.
    package func play(_ line: [UInt8], _ body: (Line) throws -> Void) rethrows {
        try play(LineSplitter.Line(number: 0, raw: line[...], text: line[...], isTooLong: false), body)
    }

    /// Plays a line of a trace whose header sets the highest speed.
    package func play(_ line: LineSplitter.Line, _ body: (Line) throws -> Void) rethrows {
        var line = line
        if isBetween, !line.isTooLong, let header = try? following(HeaderLine(Array(line.text))) {
            isBetween = false
            line = line.with(header.bytes)
        }
        hub.receive(line.ended.span, from: feeder, at: 0)
        try turn(line, body)
    }

    /// Ends the trace, if it has not ended itself.
    package func finish(_ body: (Line) throws -> Void) rethrows {
        hub.endOfInput(feeder, at: 0)
        try turn(nil, body)
    }

    /// Whether something other than gestures is moving the camera.
    var movesByItself: Bool { hub.movesByItself(camera) }

    /// Returns the events of a trace as `gimbal run` prints them: without an epoch, and including `trace-ended`.
    ///
    /// A trace that loops is played once.
    ///
    /// - Throws: `TraceError` if the header cannot be played, `EncodingError` if the name of the camera is invalid.
    package static func events(of trace: Trace) throws -> [UInt8] {
        let run = try TraceRun(camera: trace.header.camera)
        var events: [UInt8] = []
        func collect(_ played: Line) {
            for message in played.messages where message.isOfStream || message.type == .traceEnded {
                events += message.withoutEpoch + [0x0a]
            }
        }
        run.play(try trace.header.atHighestSpeed(isOnce: true).bytes, collect)
        for line in trace.lines { run.play(line.bytes, collect) }
        run.finish(collect)
        return events
    }

    /// Sends a request as another client would, and returns the answers.
    ///
    /// - Throws: `EncodingError` if the request cannot be written.
    package func ask(_ request: ClientRequest) throws -> [ReceivedLine] {
        send(try request.line(camera: camera), from: watcher)
        return take(nil).messages
    }

    /// Returns the camera's state.
    package func state() throws -> CameraState? {
        try ask(.getCamera()).compactMap { if case .camera(let state)? = $0.content { state } else { nil } }.first
    }

    private func send(_ bytes: [UInt8], from peer: Peer) {
        hub.receive(bytes.span, from: peer, at: 0)
        while turn() {}
    }

    /// Runs the hub until nothing is due, and passes on the output: in parts, because a trace may loop many times.
    private func turn(_ line: LineSplitter.Line?, _ body: (Line) throws -> Void) rethrows {
        while turn() {
            if collector.count >= Self.mostAtOnce { try body(take(nil)) }
        }
        try body(take(line))
    }

    private func take(_ line: LineSplitter.Line?) -> Line {
        let messages = collector.takeAll().split(separator: 0x0a).map { ReceivedLine($0) }
        isBetween = isBetween || messages.contains { $0.type == .traceEnded }
        return Line(line: line, messages: messages)
    }

    /// Runs one turn of the hub; the hub's time stands still, and only the trace's clock runs.
    ///
    /// - Returns: whether there is more to do.
    private func turn() -> Bool {
        hub.advance(to: 0)
        hub.endTurn(at: 0)
        return hub.deadline.map { $0 <= 0 } ?? false
    }

    /// The output is passed on when it has reached this many bytes at the end of a turn.
    private static let mostAtOnce = 1 << 20
}

/// Collects whatever the hub sends.
private final class Collector: Outlet {
    private var bytes: [UInt8] = []
    var count: Int { bytes.count }

    func takeAll() -> [UInt8] {
        defer { bytes.removeAll() }
        return bytes
    }

    func send(_ pieces: [UnsafeRawBufferPointer]) -> Int {
        let before = bytes.count
        unsafe pieces.forEach { unsafe bytes.append(contentsOf: $0) }
        return bytes.count - before
    }

    func keepQueueShort() {}
    func setReading(_ isReading: Bool) {}
    func finishSending() {}
    func close() {}
}
