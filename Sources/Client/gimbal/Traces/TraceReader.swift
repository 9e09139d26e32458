// A trace as it is read, from whatever kind of recording: a piece at a time, never whole. Only its header is looked into,
// and for the progress the times at the seams of the pieces.

import GimbalClient
import GimbalProtocol
import Glibc
import TouchTraces
import Traces

extension HeaderLine {
    /// - Throws: a `Failure` when the line begins something else than a trace.
    init(_ bytes: [UInt8], of name: String) throws(Failure) {
        do throws(TraceError) { try self.init(bytes) } catch { throw Failure(error, of: name) }
    }

    /// Sets members anew. One that is not right stays as it is.
    mutating func set(speed: Speed?, camera: CameraName?, of name: String) throws(Failure) {
        var members: [(name: String, value: JSONValue?)] = []
        if let speed { members.append(("speed", speed.json)) }
        if let camera { members.append(("camera", .string(camera.text))) }
        try set(members, of: name)
    }

    /// Sets members anew. One that is not right stays as it is.
    mutating func set(_ members: [(name: String, value: JSONValue?)], of name: String) throws(Failure) {
        do throws(TraceError) { try set(members) } catch { throw Failure(error, of: name) }
    }
}

extension Failure {
    /// The failure for an error in a trace.
    init(_ error: TraceError, of name: String) { self.init(.dataError, "\(name) \(error)") }
}

/// Reads a trace, or a recording as a trace, from a file or from standard input.
final class TraceReader {
    private let source: TraceSource
    /// The end of what has been read: enough to know a `trace-end`.
    private var tail: [UInt8] = []

    private static let tailSize = 1024

    /// Opens a file; `-` is standard input.
    ///
    /// - Parameters:
    ///   - number: which trace of several in the file is read, from 1; `nil` is all of them.
    ///   - endsBySignal: whether a signal ends what comes from a pipe or a device, and is no error.
    convenience init(
        _ name: String, _ options: RecordingOptions, number: Int? = nil, endsBySignal: Bool = false
    ) throws {
        try self.init(try InputFile(name, endsBySignal: endsBySignal), options, number: number)
    }

    /// Reads a file that is open already.
    init(_ file: InputFile, _ options: RecordingOptions, number: Int? = nil) throws {
        source = try TraceSource(file, options, number: number)
    }

    /// The file as it was named.
    var name: String { source.name }
    var descriptor: CInt { source.descriptor }
    /// The bytes that it has, where that is known.
    var size: Int? { source.size }
    /// Bytes of the file that have been read.
    var bytes: Int { source.bytesRead }
    /// Whether all of it has been read.
    var isAtEnd: Bool { source.isAtEnd }

    /// Reads a piece, which may be empty though the end has not come.
    func read() throws -> [UInt8] {
        let piece = try source.read()
        tail = Array((tail + piece.suffix(Self.tailSize)).suffix(Self.tailSize))
        return piece
    }

    // MARK: The beginning

    /// How a trace begins.
    struct Opening {
        /// Blank lines before the header.
        var blank: [UInt8]
        var header: HeaderLine
        /// The line of the header, from 1.
        var headerLine: Int
        /// What has been read behind the header's line.
        var rest: [UInt8]
    }

    /// Reads the header.
    func opening() throws -> Opening {
        var bytes: [UInt8] = []
        while true {
            let piece = try read()
            bytes += piece
            let start = bytes.firstIndex { ![0x20, 0x09, 0x0d, 0x0a].contains($0) } ?? bytes.count
            let end = bytes[start...].firstIndex(of: 0x0a)
            guard end != nil || isAtEnd || bytes.count - start > RequestDecoder.longestLine else { continue }
            guard start < bytes.count else { throw Failure(.empty, of: name) }
            let line = Array(bytes[start..<(end ?? bytes.count)])
            guard line.count <= RequestDecoder.longestLine else { throw Failure(.noHeader, of: name) }
            return Opening(
                blank: Array(bytes[..<start]), header: try HeaderLine(line, of: name),
                headerLine: bytes[..<start].count { $0 == 0x0a } + 1,
                rest: end.map { Array(bytes[($0 + 1)...]) } ?? [])
        }
    }

    // MARK: The end

    /// What ends the trace if it does not end itself.
    var ending: [UInt8] {
        let lines = tail.split { $0 == 0x0a || $0 == 0x0d }
        let last = lines.last { line in line.contains { $0 != 0x20 && $0 != 0x09 } }
        let separator: [UInt8] = tail.last == 0x0a ? [] : [0x0a]
        if let last, Self.isEnd(Array(last)) { return separator }
        return separator + Request.traceEndLine
    }

    private static func isEnd(_ line: [UInt8]) -> Bool {
        var decoder = RequestDecoder()
        guard case .traceEnd = try? decoder.decode(line.span).first?.body else { return false }
        return true
    }

    /// Whether what is sent are the bytes of the file.
    var isTrace: Bool { source.format == .trace }

    /// The time of a trace's last lines: its `timeMs`.
    func lastTime() -> Double? { source.lastPiece().flatMap(TraceTime.last) }

    /// The times of the markers in a trace that is a file, in milliseconds; those of a very large one are not looked for.
    func markers() -> [Double] { source.contents(upTo: 64 << 20).map(TraceMarkers.times) ?? [] }

    /// Where the fingers of a recording went.
    var tracks: [FingerTrack] { source.tracks }

    /// Says what of a recording was skipped.
    func reportDamage() { source.reportDamage() }
}
