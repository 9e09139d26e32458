// The markers of a trace, found without reading all of it as requests: for the ticks of a bar, which are there before the
// daemon has come to them.

import GimbalProtocol
import Glibc

enum TraceMarkers {
    private static let marker = (bytes: Array("marker".utf8), rarest: 3)
    private static let end = (bytes: Array("trace-end".utf8), rarest: 5)

    /// The times of the markers in the first trace of a file, in milliseconds.
    static func times(in bytes: [UInt8]) -> [Double] {
        var times: [Double] = []
        var decoder = RequestDecoder()
        let over = find(end, in: bytes, from: 0) ?? bytes.count
        var position = 0
        while let hit = find(marker, in: bytes, from: position), hit < over {
            let start = bytes[..<hit].lastIndex(of: 0x0a).map { $0 + 1 } ?? 0
            let end = bytes[hit...].firstIndex(of: 0x0a) ?? bytes.count
            position = end
            for request in (try? decoder.decode(Array(bytes[start..<end]).span)) ?? [] {
                if case .marker = request.body, let time = request.timeMs { times.append(time) }
            }
        }
        return times
    }

    /// Where a word begins, at a place or behind it. Looks for the letter of it that is rarest in traces.
    private static func find(_ word: (bytes: [UInt8], rarest: Int), in bytes: [UInt8], from start: Int) -> Int? {
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
