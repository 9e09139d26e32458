// The single connection to the daemon that serves all pages: what they receive after a refusal, and after gaps.

import Foundation
import GimbalProtocol
import NIOPosix
import Service
import TestSupport
import Testing
import UnixSocket

@testable import WebServer

@Suite struct FollowerTests {
    /// Follows a daemon for one page while the body runs; `told` returns the page's lines as text.
    private func following(_ socket: String, _ body: (_ told: () async -> String) async throws -> Void) async throws {
        let follower = Follower(DaemonSocket(candidates: [socket]), on: MultiThreadedEventLoopGroup.singleton)
        let outbox = PageOutbox()
        follower.add(outbox, PageLine(["type": .string("page")]))
        let task = Task { await follower.run() }
        defer { task.cancel() }
        var all = ""
        try await body {
            all += String(decoding: follower.take(outbox) ?? [], as: UTF8.self)
            return all
        }
    }

    private static let position = #"{"target":{"latitude":0,"longitude":0},"zoom":2,"bearing":0,"viewingAngle":0}"#

    /// A daemon that says what a test wants, to one client.
    private final class Daemon {
        let path = TemporaryPath.fresh("daemon")
        private let listening: ListeningSocket
        private var client: CInt = -1

        init() throws { listening = try ListeningSocket(path: path, mode: 0o600) }

        deinit {
            close(client)
            listening.remove()
        }

        func accept() async throws {
            try await waitUntil("somebody connects") {
                await Task.yield()
                client = Glibc.accept(listening.descriptor, nil, nil)
                return client >= 0
            }
        }

        /// Waits until the client has subscribed.
        func waitForRequest() async throws {
            try await accept()
            var byte: UInt8 = 0
            try await waitUntil("it subscribes") {
                await Task.yield()
                return recv(client, &byte, 1, CInt(MSG_PEEK | MSG_DONTWAIT)) == 1
            }
        }

        func say(_ line: String) { #expect(write(client, line + "\n", line.utf8.count + 1) > 0) }

        /// Tells of the camera `main`.
        func greet() {
            say(#"{"type":"subscribed","camera":"*","cameras":1}"#)
            say(#"{"type":"subscribed","camera":"main","epoch":"e","seq":0,"position":\#(FollowerTests.position)}"#)
        }

        /// Sends lines until the client ends the connection, or `most` bytes are sent.
        func flood(most: Int, _ line: (Int) -> String) -> Int {
            var (sent, number) = (0, 0)
            while sent < most {
                let lines = (number..<number + 100).map { line($0) + "\n" }.joined()
                let count = send(client, lines, lines.utf8.count, CInt(MSG_NOSIGNAL))
                guard count > 0 else { break }
                sent += count
                number += 100
            }
            return sent
        }
    }

    @Test func aDaemonThatRefusesTheConnectionIsNotThereAndItsReasonIsTold() async throws {
        let daemon = try DaemonProcess(["--max-connections", "1"])
        var first: SocketClient? = try SocketClient(daemon.socket)
        try first?.send(#"{"type":"ping"}"#)
        _ = try first?.receive(until: "pong")
        try await following(daemon.socket) { told in
            try await waitUntil("the daemon's own reason is told") { await told().contains("there is 1 connection") }
            #expect(await !told().contains(#""connected":true"#))
            first = nil
            try await waitUntil("the daemon is there") { await told().contains(#""connected":true"#) }
        }
        withExtendedLifetime(daemon) {}
    }

    @Test func aSignOfLifeSaysHowGoodTheMachinesClockIs() throws {
        let follower = Follower(DaemonSocket(candidates: []), on: MultiThreadedEventLoopGroup.singleton)
        let outbox = PageOutbox()
        follower.add(outbox, PageLine(["type": .string("page")]))
        _ = follower.take(outbox)
        follower.sayAlive()
        let told = try JSON(String(decoding: try #require(follower.take(outbox)), as: UTF8.self))
        #expect(told["type"]?.string == "alive")
        // A sandbox may not let a process ask.
        let known = try? ClockQuality.kernel()
        #expect(told["clock"]?["synchronized"]?.bool == known?.isSynchronized)
    }

    @Test func pagesAreToldWhatAClientOfTheDaemonSaysOfScreensUntilItEnds() async throws {
        let daemon = try DaemonProcess()
        // More than one answer lists.
        let others = try (0..<70).map { _ in try SocketClient(daemon.socket) }
        for other in others { try other.send(#"{"type":"hello","version":1,"about":"a viewer"}"#) }
        var bridge: SocketClient? = try SocketClient(daemon.socket)
        func tell(_ client: SocketClient?, _ screens: String) throws {
            let about = JSON.string(#"{"type":"screens","screens":[\#(screens)]}"#).text
            try client?.send(#"{"type":"hello","version":1,"about":\#(about)}"#)
            _ = try client?.receive(until: "hello")
        }
        let screen = #"{"node":"k1","camera":"main","leadMs":-7.5,"late":2}"#
        try tell(bridge, screen)
        // What no screen can be is not passed on.
        for (other, wrong) in zip(
            others,
            [
                #"{"node":{"toString":1},"camera":"m","late":0}"#, #"{"node":"<b>","camera":"m","late":0}"#, "null",
                #"{"node":"a","camera":"m","late":true}"#, #"{"node":"a","camera":"m","late":0,"leadMs":{}}"#,
                Array(repeating: #"{"node":"a","camera":"m","late":0}"#, count: 65).joined(separator: ","),
            ])
        { try tell(other, wrong) }

        let follower = Follower(DaemonSocket(candidates: [daemon.socket]), on: MultiThreadedEventLoopGroup.singleton)
        let outbox = PageOutbox()
        follower.add(outbox, PageLine(["type": .string("page")]))
        let task = Task { await follower.run() }
        defer { task.cancel() }
        func lastScreens() -> String? {
            String(decoding: follower.take(outbox) ?? [], as: UTF8.self).split(separator: "\n").map(String.init).last {
                $0.contains("screens")
            }
        }
        for wanted in ["[\(screen)]", "[]"] {
            try await waitUntil("pages are told \(wanted)") {
                follower.sayAlive()
                try? await Task.sleep(for: .milliseconds(20))
                return lastScreens() == #"{"type":"screens","screens":\#(wanted)}"#
            }
            bridge = nil
        }
        withExtendedLifetime((daemon, others)) {}
    }

    @Test func gesturesThatMayHaveEndedInAGapAreNotShownAsActive() async throws {
        let daemon = try Daemon()
        try await following(daemon.path) { told in
            try await daemon.accept()
            daemon.greet()
            daemon.say(#"{"type":"gesture","camera":"main","timeMs":4,"line":{"type":"set-gestures","rotate":false}}"#)
            daemon.say(#"{"type":"gesture","camera":"main","timeMs":5,"line":{"type":"pan","phase":"began"}}"#)
            try await waitUntil("the pan is told") { await told().contains(#""gestures":["pan"]"#) }
            daemon.say(
                #"{"type":"lagged","camera":"main","missed":9,"epoch":"e","seq":9,"position":\#(Self.position)}"#)
            try await waitUntil("its end is told") { await told().contains(#""gestures":[]"#) }
            // The gestures that the camera takes are known across the gap.
            for type in ["rotate", "tilt"] {
                daemon.say(#"{"type":"gesture","camera":"main","timeMs":9,"line":{"type":"\#(type)","phase":"began"}}"#)
            }
            try await waitUntil("the tilt alone is told") { await told().contains(#""gestures":["tilt"]"#) }
            // Anything that may have changed in the gap arrives with the camera.
            let viewport = #"{"width":390,"height":844,"padding":{"top":0,"left":0,"bottom":0,"right":0}}"#
            let switches = #""scroll":true,"zoom":true,"rotate":true,"tilt":true,"scrollDuringRotateOrZoom":true"#
            daemon.say(
                #"{"type":"camera","camera":"main","seq":9,"position":\#(Self.position),"minZoom":2,"maxZoom":21,"targetBounds":null,"#
                    + #""viewport":\#(viewport),"gestures":{\#(switches),"fling":true,"inertia":false}}"#)
            daemon.say(#"{"type":"gesture","camera":"main","timeMs":10,"line":{"type":"rotate","phase":"began"}}"#)
            try await waitUntil("the rotation is told") { await told().contains(#""gestures":["rotate","tilt"]"#) }
        }
    }

    @Test func aPageThatComesLateIsToldALeaseWithTheTimeThatIsLeftAndNoneThatMayHaveEndedInAGap() async throws {
        let daemon = try Daemon()
        let follower = Follower(DaemonSocket(candidates: [daemon.path]), on: MultiThreadedEventLoopGroup.singleton)
        let task = Task { await follower.run() }
        defer { task.cancel() }
        /// Returns what a page that starts now receives.
        func news() -> String {
            let outbox = PageOutbox()
            follower.add(outbox, PageLine(["type": .string("page")]))
            return String(decoding: follower.take(outbox) ?? [], as: UTF8.self)
        }
        try await daemon.accept()
        daemon.greet()
        daemon.say(#"{"type":"lease-taken","camera":"main","timeMs":100,"lease":7,"untilMs":60100,"label":"guide"}"#)
        try await waitUntil("time has gone on") { () async throws in
            let line = news().split(separator: "\n").first { $0.contains("lease-taken") }
            return try line.map { try JSON($0) }?["timeMs"]?.number ?? 100 > 100
        }
        let told = news()
        #expect(told.contains(#""lease":7,"untilMs":60100,"label":"guide"}"#))
        daemon.say(#"{"type":"lagged","camera":"main","missed":9,"epoch":"e","seq":9,"position":\#(Self.position)}"#)
        try await waitUntil("the gap is told") { () async in news().contains("lagged") }
        #expect(!news().contains("lease-taken"))
    }

    @Test func aPageThatComesLateIsToldThePositionsAheadThatAreStillValid() async throws {
        let daemon = try Daemon()
        let follower = Follower(DaemonSocket(candidates: [daemon.path]), on: MultiThreadedEventLoopGroup.singleton)
        let task = Task { await follower.run() }
        defer { task.cancel() }
        /// Returns the times that a page that starts now receives.
        func news() throws -> [Double] {
            let outbox = PageOutbox()
            follower.add(outbox, PageLine(["type": .string("page")]))
            return try String(decoding: follower.take(outbox) ?? [], as: UTF8.self).split(separator: "\n")
                .compactMap { try JSON(String($0))["presentation"]?["presentAt"]?.number }
        }
        func say(_ times: Double...) {
            for time in times {
                daemon.say(
                    #"{"type":"present","camera":"main","presentation":{"presentAt":\#(time),"position":\#(Self.position),"moving":true}}"#
                )
            }
        }
        func expect(_ times: Double..., comment: String) async throws {
            try await waitUntil(comment) { () async throws in try news() == times }
        }
        try await daemon.accept()
        daemon.greet()
        // The past, and times that do not come while this test runs.
        let far = 4_000_000_000_000.0
        say(1000, 2000)
        say(far, far + 20, far + 40)
        try await expect(2000, far, far + 20, far + 40, comment: "it gets the current one and all that wait")
        say(far + 20)
        try await expect(2000, far, far + 20, comment: "one replaces those from its time on")
        say(3000)
        try await expect(comment: "one whose time has come, and none behind it, is no news")
        say(far)
        try await expect(3000, far, comment: "it is the current one")
        daemon.say(#"{"type":"present","camera":"main"}"#)
        try await expect(comment: "revoked ones are gone")
        for type in ["lagged", "reset"] {
            say(far)
            try await expect(far, comment: "others are told")
            daemon.say(
                #"{"type":"\#(type)","camera":"main","timeMs":1,"missed":9,"epoch":"e","seq":9,"position":\#(Self.position)}"#
            )
            try await expect(comment: "a gap may have hidden what replaces them")
        }
    }

    @Test func thePageHasTextsForTheEventsThatItIsSent() throws {
        let script = try Files.text("Sources/Page/WebFiles/page/log.js")
        // It is not sent clocks and motions, and draws what is presented.
        for type in MessageType.allCases {
            guard let kind = type.eventKind, ![.clock, .motion, .present].contains(kind) else { continue }
            #expect(script.contains("\n    \"\(type.rawValue)\": ["), "\(type)")
        }
    }

    @Test func aDaemonOfMoreCamerasThanCanBeFollowedIsLetGo() async throws {
        let daemon = try Daemon()
        let long = String(repeating: "e", count: 20_000)
        try await following(daemon.path) { told in
            try await daemon.waitForRequest()
            daemon.say(#"{"type":"subscribed","camera":"*","cameras":1}"#)
            let sent = daemon.flood(most: 400 << 20) {
                #"{"type":"subscribed","camera":"c\#($0)","epoch":"e","seq":0,"position":\#(Self.position),"more":"\#(long)"}"#
            }
            #expect(sent < 200 << 20)
            try await waitUntil("why is told") { await told().contains("cameras are too many to follow") }
        }
    }

    @Test func aDaemonThatTakesNoRequestsIsLetGo() async throws {
        let daemon = try Daemon()
        try await following(daemon.path) { told in
            try await daemon.waitForRequest()
            daemon.greet()
            // Each causes two requests to the daemon.
            let sent = daemon.flood(most: 400 << 20) {
                #"{"type":"lagged","camera":"main","missed":9,"epoch":"e","seq":\#($0),"position":\#(Self.position)}"#
            }
            #expect(sent < 100 << 20)
            try await waitUntil("its end is told") { await told().contains("the daemon ended the connection") }
        }
    }
}
