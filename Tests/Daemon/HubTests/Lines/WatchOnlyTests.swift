// Watch-only clients: every request that changes something is denied, with its whole line, and such a client leaves
// nothing behind.

import Foundation
import GimbalProtocol
import TestSupport
import Testing

@testable import Hub

@Suite struct WatchOnlyTests {
    @Test func ephemeralCameraOfALostWatcherIsGoneAfterAHandover() throws {
        let host = HubHost()
        let watcher = host.connect(role: .watchOnly(because: "it is a test"))
        watcher.send(#"{"type":"subscribe"}"#)
        #expect(host.hub.cameraCount == 1)
        try host.handOver(without: [watcher])
        #expect(host.hub.cameraCount == 0)
    }

    private static let watchOnly = Role.watchOnly(because: "the test says so")

    private static let denied =
        [
            #"{"type":"pan","phase":"began"}"#, #"{"type":"pan","phase":"changed","translation":{"x":1,"y":1}}"#,
            #"{"type":"pinch","phase":"changed","scale":2}"#, #"{"type":"rotate","phase":"changed","rotationDeg":2}"#,
            #"{"type":"tilt","phase":"began"}"#, #"{"type":"one-finger-zoom","phase":"began"}"#,
            #"{"type":"position","phase":"began"}"#, #"{"type":"touch","touches":[{"id":1,"x":2,"y":3}]}"#,
            #"{"type":"double-tap"}"#, #"{"type":"two-finger-tap"}"#, #"{"type":"move","update":{"kind":"zoom-in"}}"#,
            #"{"type":"animate","update":{"kind":"zoom-in"}}"#, #"{"type":"stop"}"#,
            #"{"type":"tour","keyframes":[{"position":{"target":{"latitude":1,"longitude":2},"zoom":3}}]}"#,
            #"{"type":"present","presentAt":1,"position":{"target":{"latitude":1,"longitude":2},"zoom":3}}"#,
            #"{"type":"marker","label":"a"}"#,
        ] + CameraChange.settings.flatMap(\.lines) + deniedAlone
    /// Denied requests that need a line of their own.
    private static let deniedAlone = [
        #"{"type":"remove-camera"}"#, #"{"type":"trace-end"}"#, #"{"type":"pause-replay"}"#,
        #"{"type":"resume-replay"}"#, #"{"type":"step-replay"}"#, #"{"type":"seek-replay","toMs":0}"#,
        #"{"type":"set-replay-speed","speed":1}"#, #"{"type":"end-replay"}"#, #"{"type":"take-lease","forMs":9}"#,
        #"{"type":"join-lease","lease":1}"#, #"{"type":"end-lease"}"#,
    ]
    private static let allowed = [
        #"{"type":"hello","version":1}"#, #"{"type":"ping"}"#, #"{"type":"cameras"}"#, #"{"type":"stats"}"#,
        #"{"type":"clients"}"#, #"{"type":"traces"}"#, #"{"type":"await-idle"}"#, #"{"type":"get-replay"}"#,
        #"{"type":"get-camera"}"#, #"{"type":"visible-region"}"#, #"{"type":"unproject","point":{"x":1,"y":2}}"#,
        #"{"type":"project","coordinate":{"latitude":1,"longitude":2}}"#,
        #"{"type":"camera-for-bounds","bounds":{"southWest":{"latitude":1,"longitude":2},"northEast":{"latitude":3,"longitude":4}}}"#,
        #"{"type":"subscribe"}"#, #"{"type":"subscribe","events":["gesture"]}"#, #"{"type":"unsubscribe","id":1}"#,
    ]

    @Test func everyRequestIsDeniedOrAllowed() throws {
        // A trace is denied with all its lines, in a test of its own.
        let types = try (Self.denied + Self.allowed).compactMap { try JSON($0)["type"]?.string } + ["trace"]
        #expect(Set(types) == Set(ClientRequest.blanks.map(\.type)))
    }

    /// Returns a host with a used camera, and a client that may only watch it.
    private func host(_ host: HubHost = HubHost()) -> (host: HubHost, feed: HubPeer, watcher: HubPeer) {
        let feed = host.connect()
        feed.send(#"{"type":"move","update":{"kind":"zoom-to","zoom":7}}"#)
        return (host, feed, host.connect(role: Self.watchOnly))
    }

    private func code(_ peer: HubPeer) throws -> String? { try JSON(peer.receive() ?? "")["code"]?.string }

    @Test(arguments: denied)
    func requestsOfWatchersThatChangeSomethingAreDenied(_ line: String) throws {
        let (host, _, watcher) = host()
        let before = host.hub.savedState(isLast: true).bytes
        for sent in [line, "[\(line)]", "[{\"type\":\"subscribe\"},\(line)]"]
        where sent == line || !Self.deniedAlone.contains(line) {
            watcher.send(sent)
            let answers = try watcher.newMessages()
            #expect(answers.count == 1 && answers[0]["code"]?.string == "denied", "\(sent): \(answers)")
            #expect(answers[0]["field"]?.string == "type")
            #expect(answers[0]["message"]?.string?.hasSuffix("the test says so") == true)
        }
        host.pass(1000)
        #expect(host.hub.savedState(isLast: true).bytes == before && watcher.peer.subscriptions.isEmpty)
    }

    @Test(arguments: allowed)
    func watchersMaySubscribeAndAsk(_ line: String) throws {
        let (host, _, watcher) = host()
        let before = host.hub.savedState(isLast: true).bytes
        let type = try JSON(line)["type"]?.string
        watcher.send(line)
        let answer = try JSON(watcher.receive() ?? "")
        // There is no replay to tell of.
        #expect(answer["type"]?.string != "error" || answer["code"]?.string == "no-replay", "\(answer)")
        watcher.send(#"{"type":"unsubscribe","id":1}"#)
        #expect(watcher.lines().last == #"{"type":"ok","id":1}"#)
        #expect(host.hub.savedState(isLast: true).bytes == before, "\(type ?? "")")
    }

    @Test func deniedTraceIsDiscardedAndTheConnectionCloses() throws {
        let (host, feed, watcher) = host()
        watcher.send(#"{"type":"trace","version":1}"#)
        watcher.send(#"{"type":"ping"}"#)
        #expect(try code(watcher) == "denied")
        host.pass(5000)
        #expect(watcher.lines().isEmpty && watcher.isOver)
        #expect(try feed.ask(#"{"type":"get-camera"}"#)["position"]?["zoom"]?.number == 7)
    }

    // MARK: Cameras that do not exist yet

    @Test func queriesOfWatchersMakeNoCamera() throws {
        let (host, _, watcher) = host()
        let another = HubHost()
        let fresh = another.connect()
        for type in ["get-camera", "visible-region"] {
            let line = #"{"type":"\#(type)","camera":"none"}"#
            watcher.send(line)
            fresh.send(line)
            #expect(watcher.receive() == fresh.receive())
        }
        #expect(host.hub.cameraCount == 1)
    }

    @Test func earlyWatcherGetsTheFirstEventOfItsCamera() throws {
        let (host, feed, watcher) = host()
        watcher.send(#"{"type":"subscribe","camera":"later"}"#)
        _ = watcher.receive()
        #expect(host.hub.savedState(isLast: true).count == 1)
        feed.send(#"{"type":"move","camera":"later","update":{"kind":"zoom-in"}}"#)
        #expect(try JSON(watcher.receive() ?? "")["seq"]?.number == 1)
        #expect(host.hub.savedState(isLast: true).count == 2)
        // From now on it is an ordinary camera.
        watcher.close()
        #expect(host.hub.cameraCount == 2 && host.hub.parts.registry.ephemeralCount == 0)
    }

    @Test func ephemeralCameraIsRemovedWithItsLastSubscriber() throws {
        let (host, _, watcher) = host()
        let other = host.connect(role: Self.watchOnly)
        for peer in [watcher, other] { peer.send(#"{"type":"subscribe","camera":"later"}"#) }
        #expect(host.hub.cameraCount == 2)
        // Resubscribing leaves no gap in which it would be removed.
        other.send(#"{"type":"subscribe","camera":"later","delivery":"latest"}"#)
        watcher.close()
        #expect(host.hub.cameraCount == 2)
        other.send(#"[{"type":"unsubscribe","camera":"later"},{"type":"subscribe","camera":"later","id":1}]"#)
        #expect(host.hub.cameraCount == 2)
        // However the lines are divided among turns.
        other.put(Array("{\"type\":\"unsubscribe\",\"camera\":\"later\"}\n{\"type\":\"cameras\"}\n".utf8))
        host.turn()
        #expect(other.lines().last == #"{"type":"cameras","cameras":["main"]}"#)
        #expect(host.hub.cameraCount == 1 && host.hub.parts.registry.ephemeralCount == 0)
    }

    @Test func ephemeralCamerasDoNotCountToTheLimitOfOthers() throws {
        let (host, feed, watcher) = host(HubHost { $0.cameras = 3 })
        for index in 0..<3 { watcher.send(#"{"type":"subscribe","camera":"w\#(index)"}"#) }
        #expect(watcher.lines().count == 3)
        watcher.send(#"[{"type":"ping","id":1},{"type":"subscribe","camera":"w3"}]"#)
        #expect(try [code(watcher), code(watcher)] == ["limit-reached", "limit-reached"])
        // Existing cameras can be watched.
        watcher.send(#"{"type":"subscribe","id":2}"#)
        #expect(try code(watcher) == nil)
        for camera in ["w0", "f"] { feed.send(#"{"type":"stop","id":3,"camera":"\#(camera)"}"#) }
        #expect(feed.lines().allSatisfy { $0.contains("\"ok\"") })
        for camera in ["w1", "f2"] {
            feed.send(#"{"type":"stop","camera":"\#(camera)"}"#)
            #expect(try code(feed) == "limit-reached")
        }
        #expect(host.hub.cameraCount == 5)
        feed.send(#"{"type":"remove-camera","camera":"w2"}"#)
        #expect(watcher.lines().last == #"{"type":"removed","camera":"w2"}"#)
        #expect(host.hub.parts.registry.ephemeralCount == 1)
    }
}
