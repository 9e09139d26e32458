// A trace played without a daemon: the daemon's own hub in this process, at the highest speed. Bytes in; for each line
// its answers and effects out. Nothing is kept of them.

import GimbalProtocol
import Hub

/// A camera of this process that a trace is played into.
package final class TraceRun {
    /// A line of the trace and what came of it; of much that came of one line, a part.
    package struct Line {
        /// The line as it was played, with the last part, which has its answer; `nil` before, and for what the end of the file
        /// brings.
        package let line: LineSplitter.Line?
        /// Answers and events with their line feeds, in the order in which they arose.
        package let output: [UInt8]
        /// The same, line by line.
        package let messages: [ReceivedLine]
    }

    private let hub = Hub(server: "gimbal", epochSeed: 0, at: 0)
    private let collector = Collector()
    private let feeder: Peer
    private let watcher: Peer
    private let camera: String
    private var splitter = LineSplitter()
    private let following: (HeaderLine) throws -> HeaderLine
    /// Whether a trace has ended, and no other has begun.
    private var isBetween = false

    /// Lines of the connection before the trace's first: what errors count from.
    package static let linesBefore = 1

    /// A run whose camera has not been moved yet.
    ///
    /// - Parameters:
    ///   - camera: the one that the trace's header names.
    ///   - following: what is played in the place of a header that follows another trace.
    /// - Throws: `EncodingError` if that is no camera's name.
    package init(camera: String, following: @escaping (HeaderLine) throws -> HeaderLine = { $0 }) throws {
        (self.camera, self.following) = (camera, following)
        feeder = hub.connect(collector)
        watcher = hub.connect(collector)
        // A trace that subscribes or unsubscribes speaks of the connection that it comes by.
        send(try ClientRequest.subscribe().line(camera: camera), from: feeder)
        _ = collector.takeAll()
    }

    /// Plays a piece of a trace whose header says the highest speed.
    package func play(_ piece: [UInt8], _ body: (Line) throws -> Void) rethrows {
        try splitter.read(piece) { try play($0, body) }
    }

    /// Plays a line.
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
        try splitter.finish { try play($0, body) }
        hub.endOfInput(feeder, at: 0)
        try turn(nil, body)
    }

    /// Whether something other than gestures moves the camera at the moment.
    var movesByItself: Bool { hub.movesByItself(camera) }

    /// What a trace makes of a camera, as `gimbal run` prints it: events without an epoch, and `trace-ended`.
    ///
    /// One whose header has it played several times is played once.
    ///
    /// - Throws: `TraceError` for a header that cannot be played, `EncodingError` for a camera without a right name.
    package static func events(of trace: Trace) throws -> [UInt8] {
        let run = try TraceRun(camera: trace.header.camera)
        var events: [UInt8] = []
        func collect(_ played: Line) {
            for message in played.messages where message.isOfStream || message.type == .traceEnded {
                events += message.withoutEpoch + [0x0a]
            }
        }
        run.play(try trace.header.atHighestSpeed(isOnce: true).bytes + [0x0a], collect)
        for line in trace.lines { run.play(line.bytes + [0x0a], collect) }
        run.finish(collect)
        return events
    }

    /// Asks for something as another client would.
    ///
    /// - Throws: `EncodingError` for what cannot be written.
    package func ask(_ request: ClientRequest) throws -> [ReceivedLine] {
        send(try request.line(camera: camera), from: watcher)
        return take(nil).messages
    }

    private func send(_ bytes: [UInt8], from peer: Peer) {
        hub.receive(bytes.span, from: peer, at: 0)
        while turn() {}
    }

    /// Lets the hub do what is due, and hands over what that brings: in parts, for a trace may be played many times over.
    private func turn(_ line: LineSplitter.Line?, _ body: (Line) throws -> Void) rethrows {
        while turn() {
            if collector.count >= Self.mostAtOnce { try body(take(nil)) }
        }
        try body(take(line))
    }

    private func take(_ line: LineSplitter.Line?) -> Line {
        let output = collector.takeAll()
        let messages = output.split(separator: 0x0a).map { ReceivedLine($0) }
        isBetween = isBetween || messages.contains { $0.type == .traceEnded }
        return Line(line: line, output: output, messages: messages)
    }

    /// One turn of the hub; its time stands still, and only the trace's runs.
    ///
    /// - Returns: whether there is more to do.
    private func turn() -> Bool {
        hub.advance(to: 0)
        hub.endTurn(at: 0)
        return hub.deadline.map { $0 <= 0 } ?? false
    }

    /// As many bytes are kept at most, and what one turn brings.
    private static let mostAtOnce = 1 << 20
}

/// Takes whatever the hub sends.
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
