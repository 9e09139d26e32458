// Metrics over HTTP: only for clients that present their token.

import Foundation
import TestSupport
import Testing

@testable import WebServer

@Suite struct MetricsTests {
    private let token = "0123456789abcdef"

    private func bearer(_ token: String) -> [String: String] { ["Authorization": "Bearer \(token)"] }

    @Test func theyAreServedToWhoShowsTheirTokenAlone() async throws {
        try await Running.with(metricsToken: token) { [self] running in
            // Links are told before the server has connected to the daemon.
            let (page, _) = try running.open()
            _ = try page.object("daemon") { $0["connected"] as? Bool == true }
            let client = try HTTPClient(running.port)
            func ask(_ path: String, _ fields: [String: String]) throws -> HTTPClient.Answer {
                client.request("GET", path, fields)
                return try client.answer()
            }
            let answer = try ask("/metrics", bearer(token))
            #expect(answer.status == 200 && answer.body.hasSuffix("\n# EOF\n"))
            #expect(answer.fields["content-type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8")
            // The page's server, and the client that asks for the metrics.
            #expect(answer.body.contains("\ngimbal_connections 2\n"))
            let others = [
                [:], bearer(running.tokens.feed), bearer(running.tokens.watch), bearer(token + "0"),
                ["Authorization": token],
            ]
            for fields in others { #expect(try ask("/metrics", fields).status == 401) }
            for foreign in [["Origin": "https://evil.example"], ["Sec-Fetch-Site": "cross-site"]] {
                #expect(try ask("/metrics", bearer(token).merging(foreign) { $1 }).status == 403)
            }
            #expect(try ask("/stream", bearer(token)).status == 401)
            client.request("POST", "/metrics", bearer(token))
            #expect(try client.answer().status == 404)
        }
    }

    @Test func theyAreNotThereUnlessThatIsAskedFor() async throws {
        try await Running.with { running in
            let client = try HTTPClient(running.port)
            client.request("GET", "/metrics", running.fields(running.tokens.feed))
            #expect(try client.answer().status == 404)
        }
    }

    @Test func withoutADaemonThereAreNone() async throws {
        try await Running.with(metricsToken: token) { [self] running in
            let client = try HTTPClient(running.port)
            client.request("GET", "/metrics", bearer(token))
            #expect(try client.answer().status == 200)
            running.endDaemon()
            try waitUntil("the daemon has ended") { (try? SocketClient(running.socket)) == nil }
            client.request("GET", "/metrics", bearer(token))
            let answer = try client.answer()
            #expect(answer.status == 503 && answer.body.contains("daemon"), "\(answer.body)")
        }
    }

    @Test func aFileKeepsTheirToken() throws {
        let path = TemporaryPath.fresh("token")
        defer { unlink(path) }
        let made = try Tokens.forMetrics(file: path)
        #expect(made.utf8.count == 24)
        #expect(try Tokens.forMetrics(file: path) == made)
        // The tokens of pages are not accepted.
        try Tokens().text.write(toFile: path, atomically: false, encoding: .utf8)
        #expect(throws: StartError.self) { try Tokens.forMetrics(file: path) }
    }
}
