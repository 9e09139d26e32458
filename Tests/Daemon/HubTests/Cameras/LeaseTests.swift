// Leases over time: how long they last, who is notified, and what another process does with them.

import Testing

import TestSupport

@Suite struct LeaseTests {
    private let host = HubHost()

    private func subscriber() -> HubPeer { host.subscriber(#","events":["lease"]"#) }

    private func code(_ peer: HubPeer, _ line: String) throws -> String? { try peer.ask(line)["code"]?.string }

    @Test func leaseEndsAtItsTimeOnTheCamerasClock() throws {
        let (guide, other, watcher) = (
            host.connect(), host.connect(), host.connect(role: .watchOnly(because: "a test"))
        )
        guide.send(#"{"type":"move","update":{"kind":"zoom-to","zoom":5}}"#)
        watcher.send(#"{"type":"subscribe","events":["lease"]}"#)
        host.pass(500)
        guide.send(#"{"type":"take-lease","id":1,"forMs":1500,"label":"guide"}"#)
        #expect(
            guide.lines() == [
                #"{"type":"lease","id":1,"camera":"main","timeMs":500,"lease":1,"untilMs":2000,"label":"guide"}"#
            ])
        host.pass(1200)
        other.send(#"{"type":"stop","id":1}"#)
        #expect(
            other.lines() == [
                #"{"type":"error","id":1,"line":1,"code":"leased","field":"camera","message":""#
                    + #"\"guide\" has leased this camera, for 300 ms more"}"#
            ])
        host.jump(700)
        #expect(
            watcher.lines().dropFirst() == [
                #"{"type":"lease-taken","camera":"main","timeMs":500,"lease":1,"untilMs":2000,"label":"guide"}"#,
                #"{"type":"lease-ended","camera":"main","timeMs":2000,"lease":1,"reason":"time"}"#,
            ])
        #expect(try code(other, #"{"type":"stop","id":2}"#) == nil)
    }

    @Test func lineOfTheTurnInWhichItsTimeIsUpIsAccepted() throws {
        let (guide, other) = (host.connect(), host.connect())
        guide.send(#"{"type":"take-lease","forMs":100}"#)
        host.setTime(byAdding: 100)
        #expect(try code(other, #"{"type":"move","id":1,"update":{"kind":"zoom-to","zoom":5}}"#) == nil)
    }

    @Test func takingItAgainProlongsIt() throws {
        let (guide, other) = (host.connect(), host.connect())
        guide.send(#"{"type":"take-lease","forMs":1000}"#)
        host.pass(900)
        guide.send(#"{"type":"take-lease","id":2,"forMs":1000}"#)
        host.pass(900)
        #expect(guide.lines().last?.contains(#""lease":1,"untilMs":1900"#) == true)
        #expect(try code(other, #"{"type":"stop","id":1}"#) == "leased")
        host.pass(100)
        #expect(try code(other, #"{"type":"stop","id":2}"#) == nil)
    }

    @Test func traceOfItsHolderKeepsItUntilTheTraceHasEnded() throws {
        let (guide, other) = (host.connect(), subscriber())
        guide.send(#"{"type":"take-lease","forMs":100}"#)
        guide.send(#"{"type":"trace","id":2,"version":1}"#)
        guide.send(#"{"type":"move","timeMs":0,"update":{"kind":"zoom-to","zoom":5}}"#)
        guide.send(#"{"type":"move","timeMs":500,"update":{"kind":"zoom-to","zoom":6}}"#)
        guide.send(#"{"type":"trace-end"}"#)
        host.pass(450)
        #expect(try other.types() == ["lease-taken", "reset"])
        #expect(try code(other, #"{"type":"stop","id":1}"#) == "leased")
        host.pass(100)
        #expect(try other.types() == ["lease-ended"])
        #expect(try guide.types() == ["lease", "trace-ended"])
    }

    @Test func holderWhoHalfClosesEndsIt() throws {
        let (guide, other) = (host.connect(), subscriber())
        guide.send(#"{"type":"take-lease","forMs":60000}"#)
        guide.halfClose()
        host.turn()
        #expect(try other.types() == ["lease-taken", "lease-ended"])
        #expect(guide.isOver)
    }

    @Test func holderWhoHalfClosesKeepsItUntilItsWaitIsOver() throws {
        let (guide, other, watcher) = (host.connect(), host.connect(), subscriber())
        guide.send(#"{"type":"take-lease","forMs":3000}"#)
        guide.send(#"{"type":"animate","durationMs":400,"update":{"kind":"zoom-to","zoom":5}}"#)
        guide.send(#"{"type":"await-idle","id":1}"#)
        guide.halfClose()
        host.pass(200)
        #expect(try code(other, #"{"type":"stop","id":1}"#) == "leased")
        host.pass(300)
        #expect(guide.lines().last?.contains(#"{"type":"at-rest","id":1"#) == true)
        #expect(guide.isOver)
        #expect(try watcher.types() == ["lease-taken", "lease-ended"])
    }

    @Test func holderWhoHalfClosesKeepsItWhileItsTraceOfAnotherCameraPlays() throws {
        let (guide, other, watcher) = (host.connect(), host.connect(), host.connect())
        watcher.send(#"{"type":"subscribe","camera":"left","events":["lease"]}"#)
        guide.send(#"{"type":"take-lease","camera":"left","forMs":60000}"#)
        guide.send(#"{"type":"trace","version":1}"#)
        guide.send(#"{"type":"animate","timeMs":0,"durationMs":400,"update":{"kind":"zoom-to","zoom":5}}"#)
        guide.halfClose()
        host.pass(200)
        #expect(try code(other, #"{"type":"stop","id":1,"camera":"left"}"#) == "leased")
        host.pass(300)
        #expect(guide.isOver)
        #expect(try watcher.types() == ["subscribed", "lease-taken", "lease-ended"])
    }

    @Test func subscriberWhoHalfClosesEndsItsLeaseWhenItsWaitIsOver() throws {
        let guide = host.connect()
        guide.send(#"{"type":"subscribe","events":["lease"]}"#)
        guide.send(#"{"type":"take-lease","forMs":3000}"#)
        guide.send(#"{"type":"animate","durationMs":400,"update":{"kind":"zoom-to","zoom":5}}"#)
        guide.send(#"{"type":"await-idle","id":1}"#)
        guide.halfClose()
        host.pass(500)
        #expect(try guide.types() == ["subscribed", "lease", "lease-taken", "at-rest", "lease-ended"])
        #expect(!guide.isOver)
    }

    @Test func whoHalfClosesIsStillAnsweredWhenItsTurnComes() throws {
        let (guide, next, watcher) = (host.connect(), host.connect(), subscriber())
        guide.send(#"{"type":"take-lease","forMs":1000}"#)
        next.send(#"{"type":"take-lease","id":"n","forMs":500,"wait":true}"#)
        next.halfClose()
        host.pass(500)
        try host.handOver()
        #expect(next.lines() == [] && !next.isOver)
        host.pass(600)
        #expect(next.lines() == [#"{"type":"lease","id":"n","camera":"main","timeMs":1000,"lease":2,"untilMs":1500}"#])
        #expect(next.isOver)
        #expect(try watcher.types() == ["lease-taken", "lease-ended", "lease-taken", "lease-ended"])
    }

    @Test func replayOfAnotherIsNotSteeredUnderALease() throws {
        let (guide, other, third) = (host.connect(), host.connect(), host.connect())
        other.send(#"{"type":"trace","version":1,"speed":"max","pauseAtEnd":true}"#)
        other.send(#"{"type":"move","timeMs":0,"update":{"kind":"zoom-to","zoom":5}}"#)
        other.send(#"{"type":"trace-end"}"#)
        host.pass(100)
        guide.send(#"{"type":"take-lease","forMs":60000}"#)
        host.turn()
        #expect(try guide.types() == ["lease"])
        #expect(try code(third, #"{"type":"resume-replay","id":1}"#) == "leased")
        #expect(try code(guide, #"{"type":"move","id":1,"update":{"kind":"zoom-to","zoom":7}}"#) == nil)
    }

    @Test func replayThatStaysAtItsEndMakesWayForWhoWaits() throws {
        let (player, next) = (host.connect(), host.connect())
        player.send(#"{"type":"trace","version":1,"pauseAtEnd":true}"#)
        player.send(#"{"type":"animate","timeMs":0,"durationMs":100,"update":{"kind":"zoom-to","zoom":5}}"#)
        player.send(#"{"type":"trace-end"}"#)
        next.send(#"{"type":"take-lease","forMs":1000,"wait":true}"#)
        host.pass(50)
        #expect(try next.types() == [])
        host.pass(100)
        #expect(try next.types() == ["lease"])
    }

    @Test func subscriberIsToldOfTheLeaseThatThereIs() throws {
        let (guide, late) = (host.connect(), host.connect())
        guide.send(#"{"type":"take-lease","forMs":1000,"label":"guide"}"#)
        host.pass(400)
        late.send(#"{"type":"subscribe","events":["lease"]}"#)
        host.turn()
        #expect(
            late.lines().dropFirst() == [
                #"{"type":"lease-taken","camera":"main","timeMs":400,"lease":1,"untilMs":1000,"label":"guide"}"#
            ])
        let follower = host.connect()
        follower.send(#"{"type":"subscribe","camera":"*","events":["lease"]}"#)
        host.turn()
        #expect(try follower.types() == ["subscribed", "subscribed", "lease-taken"])
    }

    @Test func connectionHasAPartInSixteenLeasesAtTheMost() throws {
        let greedy = host.connect()
        for index in 1...16 {
            #expect(try code(greedy, #"{"type":"take-lease","camera":"c\#(index)","forMs":1000}"#) == nil)
        }
        #expect(try code(greedy, #"{"type":"take-lease","camera":"c17","forMs":1000}"#) == "limit-reached")
        #expect(try code(greedy, #"{"type":"take-lease","camera":"c16","forMs":1000}"#) == nil)
    }

    @Test func leaseIsJoinedBySixtyFourAtTheMost() throws {
        let guide = host.connect()
        #expect(try code(guide, #"{"type":"take-lease","forMs":1000}"#) == nil)
        let join = #"{"type":"join-lease","lease":1}"#
        let members = (1...64).map { _ in host.connect() }
        for member in members { #expect(try code(member, join) == nil) }
        #expect(try code(host.connect(), join) == "limit-reached")
        #expect(try code(members[0], join) == nil)
        members[1].close()
        #expect(try code(host.connect(), join) == nil)
    }

    @Test func whoWaitsForALeaseDoesNotJoinIt() throws {
        let (guide, next) = (host.connect(), host.connect())
        guide.send(#"{"type":"take-lease","forMs":1000}"#)
        next.send(#"{"type":"take-lease","forMs":1000,"wait":true}"#)
        #expect(try code(next, #"{"type":"join-lease","lease":1}"#) == "limit-reached")
        guide.close()
        host.turn()
        #expect(try code(next, #"{"type":"end-lease"}"#) == nil)
    }

    @Test func whoHasJoinedProlongsNothingAndTakesItsGesturesAlong() throws {
        let (guide, helper, watcher) = (host.connect(), host.connect(), host.connect())
        watcher.send(#"{"type":"subscribe","events":["camera-changed","idle"]}"#)
        guide.send(#"{"type":"take-lease","forMs":1000,"label":"guide"}"#)
        helper.send(#"{"type":"join-lease","lease":1}"#)
        helper.send(#"{"type":"take-lease","id":1,"forMs":1,"label":"mine"}"#)
        #expect(helper.lines().last?.contains(#""untilMs":1000,"label":"guide"}"#) == true)
        helper.send(#"{"type":"pan","phase":"began"}"#)
        helper.send(#"{"type":"pan","phase":"changed","translation":{"x":50,"y":0}}"#)
        #expect(try watcher.types() == ["subscribed", "camera-changed"])
        helper.send(#"{"type":"end-lease"}"#)
        #expect(try watcher.types() == ["idle"])
    }

    @Test func traceOfOneThatHasJoinedIsSteeredByTheHolderAndKeepsItThere() throws {
        let (guide, helper, other) = (host.connect(), host.connect(), host.connect())
        guide.send(#"{"type":"take-lease","forMs":60000}"#)
        helper.send(#"{"type":"join-lease","lease":1}"#)
        helper.send(#"{"type":"trace","version":1,"loop":true}"#)
        helper.send(#"{"type":"animate","timeMs":0,"durationMs":900,"update":{"kind":"zoom-to","zoom":5}}"#)
        host.pass(100)
        #expect(try code(helper, #"{"type":"end-lease","id":1}"#) == "busy")
        #expect(try code(guide, #"{"type":"pause-replay","id":1}"#) == nil)
        #expect(try code(other, #"{"type":"resume-replay","id":1}"#) == nil)
        guide.send(#"{"type":"end-replay"}"#)
        host.pass(2000)
        #expect(try code(guide, #"{"type":"move","id":2,"update":{"kind":"zoom-to","zoom":9}}"#) == nil)
    }

    @Test func holderEndsItsLeaseWhileItsReplaySeeks() throws {
        let (guide, other) = (host.connect(), host.connect())
        guide.send(#"{"type":"take-lease","forMs":60000}"#)
        guide.send(#"{"type":"trace","version":1}"#)
        guide.send(#"{"type":"move","timeMs":0,"update":{"kind":"zoom-to","zoom":5}}"#)
        host.turn()
        other.send(#"{"type":"seek-replay","toMs":50000}"#)
        host.turn()
        #expect(try code(guide, #"{"type":"end-lease","id":1}"#) == nil)
    }

    // MARK: In the next process

    @Test func recordThatNoProcessLeavesIsDamage() throws {
        func restored(_ change: ([UInt8]) -> [UInt8]) throws {
            let host = HubHost()
            let guide = host.connect()
            guide.send(#"{"type":"take-lease","forMs":60000,"label":"guide"}"#)
            try host.handOver(changedBy: change)
        }
        try restored { $0 }
        func bytes(_ number: Double) -> [UInt8] { withUnsafeBytes(of: number.bitPattern.littleEndian, Array.init) }
        var isFound = false
        #expect(throws: (any Error).self) {
            try restored { left in
                // The deadline, replaced by one that no lease has.
                guard let start = left.indices.last(where: { left[$0...].starts(with: bytes(61_000)) }) else {
                    return left
                }
                isFound = true
                return left[..<start] + bytes(1e300) + left[(start + 8)...]
            }
        }
        #expect(isFound)
    }

    @Test func tourOfNearlyNoTimeGoesOnInTheNextProcess() throws {
        let client = host.connect()
        let keyframes = [100, -160].map {
            #"{"position":{"target":{"latitude":0,"longitude":\#($0)},"zoom":5},"durationMs":5e-324,"waitMs":\#($0 < 0 ? 9e5 : 0)}"#
        }
        #expect(try code(client, #"{"type":"tour","id":1,"keyframes":[\#(keyframes.joined(separator: ","))]}"#) == nil)
        host.pass(100)
        try host.handOver()
        #expect(try code(client, #"{"type":"ping","id":2}"#) == nil)
    }

    @Test func leaseAndWhoWaitsForItGoOnInTheNextProcess() throws {
        let (guide, helper, next, watcher) = (host.connect(), host.connect(), host.connect(), subscriber())
        guide.send(#"{"type":"take-lease","forMs":1000,"label":"guide"}"#)
        helper.send(#"{"type":"join-lease","lease":1}"#)
        next.send(#"{"type":"take-lease","id":"n","forMs":500,"wait":true}"#)
        host.pass(300)
        _ = watcher.lines()
        try host.handOver()
        #expect(try code(next, #"{"type":"stop","id":1}"#) == "leased")
        #expect(try code(helper, #"{"type":"stop","id":1}"#) == nil)
        host.pass(700)
        #expect(
            watcher.lines() == [
                #"{"type":"lease-ended","camera":"main","timeMs":1000,"lease":1,"reason":"time"}"#,
                #"{"type":"lease-taken","camera":"main","timeMs":1000,"lease":2,"untilMs":1500}"#,
            ])
        #expect(next.lines() == [#"{"type":"lease","id":"n","camera":"main","timeMs":1000,"lease":2,"untilMs":1500}"#])
    }

    @Test func holderThatGoesBetweenTwoProcessesEndsIt() throws {
        let (guide, next, watcher) = (host.connect(), host.connect(), subscriber())
        guide.send(#"{"type":"take-lease","forMs":60000}"#)
        next.send(#"{"type":"take-lease","forMs":500,"wait":true}"#)
        _ = watcher.lines()
        try host.handOver(without: [guide])
        #expect(try watcher.types() == ["lease-ended", "lease-taken"])
        #expect(try next.types() == ["lease"])
    }

    @Test func readerThatMissedALeaseDuringATraceIsToldHowLongItLasts() throws {
        let host = HubHost { ($0.historyEvents, $0.historyBytes) = (32, 4096) }
        let (owner, watcher) = (host.connect(), host.subscriber(#","events":["lease","camera-changed"]"#))
        watcher.makeRoom(0)
        owner.send(#"{"type":"take-lease","forMs":60000}"#)
        owner.send(#"{"type":"trace","version":1,"speed":"max"}"#)
        for step in 0..<200 {
            owner.send(#"{"type":"move","timeMs":\#(step * 1000),"update":{"kind":"scroll-by","x":10,"y":0}}"#)
        }
        watcher.readOn()
        let told = try watcher.newMessages()
        #expect(told.contains { $0["type"]?.string == "lagged" })
        let lease = try #require(told.last { $0["type"]?.string == "lease-taken" })
        let left = try #require(lease["untilMs"]?.number) - #require(lease["timeMs"]?.number)
        #expect((59_000...60_000).contains(left), "\(lease.text)")
    }
}
