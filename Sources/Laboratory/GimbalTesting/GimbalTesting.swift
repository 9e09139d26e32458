// For tests of other packages: compares what a trace or a recording does to a camera, or what an app's own camera did,
// with a golden file. A failure is a Swift Testing issue with the report that `gimbal expect` prints, and the actual
// events attached. Without Swift Testing, as in a build without Swift's own libraries, this file is empty.

#if canImport(Testing)
import CameraStreams
import Foundation
import GimbalProtocol
@_exported import MapCamera
import Plotting
import Testing
import TouchTraces
import Traces

/// How far a camera may be from the expected one: each value is 0 or more.
public struct CameraTolerance: Equatable, Sendable {
    /// Points of the screen: how far from its centre one camera shows the other's target.
    public var points: Double
    /// Zoom levels.
    public var zoom: Double
    /// Degrees of bearing and of viewing angle, each on its own.
    public var degrees: Double
    /// How much earlier or later the camera may arrive, in milliseconds.
    public var milliseconds: Double

    /// Creates a tolerance, with the defaults of `gimbal expect`.
    public init(points: Double = 1, zoom: Double = 0.01, degrees: Double = 0.1, milliseconds: Double = 0) {
        (self.points, self.zoom, self.degrees, self.milliseconds) = (points, zoom, degrees, milliseconds)
    }

    /// No difference is tolerated.
    public static let exact = CameraTolerance(points: 0, zoom: 0, degrees: 0)

    fileprivate var tolerance: Tolerance {
        Tolerance(points: points, zoom: zoom, degrees: degrees, timeMs: milliseconds)
    }
}

/// The error for a file that is not a valid trace, recording, log or golden file; one line for humans.
public struct CameraFileError: Error, CustomStringConvertible {
    /// The name of the file, and what is wrong with it.
    public let description: String
}

/// What a camera did over time.
public struct CameraRecord: Sendable {
    /// Its name in reports.
    public let name: String
    fileprivate var stream: CameraStream
    /// The record as lines, as `gimbal run` prints them.
    fileprivate let bytes: [UInt8]
    /// Whether it comes from playing a trace, like golden files do.
    fileprivate let isRun: Bool

    /// Plays a trace or a recording of fingers on a camera of this process. No daemon is needed.
    ///
    /// A recording may be in any format that `gimbal` reads, uncompressed.
    ///
    /// - Parameters:
    ///   - position: the initial position, if a recording has none; `nil` is 0, 0 at zoom 12. A trace has its own.
    ///   - viewport: the surface of a recording in points, instead of its own size.
    /// - Throws: ``CameraFileError`` if the file is neither or one of its lines is rejected, and what reading throws.
    public init(playing trace: URL, from position: CameraPosition? = nil, viewport: Viewport? = nil) throws {
        let file = trace.lastPathComponent
        do {
            let options = TraceOptions(viewport: viewport, position: position)
            let whole = try Trace(try TraceConverter(options).trace(of: Array(Data(contentsOf: trace))))
            try self.init(file, try TraceRun.events(of: whole), isRun: true)
            if let viewport = whole.header.header?.viewport { stream.viewport = viewport }
        } catch let error as TraceError {
            throw CameraFileError(description: "\(file) \(error)")
        } catch let error as RecordingError {
            throw CameraFileError(description: "\(file): \(error)")
        }
        let ended = bytes.split(separator: 0x0a).last.flatMap { ReceivedLine($0).traceEnded }
        if let rejected = ended?.rejected, rejected > 0 {
            throw CameraFileError(
                description: "\(file): \(rejected) of its lines are rejected; \"gimbal check\" says why")
        }
    }

    /// Reads what a camera did from a log: events, lines of JSON, or a table, as described in Protocols/test-kit.md.
    ///
    /// - Throws: ``CameraFileError`` that names the line, and what reading throws.
    public init(log: URL) throws {
        try self.init(log.lastPathComponent, Array(Data(contentsOf: log)))
    }

    /// Records an app's camera: its positions and their times in milliseconds. The first should be the trace's first.
    ///
    /// - Throws: ``CameraFileError`` if there are no positions, or time goes back.
    public init(_ name: String, _ positions: [(timeMs: Double, position: CameraPosition)]) throws {
        var table = "time,latitude,longitude,zoom,bearing,angle\n"
        for (timeMs, position) in positions {
            let target = position.target
            table += "\(timeMs),\(target.latitude),\(target.longitude),\(position.zoom),"
            table += "\(position.bearing),\(position.viewingAngle)\n"
        }
        try self.init(name, Array(table.utf8))
    }

    private init(_ name: String, _ bytes: [UInt8], isRun: Bool = false) throws {
        self.name = name
        (self.bytes, self.isRun) = (bytes, isRun)
        let reader = StreamReader()
        do throws(StreamError) {
            for line in LineSplitter.lines(of: bytes) { try reader.read(line.text, number: line.number) }
        } catch {
            throw CameraFileError(description: "\(name):\(error)")
        }
        stream = reader.stream
        guard stream.last != nil else { throw CameraFileError(description: "\(name) contains no camera positions") }
    }

    /// The camera's final position.
    public var end: CameraPosition { stream.last?.position ?? .initial }

    /// The number of movements, each from a start to a rest.
    public var moves: Int { stream.movements.count }
}

/// Expects a camera to do what a golden file says, at the same times.
///
/// Records a failure as an issue, with the actual events and a picture of both paths as attachments. With
/// `GIMBAL_UPDATE=1` in the environment, rewrites the golden file instead, if the record comes from a trace.
///
/// - Parameters:
///   - record: what the camera did.
///   - golden: a file in the format that `gimbal run` prints.
///   - tolerance: how far the camera may be from the golden file.
/// - Returns: whether the camera matches.
/// - Throws: ``CameraFileError`` if the golden file cannot be understood, and what reading throws.
@discardableResult
public func expectCamera(
    _ record: CameraRecord, matches golden: URL, within tolerance: CameraTolerance = .exact,
    sourceLocation: SourceLocation = #_sourceLocation
) throws -> Bool {
    if record.isRun, ProcessInfo.processInfo.environment["GIMBAL_UPDATE"] == "1" {
        try Data(record.bytes).write(to: golden, options: .atomic)
        return true
    }
    var expected = try CameraRecord(log: golden)
    expected.stream.viewport = record.stream.viewport
    let comparison = Comparison(expected: expected.stream, found: record.stream, tolerance: tolerance.tolerance)
    guard let failure = comparison.failure else { return true }
    let report = (["\(record.name): \(failure.summary)"] + failure.details).joined(separator: "\n")
    Issue.record("\(report)", sourceLocation: sourceLocation)
    let picture = Picture(title: record.name, of: comparison)
    Attachment.record(record.bytes, named: "\(record.name).found", sourceLocation: sourceLocation)
    Attachment.record(Array(picture.svg().utf8), named: "\(record.name).svg", sourceLocation: sourceLocation)
    return false
}
#endif
