// Reads a file of any format as a whole trace.

import Traces

extension Trace {
    /// Reads a trace, or makes one of a recording; `-` is standard input.
    ///
    /// - Parameter number: which of several traces in the file to read, from 1.
    /// - Throws: a `Failure` if the file cannot be read, or is not a single trace.
    init(file name: String, number: Int? = nil) throws {
        let reader = try TraceSource(InputFile(name), RecordingOptions.parse([]), number: number)
        var bytes: [UInt8] = []
        while !reader.isAtEnd { bytes += try reader.read() }
        reader.reportDamage()
        self = try about(name) { try Trace(bytes) }
    }
}

/// Says how many lines of a trace a command has left out, if any.
func sayRejected(_ count: Int, in name: String) {
    if count > 0 { say("\(name): left out \(counted(count, "line")) that a daemon rejects; see \"gimbal check\"") }
}
