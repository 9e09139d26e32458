// Cameras that follow each other across nodes, with a broker in memory. A camera that would follow itself, directly or
// by way of others, follows none and says so; all others match their sources. `GIMBAL_SEEDS=17-20` selects the seeds of
// the random histories.

import Foundation
import GimbalProtocol
@testable import MQTTBridge
import TestSupport
import Testing

@Suite struct CircleTests {
    /// Nodes, each beside a daemon, whose cameras follow others as configured when their processes start.
    private final class Wiring {
        struct Camera: Hashable {
            var node: Int
            var name: String
            var text: String { "n\(node)/\(name)" }
        }

        let fleet: SimulatedFleet
        var follows: [Camera: Camera] = [:]
        /// Nodes whose mirrors are a separate process: the node learns of them only from the daemon.
        var apart: Set<Int> = []
        /// The processes of each node.
        private(set) var processes: [[SimulatedBridge]]
        private var instances = 0

        init(_ count: Int, seed: UInt64) {
            fleet = SimulatedFleet(seed: seed)
            fleet.hosts = (0..<count).map { HubHost(epochSeed: seed << 32 + UInt64($0) << 16) }
            processes = Array(repeating: [], count: count)
        }

        var cameras: [Camera] {
            fleet.hosts.indices.flatMap { [Camera(node: $0, name: "main"), Camera(node: $0, name: "side")] }
        }

        /// Starts the processes of a node in place of the current ones.
        func start(_ index: Int) {
            for process in processes[index] { process.die() }
            instances += 1
            let node = Node.Settings("n\(index)", instance: "i\(instances)")
            let mirrors = follows.filter { $0.key.node == index }.sorted { $0.key.name < $1.key.name }.map {
                CameraMirror.Settings(node: "n\($1.node)", camera: $1.name, local: $0.name)
            }
            let host = fleet.hosts[index]
            processes[index] =
                apart.contains(index)
                ? [
                    SimulatedBridge(fleet, host, node: node),
                    SimulatedBridge(fleet, host, node: nil, mirrors: mirrors),
                ] : [SimulatedBridge(fleet, host, node: node, mirrors: mirrors)]
            feed(Camera(node: index, name: "side"), #""type":"set-gestures""#)
        }

        func startAll() {
            for index in processes.indices { start(index) }
            connectAll()
        }

        func connectAll() {
            fleet.isUp = true
            for process in fleet.processes { fleet.connect(process) }
        }

        func feed(_ camera: Camera, _ members: String) {
            fleet.hosts[camera.node].connect().send(#"{"camera":"\#(camera.name)",\#(members)}"#)
        }

        private func mirror(of camera: Camera) -> (process: SimulatedBridge, mirror: CameraMirror)? {
            guard let process = processes[camera.node].last else { return nil }
            let names = follows.keys.filter { $0.node == camera.node }.map(\.name).sorted()
            return names.firstIndex(of: camera.name).map { (process, process.mirrors[$0]) }
        }

        /// The chain of followed cameras that the broker's payloads must list for a camera.
        func chain(of camera: Camera) -> [Camera] {
            var chain: [Camera] = []
            var next = follows[camera]
            while let camera = next, !chain.contains(camera) {
                chain.append(camera)
                next = follows[camera]
            }
            return chain
        }

        func circle(of camera: Camera) -> [Camera]? {
            let chain = chain(of: camera)
            return chain.firstIndex(of: camera).map { Array(chain[...$0]) }
        }

        func position(_ camera: Camera) throws -> String {
            try everything(camera.name, of: fleet.hosts[camera.node])
        }

        /// Expects each payload to name what its camera follows; one in a circle follows none, others match their
        /// sources.
        func expectAll(_ comment: String) throws {
            for camera in cameras {
                let payload = try #require(fleet.retained["gimbal/\(camera.text)/camera"], "\(comment) \(camera.text)")
                let told = try #require(CameraStatus.read(payload)).message.follows.map { "\($0.node)/\($0.camera)" }
                #expect(told == chain(of: camera).map(\.text), "\(comment) \(camera.text)")
                guard let (process, mirror) = mirror(of: camera), let source = follows[camera] else { continue }
                let lines = process.log.filter { $0.hasPrefix("\(camera.name) ") && !$0.contains("let") }
                if let circle = circle(of: camera) {
                    #expect(!mirror.isThere, "\(comment) \(camera.text)")
                    let line =
                        "\(camera.name) does not follow \(source.text) because that would be a circle: "
                        + "\(camera.text) follows " + circle.map(\.text).joined(separator: ", which follows ")
                    #expect(lines.last == line, "\(comment) \(camera.text)")
                } else {
                    #expect(mirror.isThere, "\(comment) \(camera.text)")
                    #expect(try position(camera) == position(source), "\(comment) \(camera.text)")
                    #expect(lines.last?.contains("circle") != true, "\(comment) \(camera.text)")
                }
            }
        }

        /// Restarts the processes of a node, and expects all to be right once they have noticed.
        func restart(_ index: Int, _ comment: String) throws {
            start(index)
            connectAll()
            fleet.pass(15_000, step: 20)
            try expectAll(comment)
        }

        /// Expects no camera payloads at rest.
        func expectRest(_ comment: String) {
            let judge = SimulatedProcess(fleet)
            fleet.connect(judge)
            fleet.subscribe("gimbal/+/+/camera", judge)
            fleet.pass(100)
            judge.received = []
            fleet.pass(20_000, step: 20)
            #expect(judge.received.isEmpty, "\(comment)")
            fleet.cut(judge)
            fleet.processes.removeAll { $0 === judge }
        }
    }

    private func ring(_ count: Int, seed: UInt64 = 1) -> Wiring {
        let wiring = Wiring(count, seed: seed)
        for index in 0..<count {
            wiring.follows[.init(node: index, name: "main")] = .init(node: (index + 1) % count, name: "main")
        }
        return wiring
    }

    @Test(arguments: 1...5)
    func aCircleIsRefusedByAllOfItWithOneLineThatNamesThemAndNothingIsEchoed(count: Int) throws {
        let wiring = ring(count)
        let judge = SimulatedProcess(wiring.fleet)
        wiring.fleet.connect(judge)
        wiring.fleet.subscribe("gimbal/+/main/camera", judge)
        wiring.startAll()
        wiring.fleet.pass(4000)
        let first = Wiring.Camera(node: 0, name: "main")
        let last = Wiring.Camera(node: count - 1, name: "main")
        judge.received = []
        wiring.feed(first, #""type":"move","update":{"kind":"zoom-to","zoom":9}"#)
        wiring.feed(first, #""type":"animate","update":{"kind":"zoom-to","zoom":14},"durationMs":1000"#)
        wiring.fleet.pass(400)
        wiring.feed(last, #""type":"move","update":{"kind":"set-bearing","bearing":40}"#)
        wiring.fleet.pass(3000)
        try wiring.expectAll("\(count)")
        #expect(try wiring.position(last).contains(#""bearing":40,"#))
        if count > 1 { #expect(try wiring.position(first).contains(#""zoom":14,"bearing":0,"#)) }
        // The animation, at 30 events a second, and the turn.
        #expect(judge.received.count < 45)
        for process in wiring.processes.joined() { #expect(process.log.filter { $0.contains("circle") }.count == 1) }
        wiring.expectRest("\(count)")
        // One is restarted without `--follow`.
        wiring.follows[last] = nil
        try wiring.restart(count - 1, "\(count), opened")
        // And again with it, while the others follow.
        wiring.follows[last] = first
        try wiring.restart(count - 1, "\(count), closed again")
        wiring.expectRest("\(count), closed again")
    }

    @Test func anAnimationThatIsFollowedWhenACircleIsClosedEndsForTheMirror() throws {
        let wiring = Wiring(2, seed: 3)
        let (a, z) = (Wiring.Camera(node: 0, name: "main"), Wiring.Camera(node: 1, name: "main"))
        wiring.follows[z] = a
        wiring.startAll()
        wiring.fleet.pass(4000)
        wiring.feed(a, #""type":"animate","update":{"kind":"zoom-to","zoom":14},"durationMs":60000"#)
        wiring.fleet.pass(200)
        wiring.follows[a] = z
        try wiring.restart(0, "closed while it moves")
        let peer = wiring.fleet.hosts[1].connect()
        peer.send(#"{"type":"await-idle","camera":"main","timeoutMs":0}"#)
        #expect(peer.receive()?.contains("at-rest") == true)
    }

    @Test(arguments: [(1, 1), (2, 1), (2, 2), (3, 1), (3, 3), (4, 2), (4, 4)])
    func aCircleIsRefusedWhereMirrorsAreProcessesOfTheirOwn(count: Int, apart: Int) throws {
        let wiring = ring(count)
        wiring.apart = Set(0..<apart)
        wiring.startAll()
        wiring.fleet.pass(5000)
        for _ in 0..<3 {
            for index in 0..<count {
                wiring.feed(
                    .init(node: index, name: "main"), #""type":"move","update":{"kind":"scroll-by","x":9,"y":3}"#)
            }
            wiring.fleet.pass(15_000, step: 20)
        }
        try wiring.expectAll("\(apart) of \(count)")
        wiring.expectRest("\(apart) of \(count)")
        wiring.processes[0][1].restartDaemon()
        wiring.processes[0][0].loseDaemon()
        wiring.feed(.init(node: 0, name: "side"), #""type":"set-gestures""#)
        wiring.fleet.pass(15_000, step: 20)
        try wiring.expectAll("\(apart) of \(count), with another epoch")
        wiring.expectRest("\(apart) of \(count), with another epoch")
        // A mirror that is gone sends nothing more to the daemon.
        let last = Wiring.Camera(node: count - 1, name: "main")
        wiring.follows[last] = nil
        try wiring.restart(count - 1, "\(apart) of \(count), opened")
    }

    @Test func aCircleOfWhichOneNodeIsLostStaysRefusedUntilThatSaysOtherwise() throws {
        let wiring = ring(3)
        wiring.startAll()
        wiring.fleet.pass(5000)
        for process in wiring.processes[2] { process.die() }
        wiring.fleet.pass(100_000, step: 50)
        let told = wiring.fleet.retained["gimbal/n0/main/camera"].flatMap { CameraStatus.read($0)?.message.follows }
        #expect(told?.map(\.node) == ["n1", "n2", "n0"])
        #expect(wiring.processes[0][0].mirror?.isThere == false)
        wiring.follows[.init(node: 2, name: "main")] = nil
        try wiring.restart(2, "after the lost one came back")
    }

    @Test func aChainIsFollowedAsFarAsItMayBeAndTheRestIsRefused() throws {
        let most = FollowedCamera.most
        for count in [most + 1, most + 3] {
            let wiring = ring(count)
            wiring.follows[.init(node: count - 1, name: "main")] = nil
            wiring.startAll()
            wiring.fleet.pass(5000, step: 20)
            wiring.feed(.init(node: count - 1, name: "main"), #""type":"move","update":{"kind":"zoom-to","zoom":9}"#)
            wiring.fleet.pass(3000, step: 20)
            for (index, process) in wiring.processes.joined().enumerated().dropLast() {
                let isTooLong = index < count - 1 - most
                #expect(process.mirror?.isThere == !isTooLong, "\(index) of \(count)")
                #expect(process.log.contains { $0.contains("more than \(most) follow") } == isTooLong)
            }
        }
        // All cameras refuse a circle that is too long to be named.
        let wiring = ring(most + 2)
        wiring.startAll()
        wiring.fleet.pass(8000, step: 20)
        for process in wiring.processes.joined() { #expect(process.log.contains { $0.contains("more than") }) }
        wiring.expectRest("a circle of \(most + 2)")
    }

    @Test func aSourceThatChangesItsWordAllTheTimeIsOneLineOfTheLogInTenSeconds() throws {
        let fleet = SimulatedFleet(HubHost())
        let bridge = SimulatedBridge(
            fleet, fleet.hosts[0], node: Node.Settings("a", instance: "a1"),
            mirror: CameraMirror.Settings(node: "z", camera: "main", local: "main"))
        let liar = SimulatedProcess(fleet)
        for process in fleet.processes { fleet.connect(process) }
        fleet.pass(3000)
        for number in 1...2000 {
            var status = CameraStatus(
                camera: "main", epoch: "e", seq: number, isMoving: false,
                position: .init(target: .init(latitude: 0, longitude: 0), zoom: 2))
            status.follows = [FollowedCamera(node: number % 2 == 0 ? "a" : "x\(number)", camera: "main")]
            let payload = status.payload(Stamp(node: "z", instance: "z1", generation: 1, number: number))
            fleet.publish(Publication("gimbal/z/main/camera", payload, isRetained: true), from: liar)
            fleet.pass(10)
        }
        #expect(2...4 ~= bridge.log.filter { $0.contains("follow") }.count, "\(bridge.log)")
        fleet.pass(10_000)
        #expect(bridge.log.last?.hasSuffix("a/main follows z/main, which follows a/main") == true)
    }

    @Test(arguments: [
        #"{}"#, #""a/main""#, #"[1]"#, #"["a/main"]"#, #"[{"node":"a"}]"#, #"[{"node":"a","camera":"b/c"}]"#,
        #"[{"node":"a\n","camera":"b"}]"#, #"[{"node":"","camera":"b"}]"#,
        #"[{"node":"a","camera":"b","epoch":"\#(String(repeating: "e", count: 65))"}]"#,
        #"[{"node":"a","camera":"b","epoch":"\\"}]"#, #"[{"node":"a","camera":"b","epoch":"\u0001"}]"#,
    ])
    func aPayloadWhoseChainIsNoneIsNoStateOfACamera(chain: String) {
        let status = CameraStatus(
            camera: "main", epoch: "e", seq: 1, isMoving: false,
            position: .init(target: .init(latitude: 0, longitude: 0), zoom: 2),
            follows: [FollowedCamera(node: "x", camera: "y", epoch: "e")])
        let stamp = Stamp(node: "z", instance: "z1", generation: 1, number: 1)
        let text = String(decoding: status.payload(stamp), as: UTF8.self)
        #expect(CameraStatus.read(Array(text.utf8))?.message == status)
        let other = text.replacing(#"[{"node":"x","camera":"y","epoch":"e"}]"#, with: chain)
        #expect(other != text && CameraStatus.read(Array(other.utf8)) == nil)
    }

    // MARK: Random histories

    @Test func circlesAreRefusedAndAllElseIsFollowedInTheEndWhateverHappened() throws {
        let text = ProcessInfo.processInfo.environment["GIMBAL_SEEDS"] ?? "1-24"
        let ends = text.split(separator: "-").compactMap { UInt64($0) }
        for seed in (ends.first ?? 1)...(ends.last ?? 24) { try history(seed) }
    }

    private func history(_ seed: UInt64) throws {
        let wiring = Wiring(1 + Int(seed % 4), seed: seed)
        let fleet = wiring.fleet
        func camera() -> Wiring.Camera { wiring.cameras[Int.random(in: wiring.cameras.indices, using: &fleet.random)] }
        func rewire(_ one: Wiring.Camera) { wiring.follows[one] = fleet.random.chance(0.8) ? camera() : nil }
        wiring.apart = Set(fleet.hosts.indices.filter { _ in fleet.random.chance(0.4) })
        for one in wiring.cameras { rewire(one) }
        fleet.weather = .foul
        for index in wiring.processes.indices { wiring.start(index) }
        for _ in 0..<60 {
            for process in fleet.processes where fleet.random.chance(0.5) { fleet.connect(process) }
            let one = camera()
            switch Int.random(in: 0..<20, using: &fleet.random) {
            case 0..<4:
                let bearing = Double.random(in: 0...360, using: &fleet.random)
                wiring.feed(
                    one, #""type":"animate","update":{"kind":"set-bearing","bearing":\#(bearing)},"durationMs":300"#)
            case 4..<8: wiring.feed(one, #""type":"move","update":{"kind":"scroll-by","x":10,"y":4}"#)
            case 8:
                wiring.feed(
                    one, #""type":"set-zoom-range","maxZoom":\#(Int.random(in: 10...20, using: &fleet.random))"#)
            case 9...11:
                rewire(one)
                wiring.start(one.node)
            case 12: wiring.start(one.node)
            case 13: wiring.processes[one.node].forEach { fleet.cut($0, broker: 700) }
            case 14: fleet.stopBroker(forgets: fleet.random.chance(0.5))
            case 15, 16: fleet.isUp = true
            case 17: wiring.feed(one, #""type":"remove-camera""#)
            case 18:
                wiring.processes[one.node][0].restartDaemon()
                wiring.processes[one.node].dropFirst().forEach { $0.loseDaemon() }
            default: break
            }
            fleet.pass(Double.random(in: 1...400, using: &fleet.random), step: 10)
        }
        wiring.connectAll()
        for one in wiring.cameras { wiring.feed(one, #""type":"set-gestures""#) }
        wiring.feed(camera(), #""type":"animate","update":{"kind":"zoom-to","zoom":9},"durationMs":400"#)
        fleet.pass(1000, step: 10)
        fleet.weather = .fair
        // Each camera of a chain may have to query the broker once more.
        for _ in 0..<200 {
            wiring.connectAll()
            fleet.pass(1000, step: 50)
        }
        try wiring.expectAll("seed \(seed)")
        wiring.expectRest("seed \(seed)")
        // In fair weather all notice at once when a camera follows another one.
        let one = camera()
        rewire(one)
        wiring.start(one.node)
        wiring.connectAll()
        wiring.feed(camera(), #""type":"move","update":{"kind":"scroll-by","x":10,"y":4}"#)
        fleet.pass(25_000, step: 20)
        try wiring.expectAll("seed \(seed), rewired")
    }
}
