// The history of one camera: every event line, encoded once, in a ring of bytes. It is the send buffer of all subscribers
// at once (a subscriber is a cursor into it), what `since` resends, and what bounds a slow reader's cost.
// Invariant: an entry's bytes are contiguous; live entries wrap around the end of the ring at most once.

import Wire

/// The event lines of one camera, oldest first, numbered on for as long as the camera lives.
@safe final class EventLog {
    private struct Entry {
        var offset: Int
        var length: Int
        var kind: EventKinds
    }

    /// Event lines that stand next to each other in memory.
    @safe struct Run {
        let bytes: UnsafeRawBufferPointer
        /// The first entry, and the one after the last.
        let entries: Range<UInt64>
    }

    /// A line that is still needed when its entry has left the history.
    struct Pinned {
        fileprivate(set) var entry: UInt64 = 0
        fileprivate(set) var line: [UInt8] = []
    }

    private let minimumEvents: Int
    private let minimumBytes: Int
    private let maximumBytes: Int

    /// The oldest entry held.
    private(set) var first: UInt64
    /// The entry that comes next.
    private(set) var end: UInt64
    /// The newest `move-started` and `reset`.
    private(set) var lastMoveStarted = Pinned()
    private(set) var lastReset = Pinned()

    // Sound: a power of two of slots, all initialized (entries are trivial); an entry's slot is masked to lie among them.
    private var entries: UnsafeMutablePointer<Entry>
    private var slots = 16
    // Sound: allocated for `capacity` bytes, freed only here and in `grow`. Runs point into it; they are used before the
    // log changes again, in the same turn.
    private var ring: UnsafeMutableRawPointer
    private var capacity: Int
    private var tail = 0
    private var bytes = 0
    /// The entry at which the ring was last begun anew.
    private var wrap: UInt64 = 0

    /// - Parameters:
    ///   - maximumBytes: holds for lines that clients can make long, whatever the limits promise.
    ///   - start: the number of the first entry.
    init(limits: Limits, maximumBytes: Int = .max, from start: UInt64 = 0) {
        (first, end) = (start, start)
        self.maximumBytes = maximumBytes
        minimumEvents = limits.historyEvents
        minimumBytes = limits.historyBytes
        unsafe entries = .allocate(capacity: slots)
        unsafe entries.initialize(repeating: Entry(offset: 0, length: 0, kind: []), count: slots)
        capacity = 4096
        unsafe ring = .allocate(byteCount: capacity, alignment: 1)
    }

    deinit {
        unsafe ring.deallocate()
        unsafe entries.deallocate()
    }

    private subscript(entry: UInt64) -> Entry {
        @inline(__always) get { unsafe entries[Int(truncatingIfNeeded: entry) & (slots - 1)] }
        @inline(__always) set { unsafe entries[Int(truncatingIfNeeded: entry) & (slots - 1)] = newValue }
    }

    func kind(of entry: UInt64) -> EventKinds { self[entry].kind }

    // MARK: Writing

    func append(_ line: Span<UInt8>, kind: EventKinds) {
        evict()
        if Int(end - first) == slots { growEntries() }
        let offset = place(line.count)
        unsafe line.withUnsafeBytes { source in
            if let start = source.baseAddress {
                unsafe ring.advanced(by: offset).copyMemory(from: start, byteCount: source.count)
            }
        }
        self[end] = Entry(offset: offset, length: line.count, kind: kind)
        if kind == .moveStarted { pin(line, \.lastMoveStarted) }
        if kind == .reset { pin(line, \.lastReset) }
        tail = offset + line.count
        bytes += line.count
        end += 1
    }

    private func pin(_ line: Span<UInt8>, _ pinned: ReferenceWritableKeyPath<EventLog, Pinned>) {
        self[keyPath: pinned].entry = end
        self[keyPath: pinned].line.removeAll(keepingCapacity: true)
        for index in 0..<line.count { self[keyPath: pinned].line.append(line[index]) }
    }

    /// Lets go of what is older than the history has to be.
    private func evict() {
        while Int(end - first) > minimumEvents && bytes - self[first].length >= minimumBytes || bytes > maximumBytes {
            bytes -= self[first].length
            first += 1
        }
    }

    /// Finds contiguous room for a line.
    private func place(_ length: Int) -> Int {
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
        unsafe larger.initialize(repeating: Entry(offset: 0, length: 0, kind: []), count: slots * 2)
        for entry in first..<end { unsafe larger[Int(truncatingIfNeeded: entry) & (slots * 2 - 1)] = self[entry] }
        unsafe entries.deallocate()
        unsafe entries = larger
        slots *= 2
    }

    private func growRing(for length: Int) -> Int {
        let size = max(capacity * 2, length)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 1)
        var offset = 0
        for entry in first..<end {
            let old = self[entry]
            unsafe larger.advanced(by: offset).copyMemory(from: ring.advanced(by: old.offset), byteCount: old.length)
            self[entry].offset = offset
            offset += old.length
        }
        unsafe ring.deallocate()
        unsafe ring = larger
        capacity = size
        tail = offset
        wrap = first
        return offset
    }

    /// Lets go of all that it holds, for good: nobody reads it any more.
    func letGo() {
        first = end
        bytes = 0
        (lastMoveStarted, lastReset) = (Pinned(), Pinned())
        unsafe ring.deallocate()
        unsafe entries.deallocate()
        (capacity, slots) = (1, 1)
        unsafe ring = .allocate(byteCount: capacity, alignment: 1)
        unsafe entries = .allocate(capacity: slots)
        unsafe entries.initialize(to: Entry(offset: 0, length: 0, kind: []))
    }

    // MARK: From process to process

    func write(to out: inout ByteWriter) {
        out.put(first)
        out.put(end - first)
        for entry in first..<end {
            out.put(UInt64(kind(of: entry).rawValue))
            let run = run(from: entry, to: entry + 1)
            unsafe out.put(run.bytes)
        }
        for pinned in [lastMoveStarted, lastReset] {
            out.put(pinned.entry)
            out.put(pinned.line)
        }
    }

    /// A log that holds what ``write(to:)`` wrote.
    static func read(
        from row: inout ByteReader, limits: Limits, maximumBytes: Int = .max
    ) throws(ByteReader.Damage) -> EventLog {
        let log = EventLog(limits: limits, maximumBytes: maximumBytes, from: try row.number())
        for _ in 0..<(try row.integer()) {
            let kind = EventKinds(rawValue: UInt8(truncatingIfNeeded: try row.number()))
            let line = try row.bytes()
            log.append(line.span, kind: kind)
        }
        log.lastMoveStarted = Pinned(entry: try row.number(), line: try row.bytes())
        log.lastReset = Pinned(entry: try row.number(), line: try row.bytes())
        return log
    }

    // MARK: Reading

    /// The longest run of entries from one on to before another that is contiguous in memory.
    func run(from entry: UInt64, to end: UInt64) -> Run {
        let stop = entry < wrap && wrap < end ? wrap : end
        let start = self[entry].offset
        let last = self[stop - 1]
        let count = last.offset + last.length - start
        return unsafe Run(
            bytes: UnsafeRawBufferPointer(start: ring.advanced(by: start), count: count), entries: entry..<stop)
    }

    /// The entry in which a byte of a run lies, and where in the run the entry ends.
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
