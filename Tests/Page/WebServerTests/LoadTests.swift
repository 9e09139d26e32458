// One client cannot keep others waiting: recordings, lines, unread files, and connections without requests.

import Foundation
import Synchronization
import TestSupport
import Testing

@testable import WebServer

@Suite struct LoadTests {
    // MARK: Recordings

    /// Conversions that the test blocks.
    private final class Gate: Sendable {
        private let begun = DispatchSemaphore(value: 0)
        private let opened = DispatchSemaphore(value: 0)
        private let running = Mutex((now: 0, most: 0))

        var most: Int { running.withLock { $0.most } }

        func convert(
            _ bytes: [UInt8], _ camera: String, _ advance: (Double) throws(HTTPRefusal) -> Void
        ) throws(HTTPRefusal) -> [UInt8] {
            running.withLock { running in
                running.now += 1
                running.most = max(running.most, running.now)
            }
            defer { running.withLock { $0.now -= 1 } }
            begun.signal()
            opened.wait()
            try advance(0.5)
            return try Recording.trace(of: bytes, for: camera) { progress throws(HTTPRefusal) in try advance(progress) }
        }

        func waitForOne() { begun.wait() }
        func letOneGo() { opened.signal() }
    }

    private static let trace = #"{"type":"trace","version":1}"# + "\n" + #"{"type":"stop","timeMs":1}"# + "\n"

    @Test func recordingsAreConvertedOneAtATimeWhileOthersAreServedAndThoseThatWaitAreTold() async throws {
        let gate = Gate()
        try await Running.with(limits: { $0.recordings = 4 }, convert: gate.convert) { server in
            var pages = try (0..<5).map { _ in try server.open() }
            var posts: [HTTPClient] = []
            func post(_ index: Int) throws -> HTTPClient {
                let client = try HTTPClient(server.port)
                let fields = server.fields(server.tokens.feed, page: pages[index].page)
                client.request("POST", "/recording?camera=c\(index)", fields, body: Self.trace)
                return client
            }
            func told(_ index: Int) throws -> [Double] {
                let line = try pages[index].client.object("recording")
                #expect(line["camera"] as? String == "c\(index)")
                return [line["ahead"], line["progress"]].compactMap { $0 as? Double }
            }
            posts.append(try post(0))
            gate.waitForOne()
            // Each learns how many come before it, even if there are more than serving threads.
            for index in 1..<4 {
                if index == 3 {
                    #expect(try post(1).answer().status == 429)
                }
                posts.append(try post(index))
                #expect(try told(index) == [Double(index), 0])
            }
            #expect(try post(4).answer().status == 503)
            #expect(try server.answer("GET", "/").status == 200)
            #expect(try server.post(#"{"type":"ping"}"#, page: pages[4].page) == 204)

            gate.letOneGo()
            #expect(try told(0) == [0, 0.5])
            #expect(try posts[0].answer().status == 204)
            for index in 1..<4 { #expect(try told(index) == [Double(index - 1), 0]) }
            // A conversion for a page that has gone is not finished.
            let gone = pages.remove(at: 3).page
            try waitUntil("the page is gone") {
                try server.post(#"{"type":"ping"}"#, page: gone) != 204
            }
            for _ in 1..<4 { gate.letOneGo() }
            for (post, status) in zip(posts[1...], [204, 204, 410]) { #expect(try post.answer().status == status) }
        }
        #expect(gate.most == 1)
    }

    // MARK: Lines

    @Test func aRequestWithTooManyBadLinesIsRefusedByTheLineWhereTheyAreTooMany() async throws {
        try await Running.with { server in
            let (client, page) = try server.open()
            let fields = server.fields(server.tokens.feed, page: page)
            let bad = String(repeating: "{}\n", count: 80_000)
            let refused = try server.answer("POST", "/lines", fields, body: bad)
            #expect(refused.status == 400 && refused.body.contains("line 65"), "\(refused)")
            let few = String(repeating: "{}\n \n", count: 64) + #"{"type":"ping","id":1}"#
            #expect(try server.answer("POST", "/lines", fields, body: few).status == 204)
            #expect(try client.object("pong")["id"] as? Int == 1)
        }
    }

    @Test func longRequestsCountAsSeveral() async throws {
        try await Running.with(limits: { ($0.requestsPerSecond, $0.requestsAtOnce) = (0.001, 20) }) { server in
            let (stream, page) = try server.open()
            let lines = String(repeating: #"{"type":"stop"}"# + "\n", count: 4096)
            #expect(try server.post(lines, page: page) == 204)
            #expect(try server.post(lines, page: page) == 429)
            #expect(try server.post(#"{"type":"stop"}"#, page: page) == 204)
            withExtendedLifetime(stream) {}
        }
    }

    // MARK: Files

    @Test func aFileThatIsNotReadIsGivenUp() async throws {
        let engine = TemporaryPath.fresh("engine.js")
        defer { unlink(engine) }
        let size = 8 << 20
        try Data(count: size).write(to: URL(fileURLWithPath: engine))
        let map = try StyledMap(style: "https://map.example/s", engine: engine, others: [])
        // Longer than this test may be held up between two steps: what is asked for in time is not given up.
        try await Running.with(
            limits: { ($0.requestTime, $0.headTime) = (.seconds(4), .seconds(4)) }, map: map
        ) { server in
            let client = try HTTPClient(server.port, receiveBuffer: 4096)
            #expect(try client.isOpenAtServer())
            client.request("GET", "/map-engine.js")
            #expect(try client.head().status == 200)
            try waitUntil("the file is given up") { try !client.isOpenAtServer() }
            #expect(client.isEnded() && client.waitingCount < size)
            #expect(try server.answer("GET", "/map-engine.js").body.utf8.count == size)
        }
    }
}
