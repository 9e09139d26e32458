// What survives a run: every camera exactly, and nothing of a truncated or altered state.

import Foundation
import GimbalProtocol
import MapCamera
import TestSupport
import Testing

@testable import Hub

@Suite struct StateTests {
    /// Requests that give a camera a value in every member.
    private static let furnishing = [
        #"{"type":"set-viewport","camera":"left","width":1280.1,"height":720.3,"padding":{"left":320.7,"top":0.1}}"#,
        #"{"type":"set-zoom-range","camera":"left","minZoom":3.3,"maxZoom":18.7}"#,
        #"{"type":"set-target-bounds","camera":"left","bounds":{"southWest":{"latitude":-50.1,"longitude":165.3},"northEast":{"latitude":-30.7,"longitude":-175.9}}}"#,
        #"{"type":"set-gestures","camera":"left","tilt":false,"inertia":true}"#,
        #"{"type":"move","camera":"left","update":{"kind":"set-camera","position":{"target":{"latitude":-41.123456789012345,"longitude":-179.99999999999997},"zoom":16.1,"bearing":359.99999999999994,"viewingAngle":0.1}}}"#,
        #"{"type":"pan","camera":"left","phase":"began"}"#,
        #"{"type":"pan","camera":"left","phase":"ended","translation":{"x":31.3,"y":7.7},"velocity":{"x":900,"y":333}}"#,
        #"{"type":"move","update":{"kind":"scroll-by","x":100.1,"y":-31.7}}"#,
        #"{"type":"get-camera","camera":"untouched"}"#,
    ]

    private func furnished() -> HubHost {
        let host = HubHost()
        let peer = host.connect()
        for line in Self.furnishing { peer.send(line) }
        host.pass(100)
        return host
    }

    private func bytes(of host: HubHost, isLast: Bool = true) -> [UInt8] { host.hub.savedState(isLast: isLast).bytes }

    /// Returns a new run of the daemon, with the state of an earlier one.
    private func restored(_ bytes: [UInt8], limits: Limits = Limits(), keepsEpochs: Bool = true) throws -> HubHost {
        let host = HubHost(limits: limits, epochSeed: 8)
        host.hub.restore(try SavedState(bytes), keepsEpochs: keepsEpochs, at: host.now)
        return host
    }

    private func answers(_ host: HubHost) -> [String] {
        let peer = host.connect()
        for camera in ["left", "main", "untouched"] { peer.send(#"{"type":"get-camera","camera":"\#(camera)"}"#) }
        return peer.lines()
    }

    private func subscription(_ host: HubHost, _ members: String = "") throws -> (peer: HubPeer, lines: [JSON]) {
        let peer = host.connect()
        peer.send(#"{"type":"subscribe"\#(members)}"#)
        return (peer, try peer.newMessages())
    }

    // MARK: Intact state

    @Test func restoredStateIsTheSameToTheLastBit() throws {
        let before = furnished()
        let saved = bytes(of: before)
        let after = try restored(saved)
        #expect(bytes(of: after) == saved)
        let told = answers(before)
        #expect(answers(after) == told && told.count == 3 && told[0].contains(#""seq":"#))
    }

    @Test func stateWithoutCamerasIsReadBack() throws {
        #expect(try SavedState(bytes(of: HubHost())).count == 0)
    }

    @Test func savedStateSaysWhetherItIsTheLast() throws {
        let host = furnished()
        #expect(try SavedState(bytes(of: host)).isLast)
        #expect(try !SavedState(bytes(of: host, isLast: false)).isLast)
    }

    @Test func savedCamerasBeyondTheLimitAreRestored() throws {
        let host = HubHost { $0.cameras = 2 }
        host.hub.restore(try SavedState(bytes(of: furnished())), keepsEpochs: true, at: host.now)
        #expect(host.hub.cameraCount == 3)
        let peer = host.connect()
        #expect(try peer.ask(#"{"type":"get-camera","camera":"one-more"}"#)["code"]?.string == "limit-reached")
    }

    // MARK: Damaged state

    @Test func truncatedStateIsRefused() {
        let whole = bytes(of: furnished())
        for count in whole.indices {
            #expect(throws: SavedState.Damage.self) { try SavedState(Array(whole[..<count])) }
        }
    }

    @Test func alteredStateIsRefused() {
        let whole = bytes(of: furnished())
        for index in whole.indices {
            for bit in [0, 1, 5] as [UInt8] {
                var altered = whole
                altered[index] ^= 1 << bit
                #expect(throws: SavedState.Damage.self) { try SavedState(altered) }
            }
        }
    }

    @Test func otherLinesAreRefusedAsAState() {
        for text in ["", "\n", "{}\n", "{}\n{}\n", #"{"type":"end","cameras":0,"checksum":"0"}"# + "\n"] {
            #expect(throws: SavedState.Damage.self) { try SavedState(Array(text.utf8)) }
        }
    }

    @Test(arguments: [-1e15, 1e15]) func aClockThatNoProcessCouldHandOverIsRefused(clock: Double) throws {
        func saved(_ clock: Double) -> [UInt8] {
            let state = CameraState(camera: "main", seq: 1, position: .initial, setup: CameraSetup())
            return SavedState(isLast: true, cameras: [SavedCamera(state: state, epoch: "1", clock: clock)]).bytes
        }
        #expect(throws: SavedState.Damage.self) { try SavedState(saved(clock)) }
        #expect(try SavedState(saved(clock * 0.9)).count == 1)
    }

    // MARK: Resuming

    @Test func endBringsEveryCameraToRest() throws {
        let host = HubHost()
        let (watcher, _) = try subscription(host)
        let peer = host.connect()
        peer.send(#"{"type":"animate","durationMs":1000,"update":{"kind":"zoom-in"}}"#)
        host.pass(200)
        host.hub.end(at: host.now)
        host.turn()
        let last = try JSON(watcher.lines().last ?? "")
        #expect(last["type"]?.string == "idle")
        let (_, lines) = try subscription(try restored(bytes(of: host)))
        #expect(lines[0]["seq"] == last["seq"] && lines[0]["position"] == last["position"])
    }

    @Test func subscriberResumesAfterARestore() throws {
        let host = furnished()
        let (_, before) = try subscription(host)
        let (seq, epoch) = (before[0]["seq"]?.number ?? 0, before[0]["epoch"]?.string ?? "")
        let after = try restored(bytes(of: host))
        let (peer, lines) = try subscription(after, #","since":\#(Int(seq)),"epoch":"\#(epoch)""#)
        #expect(lines.count == 1 && lines[0]["epoch"]?.string == epoch && lines[0]["seq"]?.number == seq)
        peer.send(#"{"type":"move","update":{"kind":"zoom-in"}}"#)
        let events = try peer.newMessages()
        #expect(events.map { $0["seq"]?.number } == [seq + 1, seq + 2, seq + 3])
        // It is in the history now, but earlier events are not.
        let (_, again) = try subscription(after, #","since":\#(Int(seq)),"epoch":"\#(epoch)""#)
        #expect(again.dropFirst().map { $0["seq"]?.number } == [seq + 1, seq + 2, seq + 3])
        let (_, older) = try subscription(after, #","since":\#(Int(seq) - 1),"epoch":"\#(epoch)""#)
        #expect(older.count == 2 && older[1]["type"]?.string == "lagged" && older[1]["missed"]?.number == 4)
    }

    @Test func whatWasSavedInTheMiddleOfAMovementGetsANewEpoch() throws {
        let host = furnished()
        let (watcher, before) = try subscription(host)
        let epoch = before[0]["epoch"]?.string ?? ""
        host.connect().send(#"{"type":"animate","durationMs":1000,"update":{"kind":"zoom-in"}}"#)
        host.pass(200)
        host.hub.pause()
        let last = try JSON(watcher.lines().last ?? "")
        let seq = last["seq"]?.number ?? 0
        #expect(last["type"]?.string == "camera-changed")
        let after = try restored(bytes(of: host))
        let (_, lines) = try subscription(after, #","since":\#(Int(seq)),"epoch":"\#(epoch)""#)
        #expect(lines[0]["epoch"]?.string != epoch && lines[0]["seq"]?.number == seq)
        #expect(lines.count == 2 && lines[1]["type"]?.string == "lagged")
        #expect(lines[1]["position"] == last["position"])
    }

    @Test func timesGoOnAfterARestore() throws {
        let host = HubHost()
        let (watcher, _) = try subscription(host)
        host.pass(5000)
        host.connect().send(#"{"type":"move","update":{"kind":"zoom-in"}}"#)
        let time = try JSON(watcher.lines().last ?? "")["timeMs"]?.number ?? 0
        let after = try restored(bytes(of: host))
        let (peer, _) = try subscription(after)
        after.pass(10)
        let later = try peer.ask(#"{"type":"move","update":{"kind":"zoom-in"}}"#)["timeMs"]?.number
        #expect(time == 5000 && later == 5010)
    }

    @Test func stateThatMayLackEventsGetsANewEpoch() throws {
        let host = furnished()
        let (_, before) = try subscription(host)
        let epoch = before[0]["epoch"]?.string ?? ""
        let after = try restored(bytes(of: host, isLast: false), keepsEpochs: false)
        let (_, lines) = try subscription(after, #","since":3,"epoch":"\#(epoch)""#)
        #expect(lines[0]["epoch"]?.string != epoch && lines[0]["seq"] == before[0]["seq"])
        #expect(lines[1]["type"]?.string == "lagged" && lines[1]["missed"] == lines[0]["seq"])
    }

    // MARK: The longest state

    /// Few numbers take more characters.
    private static let tiny = 1.2345678901234567e-05
    private static let place = LatLng(latitude: -tiny, longitude: -tiny)
    private static let position = CameraPosition(target: place, zoom: 10 + tiny, bearing: tiny, viewingAngle: tiny)

    /// Returns the longest change of a setting.
    private func longest(_ change: CameraSetup.Change) throws -> CameraSetup.Change {
        switch change {
        case .viewport:
            let size = 10_000 + Self.tiny
            return .viewport(Viewport(width: size, height: size, padding: EdgeInsets(all: Self.tiny)))
        case .zoomRange: return .zoomRange(min: 2 + Self.tiny, max: 20 + Self.tiny)
        case .targetBounds:
            let northEast = LatLng(latitude: Self.tiny, longitude: Self.tiny)
            let bounds = try #require(CoordinateBounds(southWest: Self.place, northEast: northEast))
            return .targetBounds(bounds)
        case .gestures:
            return .gestures(
                GestureSwitches(
                    scroll: false, zoom: false, rotate: false, tilt: false, scrollDuringRotateOrZoom: false,
                    fling: false, inertia: false))
        case .idleAction:
            let home = IdleAction.Action.flyHome(Self.position, durationMs: Self.tiny)
            return .idleAction(IdleAction(afterMs: 1_000_000 + Self.tiny, home))
        }
    }

    private func longestSetup() throws -> CameraSetup {
        try CameraSetup().changes.map(longest).reduce(CameraSetup()) { $0.with($1) }
    }

    @Test func camerasWithTheLongestValuesAreRead() throws {
        let setup = try longestSetup()
        let epoch = String(repeating: "e", count: 64)
        let cameras = (10..<30).map { number in
            let name = String(repeating: "c", count: 62) + "\(number)"
            let state = CameraState(camera: name, seq: 1 << 52, position: Self.position, setup: setup)
            return SavedCamera(state: state, epoch: epoch, clock: 1_000_000_000 + Self.tiny)
        }
        let saved = SavedState(isLast: false, cameras: cameras).bytes
        #expect(try SavedState(saved).bytes == saved)
    }

    @Test func settingThatNoClientCanMakeIsNotTakenOver() throws {
        var playing = CameraSetup()
        playing.idleAction = IdleAction(afterMs: 5000, .play(trace: "tour"))
        for setup in [try longestSetup(), playing] {
            let text = String(decoding: try JSONEncoder().encode(setup), as: UTF8.self)
            #expect(try JSONDecoder().decode(CameraSetup.self, from: Data(text.utf8)) == setup && setup.isPossible)
            // Each number and each text, but for latitudes and longitudes: bounds clamp and wrap them.
            for match in text.matches(of: /([:\[,])-?\d[^,}\]]*|:"[^"]*"/) {
                guard !text[..<match.range.lowerBound].hasSuffix("itude\"") else { continue }
                let wrong = match.1.map { "\($0)-1e300" } ?? ":\"\(String(repeating: "a", count: 100_000))\""
                let changed = text.replacingCharacters(in: match.range, with: wrong)
                let decoded = try? JSONDecoder().decode(CameraSetup.self, from: Data(changed.utf8))
                #expect(decoded?.isPossible != true, "\(text[..<match.range.upperBound].suffix(60))")
            }
        }
    }
}
