// A file of any format, read whole as a trace.

import Traces

extension Trace {
    /// Reads a trace, or a recording as the trace that is made of it; `-` is standard input.
    ///
    /// - Parameter number: which trace of several in the file, from 1.
    /// - Throws: a `Failure` if the file cannot be read, or is no single trace.
    init(file name: String, number: Int? = nil) throws {
        let reader = try TraceSource(name, RecordingOptions.parse([]), number: number)
        var bytes: [UInt8] = []
        while !reader.isAtEnd { bytes += try reader.read() }
        reader.reportDamage()
        self = try about(name) { try Trace(bytes) }
    }
}
