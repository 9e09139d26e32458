// A whole trace in memory, as timed lines. Unchanged lines keep their bytes, and lines that a daemon would reject are
// kept, too: they are not judged here.

import GimbalProtocol

/// A trace: its header, and its lines with their times.
package struct Trace: Sendable {
    /// A line of gestures, commands or questions.
    package struct Line: Sendable {
        /// The line without its line feed.
        package var bytes: [UInt8]
        /// The requests in the line; empty if it is invalid.
        package var requests: [Request]
        /// When the line is applied, in milliseconds of the trace's own clock; `nil` if it takes no time.
        package var timeMs: Double? { requests.lazy.compactMap(\.timeMs).first }

        /// Creates a line from its bytes.
        package init(_ bytes: [UInt8]) {
            var decoder = RequestDecoder()
            self.init(bytes, &decoder)
        }

        fileprivate init(_ bytes: [UInt8], _ decoder: inout RequestDecoder) {
            self.bytes = bytes
            requests = (try? decoder.decode(bytes.span)) ?? []
        }
    }

    package var header: HeaderLine
    /// The lines after the header, without blank lines and `trace-end`.
    package var lines: [Line]

    package init(header: HeaderLine, lines: [Line] = []) {
        self.header = header
        self.lines = lines
    }

    /// Reads a trace up to its end, which only blank lines may follow.
    ///
    /// - Throws: `TraceError` if it does not begin with a valid header, or if something follows its end.
    package init(_ bytes: some Sequence<UInt8>) throws(TraceError) {
        let all = LineSplitter.lines(of: bytes)
        guard let first = all.first else { throw .empty }
        self.init(header: try HeaderLine(first.isTooLong ? [] : Array(first.text)))
        guard header.isRight else { throw TraceError("has an invalid header; \"gimbal check\" says why") }
        var decoder = RequestDecoder()
        var isOver = false
        for line in all.dropFirst() {
            if isOver {
                throw TraceError(
                    "has more after its trace-end, in line \(line.number): \"gimbal cut --trace\" takes one trace")
            }
            let read = Line(Array(line.text), &decoder)
            if case .traceEnd? = read.requests.first?.body { isOver = true } else { lines.append(read) }
        }
    }

    /// When the first line is applied, in milliseconds of the trace's own clock; the times of events count from there.
    package var startMs: Double? { lines.lazy.compactMap(\.timeMs).first }

    /// When the last line is applied, in milliseconds of the trace's own clock.
    package var endMs: Double? { lines.reversed().lazy.compactMap(\.timeMs).first }

    /// The trace as a file, including `trace-end`.
    package var bytes: [UInt8] {
        var bytes = header.bytes + [0x0a]
        for line in lines { bytes += line.bytes + [0x0a] }
        return bytes + Request.traceEndLine
    }
}
