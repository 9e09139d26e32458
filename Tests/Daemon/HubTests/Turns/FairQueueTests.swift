// The queue that decides which client is served next, compared with a model that inspects all clients each time.

import TestSupport
import Testing

@testable import Hub

@Suite struct FairQueueTests {
    private let host = HubHost()

    /// Serves as many clients as a turn has time for.
    private func serve(
        _ queue: inout FairQueue, in turn: UInt64, atMost most: Int, _ body: (Peer, inout FairQueue) -> Void
    ) -> [Peer] {
        var served: [Peer] = []
        _ = queue.beginServing(in: turn)
        while served.count < most, let peer = queue.next() {
            queue.serve(peer, in: turn)
            served.append(peer)
            body(peer, &queue)
        }
        queue.endServing()
        return served
    }

    /// Returns the indices of some peers among all.
    private func places(_ some: [Peer], among all: [HubPeer]) -> [Int] {
        some.map { one in all.firstIndex { $0.peer === one } ?? -1 }
    }

    @Test(arguments: UInt64(1)...40)
    func whoIsServedAndWhenIsAsTheModelSays(seed: UInt64) {
        var random = Seeded(seed)
        var (queue, model) = (FairQueue(), QueueModel(count: 8))
        let all = (0..<8).map { _ in host.connect() }
        for turn in UInt64(1)...200 {
            var work: UInt64 = 0
            func charge(_ index: Int, _ queue: inout FairQueue) {
                let amount = UInt64(random.integer(1...(random.chance(0.2) ? 200 : 8)))
                work += amount
                queue.charge(amount, to: all[index].peer)
                model.charge(amount, to: index)
            }
            func join(_ index: Int, _ queue: inout FairQueue) {
                queue.join(all[index].peer)
                model.join(index)
            }
            func close(_ index: Int) {
                all[index].close()
                model.closed.insert(index)
            }
            for _ in 0..<random.integer(0...4) {
                let index = random.integer(0...7)
                if random.chance(0.01) { close(index) }
                // A waiting client is not served at once.
                if random.chance(0.4), !model.isWaiting(index) {
                    queue.serve(all[index].peer, in: turn)
                    model.servedIn[index] = turn
                    charge(index, &queue)
                }
                join(index, &queue)
            }
            let most = random.chance(0.5) ? 8 : random.integer(0...3)
            var expected: [Int] = []
            model.beginServing(in: turn)
            let served = serve(&queue, in: turn, atMost: most) { peer, queue in
                let index = places([peer], among: all)[0]
                expected.append(model.next(in: turn) ?? -1)
                if random.chance(0.8) { charge(index, &queue) }
                if random.chance(0.5) { join(index, &queue) }
                if random.chance(0.3) { join(random.integer(0...7), &queue) }
                if random.chance(0.01) { close(random.integer(0...7)) }
            }
            #expect(places(served, among: all) == expected, "turn \(turn)")
            if served.count < most { #expect(model.next(in: turn) == nil, "turn \(turn)") }
            queue.endTurn(work: work)
            model.endTurn(work: work)
            #expect(places(queue.waiting, among: all) == model.waiting.map(\.index), "turn \(turn)")
            for index in all.indices {
                #expect(queue.isWithinFairShare(all[index].peer) == model.isWithinFairShare(index), "turn \(turn)")
            }
        }
    }
}

/// The queue's promises in their simplest form.
private struct QueueModel {
    /// The waiting clients, in order of arrival.
    private(set) var waiting: [(index: Int, mayBeServed: Bool)] = []
    var closed: Set<Int> = []
    var servedIn: [UInt64]
    private var work: [UInt64]
    private var (time, latest): (UInt64, UInt64) = (0, 0)

    init(count: Int) {
        servedIn = Array(repeating: 0, count: count)
        work = servedIn
    }

    func isWaiting(_ index: Int) -> Bool { waiting.contains { $0.index == index } }

    func isWithinFairShare(_ index: Int) -> Bool { work[index] <= time + 16 }

    mutating func charge(_ amount: UInt64, to index: Int) {
        work[index] = max(work[index], time) + amount
        latest = max(latest, work[index])
    }

    mutating func join(_ index: Int) {
        if !closed.contains(index), !isWaiting(index) { waiting.append((index, false)) }
    }

    mutating func beginServing(in turn: UInt64) {
        waiting.removeAll { closed.contains($0.index) }
        for place in waiting.indices { waiting[place].mayBeServed = servedIn[waiting[place].index] != turn }
    }

    mutating func next(in turn: UInt64) -> Int? {
        while true {
            let able = waiting.filter(\.mayBeServed).map(\.index)
            guard let least = able.map({ work[$0] }).min(), let next = able.first(where: { work[$0] == least }) else {
                return nil
            }
            waiting.removeAll { $0.index == next }
            if closed.contains(next) { continue }
            time = max(time, least)
            servedIn[next] = turn
            return next
        }
    }

    mutating func endTurn(work: UInt64) {
        time = waiting.isEmpty && work <= 16 ? latest : min(time + 2, latest)
    }
}
