// The history of one camera: every event line, encoded once, in a ring of bytes. It is the send buffer of all
// subscribers at once (a subscriber is a cursor into it), what `since` resends, and what bounds a slow reader's cost. A
// long history is in memory that the next process takes over.
// Invariant: an entry's bytes are contiguous; live entries wrap around the end of the ring at most once.

import GimbalProtocol

/// The event lines of one camera, oldest first, numbered consecutively as long as the camera lives.
@safe final class EventLog {
    private struct Entry {
        var offset = 0
        private var size: Int32 = 0
        var kind: EventKinds

        var length: Int { Int(size) }

        init() { kind = [] }

        init(offset: Int, length: Int, kind: EventKinds) {
            (self.offset, size, self.kind) = (offset, Int32(length), kind)
        }
    }

    /// Event lines that are contiguous in memory.
    @safe struct Run {
        let bytes: UnsafeRawBufferPointer
        /// The first entry, and the one after the last.
        let entries: Range<UInt64>
    }

    /// A line that is still needed after its entry has left the history.
    struct Pinned: Codable {
        fileprivate(set) var entry: UInt64 = 0
        fileprivate(set) var line: [UInt8] = []

        fileprivate init() {}
    }

    /// The number of bytes from which a ring is long.
    private static let longCapacity = 64 << 10

    private let minimumEvents: Int
    private let minimumBytes: Int
    private let maximumBytes: Int

    /// The number of the oldest entry that is held.
    private(set) var first: UInt64
    /// The number of the next entry.
    private(set) var end: UInt64
    /// From this entry on, all are events with a seq.
    private(set) var numberedFrom: UInt64 = 0
    /// The number of lines without a seq so far.
    private(set) var unnumbered: UInt64 = 0
    /// The newest `move-started` and `reset`.
    private(set) var lastMoveStarted = Pinned()
    private(set) var lastReset = Pinned()

    // Sound: a power of two of slots, all initialized (entries are trivial); an entry's slot is masked to be in range.
    private var entries: UnsafeMutablePointer<Entry>
    private var slots = 16
    let memory: (any HistoryMemory)?
    // Sound: freed only in `deinit`, `growRing` and `freeMemory`. Runs point into it; they are used before the log
    // changes again, in the same turn.
    private var storage: HistoryRegion
    private var ring: UnsafeMutableRawPointer {
        @inline(__always) get { unsafe storage.start }
    }
    var capacity: Int {
        @inline(__always) get { storage.count }
    }
    private var tail = 0
    private var bytes = 0
    /// The entry at which the ring last wrapped around.
    private var wrap: UInt64 = 0

    /// - Parameters:
    ///   - maximumBytes: the limit for lines that clients can make long, whatever the limits promise.
    ///   - start: the number of the first entry.
    ///   - memory: where a long history is kept.
    convenience init(
        limits: Limits, maximumBytes: Int = .max, from start: UInt64 = 0, memory: (any HistoryMemory)?
    ) {
        self.init(limits, maximumBytes, from: start, slots: 16, HistoryRegion(4096, in: memory), memory)
    }

    private init(
        _ limits: Limits, _ maximumBytes: Int, from start: UInt64, slots: Int, _ storage: HistoryRegion,
        _ memory: (any HistoryMemory)?
    ) {
        (first, end) = (start, start)
        self.maximumBytes = maximumBytes
        minimumEvents = limits.historyEvents
        minimumBytes = limits.historyBytes
        self.slots = slots
        unsafe entries = .allocate(capacity: slots)
        unsafe entries.initialize(repeating: Entry(), count: slots)
        self.memory = memory
        self.storage = storage
    }

    deinit {
        storage.free(in: memory)
        unsafe entries.deallocate()
    }

    private subscript(entry: UInt64) -> Entry {
        @inline(__always) get { unsafe entries[slot(of: entry)] }
        @inline(__always) set { unsafe entries[slot(of: entry)] = newValue }
    }

    @inline(__always) private func slot(of entry: UInt64) -> Int { Int(truncatingIfNeeded: entry) & (slots - 1) }

    func kind(of entry: UInt64) -> EventKinds { self[entry].kind }

    // MARK: Writing

    /// Prefetches the memory that the next line is written to.
    func prefetchLines() {
        unsafe Prefetch.memory(entries + slot(of: first), bytes: 1)
        unsafe Prefetch.memory(entries + slot(of: end), bytes: 1)
        unsafe Prefetch.memory(ring + tail, bytes: Event.longest)
    }

    /// Appends an existing line.
    func append(_ line: Span<UInt8>, kind: EventKinds) { append(kind: kind, longest: line.count) { $0.write(line) } }

    /// Appends a line that is written in place.
    ///
    /// - Parameter longest: the maximum length of the line in bytes.
    @inline(__always)
    func append(kind: EventKinds, longest: Int, _ write: (inout LineRoom) -> Void) {
        evict()
        if Int(end - first) == slots { growEntries() }
        let offset = findRoom(longest)
        // Sound: there is that much room, and the log is not used otherwise until the line has been written.
        let start = unsafe ring.advanced(by: offset).assumingMemoryBound(to: UInt8.self)
        var room = unsafe LineRoom(from: start, to: start + longest)
        write(&room)
        let length = unsafe room.end - start
        self[end] = Entry(offset: offset, length: length, kind: kind)
        tail = offset + length
        bytes += length
        end += 1
        if kind == .moveStarted { pin(\.lastMoveStarted) }
        if kind == .reset { pin(\.lastReset) }
    }

    /// Appends a line without a seq.
    func append(unnumbered line: Span<UInt8>, kind: EventKinds) {
        append(line, kind: kind)
        numberedFrom = end
        unnumbered += 1
    }

    /// Returns how many entries in a range have no seq, as far as they are held.
    func unnumbered(from start: UInt64, to end: UInt64) -> UInt64 {
        var (entry, count) = (max(start, first), UInt64(0))
        while entry < min(end, numberedFrom) {
            if !EventKinds.unnumbered.isDisjoint(with: kind(of: entry)) { count += 1 }
            entry += 1
        }
        return count
    }

    /// Pins the newest line, which is kept even after it has left the history.
    private func pin(_ pinned: ReferenceWritableKeyPath<EventLog, Pinned>) {
        let line = unsafe run(from: end - 1, to: end).bytes
        self[keyPath: pinned].entry = end - 1
        self[keyPath: pinned].line.removeAll(keepingCapacity: true)
        unsafe self[keyPath: pinned].line.append(contentsOf: line)
    }

    /// Appends the newest line of another log.
    func appendLast(of other: EventLog) {
        let bytes = unsafe other.run(from: other.end - 1, to: other.end).bytes.assumingMemoryBound(to: UInt8.self)
        append(unsafe Span(_unsafeElements: bytes), kind: other.kind(of: other.end - 1))
    }

    /// Drops what is older than the history has to be.
    private func evict() {
        while Int(end - first) > minimumEvents && bytes - self[first].length >= minimumBytes || bytes > maximumBytes {
            bytes -= self[first].length
            first += 1
        }
    }

    /// Finds contiguous room for a line.
    private func findRoom(_ length: Int) -> Int {
        while true {
            guard first < end else { return length <= capacity ? 0 : growRing(for: length) }
            let head = self[first].offset
            if tail > head {
                if tail + length <= capacity { return tail }
                if length < head {
                    wrap = end
                    return 0
                }
            } else if tail + length < head {
                return tail
            }
            _ = growRing(for: length)
        }
    }

    private func growEntries() {
        let larger = UnsafeMutablePointer<Entry>.allocate(capacity: slots * 2)
        unsafe larger.initialize(repeating: Entry(), count: slots * 2)
        for entry in first..<end { unsafe larger[Int(truncatingIfNeeded: entry) & (slots * 2 - 1)] = self[entry] }
        unsafe entries.deallocate()
        unsafe entries = larger
        slots *= 2
    }

    private func growRing(for length: Int) -> Int {
        let larger = HistoryRegion(largerCapacity(for: length), in: memory)
        var offset = 0
        for entry in first..<end {
            let old = self[entry]
            unsafe larger.start.advanced(by: offset).copyMemory(
                from: ring.advanced(by: old.offset), byteCount: old.length)
            self[entry].offset = offset
            offset += old.length
        }
        storage.free(in: memory)
        storage = larger
        tail = offset
        wrap = first
        return offset
    }

    /// Returns the capacity to grow to. A short ring doubles; one that becomes long gets all the room at once that it
    /// will need, judging by its lines so far: unwritten memory takes no space, and nothing is moved again.
    private func largerCapacity(for length: Int) -> Int {
        let doubled = max(capacity * 2, length)
        guard doubled >= Self.longCapacity, first < end else { return doubled }
        let average = bytes / Int(end - first) + 1
        let history = min(max(minimumEvents * average, minimumBytes), maximumBytes)
        return max(capacity + capacity / 4, history + history / 16) + length
    }

    /// Frees everything, for good: the log has no readers any more.
    func freeMemory() {
        first = end
        bytes = 0
        (lastMoveStarted, lastReset) = (Pinned(), Pinned())
        storage.free(in: memory)
        unsafe entries.deallocate()
        slots = 1
        storage = HistoryRegion(1, in: nil)
        unsafe entries = .allocate(capacity: slots)
        unsafe entries.initialize(to: Entry())
    }

    // MARK: Handover

    /// What is handed over. The lines are here or, if there are many, in memory that the next process takes over.
    struct Record: Codable {
        /// The number of the oldest line.
        fileprivate let first: UInt64
        /// The length of each line, and the byte of its kind.
        fileprivate let lengths: [UInt32]
        fileprivate let kinds: [UInt8]
        /// The lines, one after the other.
        fileprivate let lines: [UInt8]?
        fileprivate let ring: Ring?
        fileprivate let lastMoveStarted: Pinned
        fileprivate let lastReset: Pinned

        /// Where the lines are in memory: the ring, its oldest line, and the entry at which it last wrapped around.
        fileprivate struct Ring: Codable {
            let offset: UInt64
            let size: Int
            let head: Int
            let wrap: UInt64
        }

        fileprivate var end: UInt64 { first + UInt64(kinds.count) }

        /// Returns the ring with the lines; `nil` if they are not available.
        fileprivate func storage(in memory: (any HistoryMemory)?) -> HistoryRegion? {
            guard lengths.count == kinds.count else { return nil }
            if let ring {
                guard ring.head >= 0, ring.head <= ring.size else { return nil }
                return ring.size > 0 ? memory?.adopt(at: ring.offset, count: ring.size) : nil
            }
            guard let lines, lines.count == lengths.reduce(0, { $0 + Int($1) }) else { return nil }
            let ring = HistoryRegion(max(4096, lines.count.roundedUpToPowerOfTwo), in: memory)
            unsafe lines.withUnsafeBytes { bytes in
                if let start = bytes.baseAddress {
                    unsafe ring.start.copyMemory(from: start, byteCount: bytes.count)
                }
            }
            return ring
        }
    }

    var record: Record {
        let entries = (first..<end).map { self[$0] }
        let ring = storage.offset.map {
            Record.Ring(offset: $0, size: capacity, head: entries.first?.offset ?? 0, wrap: wrap)
        }
        return Record(
            first: first, lengths: entries.map { UInt32($0.length) },
            kinds: entries.map { $0.kind.byte },
            lines: ring == nil ? lines : nil, ring: ring, lastMoveStarted: lastMoveStarted, lastReset: lastReset)
    }

    /// All lines, oldest first.
    private var lines: [UInt8] {
        var (lines, entry) = ([UInt8](), first)
        lines.reserveCapacity(bytes)
        while entry < end {
            let run = run(from: entry, to: end)
            unsafe lines.append(contentsOf: run.bytes)
            entry = run.entries.upperBound
        }
        return lines
    }

    /// Creates a log from a record. If its lines are not available, the log is empty and continues after the last one.
    convenience init(
        _ record: Record, limits: Limits, maximumBytes: Int = .max, memory: (any HistoryMemory)?
    ) throws(StateDecoder.Damage) {
        let slots = max(16, record.kinds.count.roundedUpToPowerOfTwo)
        let storage = record.storage(in: memory)
        self.init(
            limits, maximumBytes, from: storage == nil ? record.end : record.first, slots: slots,
            storage ?? HistoryRegion(4096, in: memory), memory)
        if storage != nil { try fill(record) }
        (lastMoveStarted, lastReset) = (record.lastMoveStarted, record.lastReset)
    }

    /// Adds the entries of the lines that are in the ring.
    private func fill(_ record: Record) throws(StateDecoder.Damage) {
        let head = record.ring?.head ?? 0
        var offset = head
        for (length, kind) in zip(record.lengths, record.kinds) {
            if end == record.ring?.wrap, end > first { (offset, wrap) = (0, end) }
            let (length, kind) = (Int(length), EventKinds(byte: kind))
            guard length <= capacity - offset else { throw StateDecoder.Damage() }
            self[end] = Entry(offset: offset, length: length, kind: kind)
            offset += length
            bytes += length
            end += 1
            guard !EventKinds.unnumbered.isDisjoint(with: kind) else { continue }
            numberedFrom = end
            unnumbered += 1
        }
        // The part after the wrap must not reach older lines.
        guard wrap <= first || offset <= head else { throw StateDecoder.Damage() }
        tail = offset
    }

    // MARK: Reading

    /// Returns the longest run from one entry up to, but not including, another that is contiguous in memory.
    func run(from entry: UInt64, to end: UInt64) -> Run {
        let stop = entry < wrap && wrap < end ? wrap : end
        let start = self[entry].offset
        let last = self[stop - 1]
        let count = last.offset + last.length - start
        return unsafe Run(
            bytes: UnsafeRawBufferPointer(start: ring.advanced(by: start), count: count), entries: entry..<stop)
    }

    /// Returns the size of the entries from one on, in bytes.
    func byteCount(from entry: UInt64) -> Int {
        var (entry, count) = (entry, 0)
        while entry < end {
            let run = run(from: entry, to: end)
            count += unsafe run.bytes.count
            entry = run.entries.upperBound
        }
        return count
    }

    /// Returns the entry that contains a byte of a run, and where in the run the entry ends.
    func entry(at byte: Int, of run: Run) -> (entry: UInt64, end: Int) {
        var position = 0
        var entry = run.entries.lowerBound
        while true {
            position += self[entry].length
            if byte < position { return (entry, position) }
            entry += 1
        }
    }
}

extension Int {
    /// The least power of two that is not less; 1 for zero and negative numbers.
    fileprivate var roundedUpToPowerOfTwo: Int { self <= 1 ? 1 : 1 << (Int.bitWidth - (self - 1).leadingZeroBitCount) }
}

extension EventKinds {
    /// A single kind in a record: its bit if a byte has that, 0 for a lease, and else 128 plus the number of the bit.
    fileprivate var byte: UInt8 {
        if let bit = UInt8(exactly: rawValue) { return bit }
        return self == .lease ? 0 : 128 + UInt8(rawValue.trailingZeroBitCount)
    }

    fileprivate init(byte: UInt8) {
        switch byte {
        case 0: self = .lease
        case _ where byte.nonzeroBitCount == 1: self.init(rawValue: UInt16(byte))
        default: self.init(rawValue: 1 << (byte & 127))
        }
    }
}
