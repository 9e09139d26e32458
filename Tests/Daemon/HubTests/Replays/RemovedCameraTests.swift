// A trace that ends before its `trace-end` arrives frees its camera, which other clients may then remove. What its
// owner still sends belongs to that camera, never to another.

import Hub
import TestSupport
import Testing

@Suite struct RemovedCameraTests {
    private let host = HubHost()
    private let owner, other, follower: HubPeer

    /// A camera `main` at zoom 9, a subscriber to all cameras, the owner of a trace that ended in `left` by `untilMs`,
    /// and `left` removed.
    init() {
        (owner, other, follower) = (host.connect(), host.connect(), host.connect())
        other.send(#"{"type":"move","update":{"kind":"zoom-to","zoom":9}}"#)
        follower.send(#"{"type":"subscribe","camera":"*"}"#)
        owner.send(#"{"type":"trace","version":1,"camera":"left","untilMs":10,"speed":"max"}"#)
        owner.send(#"{"type":"pan","phase":"began","timeMs":0}"#)
        owner.send(#"{"type":"pan","phase":"ended","timeMs":20}"#)
        #expect(owner.lines().last?.contains(#"{"type":"trace-ended""#) == true)
        other.send(#"{"type":"remove-camera","camera":"left","id":1}"#)
        #expect(other.lines() == [#"{"type":"ok","id":1}"#])
        _ = follower.lines()
    }

    private static let unknown = #""code":"unknown-camera","field":"camera","message":"there is no camera \"left\"""#

    @Test(arguments: [
        #"{"type":"get-camera","id":2}"#, #"{"type":"visible-region","camera":"left","id":2}"#,
        #"{"type":"subscribe","id":2}"#, #"{"type":"await-idle","id":2}"#,
        #"{"type":"get-camera","create":false,"id":2}"#,
    ])
    func whatTheOwnerAsksIsRefusedAndMakesNoCamera(request: String) {
        for _ in 0..<3 { owner.send(request) }
        let answers = owner.lines()
        #expect(answers.count == 3 && answers.allSatisfy { $0.contains(Self.unknown) }, "\(answers)")
        #expect(follower.lines() == [])
        follower.send(#"{"type":"cameras"}"#)
        #expect(follower.lines() == [#"{"type":"cameras","cameras":["main"]}"#])
        follower.send(#"{"type":"get-camera"}"#)
        #expect(follower.lines().last?.contains(#""zoom":9,"#) == true)
        #expect(host.hub.cameraCount == 1)
    }

    @Test func linesOfTheTraceArePassedOverUntilItsEndAndWhatFollowsIsLive() {
        owner.send(#"{"type":"pan","phase":"changed","timeMs":30,"id":3}"#)
        owner.send(#"{"type":"remove-camera","timeMs":40,"id":4}"#)
        owner.send(#"{"type":"trace","version":1,"id":5}"#)
        owner.send(#"{"type":"trace-end","id":6}"#)
        owner.send(#"{"type":"move","update":{"kind":"zoom-to","zoom":5},"id":7}"#)
        let answers = owner.lines()
        #expect([3, 4, 6, 7].allSatisfy { answers.contains(#"{"type":"ok","id":\#($0)}"#) })
        #expect(answers.filter { $0.contains("a trace is running on this connection") }.count == 1)
        #expect(follower.lines().allSatisfy { $0.contains(#""camera":"main""#) })
    }

    @Test func aCameraThatIsMadeAnewIsTheOneThatIsMeant() {
        other.send(#"{"type":"move","camera":"left","update":{"kind":"zoom-to","zoom":7}}"#)
        owner.send(#"{"type":"get-camera"}"#)
        let answer = owner.lines().last ?? ""
        #expect(answer.contains(#""camera":"left""#) && answer.contains(#""zoom":7,"#))
    }

    @Test func aRestartInPlaceKeepsTheConnectionAndWhatItMeans() throws {
        try host.handOver()
        owner.send(#"{"type":"get-camera"}"#)
        owner.send(#"{"type":"pan","phase":"ended","timeMs":50,"id":8}"#)
        owner.send(#"{"type":"trace-end","id":9}"#)
        owner.send(#"{"type":"get-camera"}"#)
        let answers = owner.lines()
        try #require(answers.count == 4)
        #expect(answers[0].contains(Self.unknown))
        #expect(answers[1...2] == [#"{"type":"ok","id":8}"#, #"{"type":"ok","id":9}"#])
        #expect(answers[3].contains(#""camera":"main""#) && answers[3].contains(#""zoom":9,"#))
    }
}
