// Traces that the daemon can play by itself, as it was given them when it started. Each is played once in a hub of its own, as a
// client would have sent it: what that refuses is refused here.

import GimbalProtocol
import JSONLines

/// A trace that a daemon can play by itself.
public struct StoredTrace: Sendable {
    /// Why a file is no trace to be played.
    public struct Problem: Error {
        /// The number of the line, from 1.
        public let line: Int
        /// What is wrong with it.
        public let message: String
    }

    /// What tells it from another one.
    struct Identity: Equatable, Codable {
        let info: StoredTraceInfo
        /// Of the whole file.
        let checksum: Int
    }

    /// How many lines and frames a trace may have: of frames some two hours.
    private static let mostSteps: UInt64 = 500_000

    let identity: Identity
    var info: StoredTraceInfo { identity.info }
    let markers: [ReplayMarker]
    /// How many lines and frames it has.
    public let steps: Int
    let header: TraceHeader
    let lines: KeptLines

    /// Its name, by which idle actions play it.
    public var name: String { info.trace }

    /// Whether a file's name can be a trace's: 1 to 64 of `A-Z a-z 0-9 . _ -`.
    public static func isName(_ name: String) -> Bool { Request.isCameraName(name.utf8) }

    /// Reads a trace.
    ///
    /// - Parameters:
    ///   - name: a possible name.
    ///   - bytes: the whole file.
    /// - Throws: ``Problem`` for the first line that a daemon would refuse.
    public init(_ name: String, _ bytes: [UInt8]) throws(Problem) {
        let outlet = Replies()
        let hub = Hub(server: "", epochSeed: 0, at: 0)
        let peer = hub.connect(outlet)
        let end = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
        var decoder = RequestDecoder()
        let requests: [Request]
        do throws(Rejection) {
            requests = try decoder.decode(bytes.span.extracting(0..<end))
        } catch {
            throw Problem(line: 1, message: error.error.message)
        }
        guard let first = requests.first, case .trace(let header) = first.body else {
            throw Problem(line: 1, message: "a trace begins with its header, {\"type\":\"trace\",\"version\":1}")
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
        guard let replay = peer.replay else { throw Problem(line: 1, message: "the trace ends before it is played") }
        guard replay.run.steps <= Self.mostSteps else {
            throw Problem(line: 1, message: "it takes more than \(Self.mostSteps) lines and frames")
        }
        guard replay.camera.frames > 0 else { throw Problem(line: 1, message: "it never moves the camera") }
        self.header = header
        (lines, markers, steps) = (replay.lines, replay.markers, Int(replay.run.steps))
        let info = StoredTraceInfo(trace: name, lines: lines.end, durationMs: replay.run.time)
        let checksum = bytes.reduce(into: 0xcbf2_9ce4_8422_2325 as UInt64) { $0 = ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        identity = Identity(info: info, checksum: Int(checksum >> 16))
    }

    /// What the hub answers while it plays a trace, of which only errors matter.
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

/// The traces of a hub, by their names.
final class StoredTraces {
    /// All of them, sorted by their names.
    var all: [StoredTrace] = [] {
        didSet { all.sort { $0.name < $1.name } }
    }

    var infos: [StoredTraceInfo] { all.map(\.info) }

    subscript(name: String) -> StoredTrace? { all.first { $0.name == name } }
}
