// A replay is steered: paused, stepped, sent elsewhere; and what follows is what would have followed.

import Hub
import TestSupport
import Testing

/// A replay of a trace in a hub of its own, one who steers it, and one who follows it.
private final class Player {
    let host: HubHost
    let owner: HubPeer
    let steerer: HubPeer
    let follower: HubPeer
    private let run: UnbrokenRun
    /// How many lines of the unbroken run have been told.
    private(set) var place = 0
    private var ids = 0
    /// What the owner was told last.
    private(set) var answer: String?

    init(
        _ trace: RandomTrace, _ run: UnbrokenRun, _ members: String, limits: Limits = Limits(), hasEnd: Bool = true
    ) throws {
        (host, self.run) = (HubHost(limits: limits), run)
        (owner, steerer, follower) = (host.connect(), host.connect(), host.connect())
        follower.send(#"{"type":"subscribe","events":\#(UnbrokenRun.kinds)}"#)
        #expect(follower.lines().count == 1)
        owner.send(trace.bytes(members, hasEnd: hasEnd))
    }

    /// Asks for something, and gives the answer.
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

    /// Reads what has been told, and holds it against the unbroken run.
    ///
    /// - Parameter goal: where a seek goes that has just been asked for.
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
            // What still came before the seek had begun.
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
                case 2: player.host.pass(random.number(0...300))
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
}
