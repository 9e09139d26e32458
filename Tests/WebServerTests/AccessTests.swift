// Who may ask: hosts, origins, tokens. All of it without a socket.

import Foundation
import HTTPTypes
import Testing

@testable import WebServer

@Suite struct AccessTests {
    private let tokens = Tokens()
    private var access: Access {
        Access(hosts: ["127.0.0.1:8080", "Localhost:8080"], scheme: "http", tokens: tokens)
    }

    private func head(_ host: String?, _ fields: HTTPFields = [:]) -> HTTPRequest {
        HTTPRequest(method: .post, scheme: "http", authority: host, path: "/lines", headerFields: fields)
    }

    private func status(_ body: () throws(Refusal) -> Void) -> Int? {
        do throws(Refusal) {
            try body()
            return nil
        } catch {
            return error.status.code
        }
    }

    @Test(arguments: ["127.0.0.1:8080", "localhost:8080", "LOCALHOST:8080"])
    func aHostThatTheServerGoesByIsTaken(_ host: String) {
        #expect(status { () throws(Refusal) in try access.checkHost(head(host)) } == nil)
    }

    @Test(arguments: [
        "127.0.0.1", "127.0.0.1:80", "evil.example:8080", "127.0.0.1:8080.evil.example", "localhost:8080\u{0}.evil", "",
        "[::1]:8080", "localhost.:8080",
    ])
    func anyOtherHostIsMisdirected(_ host: String) {
        #expect(status { () throws(Refusal) in try access.checkHost(head(host)) } == 421)
    }

    @Test func noHostAndASecondHostAreMisdirected() throws {
        #expect(status { () throws(Refusal) in try access.checkHost(head(nil)) } == 421)
        let name = try #require(HTTPField.Name("Host"))
        let second = head("localhost:8080", [name: "localhost:8080"])
        #expect(status { () throws(Refusal) in try access.checkHost(second) } == 421)
    }

    @Test(arguments: [
        ("http://localhost:8080", nil), ("http://localhost:8080", "same-origin"), ("http://127.0.0.1:8080", "none"),
    ])
    func aPageOfThisServersMayChangeSomething(_ origin: String, _ site: String?) {
        #expect(
            status { () throws(Refusal) in try access.checkOrigin(head("localhost:8080", fields(origin, site))) } == nil
        )
    }

    @Test(arguments: [
        (nil, nil), ("null", nil), ("https://localhost:8080", nil), ("http://localhost", nil),
        ("http://evil.example", nil),
        ("http://localhost:8080", "cross-site"), ("http://localhost:8080", "same-site"),
        ("http://localhost:8080@evil.example", nil), ("", nil),
    ])
    func nobodyElseMay(_ origin: String?, _ site: String?) {
        #expect(
            status { () throws(Refusal) in try access.checkOrigin(head("localhost:8080", fields(origin, site))) } == 403
        )
    }

    private func fields(_ origin: String?, _ site: String?) -> HTTPFields {
        var fields = HTTPFields()
        if let origin { fields[.origin] = origin }
        if let site { fields[.secFetchSite] = site }
        return fields
    }

    @Test func aTokenTellsTheRole() throws {
        func role(_ text: String?) throws -> Role {
            try access.role(of: head("localhost:8080", text.map { [.authorization: $0] } ?? [:]))
        }
        #expect(try role("Bearer \(tokens.feed)") == .feed)
        #expect(try role("bearer \(tokens.watch)") == .watch)
        for wrong in [
            nil, "", "Bearer", "Bearer ", "Bearer \(tokens.feed)x", "Bearer \(tokens.feed.dropLast())", tokens.feed,
            "Basic \(tokens.feed)", "Bearer  \(tokens.feed)",
        ] {
            #expect(throws: Refusal.self, "\(wrong ?? "none")") { try role(wrong) }
        }
    }

    @Test func tokensAreNeverTheSameAndHave144Bits() {
        let all = (0..<100).flatMap { _ in [Tokens().feed, Tokens().watch] }
        #expect(Set(all).count == 200)
        #expect(all.allSatisfy { $0.utf8.count == 24 })
    }

    @Test func aFileKeepsTokensForItsOwnerAlone() throws {
        let path = NSTemporaryPath.fresh("tokens")
        defer { unlink(path) }
        let made = try Tokens(file: path)
        #expect(try Tokens(file: path) == made)
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        chmod(path, 0o644)
        #expect(throws: Tokens.FileError.self) { try Tokens(file: path) }
    }

    @Test(arguments: [
        "", "short\nshorter\n", "aaaaaaaaaaaaaaaa\naaaaaaaaaaaaaaaa\n", "aaaaaaaaaaaaaaaa\nbbbbbbbb bbbbbbbb\n",
    ])
    func tokensThatCannotBeUsedAreNone(_ text: String) {
        #expect(Tokens(text: text) == nil)
    }
}
