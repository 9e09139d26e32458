// Writes a camera's input as a file of traces. Each is complete at every time, as far as it has been written.

import GimbalProtocol

/// Prepares the lines of a file of traces.
package struct TraceFileWriter: ~Copyable {
    /// The number of lines of gestures, commands and settings.
    package private(set) var lines = 0
    /// Whether a trace has begun, so that another line extends it.
    package private(set) var isRunning = false
    package private(set) var hasBegun = false
    /// The header of a trace that has no lines yet; another header may replace it.
    private var header = ""
    private var bytes: [UInt8] = []
    private var decoder = RequestDecoder()

    package init() {}

    /// Continues an existing file, whose last trace may not have been ended.
    ///
    /// - Parameters:
    ///   - beginning: at least the file's first line.
    ///   - end: at least the file's last line.
    /// - Returns: `false` if the file is not a trace.
    package mutating func continueFile(_ beginning: [UInt8], _ end: [UInt8]) -> Bool {
        guard let first = Trace.lines(of: beginning).first else { return true }
        guard (try? HeaderLine(Array(first))) != nil else { return false }
        bytes += Trace.ending(behind: end)
        return true
    }

    /// Adds a line of the camera's input.
    package mutating func add(_ input: InputLine) {
        isRunning = true
        hasBegun = true
        if case .trace? = try? decoder.decode(input.line.utf8Span.span).first?.body {
            header = input.line
            return
        }
        lines += 1
        if !header.isEmpty { append(header) }
        header = ""
        append(input.line)
    }

    private mutating func append(_ line: String) { bytes += (line + "\n").utf8 }

    /// Ends a trace that another one follows; a trace without lines is omitted.
    package mutating func cut() {
        if isRunning, header.isEmpty { bytes += Request.traceEndLine }
        isRunning = false
        header = ""
    }

    /// Ends the last trace. It may have no lines if it is the only one.
    package mutating func end() {
        if lines == 0, !header.isEmpty {
            append(header)
            header = ""
        }
        cut()
    }

    /// Returns the bytes to write, once.
    package mutating func drain() -> [UInt8] {
        defer { bytes.removeAll(keepingCapacity: true) }
        return bytes
    }
}

extension Trace {
    /// Returns the bytes that end a file's last trace if it lacks its end.
    ///
    /// - Parameter end: at least the file's last line.
    package static func ending(behind end: [UInt8]) -> [UInt8] {
        let separator: [UInt8] = end.last == 0x0a ? [] : [0x0a]
        if let last = lines(of: end).last, case .traceEnd? = try? RequestDecoder.requests(of: last.span).first?.body {
            return separator
        }
        return separator + Request.traceEndLine
    }

    /// Returns the lines that are not blank.
    fileprivate static func lines(of bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        bytes.split { $0 == 0x0a || $0 == 0x0d }.filter { line in
            line.contains { $0 != 0x20 && $0 != 0x09 }
        }
    }
}
