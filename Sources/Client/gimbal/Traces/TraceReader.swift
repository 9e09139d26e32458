// Reads a trace from any kind of recording, a piece at a time, never whole. Only its header and its end are examined.

import GimbalClient
import GimbalProtocol
import Glibc
import TouchTraces
import Traces

extension HeaderLine {
    /// Sets the members that options name. An invalid header stays unchanged.
    mutating func set(speed: Speed?, camera: CameraName?) throws(TraceError) {
        if let speed { try set([("speed", speed.json)]) }
        if let camera { try set([("camera", .string(camera.text))]) }
    }
}

extension TraceSource {
    // MARK: The beginning

    /// The beginning of a trace.
    struct Opening {
        /// Blank lines before the header.
        var blank: [UInt8]
        var header: HeaderLine
        /// The line number of the header, from 1.
        var headerLine: Int
        /// What has been read after the header's line.
        var rest: [UInt8]
    }

    /// Reads the header.
    ///
    /// - Throws: `TraceError` when the file begins with something else.
    func opening() throws -> Opening {
        var bytes: [UInt8] = []
        while true {
            let piece = try read()
            bytes += piece
            let start = bytes.firstIndex { ![0x20, 0x09, 0x0d, 0x0a].contains($0) } ?? bytes.count
            let end = bytes[start...].firstIndex(of: 0x0a)
            guard end != nil || isAtEnd || bytes.count - start > RequestDecoder.longestLine else { continue }
            guard start < bytes.count else { throw TraceError.empty }
            let line = Array(bytes[start..<(end ?? bytes.count)])
            guard line.count <= RequestDecoder.longestLine else { throw TraceError.noHeader }
            return Opening(
                blank: Array(bytes[..<start]), header: try HeaderLine(line),
                headerLine: bytes[..<start].count { $0 == 0x0a } + 1,
                rest: end.map { Array(bytes[($0 + 1)...]) } ?? [])
        }
    }

    // MARK: The end

    /// What to append to a trace that does not end itself.
    var ending: [UInt8] { Trace.ending(behind: tail) }
}
