// The example clients in other languages, with a real daemon.

import Foundation
import TestSupport
import Testing

@testable import GimbalClient

@Suite struct ForeignClientTests {
    private let daemon: DaemonProcess

    init() throws { daemon = try DaemonProcess() }

    private func client(_ name: String) -> URL {
        Files.root.appendingPathComponent("Protocols/examples/clients/\(name)")
    }

    private func run(
        _ name: String, _ arguments: [String] = [], socket: String? = nil, input: String = ""
    ) throws -> (status: CInt, output: [String], errors: String) {
        let (status, output, errors) = try DaemonProcess.run(
            client(name), arguments, input: Array(input.utf8), environment: ["GIMBAL_SOCKET": socket ?? daemon.socket])
        return (status, output.split(separator: "\n").map(String.init), errors)
    }

    // MARK: follow.py

    @Test(.needs("python3")) func aFollowerSeesEveryPositionThoughConnectionsBreak() async throws {
        let proxy = try StandIn.cutting(after: [600, 330], before: daemon.socket)
        let gimbal = Gimbal(path: daemon.socket)
        let follower = try RunningProgram(["--socket", proxy.path, "--count", "10", "left"], of: client("follow.py"))
        try await waitUntil("the follower has subscribed") { try await gimbal.stats().subscriptions > 0 }
        for bearing in 1...10 { try await gimbal.camera("left").move(.setBearing(Double(bearing))) }
        let (status, text, _) = follower.wait()
        #expect(status == 0)
        #expect(text.split(separator: "\n") == (1...10).map { "0 0 2 \($0) 0" })
    }

    @Test(.needs("python3")) func aFollowerOfAllSeesThoseToComeThoughConnectionsBreak() async throws {
        let proxy = try StandIn.cutting(after: [900, 330], before: daemon.socket)
        let gimbal = Gimbal(path: daemon.socket)
        try await gimbal.camera("left").stop()
        let follower = try RunningProgram(["--socket", proxy.path, "--count", "9", "*"], of: client("follow.py"))
        try await waitUntil("the follower has subscribed") { try await gimbal.stats().subscriptions > 0 }
        var text = Data()
        for bearing in 1...9 {
            // A camera made while the client is disconnected is reported in its then current state.
            while bearing == 6, text.count(where: { $0 == 0x0a }) < 5 {
                text += follower.output.fileHandleForReading.availableData
            }
            try await gimbal.camera(bearing > 5 ? "new" : "left").move(.setBearing(Double(bearing)))
        }
        let (status, rest, _) = follower.wait()
        #expect(status == 0)
        let lines = (String(decoding: text, as: UTF8.self) + rest).split(separator: "\n").map(String.init)
        #expect(lines == (1...9).map { "\($0 > 5 ? "new" : "left") 0 0 2 \($0) 0" })
    }

    @Test(.needs("python3")) func aFollowerSaysWhyItEnds() throws {
        let refused = try run("follow.py", ["a b"])
        #expect(refused.status == 1 && refused.output.isEmpty && refused.errors.contains("camera must be"))
        let alone = try run("follow.py", socket: "/nonexistent/gimbal.sock")
        #expect(alone.status == 1 && alone.errors.contains("/nonexistent/gimbal.sock"))
    }

    // MARK: touch.py

    @Test(.needs("python3")) func fingersFromALanguageWithoutARecognizerPinch() throws {
        let touched = try run("touch.py")
        #expect(touched.status == 0 && touched.errors.isEmpty, "\(touched.errors)")
        // From 100 points apart to 500.
        let zooms = touched.output.compactMap(Double.init)
        #expect(zooms.count == 2 && zooms[0] == 2 && abs(zooms[1] - 2 - log2(5)) < 1e-6, "\(touched.output)")
    }

    @Test(.needs("python3")) func fingersWithoutADaemonSayWhereTheyLooked() throws {
        let alone = try run("touch.py", socket: "/nonexistent/gimbal.sock")
        #expect(alone.status == 1 && alone.errors == "touch.py: /nonexistent/gimbal.sock: No such file or directory\n")
    }

    // MARK: feed.sh

    @Test(.needs("socat", "jq")) func aFeederShowsWhatItsRequestsDo() throws {
        let input = """
            {"type":"move","update":{"kind":"zoom-to","zoom":12}}
            [{"type":"pinch","phase":"changed","scale":1},{"type":"pinch","phase":"changed","scale":2}]
            {"type":"move","camera":"left","update":{"kind":"set-bearing","bearing":90}}
            """
        let fed = try run("feed.sh", input: input + "\n")
        #expect(fed.status == 0 && fed.errors.isEmpty, "\(fed.errors)")
        #expect(fed.output == ["0 0 12 0 0", "0 0 13 0 0", "0 0 2 90 0"])
    }

    @Test(.needs("socat", "jq")) func aFeederStopsAtWhatIsRefused() throws {
        let fed = try run("feed.sh", input: "{\"type\":\"stop\"}\n{\"type\":\"fly\"}\n")
        #expect(fed.status == 1 && fed.output == ["0 0 2 0 0"])
        #expect(fed.errors.contains("line 2") && fed.errors.contains("fly"))
        let alone = try run("feed.sh", socket: "/nonexistent/gimbal.sock", input: "{\"type\":\"stop\"}\n")
        #expect(alone.status != 0 && alone.errors.contains("/nonexistent/gimbal.sock"))
    }
}
