// The daemon restarts while clients are connected, and none of them notices.

import Foundation
import Hub
import Service
import TestSupport
import Testing

@testable import gimbald

@Suite struct RestartTests {
    private func move(_ number: Int) -> String {
        #"{"type":"move","id":\#(number),"update":{"kind":"set-bearing","bearing":\#(number % 359 + 1)}}"# + "\n"
    }

    private func restart(_ daemon: DaemonProcess) { kill(daemon.process.processIdentifier, SIGUSR2) }

    /// Waits until a daemon has restarted.
    private func hasBegunAnew(_ daemon: DaemonProcess) -> Bool { daemon.logs(" continue\n") }

    /// Returns how often a daemon that has ended had restarted.
    private func restarts(_ log: String) -> Int { log.components(separatedBy: " continue\n").count - 1 }

    @Test func underLoadNobodyIsLostAndNoEvent() throws {
        let daemon = try DaemonProcess()
        let subscribers = try (0..<6).map { _ in try daemon.subscriber() }
        let (slow, latest) = (try daemon.subscriber(), try daemon.subscriber(#","delivery":"latest""#))
        let feed = try SocketClient(daemon.socket)
        var isAnswered = true
        for round in 0..<6 {
            let numbers = round * 100..<(round + 1) * 100
            try feed.send(Array(numbers.map(move).joined().utf8))
            restart(daemon)
            for number in numbers { isAnswered = feed.receive() == #"{"type":"ok","id":\#(number)}"# && isAnswered }
        }
        #expect(isAnswered)
        for client in subscribers + [slow] {
            var seqs: [Double] = []
            while seqs.count < 1800, let line = client.receive() { seqs.append(try JSON(line)["seq"]?.number ?? 0) }
            #expect(seqs == (1...1800).map(Double.init))
        }
        var checker = StreamChecker(isEvery: false)
        while let line = latest.receive() {
            #expect(checker.take(try JSON(line)) == nil, "\(line)")
            if try JSON(line)["seq"]?.number == 1800 { break }
        }
        #expect(daemon.end(SIGTERM) == 0)
        #expect(restarts(daemon.log()) > 1)
        #expect(!FileManager.default.fileExists(atPath: daemon.socket))
    }

    /// A client that sends more than a turn handles must not keep the daemon from restarting.
    @Test func beneathAFloodItBeginsAnewAndAnswersEveryLine() throws {
        let daemon = try DaemonProcess()
        let feed = try SocketClient(daemon.socket)
        var isAnswered = true
        for round in 0..<10 {
            let numbers = round * 1500..<(round + 1) * 1500
            try feed.send(Array(numbers.map(move).joined().utf8))
            restart(daemon)
            for number in numbers { isAnswered = feed.receive() == #"{"type":"ok","id":\#(number)}"# && isAnswered }
        }
        #expect(isAnswered)
        #expect(daemon.end(SIGTERM) == 0)
        #expect(restarts(daemon.log()) > 1)
    }

    @Test func whatIsOnItsWayArrives() throws {
        let daemon = try DaemonProcess()
        let (halfClosed, feed) = (try daemon.subscriber(), try SocketClient(daemon.socket))
        halfClosed.halfClose()
        // Half a line before, half a line after.
        let bytes = Array(move(1).utf8)
        try feed.send(Array(bytes[..<20]))
        restart(daemon)
        let other = try SocketClient(daemon.socket)
        try other.send(#"{"type":"hello","version":1,"id":1}"#)
        #expect(other.receive()?.contains("hello") == true)
        try feed.send(Array(bytes[20...]))
        #expect(feed.receive() == #"{"type":"ok","id":1}"#)
        #expect(try halfClosed.receive(until: "idle").count == 3)
        // The line number continues, too.
        #expect(try feed.ask("{")["line"]?.number == 2)
        #expect(daemon.end(SIGTERM) == 0)
        #expect(restarts(daemon.log()) == 1)
    }

    @Test func anAnimationGoesOnInTheNextProcess() throws {
        let daemon = try DaemonProcess()
        let client = try daemon.subscriber()
        try client.send(#"{"type":"animate","durationMs":1500,"update":{"kind":"zoom-to","zoom":5}}"#)
        _ = try client.receive(until: "camera-changed")
        restart(daemon)
        #expect(hasBegunAnew(daemon))
        let told = try client.receive(until: "idle").map { try JSON($0) }
        #expect(told.dropLast().allSatisfy { $0["type"]?.string == "camera-changed" })
        #expect(told.last?["position"]?["zoom"]?.number == 5)
        #expect(daemon.end(SIGTERM) == 0)
    }

    @Test func aGestureThatIsHeldGoesOnInTheNextProcess() throws {
        let daemon = try DaemonProcess()
        let (client, feed) = (try daemon.subscriber(), try SocketClient(daemon.socket))
        try feed.send(#"{"type":"pan","phase":"changed","translation":{"x":0,"y":0}}"#)
        try feed.send(#"{"type":"pan","phase":"changed","translation":{"x":50,"y":0}}"#)
        let before = try JSON(client.receive(until: "camera-changed").last ?? "")
        restart(daemon)
        #expect(hasBegunAnew(daemon))
        try feed.send(#"{"type":"pan","phase":"ended","translation":{"x":100,"y":0},"velocity":{"x":0,"y":0}}"#)
        let told = try client.receive(until: "idle").map { try JSON($0) }
        #expect(told.map { $0["type"]?.string } == ["camera-changed", "idle"])
        let longitudes = [before, told[0]].map { $0["position"]?["target"]?["longitude"]?.number ?? 0 }
        #expect(longitudes[0] < 0 && longitudes[1] == 2 * longitudes[0])
        #expect(daemon.end(SIGTERM) == 0)
    }

    /// Returns a report of fingers.
    private func touch(_ points: [(x: Double, y: Double)], at timeMs: Double) -> String {
        let touches = points.enumerated().map { #"{"id":\#($0.offset),"x":\#($0.element.x),"y":\#($0.element.y)}"# }
        return #"{"type":"touch","timeMs":\#(timeMs),"touches":[\#(touches.joined(separator: ","))]}"#
    }

    /// Reports, frame by frame, of fingers that turn and spread, and rest before they lift.
    private var spread: [String] {
        let moves = (0..<20).map { step in
            let by = Double(step)
            return touch([(150 - 4 * by, 420 - 2 * by), (240 + 4 * by, 400 + 3 * by)], at: 16 * by)
        }
        return moves + [touch([(74, 382), (316, 457)], at: 700), touch([], at: 716)]
    }

    /// Returns target, zoom, bearing and angle of each event that has a position.
    private func positions(_ lines: [String]) throws -> [[Double?]] {
        try lines.map { line in
            let position = try JSON(line)["position"]
            return [
                position?["target"]?["latitude"]?.number, position?["target"]?["longitude"]?.number,
                position?["zoom"]?.number, position?["bearing"]?.number, position?["viewingAngle"]?.number,
            ]
        }
    }

    @Test(arguments: [1, 3, 9, 19, 20])
    func fingersThatAreDownGoOnInTheNextProcessAsIfNothingWere(after frames: Int) throws {
        func told(restartsAfter restarted: Int?) throws -> (positions: [[Double?]], numbers: [Double?]) {
            let daemon = try DaemonProcess()
            let (client, surface) = (try daemon.subscriber(), try SocketClient(daemon.socket))
            let watcher = try daemon.subscriber(#","events":["touch"]"#)
            for (index, line) in spread.enumerated() {
                try surface.send(line)
                guard index + 1 == restarted else { continue }
                // Everything sent has arrived.
                #expect(try surface.answersPing())
                restart(daemon)
                #expect(hasBegunAnew(daemon))
            }
            let events = try client.receive(until: "idle")
            let seen = try (0..<spread.count).map { _ in try JSON(try #require(watcher.receive()))["number"]?.number }
            #expect(daemon.end(SIGTERM) == 0)
            return (try positions(events), seen)
        }
        let (unbroken, broken) = (try told(restartsAfter: nil), try told(restartsAfter: frames))
        #expect(unbroken.positions.count > 15 && broken.positions == unbroken.positions)
        // Watchers see the same surface, and no finger was lost in between.
        #expect(Set(broken.numbers) == [1] && broken.numbers == unbroken.numbers)
    }

    @Test func fingersOfADaemonThatEndsAreCancelledAndGoOnWithTheNextOneWithoutAJump() throws {
        let folder = Folder()
        let path = folder.path("gimbal.sock")
        func daemon() throws -> DaemonProcess { try DaemonProcess(["--state-dir", folder.path], socket: path) }
        /// Pans from one point to another; returns the camera's longitude.
        func pan(_ surface: SocketClient, _ xs: StrideTo<Double>) throws -> Double {
            for x in xs { try surface.send(touch([(x, 400)], at: x * 4)) }
            try surface.send(#"{"type":"get-camera","id":1}"#)
            let camera = try JSON(try #require(try surface.receive(until: "camera").last))
            return try #require(camera["position"]?["target"]?["longitude"]?.number)
        }

        let first = try daemon()
        let watcher = try first.subscriber(#","events":["touch","idle"]"#)
        let before = try pan(try SocketClient(path), stride(from: 100, to: 200, by: 5))
        #expect(before < -1)
        #expect(first.end(SIGTERM) == 0)
        let last = try watcher.receive(until: "idle").map { try JSON($0) }
        #expect(last.last?["position"]?["target"]?["longitude"]?.number == before)

        // The finger is still down: for the next daemon it lands where it is.
        let second = try daemon()
        let surface = try SocketClient(path)
        #expect(try pan(surface, stride(from: 200, to: 201, by: 5)) == before)
        let after = try pan(surface, stride(from: 205, to: 300, by: 5))
        #expect(after < before)
        // It moves the camera as far as a finger that lands for the first time, from where the camera was.
        let other = try DaemonProcess()
        let feed = try SocketClient(other.socket)
        let fresh = try pan(feed, stride(from: 200, to: 300, by: 5))
        #expect(abs((after - before) - fresh) < 1e-6)
        #expect(second.end(SIGTERM) == 0)
    }

    @Test func aReplayThatIsPausedGoesOnInTheNextProcess() throws {
        let daemon = try DaemonProcess()
        let (client, owner) = (try daemon.subscriber(), try SocketClient(daemon.socket))
        let steerer = try SocketClient(daemon.socket)
        func ask(_ members: String) throws -> JSON { try steerer.ask("{\"id\":1,\(members)}") }
        try owner.send(#"{"type":"trace","version":1,"id":7,"paused":true,"speed":"max"}"#)
        try owner.send(#"{"type":"marker","timeMs":0,"label":"first"}"#)
        for zoom in 3...9 {
            try owner.send(#"{"type":"move","timeMs":\#(zoom * 1000),"update":{"kind":"zoom-to","zoom":\#(zoom)}}"#)
        }
        try owner.send(#"{"type":"trace-end"}"#)
        try waitUntil("the replay is paused") { (try? ask(#""type":"get-replay""#))?["state"]?.string == "paused" }
        #expect(try ask(#""type":"step-replay","count":2"#)["type"]?.string == "ok")
        _ = try client.receive(until: "idle")
        let second = try client.receive(until: "idle")
        restart(daemon)
        #expect(hasBegunAnew(daemon))
        let status = try ask(#""type":"get-replay""#)
        #expect(status["state"]?.string == "paused" && status["markers"]?.text.contains("first") == true)
        // It still has the lines that it has played and those that it has not read.
        #expect(try ask(#""type":"seek-replay","toMs":3500"#)["type"]?.string == "ok")
        #expect(try ask(#""type":"resume-replay""#)["type"]?.string == "ok")
        let reset = try JSON(client.receive() ?? "")
        #expect(reset["type"]?.string == "reset" && reset["seq"]?.number == 3)
        #expect(try client.receive(until: "idle") == second)
        let ended = try JSON(owner.receive() ?? "")
        #expect(ended["type"]?.string == "trace-ended" && ended["id"]?.number == 7 && ended["events"]?.number == 8)
        #expect(daemon.end(SIGTERM) == 0)
    }

    @Test func aProgramThatWasRemovedAndInstalledAgainStartsNext() throws {
        let folder = Folder()
        let program = folder.path("gimbald")
        let daemon = try DaemonProcess(prelude: #"cp "$0" '\#(program)'; exec '\#(program)' "$@""#)
        func running() throws -> String {
            try FileManager.default.destinationOfSymbolicLink(
                atPath: "/proc/\(daemon.process.processIdentifier)/exe")
        }
        try FileManager.default.removeItem(atPath: program)
        restart(daemon)
        #expect(hasBegunAnew(daemon))
        #expect(try running() == program + " (deleted)")
        try FileManager.default.copyItem(at: DaemonProcess.gimbald, to: URL(fileURLWithPath: program))
        restart(daemon)
        try waitUntil("the installed program runs") { try running() == program }
        #expect(daemon.end(SIGTERM) == 0)
    }

    // MARK: Signals

    @Test func asOftenAsItIsAskedNobodyIsLost() throws {
        let daemon = try DaemonProcess()
        let client = try daemon.subscriber()
        // Some arrive while it restarts.
        for number in 1...30 {
            restart(daemon)
            if number.isMultiple(of: 3) {
                try client.send(move(number))
                #expect(try client.receive(until: "idle").count >= 3)
            }
        }
        #expect(daemon.end(SIGTERM) == 0)
        #expect(restarts(daemon.log()) > 1)
    }

    @Test func whoIsToEndWhileItBeginsAnewEnds() throws {
        let daemon = try DaemonProcess()
        let client = try daemon.subscriber()
        try client.send(#"{"type":"animate","durationMs":60000,"update":{"kind":"zoom-to","zoom":5}}"#)
        _ = try client.receive(until: "move-started")
        // It does not wait for motions.
        restart(daemon)
        #expect(daemon.end(SIGTERM) == 0)
        for _ in 0..<5 {
            let daemon = try DaemonProcess()
            restart(daemon)
            restart(daemon)
            #expect(daemon.end(SIGTERM) == 0)
        }
    }

    /// A thread that saves must not take the signal that is meant for the next process.
    @Test func whoIsToEndWhileItSavesAndBeginsAnewEnds() throws {
        let folder = Folder()
        for number in 1...10 {
            let daemon = try DaemonProcess(["--state-dir", folder.path])
            let client = try SocketClient(daemon.socket)
            try client.send(move(number))
            #expect(client.receive() == #"{"type":"ok","id":\#(number)}"#)
            restart(daemon)
            #expect(try client.answersPing())
            #expect(daemon.end(SIGTERM) == 0)
        }
    }

    /// A process without free descriptors still hands everything over.
    @Test func whoHasNoDescriptorLeftLosesNobody() throws {
        let daemon = try DaemonProcess(prelude: "ulimit -n 48")
        let clients = try (0..<64).map { _ in try SocketClient(daemon.socket) }
        // Connections are accepted in the order in which they came.
        #expect(daemon.logs("cannot accept a connection"))
        let taken = clients.prefix(Int(try #require(try clients[0].counter("connections"))))
        #expect(taken.count > 20 && taken.count < 48)
        restart(daemon)
        #expect(hasBegunAnew(daemon))
        for client in taken { #expect(try client.answersPing()) }
        #expect(daemon.end(SIGTERM) == 0)
        #expect(restarts(daemon.log()) == 1)
    }

    // MARK: Invalid handovers

    @Test(arguments: ["WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID"])
    func aNumberThatIsNoneIsIgnored(variable: String) throws {
        for value in ["nan", "inf", "-1", "1e3", "", " 1", "0x10", "18446744073709551616", "2147483648", "99999"] {
            let prelude =
                "export LISTEN_PID=$$ LISTEN_FDS=0 WATCHDOG_USEC=30000000 WATCHDOG_PID=$$ \(variable)='\(value)'"
            let daemon = try DaemonProcess(prelude: prelude)
            #expect(try SocketClient(daemon.socket).answersPing(), "\(variable)=\(value)")
            #expect(daemon.end(SIGTERM) == 0)
        }
    }

    /// The handover of a version with another layout.
    private struct Left: Encodable {
        let revision: Int
        var server = "gimbald 99.0"
        var hub = [1, 2, 3]
    }

    @Test func whatALaterVersionHasLeftIsToldApartFromWhatIsDamaged() throws {
        let later = try StateEncoder.encode(Left(revision: Hub.handoverRevision + 1))
        let told = #expect(throws: Handover.Newer.self) { try Handover(later) }
        #expect(told?.description.hasPrefix("gimbald 99.0 wrote it") == true)
        let damaged = try StateEncoder.encode(Left(revision: Hub.handoverRevision))
        #expect(throws: StateDecoder.Damage.self) { try Handover(damaged) }
    }

    /// Returns a handover file as a process writes it.
    private func file(_ left: Left) throws -> [UInt8] {
        let bytes = try StateEncoder.encode(left)
        let words = [24, UInt64(bytes.count)].flatMap { word in withUnsafeBytes(of: word.littleEndian) { Array($0) } }
        return Array("gimbal1\n".utf8) + words + bytes
    }

    /// Whatever it is, an unknown handover never keeps a daemon from starting.
    @Test func whatCannotBeUnderstoodIsClosed() throws {
        let marks = ["", "rubbish", "gimbal1\n" + String(repeating: "\u{7f}", count: 100)].map { Array($0.utf8) }
        let lefts = try [0, 1].map { try file(Left(revision: Hub.handoverRevision + $0)) }
        for left in marks + lefts {
            let place = try Place()
            let (client, other) = try place.connection()
            let manager = try NotifySocket()
            let daemon = try place.start(
                left, passing: [901: place.listener, 902: place.lock, 903: other], notifying: manager)
            var byte: UInt8 = 0
            #expect(recv(client, &byte, 1, 0) == 0)
            // The service manager's socket is not among the closed descriptors.
            #expect(manager.receive()?.hasPrefix("READY=1\n") == true)
            #expect(try SocketClient.whenListening(place.socket).answersPing())
            #expect(daemon.end(SIGTERM, read: manager) == 0)
        }
    }

    @Test func aStrangeInheritanceIsNone() throws {
        for file in ["0", "1000", "-1", "x"] {
            let daemon = try DaemonProcess(environment: ["GIMBAL_HANDOVER": file])
            #expect(try SocketClient(daemon.socket).answersPing())
        }
    }
}

/// A folder with a socket on which a previous process listened.
private final class Place {
    private let folder = Folder()
    var socket: String { folder.path("gimbal.sock") }
    let listener: CInt
    let lock: CInt
    private var others: [CInt] = []

    struct Failure: Error {}

    init() throws {
        let listening = try ListeningSocket(path: folder.path("gimbal.sock"), mode: 0o600)
        (listener, lock) = (listening.descriptor, listening.lock)
    }

    deinit { for descriptor in others { close(descriptor) } }

    /// Returns the two ends of a connection; the other one is for the daemon.
    func connection() throws -> (client: CInt, other: CInt) {
        var ends: [CInt] = [-1, -1]
        guard socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw Failure()
        }
        others.append(ends[0])
        return (ends[0], ends[1])
    }

    /// Starts a daemon that finds this on descriptor 900, and others at the given numbers.
    func start(
        _ left: [UInt8], passing descriptors: [CInt: CInt], notifying manager: NotifySocket? = nil
    ) throws -> Child {
        try Data(left).write(to: folder.url.appendingPathComponent("left"))
        let file = open(folder.path("left"), O_RDONLY | O_CLOEXEC)
        var ends: [CInt] = [-1, -1]
        guard file >= 0, pipe(&ends) == 0 else { throw Failure() }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, descriptor) in descriptors.merging([900: file, 0: ends[0]], uniquingKeysWith: { $1 }) {
            posix_spawn_file_actions_adddup2(&actions, descriptor, number)
        }
        // It waits until no other process holds the descriptors passed to it.
        let words = [
            "/bin/sh", "-c", #"cd "$1" && read line; exec "$0" --socket gimbal.sock"#,
            DaemonProcess.gimbald.path, folder.path,
        ]
        var variables = ["PATH=/usr/bin:/bin", "GIMBAL_HANDOVER=900"]
        if let manager { variables.append("NOTIFY_SOCKET=\(manager.path)") }
        var (arguments, environment) = (words.map { strdup($0) } + [nil], variables.map { strdup($0) } + [nil])
        defer { for text in arguments + environment { free(text) } }
        var process: pid_t = -1
        guard posix_spawn(&process, "/bin/sh", &actions, nil, &arguments, &environment) == 0 else { throw Failure() }
        for descriptor in Array(descriptors.values) + [file, ends[0]] { close(descriptor) }
        _ = write(ends[1], "\n", 1)
        close(ends[1])
        return Child(process)
    }

}

private final class Child {
    private var process: pid_t?

    init(_ process: pid_t) { self.process = process }

    deinit { if process != nil { _ = end(SIGKILL) } }

    /// Sends a signal, waits for the end, and returns the exit status, or the negative signal.
    ///
    /// - Parameter manager: the service manager that the process notifies until its end.
    func end(_ signal: CInt, read manager: NotifySocket? = nil) -> CInt {
        guard let process else { return -1 }
        self.process = nil
        kill(process, signal)
        manager?.readToTheEnd()
        var status: CInt = 0
        waitpid(process, &status, 0)
        return status & 0x7f == 0 ? (status >> 8) & 0xff : -(status & 0x7f)
    }
}
