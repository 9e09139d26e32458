// Traces that the daemon can play by itself, as given to it at startup. Each is played once in a hub of its own, as if
// a client had sent it: what that hub refuses is refused here.

import GimbalProtocol

/// A trace that a daemon can play by itself.
public struct StoredTrace: Sendable {
    /// The reason why a file is not a playable trace.
    public struct Problem: Error {
        /// The number of the line, from 1.
        public let line: Int
        /// What is wrong with it.
        public let message: String
    }

    /// What distinguishes it from other traces.
    struct Identity: Equatable, Codable {
        let info: StoredTraceInfo
        /// The checksum of the whole file.
        let checksum: Int
    }

    /// The maximum number of lines and frames of a trace; that many frames take about two hours.
    private static let mostSteps: UInt64 = 500_000

    let identity: Identity
    var info: StoredTraceInfo { identity.info }
    let markers: [ReplayMarker]
    /// The number of lines and frames.
    public let steps: Int
    let header: TraceHeader
    let lines: KeptLines

    /// The name by which idle actions refer to it.
    public var name: String { info.trace }

    /// Whether a file name is valid as a trace name: 1 to 64 of `A-Z a-z 0-9 . _ -`.
    public static func isName(_ name: String) -> Bool { Request.isCameraName(name.utf8) }

    /// Reads a trace.
    ///
    /// - Parameters:
    ///   - name: a valid name.
    ///   - bytes: the whole file.
    /// - Throws: ``Problem`` for the first line that a daemon would refuse.
    public init(_ name: String, _ bytes: [UInt8]) throws(Problem) {
        let outlet = Replies()
        let hub = Hub(server: "", epochSeed: 0, at: 0)
        let peer = hub.connect(outlet)
        let end = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
        let requests: [Request]
        do throws(Rejection) {
            requests = try RequestDecoder.requests(of: bytes.span.extracting(0..<end))
        } catch {
            throw Problem(line: 1, message: error.error.message)
        }
        guard let first = requests.first, case .trace(let header) = first.body else {
            throw Problem(line: 1, message: "a trace must begin with its header, {\"type\":\"trace\",\"version\":1}")
        }
        var whole = TraceHeader(speed: .infinity, position: header.position, setup: header.setup)
        whole.playback.untilMs = header.playback.untilMs
        whole.playback.pauseAtEnd = true
        let camera = first.camera ?? HostedCamera.mainName
        var input = (try? ClientRequest.trace(whole).line(camera: camera)) ?? []
        input += bytes[min(end + 1, bytes.count)...]
        hub.receive(input.span, from: peer, at: 0)
        hub.endOfInput(peer, at: 0)
        while outlet.error == nil, let replay = peer.replay, !replay.isAtEnd, replay.run.steps <= Self.mostSteps {
            hub.advance(to: 0)
            hub.endTurn(at: 0)
        }
        if let error = outlet.error { throw Problem(line: error.line, message: error.message) }
        guard let replay = peer.replay else { throw Problem(line: 1, message: "the trace ended before it was played") }
        guard replay.run.steps <= Self.mostSteps else {
            throw Problem(line: 1, message: "it has more than \(Self.mostSteps) lines and frames")
        }
        guard replay.camera.frames > 0 else { throw Problem(line: 1, message: "it never moves the camera") }
        self.header = header
        (lines, markers, steps) = (replay.lines, replay.markers, Int(replay.run.steps))
        let info = StoredTraceInfo(trace: name, lines: lines.end, durationMs: replay.run.time)
        identity = Identity(info: info, checksum: Int(SavedText.checksum(bytes.span) >> 16))
    }

    /// The hub's answers while it plays a trace; only errors matter.
    private final class Replies: Outlet {
        private(set) var error: GimbalError?

        func send(_ pieces: [UnsafeRawBufferPointer]) -> Int {
            var bytes: [UInt8] = []
            for index in unsafe pieces.indices { unsafe bytes.append(contentsOf: pieces[index]) }
            for line in bytes.split(separator: UInt8(ascii: "\n")) where error == nil {
                error = ReceivedLine(line).error
            }
            return bytes.count
        }
        func keepQueueShort() {}
        func setReading(_ isReading: Bool) {}
        func finishSending() {}
        func close() {}
    }
}

/// The traces of a hub, by name.
final class StoredTraces {
    /// All traces, sorted by name.
    var all: [StoredTrace] = [] {
        didSet { all.sort { $0.name < $1.name } }
    }

    var infos: [StoredTraceInfo] { all.map(\.info) }

    subscript(name: String) -> StoredTrace? { all.first { $0.name == name } }
}
