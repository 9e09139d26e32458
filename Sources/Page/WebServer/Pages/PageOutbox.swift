// What waits to be sent to one page. Of what moves, only the newest waits: a page that is slow skips frames, as a
// subscription with `latest` does. Invariant: a page that does not read costs at most `mostLines` and `mostBytes`; what is
// thrown away for that is counted for each camera, and told.

import Synchronization

/// What a line is about, so that the next of its kind takes its place while it waits.
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
    /// The camera that it tells of.
    var camera: String?
    /// What it replaces, if such a line waits.
    var subject: Subject?
    /// Whether it is an event with a `seq`.
    var isCounted = false
    /// Whether it begins or ends a movement: a position before it stays before it.
    var isBoundary = false
}

/// How many events there have been of each camera. What a page has missed is what has come since, so that nothing is done for
/// it while it does not read.
struct EventTotals {
    private var counts: [String: Int] = [:]

    mutating func add(_ line: PageLine) {
        if line.isCounted, let camera = line.camera { counts[camera, default: 0] += 1 }
    }

    /// As it was before a line.
    fileprivate mutating func remove(_ line: PageLine) {
        if line.isCounted, let camera = line.camera { counts[camera, default: 0] -= 1 }
    }

    /// How many there have been since an earlier time.
    fileprivate func since(_ earlier: EventTotals) -> [String: Int] {
        var missed: [String: Int] = [:]
        for (camera, count) in counts where count > earlier.counts[camera, default: 0] {
            missed[camera] = count - earlier.counts[camera, default: 0]
        }
        return missed
    }

    /// Forgets cameras that are gone, where there are many of them.
    mutating func forget(butFor isThere: (String) -> Bool, count: Int) {
        if counts.count > 2 * count + 1024 { counts = counts.filter { isThere($0.key) } }
    }
}

final class PageOutbox: Sendable {
    /// The most lines that wait for a page; beyond that they are dropped, and the page learns what it missed.
    static let mostLines = 512
    /// The most bytes that they may have.
    static let mostBytes = 256 << 10
    /// The most bytes of answers that wait; a page with more has stopped reading them, and is let go.
    static let mostReplyBytes = 256 << 10

    /// What is to be sent next.
    enum Batch: Equatable {
        case nothing
        case lines([UInt8])
        /// The page knows nothing yet: these come first, and what holds now has to follow.
        case beginning([UInt8])
        /// The page was too slow: how many events of which camera it will not see. What holds now has to follow.
        case missed([String: Int], replies: [UInt8])
        case over
    }

    /// What becomes of lines.
    private enum Phase {
        /// They are thrown away: the page is to be told what holds now, behind these bytes.
        case beginning([UInt8])
        /// They wait for the page.
        case following
        /// They are dropped: the page will receive the present state instead, and how many events there have been since.
        case behind(since: EventTotals)
        /// The page is let go.
        case over
    }

    private struct State {
        var phase = Phase.following
        var lines: [PageLine?] = []
        var indices: [Subject: Int] = [:]
        var count = 0
        var bytes = 0
        var replies: [UInt8] = []

        /// What was replaced while it waited needs no word: `seq` shows it. Only what is thrown away is counted.
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
            if lines.count > 2 * PageOutbox.mostLines { compact() }
        }

        /// Forgets lines that were replaced.
        mutating func compact() {
            lines = lines.filter { $0 != nil }
            indices = [:]
            for (index, line) in lines.enumerated() {
                if line?.isBoundary == true, let camera = line?.camera { indices[.position(camera: camera)] = nil }
                if let subject = line?.subject { indices[subject] = index }
            }
        }

        mutating func fallBehind(_ totals: EventTotals) {
            var since = totals
            for case let line? in lines { since.remove(line) }
            phase = .behind(since: since)
            (lines, indices, count, bytes) = ([], [:], 0, 0)
        }
    }

    private let state = Mutex(State())
    private let signal: AsyncStream<Void>.Continuation
    /// Tells that there is something to be sent. One task may follow it.
    let signals: AsyncStream<Void>

    init() {
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Makes the page receive these bytes, then the present state, and then every line.
    func begin(with introduction: [UInt8]) {
        state.withLock { if case .following = $0.phase { $0.phase = .beginning(introduction) } }
        signal.yield()
    }

    /// Adds an answer to a request of the page's own.
    func add(reply: [UInt8]) {
        let isTooMuch = state.withLock { state in
            state.replies += reply
            return state.replies.count > Self.mostReplyBytes
        }
        if isTooMuch { finish() } else { signal.yield() }
    }

    /// Adds a line.
    ///
    /// - Parameter totals: the events so far, that of the line included.
    func add(_ line: PageLine, _ totals: EventTotals) {
        let isFollowing = state.withLock { state in
            guard case .following = state.phase else { return false }
            state.add(line)
            if state.count > Self.mostLines || state.bytes > Self.mostBytes { state.fallBehind(totals) }
            return true
        }
        if isFollowing { signal.yield() }
    }

    /// Takes what waits.
    ///
    /// - Parameter totals: the events so far.
    func take(_ totals: EventTotals) -> Batch {
        state.withLock { state in
            defer { state.replies = [] }
            switch state.phase {
            case .over: return .over
            case .beginning(let introduction):
                state.phase = .following
                return .beginning(introduction + state.replies)
            case .behind(let since):
                state.phase = .following
                return .missed(totals.since(since), replies: state.replies)
            case .following: break
            }
            guard state.count > 0 || !state.replies.isEmpty else { return .nothing }
            var bytes: [UInt8] = []
            bytes.reserveCapacity(state.bytes + state.replies.count)
            // A reply comes before what its request causes, as the daemon has it.
            bytes += state.replies
            for case let line? in state.lines { bytes += line.bytes }
            state.lines.removeAll(keepingCapacity: state.lines.count < Self.mostLines)
            state.indices.removeAll(keepingCapacity: true)
            (state.count, state.bytes) = (0, 0)
            return .lines(bytes)
        }
    }

    /// Lets the page go.
    func finish() {
        state.withLock { $0.phase = .over }
        signal.finish()
    }
}
