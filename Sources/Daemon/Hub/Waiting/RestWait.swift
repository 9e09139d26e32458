// A request that waits until a camera rests, and the queue of those that have a deadline.
// Invariant: a wait is among its peer's, and in the queue if it has a deadline, until it is over.

import GimbalProtocol
import MapCamera

/// A request that waits for a camera to rest.
final class RestWait {
    // It and its peer refer to each other until it is over.
    let peer: Peer
    let camera: HostedCamera
    /// The request's id as it was written.
    let id: [UInt8]
    /// The number of its line on the connection.
    let line: UInt64
    let timeoutMs: Double
    /// The hub's time at which it is over at the latest; infinite if it waits for ever.
    let deadline: Double
    var isOver = false
    /// Where it stands among its peer's.
    fileprivate(set) var index = 0

    init(_ timeoutMs: Double?, for camera: HostedCamera, of peer: Peer, id: [UInt8], at now: Double) {
        (self.peer, self.camera, self.id) = (peer, camera, id)
        line = peer.input.framer.lineNumber
        self.timeoutMs = timeoutMs ?? .infinity
        deadline = now + self.timeoutMs
    }

    /// One that goes on where another process left off.
    init(
        for camera: HostedCamera, of peer: Peer, id: [UInt8], line: UInt64, timeoutMs: Double, deadline: Double
    ) {
        (self.camera, self.peer, self.id, self.line) = (camera, peer, id, line)
        (self.timeoutMs, self.deadline) = (timeoutMs, deadline)
    }
}

/// What a peer waits for, in no order.
struct PeerWaits {
    private(set) var all: [RestWait] = []

    mutating func insert(_ wait: RestWait) {
        wait.index = all.count
        all.append(wait)
    }

    mutating func remove(_ wait: RestWait) {
        let last = all.removeLast()
        guard last !== wait else { return }
        all[wait.index] = last
        last.index = wait.index
    }

    mutating func removeAll() { all = [] }
}

/// Waits by their deadlines. Adding and removing one moves at most eight bytes for each that is due before it.
struct RestWaitQueue {
    /// The earliest last; of two with the same deadline, the one that came first.
    private var waits: [RestWait] = []

    var first: RestWait? { waits.last }

    mutating func insert(_ wait: RestWait) { waits.insert(wait, at: index(of: wait.deadline)) }

    /// Removes a wait, if it is there.
    mutating func remove(_ wait: RestWait) {
        guard wait.deadline < .infinity else { return }
        let others = waits[index(of: wait.deadline)...].prefix { $0.deadline == wait.deadline }
        if let index = others.firstIndex(where: { $0 === wait }) { waits.remove(at: index) }
    }

    /// Where the first wait is that is not due after a time.
    private func index(of deadline: Double) -> Int {
        var (low, high) = (0, waits.count)
        while low < high {
            let middle = (low + high) / 2
            if waits[middle].deadline > deadline { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// Waits that came to an end together, and the camera as it was then: they are answered in turns, however many they are.
final class RestAnswers {
    enum Outcome {
        case rest(epoch: String, seq: UInt64, CameraPosition)
        /// The camera is no more.
        case removed
    }

    let camera: String
    let outcome: Outcome
    private let waits: [RestWait]
    private var index = 0

    init(_ outcome: Outcome, _ waits: [RestWait], for camera: String) {
        (self.outcome, self.waits, self.camera) = (outcome, waits, camera)
    }

    /// The next one that is still waited for.
    func next() -> RestWait? {
        while index < waits.count {
            index += 1
            if !waits[index - 1].isOver { return waits[index - 1] }
        }
        return nil
    }
}
