// The lines of a trace that have been read, each with its time, so that the replay can go back. They are kept in parts, and
// the oldest parts are let go of when they are too many.
// Invariant: lines are numbered from 0 for the whole trace; those from `first` on are there.

import GimbalProtocol

struct KeptLines {
    private struct Entry {
        var time: Double
        /// Where the line ends in its part.
        var end: Int
    }

    private struct Part {
        /// The number of its first line.
        let first: Int
        var text: [UInt8] = []
        var entries: [Entry] = []

        var byteCount: Int { text.count + entries.count * MemoryLayout<Entry>.stride }
    }

    /// A part is full once it has so many lines, or bytes of them.
    private static let (linesPerPart, bytesPerPart) = (128, 64 << 10)

    private var parts: [Part] = []
    /// The oldest line that is there.
    private(set) var first = 0
    /// The line that comes next.
    private(set) var end = 0
    /// Bytes of all parts but the last one, which still grows.
    private var settledBytes = 0
    /// Whether no line follows the last one.
    private(set) var isComplete = false

    init() {}

    /// The lines that another process has kept: the text of each part, and of each of its lines the time and the end. `nil` if
    /// they are damaged.
    init?(from first: Int, _ parts: [(text: [UInt8], entries: [Double])], isComplete: Bool) {
        (self.first, end, self.isComplete) = (first, first, isComplete)
        for (text, numbers) in parts {
            settledBytes = byteCount
            var part = Part(first: end, text: text)
            for index in stride(from: 0, to: numbers.count - 1, by: 2) {
                let start = part.entries.last?.end ?? 0
                guard let end = Int(exactly: numbers[index + 1]), (start...text.count) ~= end else { return nil }
                part.entries.append(Entry(time: numbers[index], end: end))
            }
            guard 1...Self.linesPerPart ~= part.entries.count else { return nil }
            self.parts.append(part)
            end += part.entries.count
        }
    }

    /// Tells of each part its text, and of each of its lines the time and the end.
    func forEachPart(_ body: (_ text: [UInt8], _ entries: [Double]) -> Void) {
        for part in parts { body(part.text, part.entries.flatMap { [$0.time, Double($0.end)] }) }
    }

    var byteCount: Int { settledBytes + (parts.last?.byteCount ?? 0) }

    /// No line follows.
    mutating func complete() { isComplete = true }

    /// Whether the next line begins a part: then it is to be seen whether that is too much.
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

    /// Lets go of the oldest part, unless it is the last one; `false` if it is.
    mutating func dropOldest() -> Bool {
        guard parts.count > 1 else { return false }
        settledBytes -= parts.removeFirst().byteCount
        first = parts[0].first
        return true
    }

    /// The time of a line that is there.
    func time(of line: Int) -> Double {
        let part = parts[part(of: line)]
        return part.entries[line - part.first].time
    }

    /// The requests of a line that is there: it was read without an error before.
    func requests(of line: Int, _ decoder: inout RequestDecoder) -> [Request] {
        let part = parts[part(of: line)]
        let index = line - part.first
        let start = index == 0 ? 0 : part.entries[index - 1].end
        return (try? decoder.decode(part.text.span.extracting(start..<part.entries[index].end))) ?? []
    }

    /// Where the part is that has a line.
    private func part(of line: Int) -> Int {
        if let last = parts.last, line >= last.first { return parts.count - 1 }
        var (low, high) = (0, parts.count - 1)
        while high - low > 1 {
            let middle = (low + high) / 2
            if parts[middle].first <= line { low = middle } else { high = middle }
        }
        return low
    }
}
