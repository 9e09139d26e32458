// The markers of a trace, found without reading all of it as requests: for the ticks of a bar, which are there before the
// daemon has come to them.

import GimbalProtocol
import Glibc

enum TraceMarkers {
    private typealias Word = (bytes: [UInt8], rarest: Int)

    private static let marker: Word = (Array("marker".utf8), 3)
    private static let end: Word = (Array("trace-end".utf8), 5)

    /// The times of the markers in the first trace of a file, in milliseconds.
    static func times(in bytes: [UInt8]) -> [Double] {
        var times: [Double] = []
        var decoder = RequestDecoder()
        forEachLine(with: marker, in: bytes[..<endOfTrace(in: bytes)]) { line in
            for request in (try? decoder.decode(Array(line).span)) ?? [] {
                if case .marker = request.body, let time = request.timeMs { times.append(time) }
            }
            return true
        }
        return times
    }

    /// Where the `trace-end` of the first trace is, or the end of the file.
    private static func endOfTrace(in bytes: [UInt8]) -> Int {
        var decoder = RequestDecoder()
        var over = bytes.count
        forEachLine(with: end, in: bytes[...]) { line in
            guard case .traceEnd? = try? decoder.decode(Array(line).span).first?.body else { return true }
            over = line.startIndex
            return false
        }
        return over
    }

    /// Calls back for each line that has a word in it, until that says that it is enough.
    private static func forEachLine(
        with word: Word, in bytes: ArraySlice<UInt8>, _ goesOn: (ArraySlice<UInt8>) -> Bool
    ) {
        var position = 0
        while let hit = find(word, in: bytes, from: position) {
            let start = bytes[..<hit].lastIndex(of: 0x0a).map { $0 + 1 } ?? 0
            position = bytes[hit...].firstIndex(of: 0x0a) ?? bytes.endIndex
            guard goesOn(bytes[start..<position]) else { return }
        }
    }

    /// Where a word begins, at a place or behind it. Looks for the letter of it that is rarest in traces.
    private static func find(_ word: Word, in bytes: ArraySlice<UInt8>, from start: Int) -> Int? {
        unsafe bytes.withUnsafeBytes { all in
            var position = start + word.rarest
            while position < all.count, let base = all.baseAddress,
                let found = unsafe memchr(base + position, CInt(word.bytes[word.rarest]), all.count - position)
            {
                let first = unsafe UnsafeRawPointer(found) - base - word.rarest
                if unsafe all[first...].starts(with: word.bytes) { return first }
                position = first + word.rarest + 1
            }
            return nil
        }
    }
}
