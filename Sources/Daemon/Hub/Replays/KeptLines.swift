// The lines of a trace that have been read, each with its time, so that the replay can go back. They are kept in parts;
// when there are too many, the oldest parts are dropped.
// Invariant: lines are numbered from 0 for the whole trace; those from `first` on are present.

import GimbalProtocol
import MapCamera

struct KeptLines: Codable {
    private struct Part: Codable {
        /// The number of its first line.
        let first: Int
        var text: [UInt8] = []
        /// The time of each line, and its end in the text.
        var times: [Double] = []
        var ends: [UInt32] = []

        /// Counts 16 bytes for each line besides its text: the sum is part of what is handed over.
        var byteCount: Int { text.count + 16 * times.count }

        /// Whether the value is valid; it may come from another process.
        var isPossible: Bool {
            1...KeptLines.linesPerPart ~= times.count && ends.count == times.count
                && zip([0] + ends, ends + [UInt32(clamping: text.count)]).allSatisfy { $0 <= $1 }
        }

        mutating func append(_ line: Span<UInt8>, at time: Double) {
            unsafe line.withUnsafeBufferPointer { unsafe text.append(contentsOf: $0) }
            times.append(time)
            ends.append(UInt32(text.count))
        }
    }

    /// The number of lines, or bytes of text, at which a part is full.
    private static let (linesPerPart, bytesPerPart) = (128, 64 << 10)

    private var parts: [Part] = []
    /// The number of the oldest line that is kept.
    private(set) var first = 0
    /// The number of the next line.
    private(set) var end = 0
    /// Bytes of all parts except the last, which still grows.
    private var settledBytes = 0
    /// Whether no more lines follow.
    var isComplete = false

    init() {}

    /// Whether the parts are valid and contiguous; a record from another process may hold anything.
    var isPossible: Bool {
        var (line, bytes) = (first, 0)
        for part in parts {
            guard part.isPossible, part.first == line else { return false }
            line += part.times.count
            bytes += part.byteCount
        }
        return first >= 0 && line == end && bytes - (parts.last?.byteCount ?? 0) == settledBytes
    }

    var byteCount: Int { settledBytes + (parts.last?.byteCount ?? 0) }

    /// Whether the next line begins a new part, which is when the caller checks the limit.
    var beginsPart: Bool {
        let last = parts.count - 1
        return last < 0 || parts[last].times.count >= Self.linesPerPart || parts[last].text.count >= Self.bytesPerPart
    }

    mutating func append(_ text: Span<UInt8>, at time: Double) {
        if beginsPart {
            settledBytes = byteCount
            var part = Part(first: end)
            part.times.reserveCapacity(Self.linesPerPart)
            part.ends.reserveCapacity(Self.linesPerPart)
            part.text.reserveCapacity(parts.last?.text.count ?? 0)
            parts.append(part)
        }
        parts[parts.count - 1].append(text, at: time)
        end += 1
    }

    /// Drops the oldest part and returns `true`; returns `false` if only one part is left.
    mutating func dropOldest() -> Bool {
        guard parts.count > 1 else { return false }
        settledBytes -= parts.removeFirst().byteCount
        first = parts[0].first
        return true
    }

    /// Returns the time of a kept line.
    func time(of line: Int) -> Double {
        let part = parts[part(of: line)]
        return part.times[line - part.first]
    }

    /// Decodes a kept line, which was decoded without an error before; also returns how many bytes it has.
    func requests(of line: Int, _ decoder: inout RequestDecoder) -> (requests: [Request], byteCount: Int) {
        let part = parts[part(of: line)]
        let index = line - part.first
        let start = index == 0 ? 0 : Int(part.ends[index - 1])
        let bytes = start..<Int(part.ends[index])
        return ((try? decoder.decode(part.text.span.extracting(bytes))) ?? [], bytes.count)
    }

    /// Returns the index of the part that holds a line.
    private func part(of line: Int) -> Int {
        if let last = parts.last, line >= last.first { return parts.count - 1 }
        return max(parts.partitioningIndex { $0.first > line } - 1, 0)
    }
}
