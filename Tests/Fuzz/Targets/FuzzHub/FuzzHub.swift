// A byte string as a conversation of several clients with a hub. Control bytes that no line contains are faults of
// clients, clock and hub; all other bytes are sent by the selected client. Two watchers subscribe to a camera, one with
// each delivery: their streams follow the grammar. The hub's memory stays bounded, and in the end no work is left.

import FuzzSupport
import Hub
import TestSupport

/// The meaning of a control byte. A tab, an LF and a CR are data.
private enum Step: UInt8 {
    case turn = 1, halfClose, close, hangUp, stall, makeRoom, cutShort, breakOff
    case nextDeadline = 0x0b, frame, second = 0x0e, hour
    /// Selects a client; the last two are the watchers.
    case client0 = 0x10, client1, client2, client3, every, latest
    /// Another hub takes over everything, or fails to.
    case handOver, abandonHandover
}

private struct Watcher {
    let peer: HubPeer
    var checker: StreamChecker
}

private final class Conversation {
    /// Small enough for a short string to reach.
    private static let limits = {
        var limits = Limits()
        limits.cameras = 4
        (limits.historyEvents, limits.historyBytes, limits.eventsPerTurn) = (64, 8192, 16)
        (limits.unreadReplies, limits.gestures) = (4096, 4)
        return limits
    }()

    private let host = HubHost(limits: Conversation.limits)
    private var clients: [HubPeer?] = Array(repeating: nil, count: 4)
    private var watchers: [Watcher] = []
    private var inHand = 0
    private var data: [UInt8] = []

    init() {
        for delivery in ["every", "latest"] {
            let peer = host.connect()
            peer.send(Self.subscription(delivery))
            watchers.append(Watcher(peer: peer, checker: StreamChecker(isEvery: delivery == "every")))
        }
    }

    private static func subscription(_ delivery: String) -> String {
        #"{"type":"subscribe","delivery":"\#(delivery)"}"#
    }

    func take(_ byte: UInt8) {
        guard byte < 0x20, let step = Step(rawValue: byte) else { return data.append(byte) }
        put()
        switch step {
        case .turn: host.turn()
        case .nextDeadline: host.pass(max(0, min((host.hub.deadline ?? host.now) - host.now, 1000)))
        case .frame: host.pass(17)
        case .second: host.pass(1000)
        case .hour: host.jump(3_600_000)
        case .handOver: handOver()
        case .abandonHandover: host.abandonHandover()
        case .client0, .client1, .client2, .client3, .every, .latest: inHand = Int(byte & 7)
        default: inject(step)
        }
        look()
    }

    /// Sends the selected client's data. A client waits while the hub does not read it, as with a full socket.
    private func put() {
        defer { data.removeAll() }
        guard inHand < clients.count, !data.isEmpty else { return }
        let client = clients[inHand] ?? host.connect()
        clients[inHand] = client
        if client.isReading, !client.isOver { client.put(data) }
    }

    private func inject(_ step: Step) {
        guard let peer = inHand < clients.count ? clients[inHand] : watchers[inHand - clients.count].peer else {
            return
        }
        switch step {
        case .stall: peer.makeRoom(0)
        case .cutShort: peer.makeRoom(100)
        case .makeRoom: peer.makeRoom(nil)
        case .breakOff where inHand < clients.count: peer.breakOff()
        case .halfClose where inHand < clients.count: peer.halfClose()
        case .close where inHand < clients.count: peer.close()
        case .hangUp where inHand < clients.count: peer.hangUp()
        default: break
        }
    }

    private func handOver() {
        do { try host.handOver() } catch { fatalError("nothing was handed over: \(error)") }
    }

    // MARK: Checks

    private func look() {
        for index in clients.indices {
            if let peer = clients[index] { lookAtClient(peer) }
            if clients[index]?.isOver == true { clients[index] = nil }
        }
        for index in watchers.indices { lookAtWatcher(index) }
    }

    private func lookAtClient(_ peer: HubPeer) {
        _ = peer.lines()
        peer.compact()
        // Bytes that a client has sent at once beyond the read-ahead limit are its own.
        check(peer.peer.memory < 1 << 19, "a peer holds \(peer.peer.memory) bytes")
    }

    private func lookAtWatcher(_ index: Int) {
        let lines = watchers[index].peer.lines()
        watchers[index].peer.compact()
        check(!watchers[index].peer.isOver, "a watcher was closed")
        for line in lines {
            guard let json = try? JSON(line) else { fatalError("no JSON: \(line)") }
            if let complaint = watchers[index].checker.take(json) {
                fatalError("watcher \(index): \(complaint): \(line)")
            }
            guard json["type"] == .string("removed") else { continue }
            // Another camera of that name is a different one.
            watchers[index].checker = StreamChecker(isEvery: index == 0)
            watchers[index].peer.put(Array((Self.subscription(index == 0 ? "every" : "latest") + "\n").utf8))
        }
    }

    /// All clients read, everything comes to rest, all disconnect.
    func end() {
        put()
        let peers = clients.compactMap { $0 } + watchers.map(\.peer)
        for peer in peers { peer.makeRoom(nil) }
        host.turn()
        look()
        for peer in peers { peer.close() }
        host.jump(3_600_000)
        host.pass(20_000)
        check(host.hub.deadline == nil, "still something to do at \(host.hub.deadline ?? 0), and it is \(host.now)")
    }
}

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let conversation = Conversation()
    for byte in input(start, count) { conversation.take(byte) }
    conversation.end()
    return 0
}
