// Finds the markers of a trace without decoding all of it, for the ticks of a bar, which are shown before the daemon
// has reached the markers.

import CLinux
import GimbalProtocol
import Glibc

enum TraceMarkers {
    /// Returns the times of the markers in the first trace of a file, in milliseconds.
    static func times(in bytes: [UInt8]) -> [Double] {
        var times: [Double] = []
        var decoder = RequestDecoder()
        forEachLine(with: "marker", in: bytes[..<endOfTrace(in: bytes)]) { line in
            for request in (try? decoder.decode(Array(line).span)) ?? [] {
                if case .marker = request.body, let time = request.timeMs { times.append(time) }
            }
            return true
        }
        return times
    }

    /// Returns where the `trace-end` of the first trace is, or the end of the file.
    private static func endOfTrace(in bytes: [UInt8]) -> Int {
        var decoder = RequestDecoder()
        var over = bytes.count
        forEachLine(with: "trace-end", in: bytes[...]) { line in
            guard case .traceEnd? = try? decoder.decode(Array(line).span).first?.body else { return true }
            over = line.startIndex
            return false
        }
        return over
    }

    /// Calls back for each line that contains a word, until the callback returns `false`.
    private static func forEachLine(
        with word: StaticString, in bytes: ArraySlice<UInt8>, _ goesOn: (ArraySlice<UInt8>) -> Bool
    ) {
        var position = bytes.startIndex
        while let hit = find(word, in: bytes[position...]) {
            let start = bytes[..<hit].lastIndex(of: 0x0a).map { $0 + 1 } ?? bytes.startIndex
            position = bytes[hit...].firstIndex(of: 0x0a) ?? bytes.endIndex
            guard goesOn(bytes[start..<position]) else { return }
        }
    }

    private static func find(_ word: StaticString, in bytes: ArraySlice<UInt8>) -> Int? {
        unsafe bytes.withUnsafeBytes { all in
            guard let base = all.baseAddress,
                let found = unsafe memmem(base, all.count, word.utf8Start, word.utf8CodeUnitCount)
            else { return nil }
            return unsafe bytes.startIndex + (UnsafeRawPointer(found) - base)
        }
    }
}
