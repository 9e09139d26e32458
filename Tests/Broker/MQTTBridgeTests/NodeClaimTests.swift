// Which process is the node when two claim it.

import Testing

@testable import MQTTBridge

@Suite struct NodeClaimTests {
    private func owner(_ instance: String) -> NodeClaim {
        let claim = NodeClaim(instance: instance)
        _ = claim.connected(at: 0)
        #expect(claim.advance(to: NodeClaim.longestEcho) == .own)
        return claim
    }

    private func state(_ word: NodeState.Word, of claim: NodeClaim, interval: Double? = 30_000) -> NodeState {
        NodeState(
            word, node: "n", instance: claim.instance, generation: claim.generation, version: "", interval: interval)
    }

    @Test(arguments: [NodeState.Word.ready, .disconnected])
    func ofTwoOwnersOneIsLeftAfterAWordFromEach(_ word: NodeState.Word) {
        let (one, other) = (owner("a"), owner("b"))
        var words = 0
        var next: (teller: String, step: NodeClaim.Step) = ("a", .tellState)
        while next.step == .tellState, words < 100 {
            words += 1
            if next.teller == "a" {
                next = ("b", other.saw(state(word, of: one), isRetained: false))
            } else {
                next = ("a", one.saw(state(word, of: other), isRetained: false))
            }
        }
        #expect(words == 2 && next.step == .refuse && !one.isOwner && other.isOwner)
    }

    @Test func aNodeThatHasEndedOrIsLostMakesRoom() {
        let gone = owner("z")
        for last in [state(.disconnected, of: gone, interval: nil), state(.lost, of: gone)] {
            let newcomer = NodeClaim(instance: "a")
            _ = newcomer.connected(at: 0)
            #expect(newcomer.saw(last, isRetained: false) == .none)
            #expect(newcomer.advance(to: NodeClaim.longestEcho) == .own && newcomer.generation == 2)
            let sitting = owner("a")
            #expect(sitting.saw(last, isRetained: false) == .tellState && sitting.generation == 2)
        }
    }

    @Test func theGreatestGenerationIsStillReadByOthers() {
        let forged = NodeState(
            .disconnected, node: "n", instance: "x", generation: Stamp.lastGeneration, version: "", interval: nil)
        let (newcomer, sitting) = (NodeClaim(instance: "a"), owner("a"))
        _ = newcomer.connected(at: 0)
        #expect(newcomer.saw(forged, isRetained: true) == .none)
        #expect(newcomer.advance(to: NodeClaim.longestEcho) == .own)
        #expect(sitting.saw(forged, isRetained: true) == .tellState)
        for claim in [newcomer, sitting] {
            let told = state(.ready, of: claim)
            #expect(NodeState(told.payload)?.generation == Stamp.lastGeneration)
        }
    }

    @Test func anOwnerHasTwoSecondsToAnswerOnceTheClaimHasComeBack() {
        let claim = NodeClaim(instance: "a")
        #expect(claim.connected(at: 0) == .claim)
        #expect(claim.saw(claimOf: "a", at: 2600) == .none && claim.deadline == 4600)
        // Seeing the claim again does not extend the deadline.
        #expect(claim.saw(claimOf: "a", at: 4000) == .none && claim.deadline == 4600)
        #expect(claim.advance(to: 4599) == .none && claim.advance(to: 4600) == .own)
    }
}
