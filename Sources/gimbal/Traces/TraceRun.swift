// A trace played without a daemon: the daemon's own mind in this process, at the highest speed. Bytes in; for each line
// what it asks, and what it is answered and causes. Nothing of what has been handed over is kept.

import GimbalClient
import GimbalProtocol
import Hub

final class TraceRun {
    /// A line of the trace and what came of it.
    struct Line {
        /// Counts the lines from 1, blank ones too.
        let number: Int
        /// What it asks; empty if it is no request.
        let requests: [Request]
        /// Answers and events, in the order in which they arose.
        let messages: [Message]
    }

    private let hub = Hub(server: "gimbal", epochSeed: 0, at: 0)
    private let collector = Collector()
    private let feeder: Peer
    private let watcher: Peer
    private let camera: String
    private var decoder = RequestDecoder()
    /// The beginning of a line that has not come to its end.
    private var rest: [UInt8] = []
    private var isSkipping = false
    private var number = 0

    /// - Parameter camera: the one that the header names.
    init(camera: String) throws {
        self.camera = camera
        feeder = hub.connect(collector)
        watcher = hub.connect(collector)
        _ = try ask(.subscribe())
    }

    /// Plays a piece of a trace whose header says the highest speed.
    func play(_ piece: [UInt8], _ take: (Line) throws -> Void) throws {
        var start = 0
        while let end = piece[start...].firstIndex(of: 0x0a) {
            rest += piece[start...end]
            start = end + 1
            try playLine(take)
        }
        rest += piece[start...]
        // A line that is too long need not be kept to be refused.
        if rest.count > RequestDecoder.longestLine + 1 {
            send(rest, from: feeder)
            rest = []
            isSkipping = true
        }
    }

    /// Ends the trace, if it has not ended itself.
    func finish(_ take: (Line) throws -> Void) throws {
        if !rest.isEmpty || isSkipping {
            rest.append(0x0a)
            try playLine(take)
        }
        hub.endOfInput(feeder, at: 0)
        turn()
        try take(Line(number: number, requests: [], messages: collector.takeAll()))
    }

    /// Asks for something as another client would.
    func ask(_ request: ClientRequest) throws -> [Message] {
        send(try request.line(camera: camera), from: watcher)
        return collector.takeAll()
    }

    private func playLine(_ take: (Line) throws -> Void) throws {
        try Interrupt.check()
        number += 1
        send(rest, from: feeder)
        let requests = isSkipping ? nil : try? decoder.decode(text.span)
        rest.removeAll(keepingCapacity: true)
        isSkipping = false
        try take(Line(number: number, requests: requests ?? [], messages: collector.takeAll()))
    }

    /// The line without what ends it.
    private var text: [UInt8] {
        var line = rest[...]
        if line.last == 0x0a { line.removeLast() }
        if line.last == 0x0d { line.removeLast() }
        return Array(line)
    }

    private func send(_ bytes: [UInt8], from peer: Peer) {
        hub.receive(bytes.span, from: peer, at: 0)
        turn()
    }

    /// Lets the hub do what is due; its time stands still, and only the trace's runs.
    private func turn() {
        repeat {
            hub.advance(to: 0)
            hub.endTurn(at: 0)
        } while hub.deadline.map { $0 <= 0 } ?? false
    }
}

/// Takes whatever the hub sends, line by line.
private final class Collector: Outlet {
    private var bytes: [UInt8] = []

    func takeAll() -> [Message] {
        defer { bytes.removeAll(keepingCapacity: true) }
        return bytes.split(separator: 0x0a).map { Message($0) }
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
