// Limits as configured and documented: every one has an option and a line in the README, and the program enforces it.

import Foundation
import Service
import TestSupport
import Testing

@testable import gimbald

@Suite struct LimitTests {
    /// Each limit's name and default, according to the help.
    private var told: [(name: String, standard: Int)] {
        Options.limits.compactMap { limit in
            let digits = limit.help.components(separatedBy: "default: ").last?.prefix(while: \.isNumber) ?? ""
            return Int(digits).map { (limit.name, $0) }
        }
    }

    /// Returns a number as the README may write it: with a comma, or as whole KiB or MiB.
    private func written(_ number: Int) -> [String] {
        let thousands = number < 1000 ? "\(number)" : "\(number / 1000)," + "\(number % 1000 + 1000)".dropFirst()
        return [thousands] + (number % (1 << 20) == 0 ? ["\(number >> 20) MiB"] : ["\(number >> 10) KiB"])
    }

    @Test func theReadmeTellsEveryLimit() throws {
        let table = try Files.text("README.md").components(separatedBy: "\n## ").first { $0.hasPrefix("Limits") }
        let rows = (table ?? "").split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst()
        #expect(told.count == Options.limits.count && told.count > 10)
        for (name, standard) in told {
            let own = rows.filter { $0.contains("| `\(name)` |") }
            #expect(own.count == 1, "\(name)")
            let isRight = own.contains { row in written(standard).contains { row.contains("| \($0)") } }
            #expect(isRight, "\(name): \(written(standard)) in \(own)")
        }
        let named = rows.joined(separator: "\n").matches(of: /\| `([a-z-]+)` \|(?:\n|$)/).map { String($0.1) }
        #expect(named.sorted() == told.map(\.name).sorted())
    }

    @Test func tracesBeyondTheStepsOfAllAreLeftOut() throws {
        let folder = Folder()
        let zoom = { (time: Int) in #"{"type":"move","timeMs":\#(time),"update":{"kind":"zoom-in"}}"# + "\n" }
        for (name, count) in [("a", 4), ("b", 4), ("c", 1)] {
            try folder.write(name, "{\"type\":\"trace\",\"version\":1}\n" + (0..<count).map(zoom).joined())
        }
        let log = Log(of: "gimbald", level: .error)
        let all = TraceFolder.traces(in: folder.path, log)
        #expect(all.map(\.name) == ["a", "b", "c"])
        let some = all[0].steps + all[1].steps
        #expect(TraceFolder.traces(in: folder.path, log, mostSteps: some).map(\.name) == ["a", "b"])
        #expect(TraceFolder.traces(in: folder.path, log, mostSteps: some - 1).map(\.name) == ["a"])
    }

    @Test func everyLimitHasARange() throws {
        for (name, standard) in told {
            for value in ["\(standard)", "-1", "0", "1073741825", "x"] {
                let isRight = value == "\(standard)"
                do {
                    _ = try Options(arguments: ["--limit", "\(name)=\(value)"])
                    #expect(isRight, "\(name) \(value)")
                } catch {
                    #expect(!isRight && error.message.hasPrefix("--limit \(name) \"\(value)\" must be "))
                }
            }
        }
    }

    @Test(arguments: ["", "=", "cameras", "cameras=", "=300", "lions=3", "max-cameras=3"])
    func whatNamesNoLimitIsRefused(_ value: String) throws {
        #expect(throws: Options.UsageError.self) { try Options(arguments: ["--limit", value]) }
    }

    @Test func eachLimitIsAnOptionAsItWas() throws {
        for (name, standard) in told {
            let option = name.hasPrefix("history") || name.hasSuffix("replay-bytes") ? "--\(name)" : "--max-\(name)"
            _ = try Options(arguments: [option, "\(standard)"])
            _ = try Options(arguments: ["\(option)=\(standard)"])
        }
        #expect(try Options(arguments: ["--max-cameras", "7"]).limits.cameras == 7)
        let both = try Options(arguments: ["--max-cameras", "7", "--limit=waits=8", "--limit", "cameras=9"])
        #expect(both.limits.cameras == 9 && both.limits.waits == 8)
    }

    @Test func oneUserHasHalfOfTheConnectionsByDefault() throws {
        #expect(try Options(arguments: ["--max-connections", "9"]).limits.connectionsPerUser == 5)
        let set = try Options(arguments: ["--max-connections-per-user=7", "--max-connections=9"])
        #expect(set.limits.connectionsPerUser == 7)
    }

    @Test func limitsThatAreSetAreKeptTo() throws {
        let daemon = try DaemonProcess([
            "--max-line", "1024", "--limit", "batch=2", "--max-subscriptions", "1", "--max-gestures", "1",
        ])
        let client = try SocketClient(daemon.socket)
        for (line, message) in [
            (String(repeating: "x", count: 1025), "1024 bytes"),
            (#"[{"type":"ping"},{"type":"ping"},{"type":"ping"}]"#, "2 objects"),
            (#"[{"type":"subscribe"},{"type":"subscribe","camera":"b"}]"#, "1 subscriptions"),
            (#"[{"type":"pan","phase":"began"},{"type":"tilt","phase":"began"}]"#, "1 active gestures"),
        ] {
            let answer = try client.ask(line)
            #expect(answer["type"]?.string == "error" && answer["message"]?.string?.contains(message) == true)
        }
        let stats = try client.ask(#"{"type":"stats"}"#)
        #expect(stats["subscriptions"]?.number == 0 && stats["events"]?.number == 0)
    }

    @Test func watchersLeaveAQuarterOfTheConnectionsToFeeders() throws {
        let daemon = try DaemonProcess(["--max-connections", "4"], watches: true)
        let watchers = try (0..<3).map { _ in try SocketClient(daemon.watchSocket) }
        for watcher in watchers { #expect(try watcher.answersPing()) }
        let refusal = try JSON(try SocketClient(daemon.watchSocket).receive() ?? "")
        #expect(refusal["message"]?.string == "there are 3 connections that may only watch, and no more are accepted")
        #expect(try SocketClient(daemon.socket).answersPing())
    }

    @Test func aLineMayBeLongerThanWhatIsReadAhead() throws {
        let daemon = try DaemonProcess(["--max-line", "1048576", "--max-read-ahead", "4096"])
        let client = try SocketClient(daemon.socket)
        try client.send(#"{"type":"ping","id":1,"x":"\#(String(repeating: "y", count: 1_000_000))"}"#)
        #expect(client.receive() == #"{"type":"pong","id":1}"#)
        #expect(try client.ask(String(repeating: "y", count: 1_048_577))["code"]?.string == "line-too-long")
    }

    // MARK: The system's own limits

    @Test func whenDescriptorsRunOutAcceptingGoesOnAsSoonAsThereAreSome() throws {
        let daemon = try DaemonProcess(prelude: "ulimit -n 24")
        let first = try SocketClient(daemon.socket)
        // More than there is room for: some are accepted, some may be closed, the rest has to wait.
        let clients = try (0..<40).map { _ in try SocketClient(daemon.socket) }
        for _ in 0..<3 { #expect(try first.answersPing()) }
        for client in clients { client.close() }
        #expect(try SocketClient(daemon.socket).answersPing())
        #expect(daemon.end(SIGTERM) == 0 && daemon.log().contains("Too many open files"))
        #expect(daemon.log().contains("descriptors, but the system allows 24"))
    }
}
