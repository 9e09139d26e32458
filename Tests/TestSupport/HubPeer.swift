// A client of a hub in the same process: without a socket, and with a clock that the test sets. Another hub can take
// over from a hub, like the next process from a process.

import Hub

/// A hub with its own clock.
public final class HubHost {
    public private(set) var now = 1000.0
    public private(set) var hub: Hub
    private let limits: Limits
    private var epochSeed: UInt64
    /// The histories, which pass from one hub to the next.
    public let histories = SharedHistories()
    private let sharesHistories: Bool
    private var memory: HubMemory
    public let lastPiece = LastPiece()
    /// The peers to which the hub may still send.
    private var peers: [HubPeer] = []
    /// The traces that the hub and its successors can play by themselves.
    public var traces: [StoredTrace] = [] { didSet { hub.traces = traces } }
    /// The wall clock's reading at a time, in milliseconds since 1970.
    public var wallTime: (Double) -> Double = { $0 }

    public init(limits: Limits = Limits(), epochSeed: UInt64 = 7, sharesHistories: Bool = true) {
        (self.limits, self.epochSeed, self.sharesHistories) = (limits, epochSeed, sharesHistories)
        memory = histories.next()
        hub = Self.hub(limits, epochSeed, sharesHistories ? memory : nil, at: 1000)
    }

    /// A hub whose limits differ from the defaults: `HubHost { $0.cameras = 2 }`.
    public convenience init(_ change: (inout Limits) -> Void) {
        var limits = Limits()
        change(&limits)
        self.init(limits: limits)
    }

    private static func hub(_ limits: Limits, _ epochSeed: UInt64, _ memory: HubMemory?, at now: Double) -> Hub {
        Hub(limits: limits, server: "gimbald of tests", epochSeed: epochSeed, memory: memory, at: now)
    }

    public func connect(role: Role = .everything) -> HubPeer {
        peers.removeAll(where: \.isForgotten)
        let peer = HubPeer(self, role)
        peers.append(peer)
        return peer
    }

    /// Connects a client that has subscribed and read the answer.
    ///
    /// - Parameter members: further members of its request, such as `,"events":["idle"]`.
    public func subscriber(_ members: String = "") -> HubPeer {
        let peer = connect()
        peer.send(#"{"type":"subscribe"\#(members)}"#)
        _ = peer.lines()
        return peer
    }

    /// Ends a turn: handles what is due at the present time, and sends everything.
    public func turn() {
        tellWallTime()
        hub.advance(to: now)
        hub.endTurn(at: now)
    }

    fileprivate func tellWallTime() { hub.setWallTime(Int((wallTime(now) * 1000).rounded()), at: now) }

    /// Advances time, turn by turn, stopping at every deadline.
    public func pass(_ milliseconds: Double) {
        let end = now + milliseconds
        turn()
        while let deadline = hub.deadline, deadline <= end {
            now = max(now, deadline)
            turn()
        }
        now = end
        turn()
    }

    /// Advances time in one turn, like a loop that was stopped for that long.
    public func jump(_ milliseconds: Double) {
        now += milliseconds
        turn()
    }

    /// Advances time without handling what is due.
    public func setTime(byAdding milliseconds: Double) { now += milliseconds }

    /// Advances exactly to the next deadline; returns `false` if there is none within a minute.
    @discardableResult
    public func moveOn() -> Bool {
        guard let deadline = hub.deadline, deadline < now + 60_000 else { return false }
        now = max(now, deadline)
        turn()
        return true
    }

    // MARK: Handover

    private func nextHub() -> Hub {
        epochSeed += 1
        memory = histories.next()
        let hub = Self.hub(limits, epochSeed, sharesHistories ? memory : nil, at: now)
        hub.traces = traces
        return hub
    }

    /// Replaces the hub by one that takes over everything.
    ///
    /// - Parameters:
    ///   - lost: clients that are lost between the two.
    ///   - change: changes the bytes on their way.
    public func handOver(
        without lost: [HubPeer] = [], changedBy change: ([UInt8]) throws -> [UInt8] = { $0 }
    ) throws {
        let left = try change(leave())
        try takeOver(left, without: lost)
    }

    /// Returns the state that the next hub takes over: a `Hub.Record`.
    public func leave() throws -> [UInt8] {
        pause()
        peers.removeAll(where: \.isForgotten)
        return try StateEncoder.encode(hub.handOver(peers.enumerated().map { (UInt64($0), $1.peer) }))
    }

    /// Replaces the hub by one that takes over this state.
    public func takeOver(_ left: [UInt8], without lost: [HubPeer] = []) throws {
        let next = nextHub()
        for peer in lost { peer.cutOff() }
        forgetPeers()
        let record = try StateDecoder.decode(Hub.Record.self, from: left)
        for (key, peer) in try next.takeOver(record, at: now, client: { self.peers[Int($0)].asClient }) {
            peers[Int(key)].resume(as: peer)
        }
        hub = next
        memory.reclaimUnusedSpace()
        peers.removeAll(where: \.isForgotten)
        turn()
    }

    /// Disconnects all peers. An ending process would release everything; here, a hub and its peers retain each other.
    private func forgetPeers() {
        for peer in peers { hub.disconnect(peer.peer, at: now) }
    }

    /// Pauses for a handover that then fails.
    public func abandonHandover() {
        pause()
        hub.resume()
        turn()
    }

    private func pause() {
        hub.pause()
        hub.endTurn(at: now)
    }

    /// Replaces the hub by one that starts with saved state and without clients.
    public func restart(with saved: SavedState? = nil, keepsEpochs: Bool = false) {
        for peer in peers { peer.cutOff() }
        forgetPeers()
        peers = []
        hub = nextHub()
        memory.reclaimUnusedSpace()
        if let saved { hub.restore(saved, keepsEpochs: keepsEpochs, at: now) }
    }
}

public final class HubPeer: ConformancePeer {
    private unowned let host: HubHost
    public private(set) var peer: Peer
    private let outlet: RecordingOutlet
    private let role: Role
    private var read = 0

    fileprivate init(_ host: HubHost, _ role: Role) {
        self.host = host
        self.role = role
        outlet = RecordingOutlet(host.lastPiece)
        peer = host.hub.connect(outlet, role: role)
    }

    public var received: [UInt8] { outlet.received }
    public var isOver: Bool { outlet.isOver }
    public var isReading: Bool { outlet.isReading }

    // MARK: Called by the host

    /// Whether no hub sends to it any more.
    fileprivate var isForgotten: Bool { outlet.isForgotten }
    /// The next hub's view of it, if it is still there.
    fileprivate var asClient: (outlet: any Outlet, role: Role)? { isForgotten ? nil : (outlet, role) }

    fileprivate func cutOff() { outlet.close() }

    /// Continues as a peer of the next hub, which takes its connection to be reading.
    fileprivate func resume(as peer: Peer) {
        self.peer = peer
        outlet.isReading = true
    }

    // MARK: Called by the test

    /// Gives room for this many bytes; `nil` for any number.
    public func makeRoom(_ bytes: Int?) {
        outlet.room = bytes
        host.hub.writable(peer)
    }

    /// Gives room for everything, and ends the turn.
    public func readOn() {
        makeRoom(nil)
        host.turn()
    }

    /// Sends bytes without ending the turn.
    public func put(_ bytes: [UInt8]) {
        host.tellWallTime()
        host.hub.receive(bytes.span, from: peer, at: host.now)
    }

    /// Sends a line without ending the turn.
    public func put(_ line: String) { put(Array(line.utf8) + [0x0a]) }

    public func send(_ bytes: [UInt8]) {
        put(bytes)
        host.turn()
    }

    public func send(_ line: String) { send(Array(line.utf8) + [0x0a]) }

    /// Sends a line and returns the last message since the last call of ``lines()``, which is normally its answer.
    public func ask(_ line: String) throws -> JSON {
        send(line)
        return try JSON(lines().last ?? "")
    }

    public func receive() -> String? {
        repeat {
            if let end = received[read...].firstIndex(of: 0x0a) {
                defer { read = end + 1 }
                return String(decoding: received[read..<end], as: UTF8.self)
            }
        } while host.moveOn()
        return nil
    }

    /// All lines received since the beginning, or since ``compact()``.
    public var messages: [JSON] {
        received.split(separator: 0x0a).map { (try? JSON(String(decoding: $0, as: UTF8.self))) ?? .null }
    }

    /// Returns all lines received since the last call.
    public func lines() -> [String] {
        var lines: [String] = []
        while let end = received[read...].firstIndex(of: 0x0a) {
            lines.append(String(decoding: received[read..<end], as: UTF8.self))
            read = end + 1
        }
        return lines
    }

    /// Returns all messages received since the last call of ``lines()``.
    public func newMessages() throws -> [JSON] { try lines().map { try JSON($0) } }

    /// Returns the types of all messages received since the last call of ``lines()``.
    public func types() throws -> [String] { try newMessages().map { $0["type"]?.string ?? "" } }

    /// Forgets the lines that have been read.
    public func compact() {
        outlet.received.removeSubrange(..<read)
        read = 0
    }

    public func isClosed() -> Bool { isOver && read == received.count }

    public func halfClose() {
        host.hub.endOfInput(peer, at: host.now)
        host.turn()
    }

    /// Stops reading, which the next send detects; its own data is still delivered.
    public func breakOff() { outlet.isBroken = true }

    /// Writes and closes: everything it sent is delivered, and nothing can be sent to it.
    public func hangUp() {
        outlet.isBroken = true
        host.hub.hangUp(peer, at: host.now)
        host.turn()
    }

    /// Disconnects abruptly.
    public func close() {
        outlet.close()
        host.hub.disconnect(peer, at: host.now)
        host.turn()
    }
}

/// Receives what a hub sends, as far as there is room.
public final class RecordingOutlet: Outlet {
    var received: [UInt8] = []
    /// Whether nothing more is sent.
    var isOver = false
    var isForgotten = false
    var isReading = true
    /// Whether sending fails.
    var isBroken = false
    /// How many bytes the next send takes; `nil` for all.
    var room: Int?

    private let lastPiece: LastPiece

    public init(_ lastPiece: LastPiece = LastPiece()) { self.lastPiece = lastPiece }

    public func send(_ piece: UnsafeRawBufferPointer, isRepeated: Bool) -> Int {
        lastPiece.note(Array(piece), isRepeated: isRepeated)
        return send([piece])
    }

    public func send(_ pieces: [UnsafeRawBufferPointer]) -> Int {
        if isOver || isBroken { return -1 }
        var taken = 0
        for piece in pieces {
            let count = min(piece.count, room.map { $0 - taken } ?? piece.count)
            received.append(contentsOf: piece[..<count])
            taken += count
            if count < piece.count { break }
        }
        if room != nil { room = 0 }
        return taken
    }

    public func keepQueueShort() {}
    public func setReading(_ isReading: Bool) { self.isReading = isReading }
    public func finishSending() { isOver = true }
    public func close() { (isOver, isForgotten) = (true, true) }
}

/// The piece that was last sent to any of a hub's outlets: a piece marked as repeated must equal it.
public final class LastPiece {
    private var bytes: [UInt8]?
    /// The numbers of repeated and of new pieces.
    public private(set) var (repeated, new) = (0, 0)

    public init() {}

    fileprivate func note(_ piece: [UInt8], isRepeated: Bool) {
        if isRepeated {
            repeated += 1
            precondition(piece == bytes, "a piece that is said to be the one before is another")
        } else {
            new += 1
        }
        bytes = piece
    }
}
