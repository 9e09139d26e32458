// Steering a replay: pausing, stepping, seeking; the output continues as it would have without.

import Hub
import TestSupport
import Testing

/// A replay of a trace in its own hub, with a client that steers it and one that follows it.
private final class Player {
    let host: HubHost
    let owner: HubPeer
    let steerer: HubPeer
    let follower: HubPeer
    private let run: UnbrokenRun
    /// The number of lines of the unbroken run that have been read.
    private(set) var place = 0
    private var ids = 0
    /// The owner's latest answer.
    private(set) var answer: String?

    init(_ trace: RandomTrace, _ run: UnbrokenRun, _ members: String, in host: HubHost = HubHost()) throws {
        (self.host, self.run) = (host, run)
        (owner, steerer, follower) = (host.connect(), host.connect(), host.connect())
        follower.send(#"{"type":"subscribe","events":\#(UnbrokenRun.kinds)}"#)
        #expect(follower.lines().count == 1)
        owner.send(trace.bytes(members))
    }

    /// Sends a request and returns the answer.
    func ask(_ members: String) throws -> JSON {
        ids += 1
        steerer.send("{\(members),\"id\":\(ids)}")
        let lines = steerer.lines()
        #expect(lines.count == 1, "\(members)")
        let answer = try JSON(lines.last ?? "")
        #expect(answer["id"]?.number == Double(ids))
        while host.hub.deadline == -.infinity { host.turn() }
        return answer
    }

    func status() throws -> JSON { try ask(#""type":"get-replay""#) }

    /// Reads the output and compares it with the unbroken run.
    ///
    /// - Parameter goal: the destination of a seek that has just been requested.
    func look(seekTo goal: Double? = nil, _ comment: String) throws {
        var goal = goal
        answer = owner.lines().last { $0.contains("trace-ended") } ?? answer
        for line in follower.lines() {
            if line.hasPrefix("{\"type\":\"reset\"") {
                let target = goal ?? 0
                place = goal == nil ? 0 : run.count(upTo: target)
                let complaint = run.complaint(about: try JSON(line), behind: place)
                #expect(complaint == nil, "\(comment), to \(target)")
                goal = nil
                continue
            }
            // Output from before the seek began.
            let isNext = place < run.lines.count && line == run.lines[place]
            #expect(isNext, "\(comment), line \(place): \(line)")
            if !isNext { throw Mismatch() }
            place += 1
        }
        if goal != nil { Issue.record("\(comment): no reset") }
    }

    struct Mismatch: Error {}
}

@Suite struct SteeringTests {
    private let host = HubHost()

    @Test(arguments: ["", #","speed":"max""#, #","fromMs":5000"#, #","fromMs":5000,"paused":true"#])
    func whatIsPlayedForEverThoughItTakesNoTimeLetsTimePass(_ members: String) throws {
        let (feed, watcher) = (host.connect(), host.subscriber())
        feed.send(#"{"type":"trace","version":1,"loop":true\#(members)}"#)
        feed.send(#"{"type":"trace-end"}"#)
        // It waits at each deadline until its time has come.
        for _ in 0..<10 { host.turn() }
        _ = watcher.lines()
        host.pass(100)
        let rounds = watcher.lines().count { $0.contains(#""type":"reset""#) }
        #expect(50...100 ~= rounds)
    }

    @Test(arguments: UInt64(1)...16)
    func theTailAfterEachSeekIsThatOfTheUnbrokenRun(seed: UInt64) throws {
        let trace = RandomTrace(seed: seed)
        let run = try UnbrokenRun(trace)
        for speed in ["\"max\"", "1", "0.25"] {
            var random = Seeded(seed &* 31 &+ UInt64(speed.count))
            let isPaused = random.chance(0.5) || speed == "\"max\""
            let player = try Player(trace, run, #","speed":\#(speed),"paused":\#(isPaused)"#)
            let comment = "seed \(seed), speed \(speed)"
            try player.look(comment)
            var paused = isPaused
            for _ in 0..<40 {
                switch random.integer(0...7) {
                case 0 where speed != "\"max\"":
                    #expect(
                        try player.ask("\"type\":\"\(paused ? "resume" : "pause")-replay\"")["type"]?.string == "ok")
                    paused.toggle()
                case 1:
                    let before = player.place
                    let count = random.integer(1...5)
                    #expect(try player.ask(#""type":"step-replay","count":\#(count)"#)["type"]?.string == "ok")
                    try player.look(comment)
                    let told = run.lines[before..<player.place]
                    let frames = told.count { $0.contains("camera-changed") }
                    #expect(frames == count || player.place == run.lines.count, "\(comment): \(told)")
                    paused = true
                case 2:
                    player.host.pass(random.number(0...300))
                    if random.chance(0.5) { try player.host.handOver() }
                default:
                    try player.look(comment)
                    let target: Double =
                        switch random.integer(0...3) {
                        case 0: run.time(of: random.integer(0...(run.lines.count - 1)))
                        case 1: trace.times[random.integer(0...(trace.times.count - 1))]
                        case 2: random.number(-100...run.duration)
                        default: min(run.duration, random.number(0...run.duration / 10))
                        }
                    let isAtEnd = UnbrokenRun.printed(target) >= UnbrokenRun.printed(run.duration)
                    if isAtEnd, !paused { break }
                    #expect(try player.ask(#""type":"seek-replay","toMs":\#(target)"#)["type"]?.string == "ok")
                    try player.look(seekTo: target, comment)
                }
                try player.look(comment)
                if player.answer != nil { break }
            }
            if paused, player.answer == nil { _ = try player.ask(#""type":"resume-replay""#) }
            while player.host.moveOn() {}
            try player.look(comment)
            #expect(player.place == run.lines.count, "\(comment)")
            #expect(player.answer == run.ended, "\(comment)")
        }
    }

    // MARK: The header's members

    /// Returns everything sent to a follower of a trace with these header members, and its owner's answers.
    private func play(_ trace: RandomTrace, _ members: String) throws -> (told: [String], answers: [String]) {
        let host = HubHost()
        let (owner, follower) = (host.connect(), host.subscriber(#","events":\#(UnbrokenRun.kinds)"#))
        owner.send(trace.bytes(members))
        while host.moveOn() {}
        return (follower.lines(), owner.lines())
    }

    @Test(arguments: UInt64(1)...8)
    func fromMsTellsTheTailOnly(seed: UInt64) throws {
        let trace = RandomTrace(seed: seed, count: 60)
        let run = try UnbrokenRun(trace)
        let from = trace.times[30]
        let (told, answers) = try play(trace, #","speed":"max","fromMs":\#(from)"#)
        #expect(run.complaint(about: try JSON(told[0]), behind: run.count(upTo: from)) == nil)
        #expect(Array(told.dropFirst()) == Array(run.lines[run.count(upTo: from)...]))
        #expect(answers.last == run.ended)
    }

    @Test(arguments: UInt64(1)...8)
    func everyRoundOfALoopTellsTheSame(seed: UInt64) throws {
        let trace = RandomTrace(seed: seed, count: 40)
        let run = try UnbrokenRun(trace)
        let (told, answers) = try play(trace, #","speed":"max","loop":3"#)
        let rounds = told.split { $0.hasPrefix("{\"type\":\"reset\"") }.map(Array.init)
        #expect(rounds == [run.lines, run.lines, run.lines] && answers.last == run.ended)
        #expect(answers.count { $0.contains("trace-ended") } == 1)
    }

    @Test(arguments: UInt64(1)...8)
    func untilMsEndsLikeTheTraceThatIsCutThere(seed: UInt64) throws {
        let trace = RandomTrace(seed: seed, count: 60)
        let until = trace.times[30]
        let (told, answers) = try play(trace, #","speed":"max","untilMs":\#(until)"#)
        let count = trace.times.prefix { UnbrokenRun.printed($0) <= UnbrokenRun.printed(until) }.count
        let (owner, follower) = (host.connect(), host.subscriber(#","events":\#(UnbrokenRun.kinds)"#))
        let lines =
            [String(decoding: trace.bytes(#","speed":"max""#).prefix { $0 != 0x0a }, as: UTF8.self)]
            + trace.lines.prefix(count) + [#"{"type":"trace-end"}"#]
        for line in lines { owner.send(line) }
        while host.moveOn() {}
        #expect(follower.lines().dropFirst() == told.dropFirst())
        let ends = (owner.lines() + answers).filter { $0.contains("trace-ended") }
        #expect(ends.count == 2 && ends[0] == ends[1])
    }

    // MARK: Answers

    @Test func whatTheOwnerOfAPausedReplayAsksForWaitsForItsTime() throws {
        let (owner, watcher) = (host.connect(), host.connect(role: .watchOnly(because: "it watches")))
        owner.send(#"{"type":"trace","version":1,"paused":true}"#)
        owner.send(#"{"type":"pause-replay"}"#)
        #expect(owner.lines().isEmpty)
        #expect(try watcher.ask(#"{"type":"get-replay"}"#)["state"]?.string == "paused")
        host.connect().send(#"{"type":"resume-replay"}"#)
        #expect(try JSON(owner.lines().last ?? "")["code"]?.string == "invalid-value")
    }

    @Test func changesAreToldToThoseWhoAskForThem() throws {
        let (owner, other) = (host.connect(), host.subscriber(#","events":["replay"]"#))
        owner.send(#"{"type":"trace","version":1,"durationMs":500}"#)
        owner.send(#"{"type":"move","timeMs":7,"update":{"kind":"zoom-in"}}"#)
        owner.send(#"{"type":"move","timeMs":507,"update":{"kind":"zoom-in"}}"#)
        host.pass(100)
        for line in [
            #""type":"pause-replay""#, #""type":"set-replay-speed","speed":2"#, #""type":"seek-replay","byMs":100"#,
            #""type":"resume-replay""#, #""type":"end-replay""#,
        ] { other.send("{\(line)}") }
        host.pass(0)
        let told = other.messages.filter { $0["type"]?.string == "replay" }
        #expect(
            told.map { "\($0["state"]?.string ?? "") \($0["timeMs"]?.number ?? -1) \($0["speed"]?.number ?? -1)" } == [
                "playing 0.0 1.0", "paused 100.0 1.0", "paused 100.0 2.0", "seeking 200.0 2.0", "paused 200.0 2.0",
                "playing 200.0 2.0", "ended 0.0 -1.0",
            ])
        #expect(told.allSatisfy { $0["durationMs"]?.number == 500 })
    }

    @Test func whatIsNotKeptAnyMoreIsALimitReached() throws {
        let host = HubHost { ($0.replayBytes, $0.allReplayBytes) = (64 << 10, 64 << 10) }
        let trace = RandomTrace(seed: 3, count: 3000)
        let run = try UnbrokenRun(trace)
        let player = try Player(trace, run, #","speed":"max","pauseOnMarkers":true"#, in: host)
        for _ in 0..<80 { _ = try player.ask(#""type":"resume-replay""#) }
        try player.look("to a marker")
        let place = player.place
        #expect(try player.ask(#""type":"seek-replay","toMs":0"#)["code"]?.string == "limit-reached")
        try player.look("refused")
        #expect(player.place == place)
        let now = try #require(try player.status()["timeMs"]?.number)
        #expect(try player.ask(#""type":"seek-replay","toMs":\#(now - 100)"#)["type"]?.string == "ok")
        try player.look(seekTo: now - 100, "kept")
    }
}
