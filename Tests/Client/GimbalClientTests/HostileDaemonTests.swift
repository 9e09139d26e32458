// The library and the programs connected to something other than a daemon: whatever comes, they end with an error that
// describes it, in bounded memory. Endless input is sent until they hang up, so if a test ends, they did.

import Foundation
import Synchronization
import TestSupport
import Testing

@testable import GimbalClient

/// Returns an endless sequence.
private func endless(_ piece: String) -> Repeated<[UInt8]> {
    let bytes = Array(String(repeating: piece, count: max(1, 65_536 / piece.utf8.count)).utf8)
    return repeatElement(bytes, count: .max)
}

/// An answer that is invalid for every request made here.
struct HostileAnswer: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let text: String

    static let all: [HostileAnswer] = [
        .init("another protocol", "HTTP/1.1 400 Bad \u{7}Request\r\n"),
        .init("100,000 arrays", String(repeating: "[", count: 100_000)),
        .init("100,000 objects", String(repeating: #"{"a":"#, count: 100_000)),
        .init("a deep member", #"{"type":"x","a":"# + String(repeating: "[", count: 50_000)),
        .init("no type", #"{"id":65536}"#),
        .init("a type that is none", #"{"type":7}"#),
        .init("bytes that are no text", "\u{0}\u{1b}[2J"),
        .init("an empty line", ""),
    ]

    init(_ name: String, _ text: String) { (testDescription, self.text) = (name, text + "\n") }
}

@Suite struct HostileDaemonTests {
    /// Beside tests that keep all threads waiting, an answer may take longer than a client's usual patience.
    private func gimbal(at stranger: StandIn) -> Gimbal { Gimbal(path: stranger.path, timeout: .seconds(600)) }

    /// Returns the error that a body throws.
    private func error(_ body: () async throws -> Void) async -> GimbalConnectionError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? GimbalConnectionError
        }
    }

    private func isUnexpected(_ error: GimbalConnectionError?) -> Bool {
        guard case .unexpectedAnswer(let line)? = error else { return false }
        return line.utf8.count <= 700 && line == PrintableText(line).description
    }

    // MARK: The library

    @Test(arguments: HostileAnswer.all) func whatIsNoMessageIsAnErrorOfTheLibrary(_ answer: HostileAnswer) async throws
    {
        let stranger = try StandIn.answering([Array(answer.text.utf8)])
        let gimbal = gimbal(at: stranger)
        let (asked, followed) = (
            await error { try await gimbal.ping() },
            await error { for try await _ in gimbal.camera().events() {} }
        )
        #expect(isUnexpected(asked), "\(String(describing: asked))")
        #expect(asked == followed, "\(String(describing: followed))")
        #expect(gimbal.connectionState == .lost(try #require(asked)))
    }

    @Test(arguments: [
        #"{"type":"pong","id":1}"#, #"{"type":"pong","id":-65536}"#, #"{"type":"pong","id":9223372036854775807}"#,
        #"{"type":"pong","id":65537}"#, #"{"type":"pong","id":"65536"}"#, #"{"type":"pong"}"#,
        #"{"type":"error","line":2,"code":"invalid-json","message":"no"}"#,
    ]) func anAnswerToWhatNobodyAskedEndsTheConnection(_ answer: String) async throws {
        let stranger = try StandIn.answering([Array((answer + "\n").utf8)])
        let refused = await error { try await gimbal(at: stranger).ping() }
        #expect(refused == .unexpectedAnswer(answer))
    }

    @Test func aSecondAnswerEndsTheConnection() async throws {
        let pong = #"{"type":"pong","id":65536}"#
        let stranger = try StandIn.answering([Array("\(pong)\n\(pong)\n".utf8)])
        let gimbal = gimbal(at: stranger)
        try await gimbal.ping()
        for await state in gimbal.connectionStates {
            if case .lost(let why) = state {
                #expect(why == .unexpectedAnswer(pong))
                break
            }
        }
    }

    @Test func whatANewerDaemonTellsEverybodyIsPassedOver() async throws {
        let news = #"{"type":"news","text":"x"}"# + "\n"
        let stranger = try StandIn.answering([Array((news + news + #"{"type":"pong","id":65536}"# + "\n").utf8)])
        try await gimbal(at: stranger).ping()
    }

    @Test func anEndlessLineEndsTheConnection() async throws {
        let tooLong = [UInt8](repeating: 0x20, count: LineBuffer.longestLine + 2)
        for pieces in [endless(" "), repeatElement(tooLong, count: 1)] {
            let stranger = try StandIn.answering(pieces)
            let ofPing = await error { try await gimbal(at: stranger).ping() }
            #expect(ofPing == .lineTooLong)
            let ofEvents = await error { for try await _ in gimbal(at: stranger).camera().events() {} }
            #expect(ofEvents == .lineTooLong)
        }
    }

    @Test func aLineThatBreaksOffIsNone() async throws {
        let stranger = try StandIn.answering([Array(#"{"type":"pong","id":65536}"#.utf8)])
        #expect(await error { try await gimbal(at: stranger).ping() } == .ended)
        let events = gimbal(at: stranger).camera().events(reconnecting: .never)
        #expect(await error { for try await _ in events {} } == .ended)
    }

    @Test func aLineMayComeByteByByte() async throws {
        let stranger = try StandIn.answering(Array((#"{"type":"pong","id":65536}"# + "\n").utf8).map { [$0] })
        try await gimbal(at: stranger).ping()
    }

    @Test func whoWaitsForASlowLineCanBeCancelled() async throws {
        let (half, come) = AsyncStream.makeStream(of: Void.self)
        let stranger = try StandIn { _, connection in
            _ = isReadable(connection)
            StandIn.pour([Array(#"{"type":"#.utf8)], to: connection)
            come.finish()
            // Until the client has hung up.
            var bytes = [UInt8](repeating: 0, count: 4096)
            while recv(connection, &bytes, bytes.count, 0) > 0 {}
        }
        let gimbal = gimbal(at: stranger)
        let task = Task { try await gimbal.ping() }
        for await _ in half {}
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test(arguments: [.zero, .milliseconds(20)] as [Swift.Duration])
    func aQuestionIsNotWaitedForForEver(_ timeout: Swift.Duration) async throws {
        let stranger = try StandIn { _, connection in
            // It ignores questions and answers a command: the third line.
            var (lines, bytes) = (0, [UInt8](repeating: 0, count: 4096))
            while lines < 3 {
                let count = recv(connection, &bytes, bytes.count, 0)
                guard count > 0 else { return }
                lines += bytes[..<count].count { $0 == 0x0a }
            }
            StandIn.pour([Array(#"{"type":"ok","id":196608}"#.utf8), [0x0a]], to: connection)
            _ = recv(connection, &bytes, bytes.count, 0)
        }
        let gimbal = Gimbal(path: stranger.path, timeout: timeout)
        #expect(await error { try await gimbal.ping() } == .noAnswer(within: timeout))
        #expect(await error { _ = try await gimbal.camera().state() } == .noAnswer(within: timeout))
        try await gimbal.camera().stop()
    }

    @Test func noNumberOfTheDaemonsStopsALoop() async throws {
        let position = #""position":{"target":{"latitude":0,"longitude":0},"zoom":2,"bearing":0,"viewingAngle":0}"#
        let lagged = #"{"type":"lagged","camera":"main","missed":9223372036854775807,"# + position + "}\n"
        let subscribed =
            #"{"type":"subscribed","camera":"main","epoch":"x","seq":9223372036854775807,"# + position + "}\n"
        let stranger = try StandIn.answering([Array((subscribed + lagged + lagged).utf8)])
        var loop = gimbal(at: stranger).camera().events(reconnecting: .never).makeAsyncIterator()
        var count = 0
        let end = await error { while try await loop.next() != nil { count += 1 } }
        #expect(end == .ended && count == 3)
    }

    @Test func pagesOfClientsThatBeginAnewAreAnError() async throws {
        let pages = [1, 2].map {
            #"{"type":"clients","id":\#($0 << 16),"more":true,"clients":[{"number":1,"self":true,"role":"everything","#
                + #""subscriptionCount":0,"subscriptions":[],"waits":0,"unreadBytes":0}]}"# + "\n"
        }
        let stranger = try StandIn { _, connection in
            for page in pages {
                _ = isReadable(connection)
                var request = [UInt8](repeating: 0, count: 4096)
                _ = recv(connection, &request, request.count, 0)
                StandIn.pour([Array(page.utf8)], to: connection)
            }
        }
        let refused = await error { _ = try await gimbal(at: stranger).clients() }
        #expect(refused == .unexpectedAnswer("clients that it had listed before"))
    }

    // MARK: The programs

    private static let commands = [
        ["get", "--json"], ["get"], ["cameras"], ["move", "--zoom", "3"], ["watch", "--json"], ["watch"],
        ["record"], ["replay", "--follow", "Protocols/examples/traces/pinch-and-rotate.ndjson"],
    ]

    private func run(_ command: [String], _ stranger: StandIn) throws -> (status: CInt, output: String, errors: String)
    {
        let arguments = command.map { $0.hasPrefix("Protocols/") ? Files.root.appendingPathComponent($0).path : $0 }
        return try DaemonProcess.run(DaemonProcess.gimbal, arguments + ["--socket", stranger.path])
    }

    @Test(arguments: commands, [("x", "more than 1 MiB"), ("HTTP/1.1 400 Bad Request\n", "HTTP/1.1 400 Bad Request")])
    func anEndlessLineOrEndlessLinesEndAProgram(_ command: [String], input: (piece: String, told: String)) throws {
        let ended = try run(command, try StandIn.answering(endless(input.piece)))
        #expect(ended.status == 69 && ended.errors.contains(input.told), "\(ended)")
    }

    @Test(arguments: HostileAnswer.all) func whatIsNoMessageIsAnErrorOfTheProgram(_ answer: HostileAnswer) throws {
        for command in [Self.commands[1], Self.commands[4], Self.commands[7]] {
            let ended = try run(command, try StandIn.answering([Array(answer.text.utf8)]))
            #expect(
                ended.status == 69 && !ended.errors.isEmpty, "\(command) \(ended.status) \(ended.errors.prefix(300))")
            #expect(ended.errors.utf8.count < 1000 && !(ended.output + ended.errors).contains("\u{1b}"), "\(command)")
        }
    }

    @Test(arguments: commands) func aLineThatBreaksOffEndsAProgram(_ command: [String]) throws {
        let ended = try run(command, try StandIn.answering([Array(#"{"type":"camera","position":{"#.utf8)]))
        #expect(ended.status == 69 && ended.output.isEmpty, "\(ended)")
        #expect(ended.errors.contains("the daemon ended the connection"), "\(ended)")
    }
}
