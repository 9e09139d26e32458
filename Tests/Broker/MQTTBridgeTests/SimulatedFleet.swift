// A broker, processes with bridges, and daemons, all in memory and on one clock that the test sets. The daemons are
// hubs. The broker loses, duplicates and reorders messages and forgets retained ones, as much as a test asks for.

import GimbalProtocol
import MQTTBridge
import MapCamera
import Service
import TestSupport
import Testing

/// How unreliably messages are delivered.
struct Weather {
    var loss = 0.0
    var lossOfAcknowledged = 0.0
    /// Messages published with QoS 1 to a subscriber with QoS 0: brokers drop them for slow readers.
    var lossToQoS0 = 0.0
    var duplication = 0.0
    var disorder = 0.0
    /// How often the broker has not yet taken a bridge's earlier messages.
    var congestion = 0.0
    /// The longest time that a message takes in either direction, in milliseconds.
    var delay = 3.0

    static let fair = Weather()
    static let foul = Weather(
        loss: 0.2, lossOfAcknowledged: 0.02, lossToQoS0: 0.2, duplication: 0.2, disorder: 0.2, congestion: 0.2)
}

/// A process with a bridge, or a foreign client.
class SimulatedProcess {
    let fleet: SimulatedFleet
    let will: Publication?
    /// The broker's side of the connection; `nil` while there is none.
    fileprivate var session: Session?

    /// Ends its connection, which it does not know yet.
    func endSession() { session = nil }
    var received: [Publication] = []

    init(_ fleet: SimulatedFleet, will: Publication? = nil) {
        (self.fleet, self.will) = (fleet, will)
        fleet.processes.append(self)
    }

    var subscribesByQoS1: Bool { true }

    func connected() {}
    func disconnected() {}
    func receive(_ delivery: Publication) { received.append(delivery) }
    func acknowledged(_ token: Int) {}
    func refused(_ token: Int) {}
    func turn() {}
}

private final class Session {
    /// The levels of each filter.
    var filters: [String: [[UInt8]]] = [:]
    /// Messages on their way to the client, and when they arrive.
    var down: [(due: Double, act: (SimulatedProcess) -> Void)] = []
    /// Messages on their way to the broker, in order.
    var up: [(due: Double, act: () -> Void)] = []
    var lastUp = 0.0
    var lastDown = 0.0
}

final class SimulatedFleet {
    var random: Seeded
    var now = 1000.0
    var weather = Weather.fair
    var retained: [String: [UInt8]] = [:]
    /// Topics that no client may read, and topics that none may publish to.
    var unreadable: Set<String> = []
    var unwritable: Set<String> = []
    /// Topics for which the broker ends the publisher's connection, and how many connections it has ended so.
    var fatal: Set<String> = []
    var ended = 0
    var isUp = true
    var processes: [SimulatedProcess] = []
    var hosts: [HubHost] = []
    /// Wills of clients whose connection broke, and when the broker notices.
    private var wills: [(due: Double, will: Publication)] = []

    init(seed: UInt64 = 1, _ hosts: HubHost...) { (random, self.hosts) = (Seeded(seed), hosts) }

    /// The state of node `left` that the broker retains.
    var state: NodeState? { retained["gimbal/left/$state"].flatMap { NodeState($0) } }

    /// Returns a message that the broker retains, as text.
    func text(_ topic: String) -> String? { retained[topic].map { String(decoding: $0, as: UTF8.self) } }

    /// Sends a line from a new client of a daemon.
    func send(_ line: String, to host: Int = 0) { hosts[host].connect().send(line) }

    // MARK: Connections

    func connect(_ process: SimulatedProcess) {
        guard isUp, process.session == nil else { return }
        process.session = Session()
        process.connected()
    }

    /// Breaks a connection; the broker notices after a while, or never, when its server has died, too.
    func cut(_ process: SimulatedProcess, broker notices: Double? = 500) {
        guard process.session != nil else { return }
        process.session = nil
        if let notices, let will = process.will { wills.append((now + notices, will)) }
        process.disconnected()
    }

    /// Kills the broker, with or without its retained messages.
    func stopBroker(forgets: Bool) {
        isUp = false
        if forgets { retained = [:] }
        wills = []
        for process in processes where process.session != nil {
            process.session = nil
            process.disconnected()
        }
    }

    // MARK: Messages

    func publish(_ publication: Publication, from process: SimulatedProcess, token: Int? = nil) {
        guard let session = process.session else { return }
        if publication.qos == .atMostOnce, random.chance(weather.loss) { return }
        // A connection preserves the order of its messages.
        session.lastUp = max(session.lastUp, now + Double.random(in: 0...weather.delay, using: &random))
        session.up.append(
            (
                session.lastUp,
                { [weak process, unowned self] in
                    if fatal.contains(publication.topic), let process {
                        ended += 1
                        return cut(process)
                    }
                    let isRefused = unwritable.contains(publication.topic)
                    if !isRefused { accept(publication) }
                    guard let token, let process, let session = process.session else { return }
                    session.down.append((now + 1, { isRefused ? $0.refused(token) : $0.acknowledged(token) }))
                }
            ))
    }

    private func accept(_ publication: Publication) {
        if publication.isRetained {
            retained[publication.topic] = publication.payload.isEmpty ? nil : publication.payload
        }
        let topic = Self.levels(publication.topic)
        for process in processes {
            guard let session = process.session, session.filters.values.contains(where: { Self.fits(topic, $0) })
            else { continue }
            var delivery = Publication(publication.topic, publication.payload)
            delivery.correlation = publication.correlation
            deliver(
                delivery, isAcknowledged: publication.qos == .atLeastOnce, byQoS1: process.subscribesByQoS1, to: session
            )
        }
    }

    private func deliver(_ delivery: Publication, isAcknowledged: Bool, byQoS1: Bool, to session: Session) {
        if unreadable.contains(delivery.topic) { return }
        let loss = byQoS1 ? weather.lossOfAcknowledged : weather.lossToQoS0
        if random.chance(isAcknowledged ? loss : weather.loss) { return }
        var due = max(session.lastDown, now + Double.random(in: 0...weather.delay, using: &random))
        if random.chance(weather.disorder) {
            due = now + Double.random(in: 0...80, using: &random)
        } else {
            session.lastDown = due
        }
        session.down.append((due, { $0.receive(delivery) }))
        if isAcknowledged, byQoS1, random.chance(weather.duplication) {
            session.down.append((due + Double.random(in: 0...300, using: &random), { $0.receive(delivery) }))
        }
    }

    func subscribe(_ filter: String, _ process: SimulatedProcess) {
        guard let session = process.session else { return }
        let levels = Self.levels(filter)
        session.filters[filter] = levels
        for (topic, payload) in retained.sorted(by: { $0.key < $1.key }) where Self.fits(Self.levels(topic), levels) {
            deliver(
                Publication(topic, payload, isRetained: true), isAcknowledged: true, byQoS1: process.subscribesByQoS1,
                to: session)
        }
    }

    func unsubscribe(_ filter: String, _ process: SimulatedProcess) { process.session?.filters[filter] = nil }

    private static let (any, rest): ([UInt8], [UInt8]) = (Array("+".utf8), Array("#".utf8))

    private static func levels(_ text: String) -> [[UInt8]] {
        text.utf8.split(separator: UInt8(ascii: "/")).map(Array.init)
    }

    private static func fits(_ topic: [[UInt8]], _ filter: [[UInt8]]) -> Bool {
        let isOpen = filter.last == rest
        let fixed = isOpen ? filter.dropLast() : filter[...]
        return (topic.count == fixed.count || (isOpen && topic.count > fixed.count))
            && zip(topic, fixed).allSatisfy { $1 == any || $0 == $1 }
    }

    // MARK: Time

    /// Advances time in steps of a few milliseconds.
    func pass(_ milliseconds: Double, step: Double = 5) {
        let end = now + milliseconds
        while now < end {
            now = min(now + step, end)
            for host in hosts { host.pass(now - host.now) }
            deliverDue()
            for process in processes { process.turn() }
        }
    }

    private func deliverDue() {
        let due = wills.filter { $0.due <= now }
        wills.removeAll { $0.due <= now }
        if isUp { for one in due { accept(one.will) } }
        for process in processes {
            guard let session = process.session else { continue }
            while let first = session.up.first, first.due <= now, process.session === session {
                session.up.removeFirst()
                first.act()
            }
            let ready = session.down.enumerated().filter { $1.due <= now }.sorted {
                ($0.element.due, $0.offset) < ($1.element.due, $1.offset)
            }
            session.down.removeAll { $0.due <= now }
            for one in ready where process.session === session { one.element.act(process) }
        }
    }
}

/// A process that has a node, mirrors, or both, beside a daemon.
final class SimulatedBridge: SimulatedProcess {
    private final class Connection: DaemonConnection {
        let peer: HubPeer
        weak var reader: (any DaemonReader)?
        var isReading = true
        var isClosed = false
        var unsentBytes: Int { 0 }

        init(_ peer: HubPeer, _ reader: any DaemonReader) { (self.peer, self.reader) = (peer, reader) }

        func send(_ bytes: [UInt8]) { if !isClosed { peer.send(bytes) } }

        func close() {
            guard !isClosed else { return }
            isClosed = true
            peer.close()
        }
    }

    /// The bridge's surroundings.
    private final class World: Surroundings {
        unowned let bridge: SimulatedBridge
        init(_ bridge: SimulatedBridge) { self.bridge = bridge }

        func connect(_ reader: any DaemonReader) throws -> any DaemonConnection {
            try bridge.connectToDaemon(reader)
        }

        var hasRoom: Bool { !bridge.fleet.random.chance(bridge.fleet.weather.congestion) }

        func publish(_ publication: Publication, token: Int?) -> Bool {
            bridge.fleet.publish(publication, from: bridge, token: token)
            return bridge.session != nil
        }

        func subscribe(_ filter: String) { bridge.fleet.subscribe(filter, bridge) }
        func unsubscribe(_ filter: String) { bridge.fleet.unsubscribe(filter, bridge) }

        var wallTime: WallTime {
            WallTime(microseconds: Int((bridge.host.wallTime(bridge.fleet.now) * 1000).rounded()))
        }

        var clockQuality: ClockQuality? {
            bridge.looksAtClock += 1
            return bridge.clockQuality
        }

        func say(_ level: LogLevel, _ text: @autoclosure () -> PrintableText) {
            bridge.log.append(text().description)
        }

        func refuse(_ reason: String) { bridge.refusal = reason }
    }

    struct NoDaemon: Error {}

    let host: HubHost
    private var connections: [Connection] = []
    private(set) var node: Node?
    private(set) var mirrors: [CameraMirror] = []
    var mirror: CameraMirror? { mirrors.first }
    var log: [String] = []
    /// What the mirror has shown apart from the daemon's camera.
    var shown: [(position: CameraPosition, isMoving: Bool)] = []
    var refusal: String?
    /// Whether connections to the daemon can be made.
    var hasDaemon = true
    /// The clock of its machine; `nil` if unknown.
    var clockQuality: ClockQuality?
    /// How often the bridge has read the clock's quality.
    var looksAtClock = 0
    private var world: World?

    convenience init(
        _ fleet: SimulatedFleet, _ host: HubHost, node: Node.Settings?, mirror: CameraMirror.Settings? = nil
    ) {
        self.init(fleet, host, node: node, mirrors: [mirror].compactMap(\.self))
    }

    init(_ fleet: SimulatedFleet, _ host: HubHost, node: Node.Settings?, mirrors: [CameraMirror.Settings]) {
        self.host = host
        super.init(fleet, will: node.map { Node.will($0) })
        let world = World(self)
        self.world = world
        if let node { self.node = Node(node, world) }
        self.mirrors = mirrors.map { mirror in
            CameraMirror(mirror, world, node: self.node) { [unowned self] in shown.append(($0, isMoving: $1)) }
        }
    }

    private func connectToDaemon(_ reader: any DaemonReader) throws -> Connection {
        guard hasDaemon else { throw NoDaemon() }
        let connection = Connection(host.connect(), reader)
        connections.append(connection)
        return connection
    }

    /// Lets this many more bytes through to the bridge from its daemon; `nil` for no limit.
    func makeRoom(_ bytes: Int?) { for connection in connections { connection.peer.makeRoom(bytes) } }

    /// Closes all connections: the daemon has gone or restarted.
    func loseDaemon() {
        let lost = connections
        connections = []
        for connection in lost where !connection.isClosed {
            connection.isClosed = true
            connection.reader?.ended("gone", at: fleet.now)
        }
    }

    /// Restarts the daemon: in good order, or after a crash with its saved state or none.
    func restartDaemon() {
        switch Int.random(in: 0..<3, using: &fleet.random) {
        case 0:
            host.hub.end(at: host.now)
            host.turn()
            host.restart(with: host.hub.savedState(isLast: true), keepsEpochs: true)
        case 1: host.restart(with: host.hub.savedState(isLast: false))
        default: host.restart()
        }
        loseDaemon()
    }

    /// Kills the process: the daemon sees its connections end.
    func die() {
        for connection in connections { connection.close() }
        connections = []
        fleet.cut(self)
        fleet.processes.removeAll { $0 === self }
        (node, mirrors) = (nil, [])
    }

    override var subscribesByQoS1: Bool { false }

    override func connected() {
        node?.connected(at: fleet.now)
        for mirror in mirrors { mirror.connected(at: fleet.now) }
    }

    override func disconnected() {
        node?.disconnected(at: fleet.now)
        for mirror in mirrors { mirror.disconnected(at: fleet.now) }
    }

    override func receive(_ delivery: Publication) {
        node?.received(delivery, at: fleet.now)
        for mirror in mirrors { mirror.received(delivery, at: fleet.now) }
    }

    override func acknowledged(_ token: Int) { node?.acknowledged(token) }
    override func refused(_ token: Int) { node?.refused(token, at: fleet.now) }

    override func turn() {
        for connection in connections {
            guard connection.isReading, !connection.isClosed else { continue }
            for line in connection.peer.lines() where !connection.isClosed {
                connection.reader?.received(ArraySlice(Array(line.utf8)), at: fleet.now)
            }
            if connection.peer.isOver, !connection.isClosed {
                connection.isClosed = true
                connection.reader?.ended("gone", at: fleet.now)
            }
        }
        connections.removeAll(where: \.isClosed)
        node?.advance(to: fleet.now)
        for mirror in mirrors { mirror.advance(to: fleet.now) }
    }
}

/// Returns a camera's answer about itself.
private func answer(_ camera: String, of host: HubHost) throws -> String {
    let peer = host.connect()
    peer.send(#"{"type":"get-camera","camera":"\#(camera)"}"#)
    let line = try #require(peer.receive())
    peer.close()
    return line
}

/// Returns a camera's position as its daemon writes it.
func position(_ camera: String, of host: HubHost) throws -> String {
    try #require(answer(camera, of: host).firstMatch(of: /"position":({.*?}.*?})/)).1.description
}

/// Returns a camera's answer about itself without its name and its own event count.
func everything(_ camera: String, of host: HubHost) throws -> String {
    try #require(answer(camera, of: host).firstMatch(of: /"position":.*/)).0.description
}
