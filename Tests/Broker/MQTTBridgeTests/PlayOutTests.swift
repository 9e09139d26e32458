// Mirrors that show their source with a fixed delay: whatever the network does, all show the same at any time.

import Foundation
import GimbalProtocol
import Hub
import MapCamera
import Service
import TestSupport
import Testing

@testable import MQTTBridge

@Suite struct PlayOutTests {
    /// A wall: a node, and mirrors of its camera with a common play-out delay in milliseconds.
    private final class Wall {
        let fleet: SimulatedFleet
        let source: SimulatedBridge
        let mirrors: [SimulatedBridge]
        private let askers: [HubPeer]
        private let watchers: [HubPeer]
        private static let start = 1_764_115_264_000.0

        /// - Parameter clocks: the offsets of the mirrors' wall clocks from the source's, in milliseconds.
        /// - Parameter areNodes: whether the mirrors' bridges publish their own cameras, too, as `screen1` and so on.
        init(
            _ clocks: [Double], playOut: Double?, delay: Double, seed: UInt64, tellsMotions: Bool = false,
            areNodes: Bool = false
        ) {
            fleet = SimulatedFleet(seed: seed)
            fleet.weather.delay = delay
            fleet.hosts = (0...clocks.count).map { HubHost(epochSeed: UInt64($0) + 7) }
            for (host, error) in zip(fleet.hosts, [0] + clocks) {
                // It drifts by as many parts per million as it is off in milliseconds.
                host.wallTime = { Self.start + $0 * (1 + error * 1e-6) + error }
            }
            var node = Node.Settings("left", instance: "a1")
            (node.tellsMotions, node.tellsSkew) = (tellsMotions, true)
            source = SimulatedBridge(fleet, fleet.hosts[0], node: node)
            mirrors = fleet.hosts.enumerated().dropFirst().map { [fleet] number, host in
                var settings = CameraMirror.Settings(node: "left", camera: "main", local: "copy")
                settings.playOut = playOut
                let node = areNodes ? Node.Settings("screen\(number)", instance: "b\(number)") : nil
                return SimulatedBridge(fleet, host, node: node, mirror: settings)
            }
            for process in [source] + mirrors { fleet.connect(process) }
            fleet.pass(2500)
            askers = fleet.hosts.dropFirst().map { $0.connect() }
            watchers = fleet.hosts.dropFirst().map { $0.connect() }
            for watcher in watchers { watcher.send(#"{"type":"subscribe","camera":"copy"}"#) }
            _ = movements()
        }

        /// The time on the source's wall clock.
        var wallTime: Double { fleet.hosts[0].wallTime(fleet.now) }

        /// Sets all wall clocks back by a second, as the kernel does after a leap second.
        func leap() {
            for host in fleet.hosts { host.wallTime = { [clock = host.wallTime] in clock($0) - 1000 } }
        }

        /// The positions that each mirror's subscriber has read since the last call.
        func movements() -> [[String]] {
            watchers.map { watcher in
                watcher.lines().filter { $0.contains("camera-changed") }.map { line in
                    String(line[(line.range(of: #""position""#)?.lowerBound ?? line.startIndex)...])
                }
            }
        }

        /// Returns where each mirror's camera is at a time of the wall clock, in the digits of its answer.
        func positions(at time: Double) throws -> [String] {
            try askers.map { asker in
                let answer = try asker.ask(#"{"type":"get-camera","camera":"copy","atWallTime":\#(time)}"#)
                return try #require(answer["position"]).text
            }
        }

        func position(of camera: String, on host: Int) throws -> String {
            let peer = fleet.hosts[host].connect()
            defer { peer.close() }
            return try #require(peer.ask(#"{"type":"get-camera","camera":"\#(camera)"}"#)["position"]).text
        }
    }

    /// Moves the source's camera by hand and by command for a number of milliseconds.
    private func perform(_ wall: Wall, _ milliseconds: Double, each: () throws -> Void) throws {
        let feeder = wall.fleet.hosts[0].connect()
        let end = wall.fleet.now + milliseconds
        while wall.fleet.now < end {
            switch wall.fleet.random.integer(0...3) {
            case 0:
                feeder.send(#"{"type":"pan","phase":"began"}"#)
                var x = 0.0
                for _ in 0..<wall.fleet.random.integer(5...40) {
                    x += wall.fleet.random.number(-20...30)
                    feeder.send(#"{"type":"pan","phase":"changed","translation":{"x":\#(x),"y":\#(x / 3)}}"#)
                    wall.fleet.pass(8)
                    try each()
                }
                feeder.send(#"{"type":"pan","phase":"ended"}"#)
            case 1:
                let zoom = wall.fleet.random.number(3...15)
                feeder.send(#"{"type":"animate","update":{"kind":"zoom-to","zoom":\#(zoom)},"durationMs":900}"#)
            case 2: feeder.send(#"{"type":"move","update":{"kind":"scroll-by","x":30,"y":-20}}"#)
            default: break
            }
            for _ in 0..<wall.fleet.random.integer(1...150) {
                wall.fleet.pass(8)
                try each()
            }
        }
    }

    @Test func sourceTellsItsDaemonsClientsWhichScreensKeepInStep() throws {
        // For the second mirror all comes late, the clock of the fourth is so wrong that nothing can be said, and the
        // fifth may not move its camera.
        let wall = Wall([0, 500, 0, -1500, 0], playOut: 120, delay: 15, seed: 4, areNodes: true)
        wall.mirrors[0].clockQuality = ClockQuality(isSynchronized: true, maximumError: 40)
        wall.mirrors[2].clockQuality = ClockQuality(isSynchronized: false, maximumError: .infinity)
        var asker = wall.fleet.hosts[0].connect()
        func screens() throws -> [JSON] {
            let clients = try asker.ask(#"{"type":"clients"}"#)["clients"]?.array ?? []
            let abouts = try clients.compactMap { try $0["about"]?.string.map { try JSON($0) } }
            return abouts.first { $0["type"]?.string == "screens" }?["screens"]?.array ?? []
        }
        let names = ["screen1", "screen2", "screen3", "screen4", "screen5"]
        _ = try asker.ask(#"{"type":"get-camera"}"#)
        wall.fleet.pass(20_000)
        #expect(try screens().map { $0["node"]?.string } == names)
        #expect(try screens().allSatisfy { $0["leadMs"] == nil && $0["silentMs"] == nil }, "nothing has moved")

        let owner = wall.fleet.hosts[5].connect()
        #expect(try owner.ask(#"{"type":"take-lease","camera":"copy","forMs":3600000}"#)["type"]?.string == "lease")
        try perform(wall, 40_000) {}
        let told = try screens()
        #expect(told.map { $0["node"]?.string } == names)
        #expect(told.allSatisfy { $0["camera"]?.string == "copy" })
        #expect(told.map { $0["silentMs"]?.number ?? 0 > 25_000 } == [false, false, false, true, true])
        #expect(told.map { $0["late"]?.number == 0 } == [true, false, true, true, true])
        let leads = told.map { $0["leadMs"]?.number ?? -1 }
        #expect((0...120).contains(leads[0]) && (-500...(-350)).contains(leads[1]), "\(leads)")
        #expect(told.map { $0["synchronized"]?.bool } == [true, nil, false, nil, nil])
        #expect(told.map { $0["errorMs"]?.number } == [0.04, nil, nil, nil, nil])

        // One that has gone is silent for a while. A bridge without a daemon waits, and tells the next one.
        wall.fleet.cut(wall.mirrors[0])
        wall.fleet.pass(40_000)
        #expect(try screens()[0]["silentMs"]?.number ?? 0 > 25_000)
        wall.source.hasDaemon = false
        wall.source.restartDaemon()
        wall.fleet.pass(20_000)
        #expect(try #require(wall.source.node?.deadline) > wall.fleet.now)
        wall.source.hasDaemon = true
        wall.fleet.pass(10_000)
        asker = wall.fleet.hosts[0].connect()
        #expect(try screens().map { $0["node"]?.string } == names)
        wall.fleet.pass(300_000)
        #expect(try screens().map { $0["node"]?.string } == Array(names[1...4]))
    }

    @Test func publisherMayBeCalledScreen() throws {
        let wall = Wall([0], playOut: 120, delay: 5, seed: 4)
        let client = SimulatedProcess(wall.fleet)
        wall.fleet.connect(client)
        let line = #"{"type":"move","update":{"kind":"zoom-to","zoom":5}}"#
        wall.fleet.publish(Publication("gimbal/left/main/set/screen", Array(line.utf8)), from: client)
        wall.fleet.pass(2000)
        #expect(try wall.position(of: "main", on: 0).contains(#""zoom":5"#))
    }

    private func screen(_ node: String, _ camera: String = "main") -> Screen {
        Screen(node: node, camera: camera, lateness: (nil, 0), clock: nil)
    }

    @Test func screenIsReadOnlyFromItsOwnTopicAndIfItCanBeSo() throws {
        let source = FollowedCamera(node: "left", camera: "main")
        func read(_ payload: [UInt8], _ topic: String = "gimbal/a/main/screen", isRetained: Bool = false) -> Screen? {
            Screen.read(Publication(topic, payload, isRetained: isRetained))?.screen
        }
        let payload = screen("a").payload(following: source)
        #expect(read(payload) == screen("a"))
        #expect(read(payload, "gimbal/b/main/screen") == nil && read(payload, isRetained: true) == nil)
        for (member, isPossible) in [
            (#""late":1,"leadMs":-2"#, true), (#""late":1,"leadMs":2"#, false), (#""late":0,"leadMs":-2"#, false),
            (#""late":-1"#, false), (#""late":0,"errorMs":-1"#, false), (#""late":0,"errorMs":1e12"#, false),
            (#""late":0,"synchronized":3"#, false),
        ] {
            let text = String(decoding: payload, as: UTF8.self).replacing(#""late":0"#, with: member)
            #expect((read(Array(text.utf8)) != nil) == isPossible, "\(text)")
        }
    }

    @Test func screensTakeFewPlacesForANodeAndSilentOnesMakeRoom() throws {
        var screens = Screens()
        func told(at time: Double) throws -> [String] {
            let about = screens.takeAbout(at: time, isAnew: true) ?? ""
            return try #require(ScreenList(about: about)).screens.map { "\($0.node)/\($0.camera)" }
        }
        for camera in 0..<9 { screens.note(screen("a", "c\(camera)"), at: 0) }
        #expect(try told(at: 0).count == 8)
        for node in 0..<60 { screens.note(screen("n\(node)"), at: 10_000) }
        #expect(try told(at: 10_000).count == 64)
        screens.note(screen("z"), at: 10_000)
        #expect(try !told(at: 10_000).contains("z/main"))
        screens.note(screen("z"), at: 26_000)
        #expect(try told(at: 26_000).contains("z/main"))
        // As many as a daemon takes.
        var long = Screens()
        for node in 10..<74 {
            let name = String(repeating: "\(node)", count: 32)
            long.note(screen(name, name), at: 0)
        }
        let about = long.takeAbout(at: 1000) ?? ""
        #expect((7000...8192).contains(about.utf8.count) && ScreenList(about: about) != nil)
    }

    @Test(arguments: UInt64(1)...3, [false, true])
    func mirrorsAnswerTheSameDigitsForOneTimeWhateverTheNetworkDoes(seed: UInt64, tellsMotions: Bool) throws {
        let wall = Wall(
            [0, 1, -1, 3, -3, 20, -20, 500], playOut: 120, delay: 15, seed: seed, tellsMotions: tellsMotions)
        var (asked, positions) = (0, Set<String>())
        try perform(wall, 20_000) {
            // Now, soon or a moment ago.
            let time = wall.wallTime - wall.fleet.random.number(0...100)
            let told = try wall.positions(at: time)
            #expect(Set(told).count == 1, "at \(time): \(told)")
            asked += 1
            positions.formUnion(told)
        }
        #expect(asked > 1000 && positions.count > 300)
        wall.fleet.pass(5000)
        let source = try wall.position(of: "main", on: 0)
        for mirror in 1...8 { #expect(try wall.position(of: "copy", on: mirror) == source) }
        // The last mirror's clock is fast: everything arrives late for it, and it says so.
        #expect(wall.mirrors[7].log.contains { $0.contains("came late, by up to") })
        #expect(!wall.mirrors[0].log.contains { $0.contains("came late") }, "\(wall.mirrors[0].log)")
    }

    @Test func mirrorsWithRightClocksSendTheSameEventsAtTheSameTime() throws {
        let wall = Wall([0, 0, 0, 0], playOut: 120, delay: 15, seed: 4)
        var count = 0
        try perform(wall, 10_000) {
            let movements = wall.movements()
            #expect(Set(movements).count == 1)
            count += movements[0].count
        }
        #expect(count > 300)
    }

    @Test(arguments: [100, nil] as [Double?])
    func mirrorSaysWhereAClockIsNotSynchronized(playOut: Double?) {
        for (own, other) in [(false, true), (true, false), (true, true)] {
            let fleet = SimulatedFleet(HubHost(), HubHost(epochSeed: 99))
            var node = Node.Settings("left", instance: "a1")
            node.tellsMotions = true
            let source = SimulatedBridge(fleet, fleet.hosts[0], node: node)
            var settings = CameraMirror.Settings(node: "left", camera: "main", local: "copy")
            settings.playOut = playOut
            let mirror = SimulatedBridge(fleet, fleet.hosts[1], node: nil, mirror: settings)
            func set(_ own: Bool, _ other: Bool) {
                mirror.clockQuality = ClockQuality(isSynchronized: own, maximumError: 0)
                source.clockQuality = ClockQuality(isSynchronized: other, maximumError: 0)
            }
            var lines: [Int] {
                ["this machine's clock", "the clock of node \"left\""].map { text in
                    mirror.log.filter { $0.hasPrefix("\(text) is not synchronized") }.count
                }
            }
            set(own, other)
            for process in [source, mirror] { fleet.connect(process) }
            fleet.pass(100_000)
            if playOut == nil {
                // Its clock does not count before the first motion.
                #expect(mirror.looksAtClock == 0 && lines == [0, 0])
                fleet.send(Self.tour)
                fleet.pass(1000)
            }
            #expect(lines == [own ? 0 : 1, other ? 0 : 1])
            set(true, true)
            fleet.pass(5000)
            set(false, false)
            let looks = mirror.looksAtClock
            fleet.pass(100_000)
            #expect(lines == [own ? 1 : 2, other ? 1 : 2])
            #expect(mirror.looksAtClock - looks <= 100)
        }
    }

    @Test func mirrorThatWasCutOffIsInStepAgain() throws {
        let wall = Wall([0, 0], playOut: 120, delay: 15, seed: 5)
        let feeder = wall.fleet.hosts[0].connect()
        feeder.send(#"{"type":"animate","update":{"kind":"zoom-to","zoom":15},"durationMs":8000}"#)
        wall.fleet.pass(1000)
        wall.fleet.cut(wall.mirrors[1])
        wall.fleet.pass(1000)
        // It rests where it stopped.
        let (first, second) = (try wall.positions(at: wall.wallTime), try wall.positions(at: wall.wallTime - 500))
        #expect(first[0] != first[1] && first[1] == second[1])
        wall.fleet.connect(wall.mirrors[1])
        wall.fleet.pass(300)
        for _ in 0..<100 {
            wall.fleet.pass(20)
            let told = try wall.positions(at: wall.wallTime)
            #expect(told[0] == told[1])
        }
    }

    @Test func mirrorWhoseClockIsFarBehindShowsAtOnceWhatComes() throws {
        let wall = Wall([-60_000], playOut: 120, delay: 15, seed: 6)
        wall.fleet.send(#"{"type":"move","update":{"kind":"zoom-to","zoom":5}}"#)
        wall.fleet.pass(500)
        #expect(try wall.position(of: "copy", on: 1) == wall.position(of: "main", on: 0))
    }

    @Test func mirrorWhoseCameraIsMovedByAnotherIsThereAgainAtRest() throws {
        let wall = Wall([0], playOut: 50, delay: 3, seed: 6)
        wall.fleet.send(#"{"type":"move","update":{"kind":"zoom-to","zoom":5}}"#)
        wall.fleet.pass(1000)
        let hand = wall.fleet.hosts[1].connect()
        hand.send(#"{"type":"move","camera":"copy","update":{"kind":"zoom-to","zoom":7}}"#)
        wall.fleet.pass(1000)
        #expect(try wall.position(of: "copy", on: 1) == wall.position(of: "main", on: 0))
        #expect(wall.movements()[0].count == 3)
    }

    @Test(arguments: [false, true]) func otherOutputsShowWhatTheDaemonShows(tellsMotions: Bool) throws {
        let wall = Wall([3], playOut: 120, delay: 15, seed: 13, tellsMotions: tellsMotions)
        wall.fleet.send(#"{"type":"move","update":{"kind":"zoom-to","zoom":5}}"#)
        wall.fleet.pass(1000)
        var shown: Set<String> = []
        try perform(wall, 10_000) {
            let text = try wall.position(of: "copy", on: 1)
            let view = try #require(wall.mirrors[0].shown.last).position
            #expect(try PrintedPosition(view) == PrintedPosition(Self.position(text)))
            shown.insert(text)
        }
        #expect(shown.count > 200 && wall.mirrors[0].shown.count >= shown.count)
    }

    /// A rest that begins and ends between two frames.
    @Test func whatIsShownNextIsNeverDueInThePast() throws {
        var upcoming = Upcoming()
        for (time, isMoving) in [(0, true), (18_000, false), (25_000, true), (40_000, true)] {
            upcoming.insert(Presentation(.initial, at: WallTime(microseconds: time), isMoving: isMoving))
        }
        let now = 500.0
        #expect(upcoming.take(at: WallTime(microseconds: 26_000), now) != nil)
        #expect(try #require(upcoming.deadline) > now)
    }

    private static func position(_ text: String) throws -> CameraPosition {
        try CameraPosition(JSONValue(Array(text.utf8)))
    }

    // MARK: Leap seconds

    @Test func leapSecondInMidGestureHoldsMirrorsUpForThePlayOutAtMost() throws {
        let wall = Wall([0, 1, -1], playOut: 120, delay: 15, seed: 14)
        let feeder = wall.fleet.hosts[0].connect()
        func longitude(_ camera: String, on host: Int) throws -> Double {
            try Self.position(wall.position(of: camera, on: host)).target.longitude
        }
        feeder.send(#"{"type":"pan","phase":"began"}"#)
        // Where the first mirror is, and how many milliseconds behind its source.
        var (places, late) = ([0.0], [0.0])
        for step in 1...500 {
            if step == 250 { wall.leap() }
            feeder.send(#"{"type":"pan","phase":"changed","translation":{"x":\#(-step),"y":0}}"#)
            wall.fleet.pass(8)
            try places.append(longitude("copy", on: 1))
            try late.append(8 * Double(step) * (1 - places[step] / longitude("main", on: 0)))
            // A time that comes twice has two answers until the mirrors know of the second.
            let told = try Set(wall.positions(at: wall.wallTime - 50))
            #expect(told.count == 1 || 250..<260 ~= step)
        }
        // Nothing comes twice.
        #expect(zip(places, places.dropFirst()).allSatisfy { $0 <= $1 })
        // The first position after the leap may have the old clock's time: it is replaced by the next, 33 ms later.
        #expect(late[250...].allSatisfy { $0 < 120 + 120 + 2 * 34 })
        let inStep = 110.0...130
        #expect((late[30..<250] + late[300...]).allSatisfy { inStep ~= $0 })
        feeder.send(#"{"type":"pan","phase":"ended"}"#)
        wall.fleet.pass(2000)
        for mirror in 1...3 { #expect(try wall.position(of: "copy", on: mirror) == wall.position(of: "main", on: 0)) }
    }

    @Test func leapSecondInMidTourIsASecondInWhichMirrorsWait() throws {
        /// Returns where the mirrors are, 8 ms apart, until the source rests.
        func places(leaps: Bool) throws -> [String] {
            let wall = Wall([0, 0, 0], playOut: 120, delay: 15, seed: 15, tellsMotions: true)
            wall.fleet.send(Self.tour)
            let places = try (0..<990).map { step in
                if leaps, step == 250 { wall.leap() }
                wall.fleet.pass(8)
                let told = try (1...3).map { try wall.position(of: "copy", on: $0) }
                #expect(Set(told).count == 1)
                return told[0]
            }
            wall.fleet.pass(1000)
            for mirror in 1...3 {
                #expect(try wall.position(of: "copy", on: mirror) == wall.position(of: "main", on: 0))
            }
            return places
        }
        let (plain, leaped) = try (places(leaps: false), places(leaps: true))
        #expect(leaped[..<250] == plain[..<250])
        #expect(Set(leaped[249..<375]).count == 1)
        #expect(leaped[375...] == plain[250..<865])
        #expect(Set(leaped).count > 300)
    }

    // MARK: An hour

    /// An hour of simulated time: no real network, clock or process is in it.
    @Test func mirrorsAreInStepForAnHourWhateverTheNetworkDoes() throws {
        let wall = Wall([1, -1, 0, 2, -2, 3, -3, 5], playOut: 120, delay: 15, seed: 16)
        let (fleet, feeder) = (wall.fleet, wall.fleet.hosts[0].connect())
        let (began, viewport) = (fleet.now, Viewport(width: 390, height: 844))
        var (round, frames, apart) = (0, 0, 0)
        /// Returns how far apart the places in the corners of two pictures are, in points.
        func points(_ first: String, _ second: String) throws -> Double {
            let (one, other) = try (Self.position(first), Self.position(second))
            return try [(0.0, 0.0), (390, 0), (0, 844), (390, 844)].map { x, y in
                let place = try #require(Projection(one, viewport: viewport).coordinate(for: ScreenPoint(x: x, y: y)))
                let point = try #require(Projection(other, viewport: viewport).point(for: place))
                return hypot(point.x - x, point.y - y)
            }.max() ?? 0
        }
        func compare() throws {
            let told = try wall.positions(at: wall.wallTime - fleet.random.number(0...100))
            frames += 1
            if try told.contains(where: { try $0 != told[0] && points(told[0], $0) > 0.1 }) { apart += 1 }
        }
        while fleet.now < began + 3_600_000 {
            // In every other round nothing is lost, and what the mirrors show meanwhile is compared.
            let isFair = round % 2 == 0
            if !isFair { fleet.weather = round % 4 == 1 ? Weather(loss: 0.1, delay: 15) : .foul }
            feeder.send(Self.tour)
            for step in 0..<(isFair ? 200 : 150) {
                fleet.pass(40, step: 10)
                if isFair { try compare() }
                if round % 8 == 5, step == 50 { fleet.stopBroker(forgets: round % 16 == 5) }
                if round % 8 == 5, step == 100 {
                    fleet.isUp = true
                    for process in [wall.source] + wall.mirrors { fleet.connect(process) }
                }
            }
            try perform(wall, 3000) { if isFair { try compare() } }
            fleet.weather = Weather(delay: 15)
            // Mirrors ask for what they have missed after a minute at the latest.
            fleet.pass(90_000, step: 500)
            let source = try wall.position(of: "main", on: 0)
            for mirror in 1...8 {
                #expect(try wall.position(of: "copy", on: mirror) == source, "mirror \(mirror) in round \(round)")
            }
            round += 1
        }
        #expect(frames > 10_000 && apart * 1000 <= frames, "\(apart) of \(frames)")
    }

    // MARK: Motions

    private static let tour =
        #"{"type":"tour","keyframes":[{"position":{"target":{"latitude":9,"longitude":7},"zoom":8},"durationMs":3000,"#
        + #""waitMs":1000},{"position":{"target":{"latitude":-9,"longitude":70},"zoom":3},"durationMs":4000}]}"#

    /// Returns what has been published of the source's camera.
    private func statuses(_ spy: SimulatedProcess) -> [CameraStatus] {
        defer { spy.received = [] }
        return spy.received.compactMap { CameraStatus.read($0.payload)?.message }
    }

    @Test func nothingIsSentWhileAMotionRuns() throws {
        let wall = Wall([0, 0], playOut: 120, delay: 15, seed: 7, tellsMotions: true)
        let spy = SimulatedProcess(wall.fleet)
        wall.fleet.connect(spy)
        wall.fleet.subscribe("gimbal/left/main/camera", spy)
        wall.fleet.pass(500)
        _ = statuses(spy)
        wall.fleet.send(Self.tour)
        wall.fleet.pass(7000)
        let told = statuses(spy).filter(\.isMoving)
        #expect(told.count == 1 && told[0].motion != nil)
        wall.fleet.pass(2000)
        #expect(statuses(spy).map(\.isMoving) == [false])
        for mirror in 1...2 { #expect(try wall.position(of: "copy", on: mirror) == wall.position(of: "main", on: 0)) }
    }

    @Test func whoComesInTheMiddleOfAMotionIsInStepAtOnce() throws {
        let wall = Wall([0, 0], playOut: 120, delay: 15, seed: 8, tellsMotions: true)
        wall.fleet.cut(wall.mirrors[1])
        wall.fleet.pass(1000)
        wall.fleet.send(Self.tour)
        wall.fleet.pass(2000)
        wall.fleet.connect(wall.mirrors[1])
        wall.fleet.pass(100)
        var places: Set<String> = []
        for step in 0..<350 {
            // The mirror needs neither broker nor node any more.
            if step == 50 { wall.fleet.stopBroker(forgets: true) }
            wall.fleet.pass(20)
            let told = try wall.positions(at: wall.wallTime)
            #expect(told[0] == told[1], "in step \(step)")
            places.insert(told[0])
        }
        #expect(places.count > 200)
        #expect(try wall.position(of: "copy", on: 1) == wall.position(of: "main", on: 0))
    }

    @Test func mirrorWithoutPlayOutFollowsAMotionByItsTime() throws {
        let wall = Wall([0, 0], playOut: nil, delay: 15, seed: 9, tellsMotions: true)
        let feeder = wall.fleet.hosts[0].connect()
        feeder.send(Self.tour)
        wall.fleet.pass(100)
        for _ in 0..<300 {
            wall.fleet.pass(20)
            let told = try wall.positions(at: wall.wallTime)
            #expect(told[0] == told[1])
        }
        feeder.send(#"{"type":"pan","phase":"began"}"#)
        feeder.send(#"{"type":"pan","phase":"changed","translation":{"x":50,"y":0}}"#)
        wall.fleet.pass(1000)
        #expect(try wall.position(of: "copy", on: 1) == wall.position(of: "main", on: 0))
    }

    @Test func fingerThatLandsStopsTheMirrorsWhereItStopsTheSource() throws {
        let wall = Wall([0], playOut: 120, delay: 15, seed: 10, tellsMotions: true)
        let feeder = wall.fleet.hosts[0].connect()
        feeder.send(Self.tour)
        wall.fleet.pass(2000)
        feeder.send(#"{"type":"pan","phase":"began"}"#)
        wall.fleet.pass(1000)
        #expect(try wall.position(of: "copy", on: 1) == wall.position(of: "main", on: 0))
        feeder.send(#"{"type":"pan","phase":"ended"}"#)
        wall.fleet.pass(1000)
        #expect(try wall.position(of: "copy", on: 1) == wall.position(of: "main", on: 0))
    }

    @Test(arguments: [100.0, 2500, 5000], [false, true])
    func aMotionIsShownToItsEndOrToWhereItIsStopped(playOut: Double, isStopped: Bool) throws {
        let wall = Wall([0], playOut: playOut, delay: 15, seed: 13, tellsMotions: true)
        let feeder = wall.fleet.hosts[0].connect()
        feeder.send(#"{"type":"animate","update":{"kind":"zoom-to","zoom":15},"durationMs":6000}"#)
        wall.fleet.pass(isStopped ? 3000 : 6500)
        feeder.send(#"{"type":"stop"}"#)
        wall.fleet.pass(6500)
        let frames = wall.movements()[0].count
        #expect(isStopped ? 175...190 ~= frames : 355...365 ~= frames, "\(frames) frames")
        #expect(try wall.position(of: "copy", on: 1) == wall.position(of: "main", on: 0))
    }

    @Test func aMirrorRestsWhereAMotionHadBroughtItWhenItsSourceIsRemoved() throws {
        let wall = Wall([0], playOut: 500, delay: 15, seed: 14, tellsMotions: true)
        let feeder = wall.fleet.hosts[0].connect()
        feeder.send(#"{"type":"animate","update":{"kind":"zoom-to","zoom":15},"durationMs":6000}"#)
        wall.fleet.pass(3000)
        feeder.send(#"{"type":"remove-camera"}"#)
        wall.fleet.pass(100)
        _ = wall.movements()
        wall.fleet.pass(5000)
        #expect(wall.movements()[0].count <= 2)
        let mirror = wall.fleet.hosts[1].connect()
        #expect(try mirror.ask(#"{"type":"await-idle","camera":"copy","timeoutMs":100}"#)["type"]?.string == "at-rest")
    }

    /// As after an outage of the broker: between the first frame and the others, a camera would jump a second back.
    @Test func motionThatIsToldAgainIsNotPresentedAgain() throws {
        let wall = Wall([0], playOut: 120, delay: 15, seed: 12, tellsMotions: true)
        wall.fleet.send(Self.tour)
        wall.fleet.pass(500)
        let status = try #require(CameraStatus.read(wall.fleet.retained["gimbal/left/main/camera"] ?? [])?.message)
        let began = try #require(status.motion?.wallTime)
        var presenter = Presenter(playOut: 120, bearingOffset: 0)
        var times: [WallTime] = []
        for milliseconds in stride(from: 0.0, to: 3000, by: 100) {
            let now = began.adding(milliseconds: milliseconds)
            if milliseconds.truncatingRemainder(dividingBy: 500) == 0 {
                presenter.note(status, isOnTheWay: true, at: now, milliseconds)
            }
            try presenter.present(status.position, isMoving: true, at: now, milliseconds) { frame in
                times.append(frame.presentAt)
                return true
            }
        }
        #expect(times.count > 150 && zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
    }

    /// As while two bridges follow each other, or when the source is gone; during a movement, and during a tour's wait.
    @Test(arguments: [1000.0, 3700])
    func aMotionHaltsWhereItIsWithoutItsSourceAndGoesOnWithIt(halt: Double) throws {
        let wall = Wall([0], playOut: 120, delay: 15, seed: 15, tellsMotions: true)
        wall.fleet.send(Self.tour)
        wall.fleet.pass(500)
        let status = try #require(CameraStatus.read(wall.fleet.retained["gimbal/left/main/camera"] ?? [])?.message)
        let motion = try #require(status.motion)
        var presenter = Presenter(playOut: 120, bearingOffset: 0)
        presenter.note(status, isOnTheWay: true, at: motion.wallTime, 0)
        var sent: [Presentation] = []
        for milliseconds in stride(from: 0.0, through: halt + 1000, by: 100) {
            let position = halt..<(halt + 500) ~= milliseconds ? nil : status.position
            let now = motion.wallTime.adding(milliseconds: milliseconds)
            try presenter.present(position, isMoving: true, at: now, milliseconds) { presentation in
                sent.append(presentation)
                return true
            }
        }
        let frames = Array(motion.frames)
        let rest = try #require(sent.first { !$0.isMoving })
        let before = frames.last { $0.presentAt.milliseconds(since: motion.wallTime) <= halt - 120 }
        #expect(sent.count { !$0.isMoving } == 1)
        #expect(rest.presentAt.milliseconds(since: motion.wallTime) == halt)
        #expect(try abs(rest.position.zoom - #require(before).position.zoom) < 0.1)
        let last = try #require(sent.last)
        #expect(last.presentAt.milliseconds(since: motion.wallTime) > halt + 900)
        #expect(frames.contains { $0.position == last.position })
    }

    @Test func nodeThatLosesItsDaemonTellsNoMotion() throws {
        let wall = Wall([0], playOut: 120, delay: 15, seed: 11, tellsMotions: true)
        wall.fleet.send(Self.tour)
        wall.fleet.pass(500)
        let topic = "gimbal/left/main/camera"
        #expect(CameraStatus.read(wall.fleet.retained[topic] ?? [])?.message.motion != nil)
        wall.source.hasDaemon = false
        wall.source.loseDaemon()
        wall.fleet.pass(500)
        let status = CameraStatus.read(wall.fleet.retained[topic] ?? [])?.message
        #expect(status?.motion == nil && status?.isMoving == false)
    }
}
