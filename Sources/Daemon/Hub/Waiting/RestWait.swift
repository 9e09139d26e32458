// A request that waits until a camera rests, and the queue of those that wait no longer than they said.
// Invariants: a wait is among its peer's, and in the queue if it has a deadline, until it is over; nothing here costs time
// proportional to how many wait, except a logarithm.

import GimbalProtocol

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
    /// Where it stands in the queue; `nil` if it does not.
    fileprivate var heapIndex: Int?

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

/// Waits by their deadlines: a binary heap, the earliest first.
struct RestWaitQueue {
    private var heap: [RestWait] = []

    var first: RestWait? { heap.first }

    mutating func insert(_ wait: RestWait) {
        wait.heapIndex = heap.count
        heap.append(wait)
        rise(from: heap.count - 1)
    }

    /// Removes a wait, if it is there.
    mutating func remove(_ wait: RestWait) {
        guard let index = wait.heapIndex else { return }
        wait.heapIndex = nil
        let last = heap.removeLast()
        guard last !== wait else { return }
        put(last, index)
        rise(from: index)
        sink(from: last.heapIndex ?? index)
    }

    private mutating func put(_ wait: RestWait, _ index: Int) {
        heap[index] = wait
        wait.heapIndex = index
    }

    private mutating func rise(from index: Int) {
        var index = index
        while index > 0, heap[index].deadline < heap[(index - 1) / 2].deadline {
            exchange(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    private mutating func sink(from index: Int) {
        var index = index
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2] where child < heap.count {
                if heap[child].deadline < heap[least].deadline { least = child }
            }
            guard least != index else { return }
            exchange(index, least)
            index = least
        }
    }

    private mutating func exchange(_ one: Int, _ other: Int) {
        let wait = heap[one]
        put(heap[other], one)
        put(wait, other)
    }
}

/// Waits that came to an end together, and the camera as it was then: they are answered in turns, however many they are.
final class RestAnswers {
    enum Outcome {
        case rest(epoch: String, seq: UInt64, PrintedPosition)
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
