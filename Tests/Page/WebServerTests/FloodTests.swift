// Endless connections: pages, and requests and handshakes that are never completed.
//
// The server and its clients are one process. Foundation's `Process`, with which other tests start daemons, sometimes
// crashes in a process of more than 1,300 descriptors (it reads a page beyond what /proc/self/fd filled). So only one
// of these tests runs at a time, with a lower limit of connections than the server's own.

import Foundation
import TestSupport
import Testing

@testable import WebServer

@Suite(.serialized) struct FloodTests {
    @Test func fiveHundredPagesHearOfOneCameraAndConnectionsBeyondTheLimitAreEnded() async throws {
        try allowDescriptors(5000)
        try await Running.with(limits: { $0.connections = 520 }) { server in
            let pages = try (0..<500).map { _ in try server.open(server.tokens.watch).client }
            let client = try SocketClient(server.socket)
            try client.send(#"{"type":"move","update":{"kind":"zoom-to","zoom":9}}"#)
            for page in pages { #expect(try page.object("camera-changed")["seq"] as? Int == 2) }
            let others = try (0..<30).map { _ in try HTTPClient(server.port) }
            // The oldest of those without a token was closed; the newest is served.
            #expect(others.first?.isEnded() == true)
            others.last?.request("GET", "/icon.svg")
            #expect(try others.last?.answer().status == 200)
            // The daemon's other clients are unaffected.
            try client.send(#"{"type":"clients","id":1}"#)
            let clients = try #require(try client.receive(until: "clients").last)
            #expect(try JSON(clients)["clients"]?.array?.count == 2)
        }
    }

    /// Creates a certificate for this test, and its key.
    private func certificate() throws -> (chain: String, key: String) {
        let certificate = (chain: TemporaryPath.fresh("chain.pem"), key: TemporaryPath.fresh("key.pem"))
        let made = try DaemonProcess.run(
            Self.openssl,
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1", "-subj",
                "/CN=localhost", "-out", certificate.chain, "-keyout", certificate.key,
            ])
        #expect(made.status == 0, "\(made.errors)")
        return certificate
    }

    private static let openssl = URL(fileURLWithPath: "/usr/bin/openssl")
    private static let request = "GET /icon.svg HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nConnection: close\r\n\r\n"

    /// Each test connection takes one descriptor here and one in the server, which is in this process.
    private func allowDescriptors(_ count: rlim_t) throws {
        var limit = rlimit()
        #expect(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        try #require(limit.rlim_max >= count)
        limit.rlim_cur = max(limit.rlim_cur, count)
        #expect(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
    }

    @Test func halfRequestsBeyondTheLimitKeepNoPageOut() async throws {
        try allowDescriptors(5000)
        try await Running.with(limits: { $0.connections = 256 }) { server in
            let (stream, page) = try server.open()
            // It feeds over one connection, as a browser does.
            let feeder = try HTTPClient(server.port)
            func feed(_ id: Int) throws {
                let fields = server.fields(server.tokens.feed, page: page)
                feeder.request("POST", "/lines", fields, body: #"{"type":"ping","id":\#(id)}"#)
                #expect(try feeder.answer().status == 204)
                #expect(try stream.object("pong")["id"] as? Int == id)
            }
            try feed(0)
            var halves: [HTTPClient] = []
            for number in 1...500 {
                let half = try HTTPClient(server.port)
                half.send("GET / HTTP/1.1\r\nHost: 127")
                halves.append(half)
                guard number % 50 == 0 else { continue }
                #expect(try server.answer("GET", "/icon.svg").status == 200, "\(number)")
                _ = try server.open(server.tokens.watch)
                try feed(number)
            }
            // The oldest were closed to make room.
            #expect(halves[0].isEnded())
        }
    }

    @Test(.needs("openssl"))
    func halfHandshakesBeyondTheLimitKeepNoPageOut() async throws {
        try allowDescriptors(5000)
        let certificate = try certificate()
        defer { for file in [certificate.chain, certificate.key] { unlink(file) } }
        try await Running.with(limits: { $0.connections = 256 }, certificate: certificate) { server in
            var halves: [HTTPClient] = []
            for number in 1...500 {
                let half = try HTTPClient(server.port)
                // An incomplete ClientHello record, or nothing at all.
                if number % 2 == 0 { half.send("\u{16}\u{03}\u{01}\u{02}\u{00}\u{01}\u{00}") }
                halves.append(half)
                guard number % 125 == 0 else { continue }
                let request = Self.request.replacingOccurrences(of: "PORT", with: "\(server.port)")
                let answer = try DaemonProcess.run(
                    Self.openssl, ["s_client", "-quiet", "-connect", "127.0.0.1:\(server.port)"],
                    input: Array(request.utf8))
                #expect(answer.output.hasPrefix("HTTP/1.1 200"), "\(number): \(answer)")
            }
            #expect(halves[0].isEnded())
        }
    }
}
