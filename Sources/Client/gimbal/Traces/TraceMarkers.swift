// Finds the markers of a trace without decoding all of it, for the ticks of a bar, which are shown before the daemon
// has reached the markers.

import CLinux
import GimbalProtocol
import Glibc

enum TraceMarkers {
    /// Returns the times of the markers in the first trace of a file, in milliseconds.
    static func times(in bytes: [UInt8]) -> [Double] {
        var decoder = RequestDecoder()
        func requests(_ line: ArraySlice<UInt8>) -> [Request] { (try? decoder.decode(Array(line).span)) ?? [] }
        let end = lines(with: "trace-end", in: bytes[...]).first { line in
            if case .traceEnd? = requests(line).first?.body { true } else { false }
        }
        return lines(with: "marker", in: bytes[..<(end?.startIndex ?? bytes.count)]).flatMap(requests).compactMap {
            if case .marker = $0.body { $0.timeMs } else { nil }
        }
    }

    /// Returns the lines that contain a word.
    private static func lines(
        with word: StaticString, in bytes: ArraySlice<UInt8>
    ) -> some Sequence<ArraySlice<UInt8>> {
        sequence(state: bytes.startIndex) { position in
            guard let hit = find(word, in: bytes[position...]) else { return nil }
            let start = bytes[..<hit].lastIndex(of: 0x0a).map { $0 + 1 } ?? bytes.startIndex
            position = bytes[hit...].firstIndex(of: 0x0a) ?? bytes.endIndex
            return bytes[start..<position]
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
