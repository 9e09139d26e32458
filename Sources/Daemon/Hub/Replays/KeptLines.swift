// The lines of a trace that have been read, each with its time, so that the replay can go back. They are kept in parts;
// when there are too many, the oldest parts are dropped.
// Invariant: lines are numbered from 0 for the whole trace; those from `first` on are present.

import GimbalProtocol
import MapCamera

struct KeptLines: Codable {
    private struct Entry {
        var time: Double
        /// The end of the line in its part's text.
        var end: Int
    }

    private struct Part: Codable {
        private enum CodingKeys: CodingKey { case first, text, times, ends }

        /// The number of its first line.
        let first: Int
        var text: [UInt8] = []
        var entries: [Entry] = []

        var byteCount: Int { text.count + entries.count * MemoryLayout<Entry>.stride }

        init(first: Int) { self.first = first }

        func encode(to encoder: any Encoder) throws {
            var members = encoder.container(keyedBy: CodingKeys.self)
            try members.encode(first, forKey: .first)
            try members.encode(text, forKey: .text)
            // As separate arrays of numbers, which are copied as a whole.
            try members.encode(entries.map(\.time), forKey: .times)
            try members.encode(entries.map { UInt32($0.end) }, forKey: .ends)
        }

        init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: CodingKeys.self)
            first = try members.decode(Int.self, forKey: .first)
            text = try members.decode([UInt8].self, forKey: .text)
            let times = try members.decode([Double].self, forKey: .times)
            let ends = [0] + (try members.decode([UInt32].self, forKey: .ends)).map { Int($0) } + [text.count]
            guard 1...KeptLines.linesPerPart ~= times.count, times.count == ends.count - 2,
                zip(ends, ends.dropFirst()).allSatisfy({ $0 <= $1 })
            else { throw decoder.impossible(Self.self) }
            entries = zip(times, ends.dropFirst()).map { Entry(time: $0, end: $1) }
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
    private(set) var isComplete = false

    init() {}

    /// Whether the parts are contiguous; a record from another process may hold anything.
    var isPossible: Bool {
        var (line, bytes) = (first, 0)
        for part in parts {
            guard part.first == line else { return false }
            line += part.entries.count
            bytes += part.byteCount
        }
        return first >= 0 && line == end && bytes - (parts.last?.byteCount ?? 0) == settledBytes
    }

    var byteCount: Int { settledBytes + (parts.last?.byteCount ?? 0) }

    /// Marks the lines as complete: no more follow.
    mutating func complete() { isComplete = true }

    /// Whether the next line begins a new part, which is when the caller checks the limit.
    var beginsPart: Bool {
        guard let last = parts.last else { return true }
        return last.entries.count >= Self.linesPerPart || last.text.count >= Self.bytesPerPart
    }

    mutating func append(_ text: Span<UInt8>, at time: Double) {
        if beginsPart {
            settledBytes = byteCount
            var part = Part(first: end)
            part.entries.reserveCapacity(Self.linesPerPart)
            part.text.reserveCapacity(parts.last?.text.count ?? 0)
            parts.append(part)
        }
        let last = parts.count - 1
        unsafe text.withUnsafeBufferPointer { unsafe parts[last].text.append(contentsOf: $0) }
        parts[last].entries.append(Entry(time: time, end: parts[last].text.count))
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
        return part.entries[line - part.first].time
    }

    /// Decodes a kept line, which was decoded without an error before.
    func requests(of line: Int, _ decoder: inout RequestDecoder) -> [Request] {
        let part = parts[part(of: line)]
        let index = line - part.first
        let start = index == 0 ? 0 : part.entries[index - 1].end
        return (try? decoder.decode(part.text.span.extracting(start..<part.entries[index].end))) ?? []
    }

    /// Returns the index of the part that holds a line.
    private func part(of line: Int) -> Int {
        if let last = parts.last, line >= last.first { return parts.count - 1 }
        return max(parts.partitioningIndex { $0.first > line } - 1, 0)
    }
}
