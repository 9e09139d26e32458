// A mirror's connection to its daemon: how it interprets the daemon's answers.

import GimbalProtocol
import MapCamera
import Testing

@testable import MQTTBridge

@Suite struct MirrorSessionTests {
    private final class Connection: DaemonConnection {
        var sent: [String] = []
        var isReading = true
        var unsentBytes: Int { 0 }
        func send(_ bytes: [UInt8]) { sent.append(String(decoding: bytes, as: UTF8.self)) }
        func close() {}
    }

    private static let position =
        #"{"target":{"latitude":0,"longitude":0},"zoom":2,"bearing":0,"viewingAngle":0}"#

    private func handle(_ line: String, _ session: MirrorSession, at now: Double = 0) -> String {
        word(session.handle(Array(line.utf8)[...], at: now))
    }

    /// Returns a session whose camera is known, and its goal: another place.
    private func begun() throws -> (MirrorSession, Connection, MirrorGoal) {
        let connection = Connection()
        let session = try MirrorSession(connection, "copy", viewport: nil, at: 0)
        let line = #"{"type":"subscribed","camera":"copy","epoch":"e","seq":0,"position":\#(Self.position)}"#
        #expect(handle(line, session) == "subscribed")
        let there = CameraPosition(target: LatLng(latitude: 0, longitude: 0), zoom: 9)
        return (session, connection, MirrorGoal(position: there, settings: nil, isMoving: false, keepsViewport: false))
    }

    private func word(_ outcome: MirrorSession.Outcome) -> String {
        switch outcome {
        case .goesOn: "goes on"
        case .subscribed: "subscribed"
        case .removed: "removed"
        case .refused: "refused"
        case .failed: "failed"
        }
    }

    @Test func aFrameThatIsRefusedWithSeveralErrorsIsOneRefusalAndTheConnectionGoesOn() throws {
        let (session, connection, goal) = try begun()
        try session.bring(to: goal, at: 0)
        #expect(connection.sent.count == 2)
        let first = #"{"type":"error","id":1,"line":2,"code":"denied","message":"rejected as a whole"}"#
        let second = #"{"type":"error","line":2,"code":"denied","field":"x","message":"no"}"#
        #expect(handle(first, session) == "refused")
        #expect(handle(second, session) == "goes on")
        // Another goal is not tried until the daemon may have changed its mind.
        session.goalHasChanged()
        try session.bring(to: goal, at: 100)
        #expect(connection.sent.count == 2)
        try session.advance(to: goal, at: 200)
        #expect(connection.sent.count == 3)
        #expect(handle(#"{"type":"ok","id":2}"#, session) == "goes on")
    }

    @Test func anErrorOfNoLineAndOneBeforeTheSubscriptionEndTheConnection() throws {
        let (session, _, _) = try begun()
        let closing = #"{"type":"error","line":0,"code":"limit-reached","message":"full"}"#
        #expect(handle(closing, session) == "failed")
        let new = try MirrorSession(Connection(), "copy", viewport: nil, at: 0)
        let refused = #"{"type":"error","line":1,"code":"limit-reached","message":"full"}"#
        #expect(handle(refused, new) == "failed")
    }

    @Test func aViewportThatIsLeasedIsSentAgainLaterOverTheSameConnection() throws {
        let connection = Connection()
        let session = try MirrorSession(connection, "copy", viewport: Viewport(width: 9, height: 9), at: 0)
        let leased = #"{"type":"error","id":0,"line":2,"code":"leased","field":"camera","message":"for 9 ms more"}"#
        #expect(handle(leased, session) == "refused")
        let goal = MirrorGoal(position: nil, settings: nil, isMoving: false, keepsViewport: true)
        try session.advance(to: goal, at: 199)
        #expect(connection.sent.count == 1)
        try session.advance(to: goal, at: 200)
        #expect(connection.sent.count == 2 && connection.sent[1].contains("set-viewport"))
    }
}
