// A request that waits until a camera rests, and the queue of such requests that have a deadline.
// Invariant: until it is over, a wait is among its peer's, and in the queue if it has a deadline.

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
    /// When it is over at the latest, in the hub's time; infinite if it waits forever.
    let deadline: Double
    var isOver = false
    /// Its index among its peer's waits.
    fileprivate(set) var index = 0

    init(_ timeoutMs: Double?, for camera: HostedCamera, of peer: Peer, id: [UInt8], at now: Double) {
        (self.peer, self.camera, self.id) = (peer, camera, id)
        line = peer.input.framer.lineNumber
        self.timeoutMs = timeoutMs ?? .infinity
        deadline = now + self.timeoutMs
    }

    /// Creates a wait that resumes where another process left off.
    init(
        for camera: HostedCamera, of peer: Peer, id: [UInt8], line: UInt64, timeoutMs: Double, deadline: Double
    ) {
        (self.camera, self.peer, self.id, self.line) = (camera, peer, id, line)
        (self.timeoutMs, self.deadline) = (timeoutMs, deadline)
    }
}

/// The waits of a peer, in no particular order.
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

/// Waits ordered by deadline. Adding or removing one moves at most eight bytes for each that is due before it.
struct RestWaitQueue {
    /// The earliest is last; of two with the same deadline, the one that came first.
    private var waits: [RestWait] = []

    var first: RestWait? { waits.last }

    mutating func insert(_ wait: RestWait) { waits.insert(wait, at: index(of: wait.deadline)) }

    /// Removes a wait, if present.
    mutating func remove(_ wait: RestWait) {
        guard wait.deadline < .infinity else { return }
        let others = waits[index(of: wait.deadline)...].prefix { $0.deadline == wait.deadline }
        if let index = others.firstIndex(where: { $0 === wait }) { waits.remove(at: index) }
    }

    /// Returns the index of the first wait that is not due after a time.
    private func index(of deadline: Double) -> Int {
        waits.partitioningIndex { $0.deadline <= deadline }
    }
}

/// Waits that ended together, and the camera's state at that time. However many they are, they are answered in turns.
final class RestAnswers {
    enum Outcome {
        case rest(epoch: String, seq: UInt64, CameraPosition)
        /// The camera was removed.
        case removed
    }

    let camera: String
    let outcome: Outcome
    private let waits: [RestWait]
    private var index = 0

    init(_ outcome: Outcome, _ waits: [RestWait], for camera: String) {
        (self.outcome, self.waits, self.camera) = (outcome, waits, camera)
    }

    /// Returns the next wait that is not over.
    func next() -> RestWait? {
        while index < waits.count {
            index += 1
            if !waits[index - 1].isOver { return waits[index - 1] }
        }
        return nil
    }
}
