// The hub driven by random seeds: many clients that feed, follow, resume, stall, read bit by bit, send garbage, split
// their bytes, break off and replay, on a clock that jumps; and hubs that end, die, or hand everything over, with saved
// state that is whole or damaged. Every step checks all promises of the hub, and a seed always gives the same bytes.

import Hub
import JSONLines
import TestSupport

/// One run of a seed.
struct Simulation {
    private var random: Seeded
    private let host: HubHost
    /// Whether limits are so small that they are always reached. Then no line exceeds the read-ahead.
    private let isTight: Bool
    private var clients: [SimulatedClient] = []
    private var pairs: [String: SubscriberPair] = [:]
    private var recorders: [Recorder] = []
    private var inspector: Inspector
    private var invariants = HubInvariants()
    /// The saved state on disk.
    private var saved: [UInt8]

    private(set) var checksum: UInt64 = 0xcbf2_9ce4_8422_2325
    private(set) var complaints: [String] = []
    private(set) var events = 0
    private(set) var lines: [String] = []
    private let keepsLines: Bool

    /// The events to which the pairs of each camera subscribe.
    private static let tastes = [
        "main": #""move-started","camera-changed","idle""#, "left": #""gesture","camera-changed","idle""#,
        "right": #""idle","camera-changed""#,
    ]

    /// Every other seed has tight limits, except for recordings, which must not reach them.
    init(seed: UInt64, keepsLines: Bool = false, isRecorded: Bool = false) {
        random = Seeded(seed)
        self.keepsLines = keepsLines
        isTight = seed.isMultiple(of: 2) && !isRecorded
        host = HubHost(limits: Self.limits(isTight: isTight))
        host.traces = SimulatedLine.traces.compactMap { name, lines in
            try? StoredTrace(name, Array(lines.joined(separator: "\n").utf8))
        }
        precondition(host.traces.count == SimulatedLine.traces.count, "a trace of the simulation is refused")
        inspector = Inspector(host)
        saved = host.hub.savedState(isLast: false).bytes
        for camera in Self.tastes.keys.sorted() { pairs[camera] = newPair(camera) }
        guard isRecorded || seed.isMultiple(of: 3) else { return }
        recorders = SimulatedLine.cameras.map { Recorder(host, camera: $0, tape: isRecorded ? TraceTape() : nil) }
    }

    private static func limits(isTight: Bool) -> Limits {
        var limits = Limits()
        limits.cameras = 4
        limits.requestsPerTurn = 128  // The inspector's three lines fit into a turn.
        if isTight {
            (limits.historyEvents, limits.historyBytes, limits.eventsPerTurn) = (32, 4096, 8)
            (limits.unreadReplies, limits.readAhead, limits.gestures) = (4096, 4096, 8)
        }
        return limits
    }

    private func newPair(_ camera: String) -> SubscriberPair {
        SubscriberPair(host, camera: camera, events: Self.tastes[camera] ?? "")
    }

    /// The recorded traces.
    var traces: [TraceTape.Trace] { recorders.compactMap(\.tape).flatMap(\.traces) }

    mutating func run(steps: Int) {
        for step in 0..<steps {
            act()
            collect()
            if !complaints.isEmpty {
                complaints = complaints.map { "step \(step): \($0)" }
                return
            }
        }
        rest()
    }

    private mutating func complain(_ complaint: String?) {
        if let complaint { complaints.append(complaint) }
    }

    // MARK: Actions

    private mutating func act() {
        for camera in pairs.keys.sorted() { renewPair(camera) }
        switch random.integer(0...20) {
        case 0 where clients.count < 12: clients.append(SimulatedClient(connect()))
        case 1, 8: letTimePass()
        case 2: if let index = anyClient() { subscribe(index) }
        case 3, 9: if let index = anyClient() { changeAppetite(index) }
        case 4 where random.chance(0.1): if let index = anyClient() { leave(index) }
        case 5 where random.chance(0.4): if let index = anyClient() { startOrEndReplay(index) }
        case 6: injectFault()
        // A new subscription begins a trace in the middle of whatever happens.
        case 7 where !recorders.isEmpty && random.chance(0.2): recorders[random.integer(0...2)].begin()
        case 10 where random.chance(0.3): if let index = anyClient() { wait(index) }
        case 11: if let index = anyClient() { steer(index) }
        case 13 where random.chance(0.15): if let index = anyClient() { leaveAlone(index) }
        case 12 where random.chance(0.5): if let index = anyClient() { removeUnderReplay(of: index) }
        default: if let index = anyClient() { say(index) }
        }
        for index in clients.indices {
            clients[index].send(&random, host)
            if clients[index].appetite == .picky { clients[index].peer.makeRoom(random.integer(0...300)) }
        }
        if random.chance(0.9) { host.turn() }
    }

    private mutating func letTimePass() {
        switch random.integer(0...9) {
        case 0: host.jump(random.chance(0.05) ? random.number(0...1e8) : random.number(0...5000))
        // The next action happens exactly at the time of a frame.
        case 1...2: host.moveOn()
        case 3: host.pass(random.number(0...10_000))
        default: host.pass(random.number(0...60))
        }
    }

    private mutating func connect() -> HubPeer {
        host.connect(role: random.chance(0.1) ? .watchOnly(because: "of a seed") : .everything)
    }

    private mutating func anyClient() -> Int? {
        clients.isEmpty ? nil : random.integer(0...(clients.count - 1))
    }

    private mutating func subscribe(_ index: Int) {
        let name = SimulatedLine.anyCamera(&random)
        func ask(_ members: String, _ id: String, type: String = "subscribe") {
            let line = #"{"type":"\#(type)","camera":"\#(name)","id":"\#(id)"\#(members)}"#
            clients[index].say(line, ids: [id])
        }
        if random.chance(0.05) { return ask("", "unsubscribe \(name)", type: "unsubscribe") }
        if random.chance(0.15) {
            return clients[index].followAll(since: random.chance(0.5), random.chance(0.3) ? "latest" : "every")
        }
        if random.chance(0.02) {
            return clients[index].say(
                #"{"type":"unsubscribe","camera":"*","id":"unsubscribe *"}"#, ids: ["unsubscribe *"])
        }
        if random.chance(0.2) {
            return ask(
                #","events":[\#(random.chance(0.5) ? #""idle","replay","marker","lease""# : #""gesture","touch","idle""#)]"#,
                "chosen")
        }
        if let stream = clients[index].streams[name], let epoch = stream.epoch, let next = stream.next,
            random.chance(0.5)
        {
            let seq = Int(next) - 1
            return ask(#","since":\#(seq),"epoch":"\#(epoch)""#, "since \(seq) \(epoch)")
        }
        let delivery = random.chance(0.4) ? "latest" : "every"
        ask(#","delivery":"\#(delivery)""#, delivery)
    }

    private mutating func wait(_ index: Int) {
        let timeout = random.chance(0.5) ? ",\"timeoutMs\":\(random.number(0...2000))" : ""
        clients[index].wait(for: SimulatedLine.anyCamera(&random), timeout)
    }

    private mutating func changeAppetite(_ index: Int) {
        guard clients[index].appetite != .broken else { return }
        if clients[index].appetite == .hungry {
            clients[index].appetite = random.chance(0.5) ? .stalled : .picky
            clients[index].peer.makeRoom(random.integer(0...2000))
        } else {
            clients[index].appetite = .hungry
            clients[index].peer.makeRoom(nil)
        }
    }

    /// Disconnects a client: politely, abruptly, after writing everything, or with its reading side broken first.
    private mutating func leave(_ index: Int) {
        switch random.integer(0...4) {
        case 0: clients[index].speech = .ending
        case 1: clients.remove(at: index).peer.hangUp()
        case 2:
            clients[index].appetite = .broken
            clients[index].peer.breakOff()
            if random.chance(0.5) { clients[index].speech = .ending }
        case 3:
            clients[index].speech = .ended
            clients[index].peer.halfClose()
        default: clients.remove(at: index).peer.close()
        }
    }

    private mutating func startOrEndReplay(_ index: Int, playback: String? = nil) {
        if clients[index].isReplaying {
            clients[index].say(#"{"type":"trace-end"}"#)
        } else {
            clients[index].traceTime = random.number(0...2e9)
            let camera = SimulatedLine.anyCamera(&random)
            clients[index].traceCamera = camera
            clients[index].say(SimulatedLine.header(&random, camera: camera, playback))
        }
        clients[index].isReplaying.toggle()
    }

    /// Lets a client without its own replay steer those of others.
    private mutating func steer(_ index: Int) {
        guard !clients[index].isReplaying else { return }
        let id = clients[index].newID()
        let camera = SimulatedLine.anyCamera(&random)
        // A request that waits for a lease may never get it, so that no answer is expected.
        if random.chance(0.3) {
            return clients[index].say(#"{"camera":"\#(camera)",\#(SimulatedLine.lease(&random))}"#)
        }
        if random.chance(0.2) {
            let line = SimulatedLine.presentation(&random, at: host.now)
            return clients[index].say(#"{"camera":"\#(camera)","id":"\#(id)",\#(line)}"#, ids: [id])
        }
        clients[index].say(#"{"camera":"\#(camera)","id":"\#(id)",\#(SimulatedLine.steering(&random))}"#, ids: [id])
    }

    /// Brings a camera to rest and leaves it alone for a while.
    private mutating func leaveAlone(_ index: Int) {
        guard !clients[index].isReplaying else { return }
        let camera = SimulatedLine.anyCamera(&random)
        for line in [SimulatedLine.idleAction(&random), #""type":"stop""#] {
            clients[index].say(#"{"camera":"\#(camera)",\#(line)}"#)
        }
        clients[index].send(&random, host)
        host.pass(random.number(0...9000))
    }

    /// Another client removes the camera of a client's trace, whatever its state; then the owner sends a request
    /// without a camera name, sends more of the trace, or ends it.
    private mutating func removeUnderReplay(of owner: Int) {
        if !clients[owner].isReplaying { startShortReplay(owner) }
        guard let camera = clients[owner].traceCamera, let other = anyClient(), other != owner else { return }
        clients[other].say(#"{"type":"remove-camera","camera":"\#(camera)"}"#)
        clients[other].send(&random, host)
        if random.chance(0.7) { host.turn() }
        for _ in 0..<random.integer(1...3) {
            let id = clients[owner].newID()
            let (line, time) = (SimulatedLine.withoutCamera(&random), ",\"timeMs\":\(clients[owner].traceTime)")
            clients[owner].say("{\"id\":\"\(id)\"\(time),\(line)}", ids: [id])
        }
        if random.chance(0.2) { startOrEndReplay(owner) }
    }

    /// Starts a trace whose lines continue after its end.
    private mutating func startShortReplay(_ index: Int) {
        startOrEndReplay(index, playback: SimulatedLine.shortPlayback(&random))
        let more = SimulatedLine.withoutCamera(&random)
        for line in [#""type":"marker","label":"m1""#, #""type":"pan","phase":"began""#, more] {
            clients[index].say("{\"timeMs\":\(clients[index].traceTime),\(line)}")
            clients[index].traceTime += random.number(0...40)
        }
        clients[index].send(&random, host)
        host.pass(random.number(0...60))
    }

    private mutating func say(_ index: Int) {
        if clients[index].isReplaying {
            if random.chance(0.1) { return startOrEndReplay(index) }
            if random.chance(0.7) { clients[index].traceTime += random.number(0...(random.chance(0.05) ? 3000 : 30)) }
        }
        var objects: [String] = []
        var ids: [String] = []
        for _ in 0..<(random.chance(0.8) ? 1 : random.integer(1...5)) {
            let id = random.chance(0.1) ? clients[index].newID() : nil
            if let id { ids.append(id) }
            objects.append(request(index, id: id))
        }
        let line = objects.count == 1 ? objects[0] : "[" + objects.joined(separator: ",") + "]"
        if ids.isEmpty, random.chance(0.03) { return clients[index].say(broken(line)) }
        clients[index].say(line, ids: ids)
    }

    private mutating func broken(_ line: String) -> String {
        if !isTight, random.chance(0.02) { return String(repeating: line, count: 70_000 / line.utf8.count) }
        var bytes = Array(line.utf8)
        bytes[random.integer(0...(bytes.count - 1))] = UInt8(random.integer(0x20...0x7e))
        return String(decoding: bytes, as: UTF8.self)
    }

    private mutating func request(_ index: Int, id: String?) -> String {
        var members: [String] = []
        if clients[index].isReplaying {
            members.append("\"timeMs\":\(clients[index].traceTime)")
        } else if random.chance(0.7) {
            let name = random.chance(0.01) ? "other\(random.integer(0...5))" : SimulatedLine.anyCamera(&random)
            members.append("\"camera\":\"\(name)\"")
        }
        if let id { members.append("\"id\":\"\(id)\"") }
        members.append(SimulatedLine.body(&random))
        return "{" + members.joined(separator: ",") + "}"
    }

    // MARK: Faults and restarts

    private mutating func injectFault() {
        switch random.integer(0...99) {
        case 0...19: saved = host.hub.savedState(isLast: false).bytes
        case 20...23: handOver()
        case 24: host.abandonHandover()
        case 25: end()
        case 26: die()
        default: inspect()
        }
    }

    private mutating func handOver() {
        let lost = clients.indices.filter { _ in random.chance(0.05) }.map { clients[$0].peer }
        do {
            try host.handOver(without: lost)
        } catch {
            complain("nothing was handed over: \(error)")
        }
        collect()
    }

    /// Ends the hub on request: then nothing is lost.
    private mutating func end() {
        host.hub.end(at: host.now)
        host.turn()
        collect()
        restart(with: host.hub.savedState(isLast: true).bytes, keepsEpochs: true)
    }

    /// Kills the hub at any time; the state on disk may be old, truncated or altered.
    private mutating func die() {
        collect()
        switch random.integer(0...3) {
        case 0: saved.removeLast(random.integer(1...saved.count))
        case 1: saved[random.integer(0...(saved.count - 1))] ^= UInt8(random.integer(1...255))
        default: return restart(with: saved, keepsEpochs: false)
        }
        if (try? SavedState(saved)) != nil { complain("a damaged state is taken") }
        host.restart()
        returnOfTheClients()
    }

    private mutating func restart(with bytes: [UInt8], keepsEpochs: Bool) {
        do {
            let state = try SavedState(bytes)
            // With its epochs a state is restored to the last byte.
            host.restart(with: state, keepsEpochs: true)
            if host.hub.savedState(isLast: state.isLast).bytes != bytes { complain("another state came back") }
            if !keepsEpochs { host.restart(with: state) }
        } catch {
            complain("what was saved is not taken: \(error)")
        }
        returnOfTheClients()
    }

    /// Every connection is lost. Some clients reconnect and remember what they read.
    private mutating func returnOfTheClients() {
        saved = host.hub.savedState(isLast: false).bytes
        inspector = Inspector(host)
        clients = clients.filter { _ in random.chance(0.7) }.map { SimulatedClient(connect(), after: $0) }
        for camera in pairs.keys.sorted() { pairs[camera] = newPair(camera) }
        for index in recorders.indices { recorders[index].comeBack(host) }
    }

    // MARK: Checks

    private mutating func inspect() {
        host.turn()
        collect()
        // Nothing else may happen in the turn.
        guard host.hub.deadline.map({ $0 > host.now }) != false else { return }
        let camera = SimulatedLine.anyCamera(&random)
        let last = pairs[camera].flatMap { $0.isSpent ? nil : $0.last }
        let rejected = SimulatedLine.rejected(&random, camera: camera)
        complain(inspector.inspect(camera, host, rejected: rejected, last: last))
    }

    private mutating func collect() {
        for index in clients.indices {
            for line in clients[index].peer.lines() { look(at: line, index) }
            clients[index].peer.compact()
            let memory = clients[index].peer.peer.memory
            if memory > (isTight ? 1 << 19 : 6 << 20) { complain("client \(index) has the hub hold \(memory) bytes") }
        }
        clients.removeAll { $0.peer.isOver }
        for camera in pairs.keys.sorted() { complain(pairs[camera]?.look(&random)) }
        for index in recorders.indices { complain(recorders[index].look()) }
        complain(invariants.complaint(about: host.hub))
    }

    private mutating func renewPair(_ camera: String) {
        guard let spent = pairs[camera], spent.isSpent else { return }
        spent.leave()
        pairs[camera] = newPair(camera)
    }

    private mutating func look(at line: String, _ index: Int) {
        for byte in line.utf8 { checksum = (checksum ^ UInt64(byte)) &* 0x100_0000_01b3 }
        if keepsLines { lines.append(line) }
        events += 1
        guard let json = try? JSON(JSONValue(line.utf8)) else { return complain("no JSON: \(line)") }
        if let complaint = clients[index].take(json) { complain("client \(index): \(complaint): \(line)") }
    }

    /// In the end all clients read, everything is answered and comes to rest, and nothing is left.
    private mutating func rest() {
        for index in clients.indices {
            if clients[index].appetite != .broken { clients[index].appetite = .hungry }
            clients[index].peer.makeRoom(nil)
            if clients[index].isReplaying, clients[index].speech == .open { clients[index].speech = .ending }
        }
        let steerer = host.connect()
        func everyCamera() -> [String] {
            let answer = try? steerer.ask(#"{"type":"cameras"}"#)
            return answer?["cameras"]?.array?.compactMap(\.string) ?? []
        }
        for attempt in 0..<50 {
            for index in clients.indices { clients[index].send(&random, host) }
            // A trace that ends leaves the idle action of its header, which would play for the hour below.
            for _ in 0..<2 {
                for camera in everyCamera() {
                    steerer.send(#"{"type":"set-idle-action","camera":"\#(camera)","action":null}"#)
                    steerer.send(#"{"type":"set-replay-speed","camera":"\#(camera)","speed":"max"}"#)
                    steerer.send(#"{"type":"resume-replay","camera":"\#(camera)"}"#)
                }
                host.pass(500)
            }
            // A trace played at its own pace may wait for hours.
            host.pass(3_600_000)
            // A replay held at its end keeps its client waiting.
            for camera in everyCamera() where attempt % 4 == 3 {
                let replay = try? steerer.ask(#"{"type":"get-replay","camera":"\#(camera)"}"#)
                guard replay?["state"]?.string == "at-end" else { continue }
                steerer.send(#"{"type":"end-replay","camera":"\#(camera)"}"#)
            }
            collect()
            if clients.allSatisfy(\.isServed), inspector.stats()?["replays"]?.number == 0 { break }
        }
        for (index, client) in clients.enumerated() {
            if !client.asked.isEmpty, client.appetite != .broken {
                complain("client \(index): no answer to \(client.asked)")
            }
            client.peer.close()
        }
        // These were set by the header of a trace that had not ended, and may end only now.
        for _ in 0..<2 {
            for camera in everyCamera() {
                steerer.send(#"{"type":"set-idle-action","camera":"\#(camera)","action":null}"#)
            }
            host.pass(20_000)
        }
        steerer.close()
        // The hub wakes up for an idle action that is gone, which may have been due a day later.
        host.pass(86_400_000)
        collect()
        for pair in pairs.values { pair.leave() }
        for recorder in recorders { recorder.leave() }
        if let deadline = host.hub.deadline { complain("still something to do at \(deadline)") }
        let stats = inspector.stats()
        for (count, wanted) in [("connections", 1), ("subscriptions", 0), ("replays", 0)] as [(String, Double)]
        where stats?[count]?.number != wanted {
            complain("in the end \(count) are \(stats?[count]?.number ?? -1)")
        }
    }
}
