// The state that outlives a run: the cameras as text. Each camera is the two lines that would restore it: the header of
// a trace that begins with it as it is, and the subscription that would resume from there. So the decoder for clients'
// lines reads them, with its limits. The first line identifies the format, and the last has a count and a checksum: a
// truncated or altered state is detected, and never half loaded.

import Gestures
import MapCamera
import GimbalProtocol

/// The saved state of a camera.
struct SavedCamera {
    var state: CameraState
    var epoch: String
    /// The time of the camera's clock in milliseconds, not before its last event.
    var clock: Double
}

extension SavedCamera {
    /// The two lines that describe it.
    var lines: [UInt8] {
        var line = LineWriter(capacity: 1024)
        let header = TraceHeader(position: state.position, setup: state.setup)
        line.request(.trace(header), camera: state.camera, timeMs: clock)
        line.write("\n")
        line.request(.subscribe(since: ResumePoint(seq: state.seq, epoch: epoch)), camera: state.camera)
        line.write("\n")
        return line.bytes
    }

    /// Reads the two lines.
    fileprivate init(
        _ header: Span<UInt8>, _ subscription: Span<UInt8>, _ decoder: inout RequestDecoder
    ) throws(SavedState.Damage) {
        let begun = try decoder.request(header)
        guard case .trace(let header) = begun.body, let name = begun.camera, let clock = begun.timeMs else {
            throw SavedState.Damage(description: "a camera has no header")
        }
        // Beyond that, no process could hand over the camera to the next one.
        guard abs(clock) <= 9e14 else { throw SavedState.Damage(description: "camera \(name) has an impossible clock") }
        let followed = try decoder.request(subscription)
        guard case .subscribe(_, _, let since?) = followed.body, followed.camera == name
        else { throw SavedState.Damage(description: "camera \(name) has no seq and epoch") }
        state = CameraState(camera: name, seq: since.seq, position: header.position, setup: header.setup)
        (epoch, self.clock) = (since.epoch, clock)
    }
}

extension RequestDecoder {
    fileprivate mutating func request(_ line: Span<UInt8>) throws(SavedState.Damage) -> Request {
        let requests: [Request]
        do {
            requests = try decode(line)
        } catch {
            throw SavedState.Damage(description: "a line is invalid: \(error.error.message)")
        }
        guard requests.count == 1 else { throw SavedState.Damage(description: "a line is an array") }
        return requests[0]
    }
}

/// The cameras of a hub, to be saved and loaded again.
public struct SavedState {
    /// The error for bytes that are not a state, or not all of one.
    public struct Damage: Error, CustomStringConvertible {
        public let description: String
    }

    /// Whether nothing has happened since: the run ended cleanly, with this state.
    public var isLast: Bool
    var cameras: [SavedCamera]

    init(isLast: Bool, cameras: [SavedCamera]) {
        self.isLast = isLast
        self.cameras = cameras
    }

    /// The number of cameras.
    public var count: Int { cameras.count }

    // MARK: Writing

    /// The state as text: lines of JSON, with numbers in full precision.
    public var bytes: [UInt8] {
        SavedText.bytes(cameras.map(\.lines), isLast: isLast)
    }

    // MARK: Reading

    /// Reads what ``bytes`` returned.
    public init(_ bytes: [UInt8]) throws(Damage) {
        let bytes = bytes.span
        try Self.checkEdges(bytes, bytes, size: bytes.count)
        let lines = Self.lines(of: bytes)
        guard let first = lines.first, let last = lines.last, lines.count >= 2, lines.count.isMultiple(of: 2) else {
            throw Damage(description: "it has no complete lines, or one is missing")
        }
        var line = LineWriter()
        line.writeEnding(
            count: lines.count / 2 - 1, checksum: SavedText.checksum(bytes.extracting(0..<last.lowerBound)))
        guard line.isEqual(to: bytes.extracting(last.lowerBound...)) else {
            throw Damage(description: "its last line does not have the count and checksum of the others")
        }
        isLast = try Self.readHeading(bytes.extracting(first))
        cameras = []
        var decoder = RequestDecoder()
        var names: Set<String> = []
        for index in stride(from: 1, to: lines.count - 1, by: 2) {
            let (header, subscription) = (bytes.extracting(lines[index]), bytes.extracting(lines[index + 1]))
            let camera = try SavedCamera(header, subscription, &decoder)
            let name = camera.state.camera
            guard names.insert(name).inserted else { throw Damage(description: "camera \(name) appears twice") }
            cameras.append(camera)
        }
    }

    /// The number of bytes at either end that show whether bytes can be a state.
    public static let edge = 256
    /// The maximum size of a camera in bytes: two lines with its name and about thirty numbers.
    private static let longestCamera = 4096

    /// Checks the beginning and the end of a possible state before all of it is read.
    ///
    /// - Parameters:
    ///   - beginning: the first ``edge`` bytes, or more.
    ///   - end: the last ``edge`` bytes, or more.
    ///   - size: the total number of bytes.
    public static func checkEdges(_ beginning: Span<UInt8>, _ end: Span<UInt8>, size: Int) throws(Damage) {
        var framer = LineFramer()
        var position = 0
        guard case .line(let first) = framer.next(in: beginning, at: &position) else {
            throw Damage(description: "it has no complete lines, or one is missing")
        }
        _ = try readHeading(beginning.extracting(first))
        let word: StaticString = "{\"type\":\"end\",\"cameras\":"
        var start = max(end.count - 1, 0)
        while start > 0, end[start - 1] != 0x0a { start -= 1 }
        guard end.count - start > word.utf8CodeUnitCount,
            (0..<word.utf8CodeUnitCount).allSatisfy({ unsafe end[start + $0] == word.utf8Start[$0] })
        else { throw Damage(description: "its last line does not have the count and checksum of the others") }
        var count = 0
        for index in (start + word.utf8CodeUnitCount)..<end.count {
            guard (0x30...0x39).contains(end[index]), count <= size else { break }
            count = 10 * count + Int(end[index] - 0x30)
        }
        guard count <= size, size <= 2 * edge + count * longestCamera else {
            throw Damage(description: "it has \(size) bytes, but its last line says \(count) cameras")
        }
    }

    /// Returns the lines without their LF; none if the last line has no LF.
    private static func lines(of bytes: Span<UInt8>) -> [Range<Int>] {
        var framer = LineFramer()
        var (position, lines) = (0, [Range<Int>]())
        while case .line(let range) = framer.next(in: bytes, at: &position) { lines.append(range) }
        return position == bytes.count ? lines : []
    }

    private static func readHeading(_ line: Span<UInt8>) throws(Damage) -> Bool {
        for isLast in [false, true] {
            var heading = LineWriter()
            heading.writeHeading(isLast: isLast)
            if heading.withBytes({ $0.extracting(..<($0.count - 1)).isEqual(to: line) }) { return isLast }
        }
        throw Damage(description: "its first line is not that of a version 1 state")
    }
}

extension Span<UInt8> {
    fileprivate func isEqual(to other: Span<UInt8>) -> Bool {
        count == other.count && indices.allSatisfy { self[$0] == other[$0] }
    }
}

// MARK: Lines

extension LineWriter {
    fileprivate func isEqual(to other: Span<UInt8>) -> Bool { withBytes { $0.isEqual(to: other) } }

    mutating func writeHeading(isLast: Bool) {
        write("{\"type\":\"gimbal-state\",\"version\":1,\"last\":")
        write(isLast)
        write("}\n")
    }

    mutating func writeEnding(count: Int, checksum: UInt64) {
        write("{\"type\":\"end\",\"cameras\":")
        write(UInt64(count))
        write(",\"checksum\":")
        write(string: String(checksum, radix: 16))
        write("}\n")
    }
}
