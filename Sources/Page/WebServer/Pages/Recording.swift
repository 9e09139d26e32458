// Converts a recording that is dropped onto a page to a trace for one camera, from every format that the command line
// knows. Invariant: its cost is bounded by its bytes and by the limits here, whatever it contains; and the daemon gets
// only what moves or marks the one camera.

import GimbalProtocol
import HTTPTypes
import TouchTraces
import Traces

struct Recording: ~Copyable {
    /// The most bad lines that are skipped; one more ends the reading.
    static let mostBadLines = 1000
    /// The most bytes of a line.
    static let longestLine = 256 << 10
    /// Bytes between two checks of the limits.
    private static let piece = 4 << 10

    private let camera: String
    private let mostTraceBytes: Int
    private let converter = TraceConverter()
    private var trace: [UInt8] = []
    /// Where the unread lines of the trace begin.
    private var position = 0
    private var lines = LineReader(
        status: .unprocessableContent, longest: Recording.longestLine, mostBad: Recording.mostBadLines)
    private var header: HeaderLine?
    /// Where the trace continues after its header.
    private var body = 0
    private var times: ClosedRange<Double>?
    private var isOver = false

    /// - Parameters:
    ///   - camera: the camera of the trace.
    ///   - mostTraceBytes: the most bytes that it may have.
    init(for camera: String, mostTraceBytes: Int = 32 << 20) {
        (self.camera, self.mostTraceBytes) = (camera, mostTraceBytes)
    }

    /// How many lines have been decoded.
    var decodedLines: Int { lines.decoded }
    /// How many lines were bad.
    var badLines: Int { lines.bad + converter.reader.notes.damagedCount }

    /// Returns the trace of a recording, or the trace itself, for a camera.
    ///
    /// - Parameter advance: receives the progress, from 0 to 1; what it throws ends the reading.
    /// - Throws: what is wrong with the bytes, or with the camera's name.
    static func trace(
        of bytes: [UInt8], for camera: String, advance: (Double) throws(HTTPRefusal) -> Void
    ) throws(HTTPRefusal) -> [UInt8] {
        var recording = Recording(for: camera)
        return try recording.read(bytes, advance: advance)
    }

    /// Reads a whole recording, as ``trace(of:for:advance:)`` does.
    mutating func read(
        _ bytes: [UInt8], advance: (Double) throws(HTTPRefusal) -> Void
    ) throws(HTTPRefusal) -> [UInt8] {
        for start in stride(from: 0, to: bytes.count, by: Self.piece) {
            try advance(Double(start) / Double(bytes.count))
            let end = min(start + Self.piece, bytes.count)
            try convert { try $0.read(bytes.span.extracting(start..<end), $1) }
            try readLines(isLast: false)
        }
        try convert { try $0.finish($1) }
        try readLines(isLast: true)
        return try wholeTrace()
    }

    private mutating func convert(
        _ step: (TraceConverter, (Span<UInt8>) -> Void) throws -> Void
    ) throws(HTTPRefusal) {
        do {
            try step(converter) { piece in unsafe piece.withUnsafeBufferPointer { unsafe trace += $0 } }
        } catch {
            throw lines.refusal("\(error)")
        }
        guard converter.reader.notes.damagedCount <= Self.mostBadLines else {
            throw lines.refusal("this is not a recording: more than \(Self.mostBadLines) lines of it cannot be read")
        }
        guard trace.count <= mostTraceBytes else {
            throw lines.refusal("the trace of this recording has more than \(mostTraceBytes) bytes")
        }
    }

    private mutating func readLines(isLast: Bool) throws(HTTPRefusal) {
        let trace = trace
        while let line = try lines.next(in: trace.span, at: &position, isLast: isLast) {
            // The daemon would take such lines as live input, for any camera.
            if isOver {
                throw lines.refusal("line \(lines.number) comes after trace-end: a recording is one trace")
            }
            let text = trace.span.extracting(line)
            if header == nil { try readHeader(text) } else { try readLine(text) }
        }
    }

    private mutating func readHeader(_ line: Span<UInt8>) throws(HTTPRefusal) {
        do throws(TraceError) {
            var header = try HeaderLine(unsafe line.withUnsafeBufferPointer { unsafe Array($0) })
            try header.set([
                ("camera", .string(camera)), ("id", .string("recording")), ("pauseAtEnd", .bool(true)),
            ])
            guard header.isRight else { throw TraceError("has an invalid header") }
            (self.header, body) = (header, position)
        } catch {
            throw lines.refusal("this \(error)")
        }
    }

    private mutating func readLine(_ line: Span<UInt8>) throws(HTTPRefusal) {
        if try lines.decode(line) {
            throw lines.refusal("line \(lines.number) begins another trace: a recording is one trace")
        }
        for request in lines.requests {
            if let what = Self.foreign(request.body) {
                throw lines.refusal(
                    "line \(lines.number) \(what): a recording may have only gestures, fingers, commands and markers")
            }
            if case .traceEnd = request.body { isOver = true }
            guard let time = request.timeMs else { continue }
            times = times.map { $0.lowerBound...max($0.lowerBound, time) } ?? time...time
        }
    }

    /// Returns what a request does that is not for recordings; `nil` if it is.
    private static func foreign(_ body: ClientRequest) -> String? {
        switch body {
        case .traceEnd: nil
        case .subscribe, .subscribeAll, .unsubscribe, .unsubscribeAll: "subscribes, or ends a subscription"
        case .trace: "begins another trace"
        default: body.isOfTraces ? nil : body.steersReplay ? "controls a replay" : "is a query"
        }
    }

    private func wholeTrace() throws(HTTPRefusal) -> [UInt8] {
        do throws(TraceError) {
            guard var header else { throw TraceError.empty }
            if let times { try header.set([("durationMs", .number(times.upperBound - times.lowerBound))]) }
            return header.bytes + [0x0a] + trace[body...] + (isOver ? [] : [0x0a] + Request.traceEndLine)
        } catch {
            throw lines.refusal("this \(error)")
        }
    }
}
