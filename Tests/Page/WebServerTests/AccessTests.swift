// Which requests are allowed: hosts, origins, tokens. All tested without a socket.

import Foundation
import HTTPTypes
import Testing

@testable import WebServer

@Suite struct AccessTests {
    private let tokens = Tokens()
    private var access: Access {
        Access(
            hosts: ["127.0.0.1:8080", "Localhost:8080"], guests: Set(["https://map.example"].compactMap(Origin.init)),
            scheme: "http", tokens: tokens)
    }

    private func head(_ host: String?, _ fields: HTTPFields = [:]) -> HTTPRequest {
        HTTPRequest(method: .post, scheme: "http", authority: host, path: "/lines", headerFields: fields)
    }

    private func status(_ body: () throws(HTTPRefusal) -> Void) -> Int? {
        do throws(HTTPRefusal) {
            try body()
            return nil
        } catch {
            return error.status.code
        }
    }

    @Test(arguments: ["127.0.0.1:8080", "localhost:8080", "LOCALHOST:8080"])
    func aHostThatTheServerGoesByIsTaken(_ host: String) {
        #expect(status { () throws(HTTPRefusal) in try access.checkHost(head(host)) } == nil)
    }

    @Test(arguments: [
        "127.0.0.1", "127.0.0.1:80", "evil.example:8080", "127.0.0.1:8080.evil.example", "localhost:8080\u{0}.evil", "",
        "[::1]:8080", "localhost.:8080",
    ])
    func anyOtherHostIsMisdirected(_ host: String) {
        #expect(status { () throws(HTTPRefusal) in try access.checkHost(head(host)) } == 421)
    }

    @Test func noHostAndASecondHostAreMisdirected() throws {
        #expect(status { () throws(HTTPRefusal) in try access.checkHost(head(nil)) } == 421)
        let name = try #require(HTTPField.Name("Host"))
        let second = head("localhost:8080", [name: "localhost:8080"])
        #expect(status { () throws(HTTPRefusal) in try access.checkHost(second) } == 421)
    }

    @Test(arguments: [
        ("http://localhost:8080", nil), ("http://localhost:8080", "same-origin"), ("http://127.0.0.1:8080", "none"),
    ])
    func aPageOfThisServersMayChangeSomething(_ origin: String, _ site: String?) {
        #expect(
            status { () throws(HTTPRefusal) in try access.checkSender(head("localhost:8080", fields(origin, site))) }
                == nil
        )
    }

    @Test(arguments: [
        (nil, nil), ("null", nil), ("https://localhost:8080", nil), ("http://localhost", nil),
        ("http://evil.example", nil),
        ("http://map.example", nil), ("https://map.example:8443", "cross-site"), ("https://map.example.evil", nil),
        ("https://MAP.example", nil), ("https://map.example, https://map.example", nil), ("*", nil),
        ("http://localhost:8080", "cross-site"), ("http://localhost:8080", "same-site"),
        ("http://localhost:8080@evil.example", nil), ("", nil),
    ])
    func nobodyElseMay(_ origin: String?, _ site: String?) {
        #expect(
            status { () throws(HTTPRefusal) in try access.checkSender(head("localhost:8080", fields(origin, site))) }
                == 403
        )
    }

    @Test(arguments: [nil, "cross-site", "same-site"])
    func aGuestsPageMayChangeSomething(_ site: String?) {
        let guest = head("localhost:8080", fields("https://map.example", site))
        #expect(status { () throws(HTTPRefusal) in try access.checkSender(guest) } == nil)
        #expect(access.guest(guest)?.text == "https://map.example")
    }

    @Test func aSecondOriginIsNoGuest() {
        var two = fields("https://map.example", nil)
        two.append(HTTPField(name: .origin, value: "https://evil.example"))
        let twice = head("localhost:8080", two)
        #expect(status { () throws(HTTPRefusal) in try access.checkSender(twice) } == 403)
        #expect(access.guest(twice) == nil)
    }

    @Test func whoReadsNeedsNoOriginButNoForeignOneEither() {
        func read(_ origin: String?, _ site: String?) -> Int? {
            status { () throws(HTTPRefusal) in try access.checkReader(head("localhost:8080", fields(origin, site))) }
        }
        #expect(read(nil, nil) == nil && read(nil, "same-origin") == nil)
        #expect(read("http://localhost:8080", "same-origin") == nil && read("https://map.example", "cross-site") == nil)
        #expect(read(nil, "cross-site") == 403 && read("https://evil.example", nil) == 403 && read("null", nil) == 403)
    }

    @Test(arguments: [
        ("https://map.example", "https://map.example"), ("HTTP://Localhost:5173", "http://localhost:5173"),
        ("https://map.example:443", "https://map.example"), ("http://map.example:443", "http://map.example:443"),
        ("http://[::1]:80", "http://[::1]"), ("capacitor://localhost", "capacitor://localhost"),
    ])
    func anOriginIsReadAsBrowsersWriteIt(_ text: String, _ written: String) {
        #expect(Origin(text)?.text == written)
    }

    @Test(arguments: [
        "*", "null", "", "map.example", "https://", "https://map.example/", "https://map.example/page",
        "https://*.example", "https://user@map.example", "https://map.example:0", "https://map.example:65536",
        "https://map.example:",
        "https://a b", "https://map.example https://other.example", "https://map.example\r\nX: y", "file://",
    ])
    func whatIsNoOriginIsNone(_ text: String) {
        #expect(Origin(text) == nil)
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
            #expect(throws: HTTPRefusal.self, "\(wrong ?? "none")") { try role(wrong) }
        }
    }

    @Test func tokensAreNeverTheSameAndHave144Bits() {
        let all = (0..<100).flatMap { _ in [Tokens().feed, Tokens().watch] }
        #expect(Set(all).count == 200)
        #expect(all.allSatisfy { $0.utf8.count == 24 })
    }

    @Test func aFileKeepsTokensForItsOwnerAlone() throws {
        let path = TemporaryPath.fresh("tokens")
        defer { unlink(path) }
        let made = try Tokens(file: path)
        #expect(try Tokens(file: path) == made)
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        chmod(path, 0o644)
        #expect(throws: StartError.self) { try Tokens(file: path) }
    }

    @Test func tokensAreNotReadFromAPipeThatNobodyWritesTo() throws {
        let path = TemporaryPath.fresh("tokens")
        defer { unlink(path) }
        #expect(mkfifo(path, 0o600) == 0)
        #expect(throws: StartError.self) { try Tokens(file: path) }
    }

    @Test(arguments: ["map.example", "192.168.0.2", "fe80::1", "wall_7", "MAP.Example"])
    func aServerMayGoByANameOrAnAddress(_ text: String) { #expect(Addresses.isHost(text)) }

    @Test(arguments: ["", "a b/c", "map.example:443", "https://map.example", "map.example/", "[fe80::1]"])
    func aServerDoesNotGoByAnythingElse(_ text: String) { #expect(!Addresses.isHost(text)) }

    @Test(arguments: [
        "", "short\nshorter\n", "aaaaaaaaaaaaaaaa\naaaaaaaaaaaaaaaa\n", "aaaaaaaaaaaaaaaa\nbbbbbbbb bbbbbbbb\n",
    ])
    func tokensThatCannotBeUsedAreNone(_ text: String) {
        #expect(Tokens(text: text) == nil)
    }
}
