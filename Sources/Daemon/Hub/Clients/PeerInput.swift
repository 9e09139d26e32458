// What a client has sent and the hub has not handled yet: the beginning of a line, or lines that wait.

import GimbalProtocol

struct PeerInput {
    enum State: Codable, Equatable {
        case open
        /// The client has sent its last byte; what waits is still handled.
        case ended
        /// Everything that it sent has been handled.
        case finished
        /// Further input is discarded. The connection ends at this time at the latest; it is set once all replies have
        /// been sent.
        case discarding(until: Double?)
    }

    private(set) var state = State.open
    /// Whether the connection has been told to read.
    private(set) var isReading = true
    /// Whether the rest of an overlong line is skipped.
    private(set) var isSkipping = false
    private var handled: UInt32 = 0
    /// The number of lines seen so far, as ``LineFramer/lineNumber`` counts them.
    private(set) var lineNumber: UInt64 = 0
    private var bytes: [UInt8] = []

    init() {}

    /// Creates an input that continues where another process left off.
    init(_ state: State, lineNumber: UInt64, isSkipping: Bool, bytes: [UInt8]) {
        (self.state, self.lineNumber, self.isSkipping, self.bytes) = (state, lineNumber, isSkipping, bytes)
    }

    /// How many of the bytes have been handled. The limit of waiting input keeps it far below four GiB.
    private var handledBytes: Int {
        get { Int(handled) }
        set { handled = UInt32(newValue) }
    }

    var isEmpty: Bool { count == 0 }

    /// How many bytes wait.
    var count: Int { bytes.count - handledBytes }

    /// How many bytes of memory they take.
    var memory: Int { bytes.capacity }

    /// The bytes that wait.
    var waiting: ArraySlice<UInt8> { bytes[handledBytes...] }

    /// Whether more bytes are expected.
    var isOpen: Bool { state == .open }

    /// Whether the client has sent its last byte.
    var hasEnded: Bool { state == .ended || state == .finished }

    /// Whether the client's input is no longer handled.
    var isFinished: Bool { state == .finished || isDiscarding }

    var isDiscarding: Bool { if case .discarding = state { true } else { false } }

    /// Whether something is left to handle: bytes, or their end.
    var isUnfinished: Bool { state == .ended || !isEmpty }

    // MARK: Lines

    /// Returns a framer that continues after the lines seen so far.
    ///
    /// - Parameter longest: the maximum length of a line in bytes.
    func framer(longest: Int) -> LineFramer {
        LineFramer(lineNumber: lineNumber, isSkipping: isSkipping, longest: longest)
    }

    /// Notes the lines that a framer has seen.
    mutating func goOn(from framer: LineFramer) {
        (lineNumber, isSkipping) = (framer.lineNumber, framer.isSkipping)
    }

    // MARK: Bytes

    mutating func append(_ new: Span<UInt8>) {
        unsafe new.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
    }

    /// Lends out the waiting bytes, from an index on; the input is empty until they are given back.
    mutating func takeBytes() -> (bytes: [UInt8], start: Int) {
        var taken: (bytes: [UInt8], start: Int) = ([], handledBytes)
        swap(&taken.bytes, &bytes)
        handledBytes = 0
        return taken
    }

    /// Takes back what ``takeBytes()`` lent, of which the bytes before an index have been handled.
    mutating func giveBack(_ lent: inout [UInt8], handled: Int) {
        swap(&lent, &bytes)
        handledBytes = handled
        if isEmpty {
            bytes.removeAll(keepingCapacity: bytes.capacity <= 64 << 10)
            handledBytes = 0
        } else if handledBytes > bytes.count / 2 {
            // Fewer bytes move to the front than have been handled since the last move.
            bytes.removeFirst(handledBytes)
            handledBytes = 0
        }
    }

    /// Drops the waiting bytes.
    mutating func clear() { (bytes, handledBytes) = ([], 0) }

    // MARK: States

    /// Notes that the client has sent its last byte.
    mutating func end() { if isOpen { state = .ended } }

    /// Notes that everything that the client sent has been handled.
    mutating func finish() { if state == .ended { state = .finished } }

    /// Discards all input from now on.
    mutating func discard() {
        state = .discarding(until: nil)
        clear()
    }

    /// Sets when a connection whose input is discarded ends, unless that is set already.
    mutating func setCloseTime(_ time: Double) {
        if state == .discarding(until: nil) { state = .discarding(until: time) }
    }

    /// When the connection ends at the latest; infinite if that is not set.
    var closeTime: Double { if case .discarding(let time?) = state { time } else { .infinity } }

    /// Notes whether the connection is to read; returns `true` if that is a change.
    mutating func setReading(_ isWanted: Bool) -> Bool {
        guard isWanted != isReading else { return false }
        isReading = isWanted
        return true
    }
}
