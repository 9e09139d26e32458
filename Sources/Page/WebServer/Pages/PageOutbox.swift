// Lines that wait to be sent to one page. Of anything that moves, only the newest waits: a slow page skips frames, as a
// subscription with `latest` does. Invariant: a page that does not read costs at most `mostLines` and `mostBytes`; what
// is dropped for that is counted per camera, and reported.

import Synchronization

/// The subject of a line; a newer line replaces a waiting one with the same subject.
enum Subject: Hashable, Sendable {
    case position(camera: String)
    case settings(camera: String)
    case replay(camera: String)
    case lease(camera: String)
    case fingers(camera: String, surface: Int)
}

/// A line for pages, with its LF.
struct PageLine: Sendable {
    let bytes: [UInt8]
    /// The camera that the line is about.
    var camera: String?
    /// The subject, if the line may replace and be replaced.
    var subject: Subject?
    /// Whether it is an event with a `seq`.
    var isCounted = false
    /// Whether it begins or ends a movement, so that positions before it stay before it.
    var isBoundary = false
}

/// Counts the events of each camera. A page has missed those that came after its last one, so a page that does not read
/// costs no work.
struct EventTotals {
    private var counts: [String: Int] = [:]

    /// Adds a line; -1 times undoes that.
    mutating func add(_ line: PageLine, times: Int = 1) {
        if line.isCounted, let camera = line.camera { counts[camera, default: 0] += times }
    }

    /// Returns the numbers of events since an earlier time, by camera.
    fileprivate func since(_ earlier: EventTotals) -> [String: Int] {
        let missed = counts.map { camera, count in (camera, count - earlier.counts[camera, default: 0]) }
        return Dictionary(uniqueKeysWithValues: missed.filter { $0.1 > 0 })
    }

    /// Forgets cameras that are gone, if there are many of them.
    mutating func forget(butFor isThere: (String) -> Bool, count: Int) {
        if counts.count > 2 * count + 1024 { counts = counts.filter { isThere($0.key) } }
    }
}

final class PageOutbox: Sendable {
    /// The most lines that wait for a page; beyond that they are dropped, and the page learns what it missed.
    static let mostLines = 512
    /// The most bytes of these lines.
    static let mostBytes = 256 << 10
    /// The most bytes of waiting answers; a page with more has stopped reading them, and is closed.
    static let mostReplyBytes = 256 << 10

    /// What to send next.
    struct Batch: Equatable {
        var bytes: [UInt8] = []
        /// The number of missed events by camera, if the current state must follow: the page begins, or was too slow.
        var missed: [String: Int]?
    }

    /// What happens to lines.
    private enum Phase {
        /// They are dropped: the page gets these bytes, and then the current state.
        case beginning([UInt8])
        /// They wait for the page.
        case following
        /// They are dropped: the page will get the current state instead, and how many events there have been since.
        case behind(since: EventTotals)
        /// The page is closed.
        case over
    }

    private struct State {
        var phase = Phase.following
        var lines: [PageLine?] = []
        var indices: [Subject: Int] = [:]
        var count = 0
        var bytes = 0
        var replies: [UInt8] = []

        /// Adds a line. Replacements are not counted, since `seq` shows them; only dropped lines are.
        mutating func add(_ line: PageLine) {
            if let subject = line.subject, let index = indices[subject], let old = lines[index] {
                lines[index] = nil
                count -= 1
                bytes -= old.bytes.count
            }
            if line.isBoundary, let camera = line.camera { indices[.position(camera: camera)] = nil }
            if let subject = line.subject { indices[subject] = lines.count }
            lines.append(line)
            count += 1
            bytes += line.bytes.count
            // Closes the gaps that replaced lines have left.
            if lines.count > 2 * PageOutbox.mostLines { for line in removeAll() { add(line) } }
        }

        /// Removes all lines, and returns those that were not replaced.
        private mutating func removeAll() -> [PageLine] {
            defer { (lines, indices, count, bytes) = ([], [:], 0, 0) }
            return lines.compactMap(\.self)
        }

        mutating func fallBehind(_ totals: EventTotals) {
            var since = totals
            for line in removeAll() { since.add(line, times: -1) }
            phase = .behind(since: since)
        }
    }

    private let state = Mutex(State())
    private let signal: AsyncStream<Void>.Continuation
    /// Signals that there is something to send, to one task.
    let signals: AsyncStream<Void>

    init() {
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Makes the page receive these bytes, then the current state, and then every line.
    func begin(with introduction: [UInt8]) {
        state.withLock { if case .following = $0.phase { $0.phase = .beginning(introduction) } }
        signal.yield()
    }

    /// Adds an answer to one of the page's own requests; `false` if it is closed, as it is when it reads none of them.
    func add(reply: [UInt8]) -> Bool {
        let isOpen = state.withLock { state in
            if case .over = state.phase { return false }
            state.replies += reply
            return state.replies.count <= Self.mostReplyBytes
        }
        if isOpen { signal.yield() } else { finish() }
        return isOpen
    }

    /// Adds a line.
    ///
    /// - Parameter totals: the events so far, including that of the line.
    func add(_ line: PageLine, _ totals: EventTotals) {
        let isFollowing = state.withLock { state in
            guard case .following = state.phase else { return false }
            state.add(line)
            if state.count > Self.mostLines || state.bytes > Self.mostBytes { state.fallBehind(totals) }
            return true
        }
        if isFollowing { signal.yield() }
    }

    /// Takes what waits; `nil` once the page is closed.
    ///
    /// - Parameter totals: the events so far.
    func take(_ totals: EventTotals) -> Batch? {
        state.withLock { state in
            defer { state.replies = [] }
            switch state.phase {
            case .over: return nil
            case .beginning(let introduction):
                state.phase = .following
                return Batch(bytes: introduction + state.replies, missed: [:])
            case .behind(let since):
                state.phase = .following
                return Batch(bytes: state.replies, missed: totals.since(since))
            case .following: break
            }
            guard state.count > 0 || !state.replies.isEmpty else { return Batch() }
            var bytes: [UInt8] = []
            bytes.reserveCapacity(state.bytes + state.replies.count)
            // A reply comes before the effects of its request, as from the daemon.
            bytes += state.replies
            for case let line? in state.lines { bytes += line.bytes }
            state.lines.removeAll(keepingCapacity: state.lines.count < Self.mostLines)
            state.indices.removeAll(keepingCapacity: true)
            (state.count, state.bytes) = (0, 0)
            return Batch(bytes: bytes)
        }
    }

    /// Closes the page.
    func finish() {
        state.withLock { state in
            state.phase = .over
            state.replies = []
        }
        signal.finish()
    }
}
