// The server over real sockets, with its own daemon: what pages see and do, and what attackers get.

import Foundation
import NIOCore
import TestSupport
import Testing
import UnixSocket

@testable import WebServer

/// A server and a daemon that run during a body.
struct Running: Sendable {
    let port: Int
    let tokens: Tokens
    let socket: String
    var endDaemon: @Sendable () -> Void = {}

    /// Runs a body on a separate thread: a test's blocking calls must not hold one of the threads that tasks share.
    static func onAThread(_ body: @escaping @Sendable () throws -> Void) async throws {
        let result: Result<Void, any Error> = await withCheckedContinuation { done in
            Thread { done.resume(returning: Result { try body() }) }.start()
        }
        try result.get()
    }

    /// Starts a server; returns it and its links, once it listens.
    static func start(_ options: ServerOptions) async -> (server: Task<Void, any Error>, links: Links?) {
        let (links, ready) = AsyncStream<Links>.makeStream()
        let server = Task {
            defer { ready.finish() }
            try await WebServer.run(options) { ready.yield($0) }
        }
        var iterator = links.makeAsyncIterator()
        return (server, await iterator.next())
    }

    static func with(
        limits change: (inout Limits) -> Void = { _ in }, guests: [String] = [], map: StyledMap? = nil,
        certificate: (chain: String, key: String)? = nil, metricsToken: String? = nil,
        convert: @escaping Conversions.Converter = Recording.trace,
        _ body: @escaping @Sendable (Running) throws -> Void
    ) async throws {
        let daemon = try DaemonProcess()
        var options = ServerOptions(
            daemon: DaemonSocket(candidates: [daemon.socket]), listening: .address("127.0.0.1", port: 0))
        change(&options.limits)
        options.map = map
        options.guests = Set(guests.compactMap(Origin.init))
        options.certificate = certificate
        options.metricsToken = metricsToken
        options.convert = convert
        let (server, links) = await start(options)
        let port = try #require(links?.local.split(separator: ":").last.flatMap { Int($0) })
        let process = daemon.process.processIdentifier
        let running = Running(port: port, tokens: options.tokens, socket: daemon.socket) { kill(process, SIGTERM) }
        var failure: (any Error)?
        do { try await onAThread { try body(running) } } catch { failure = error }
        server.cancel()
        _ = try? await server.value
        if let failure { throw failure }
        withExtendedLifetime(daemon) {}
    }

    var origin: String { "http://127.0.0.1:\(port)" }

    func fields(_ token: String, page: String? = nil) -> [String: String] {
        var fields = ["Authorization": "Bearer \(token)", "Origin": origin]
        fields["Gimbal-Page"] = page
        return fields
    }

    /// Opens a page's stream; returns it with the page's name.
    func open(_ token: String? = nil, receiveBuffer: CInt? = nil) throws -> (client: HTTPClient, page: String) {
        let client = try HTTPClient(port, receiveBuffer: receiveBuffer)
        client.request("GET", "/stream", fields(token ?? tokens.feed))
        #expect(try client.head().status == 200)
        let page = try client.object("page")
        return (client, try #require(page["page"] as? String))
    }

    /// Returns the answer to one request.
    func answer(
        _ method: String, _ path: String, _ fields: [String: String] = [:], host: String? = nil, body: String = ""
    ) throws -> HTTPClient.Answer {
        let client = try HTTPClient(port)
        client.request(method, path, fields, host: host, body: body)
        return try client.answer()
    }

    func post(_ body: String, to path: String = "/lines", page: String) throws -> Int {
        try answer("POST", path, fields(tokens.feed, page: page), body: body).status
    }
}

@Suite struct ServerTests {
    // MARK: Pages

    @Test func onePagesFingersAreSeenByAnother() async throws {
        try await Running.with { server in
            let (first, page) = try server.open()
            let (second, _) = try server.open(server.tokens.watch)
            let lines = [
                #"{"type":"touch","timeMs":0,"touches":[{"id":1,"x":100,"y":100},{"id":2,"x":200,"y":200}]}"#,
                #"{"type":"touch","timeMs":16,"touches":[{"id":1,"x":60,"y":60},{"id":2,"x":240,"y":240}]}"#,
                #"{"type":"touch","timeMs":32,"touches":[{"id":1,"x":40,"y":40},{"id":2,"x":260,"y":260}]}"#,
            ]
            #expect(try server.post(#"{"type":"get-camera","id":1}"#, page: page) == 204)
            #expect(try first.object("camera") { $0["id"] as? Int == 1 }["seq"] as? Int == 0)
            for line in lines { #expect(try server.post(line, page: page) == 204) }
            // Of fingers that move before the next flush, only the newest are told, perhaps after the gestures.
            let gestures = try second.object("active-gestures")["gestures"] as? [String]
            #expect(gestures == ["pan", "pinch", "rotate"])
            #expect(try second.object("touch")["camera"] as? String == "main")
            #expect(try second.object("camera-changed")["camera"] as? String == "main")
        }
    }

    @Test func aGestureThatTheCameraIgnoresIsNotAmongTheActiveOnes() async throws {
        try await Running.with { server in
            let (first, page) = try server.open()
            #expect(try server.post(#"{"type":"get-camera"}"#, page: page) == 204)
            // From here on the server receives the camera's input.
            _ = try first.object("camera") { $0["id"] as? String == "gimbal-web" }
            let off = #"{"type":"set-gestures","id":1,"zoom":false}"#
            #expect(try server.post(off, page: page) == 204)
            _ = try first.object("ok")
            let lines = [
                #"{"type":"pinch","phase":"began"}"#, #"{"type":"rotate","phase":"began"}"#,
                #"{"type":"set-gestures","rotate":false}"#, #"{"type":"tilt","phase":"began"}"#,
            ]
            for line in lines { #expect(try server.post(line, page: page) == 204) }
            for expected in [["rotate"], [], ["tilt"]] {
                #expect(try first.object("active-gestures")["gestures"] as? [String] == expected)
            }
        }
    }

    @Test func aPageThatVanishesLosesItsFingers() async throws {
        try await Running.with { server in
            let (watcher, _) = try server.open(server.tokens.watch)
            var opened: (client: HTTPClient, page: String)? = try server.open()
            let page = try #require(opened?.page)
            #expect(try server.post(#"{"type":"touch","touches":[{"id":1,"x":100,"y":100}]}"#, page: page) == 204)
            let down = try watcher.object("touch")
            #expect((down["touches"] as? [Any])?.count == 1)
            opened = nil
            let gone = try watcher.object("touch")
            #expect((gone["touches"] as? [Any])?.isEmpty == true && gone["cancelled"] as? Bool == true)
            // Its name is no longer valid.
            #expect([409, 410].contains(try server.post(#"{"type":"ping"}"#, page: page)))
        }
    }

    @Test func aPageThatComesLateIsToldWhatHolds() async throws {
        try await Running.with { server in
            let client = try SocketClient(server.socket)
            try client.send(#"{"type":"move","id":1,"camera":"left","update":{"kind":"zoom-to","zoom":9}}"#)
            _ = try client.receive(until: "ok")
            let (first, _) = try server.open()
            _ = try first.object("camera") { $0["camera"] as? String == "left" }
            let (second, _) = try server.open()
            #expect(try second.object("subscribed")["epoch"] is String)
            let camera = try second.object("camera")
            let position = try #require(camera["position"] as? [String: Any])
            #expect(position["zoom"] as? Double == 9 && camera["viewport"] is [String: Any])
        }
    }

    @Test func aPagesLeaseCoversItsLinesAndItsRecordingsAndEndsWithThePage() async throws {
        try await Running.with { server in
            let (other, otherPage) = try server.open()
            let move = #"{"type":"move","id":2,"update":{"kind":"zoom-in"}}"#
            /// Returns the number of the lease of a page that has gone by then.
            func leased() throws -> Int {
                let (client, page) = try server.open()
                let take = #"{"type":"take-lease","id":1,"forMs":60000,"label":"anna"}"#
                #expect(try server.post(take, page: page) == 204)
                let lease = try #require(try client.object("lease")["lease"] as? Int)
                #expect(try other.object("lease-taken")["lease"] as? Int == lease)
                #expect(try server.post(move, page: otherPage) == 204)
                #expect(try other.object("error")["code"] as? String == "leased")
                #expect(try server.post(move, page: page) == 204)
                #expect(try client.object("ok")["id"] as? Int == 2)
                // A recording arrives over a separate connection, which joins the lease that the page names.
                func play(_ query: String) throws -> Int {
                    let trace = #"{"type":"trace","version":1}"# + "\n"
                    return try server.post(trace, to: "/recording?camera=main\(query)", page: page)
                }
                #expect(try play("") == 204)
                #expect(try client.object("error")["code"] as? String == "leased")
                for wrong in ["", "x", "-1"] { #expect(try play("&lease=\(wrong)") == 400) }
                #expect(try play("&lease=\(lease)") == 204)
                #expect(try end("main", client, server, page)["events"] as? Int == 0)
                return lease
            }
            let lease = try leased()
            let ended = try other.object("lease-ended")
            #expect(ended["lease"] as? Int == lease && ended["reason"] as? String == "disconnected")
            #expect(try server.post(move, page: otherPage) == 204)
            #expect(try other.object("ok")["id"] as? Int == 2)
        }
    }

    @Test func aPageTakesJoinsAndEndsLeasesOnlyIfItMayFeed() async throws {
        try await Running.with { server in
            let (client, page) = try server.open()
            let (_, watching) = try server.open(server.tokens.watch)
            let holder = try SocketClient(server.socket)
            try holder.send(#"{"type":"take-lease","id":1,"forMs":60000}"#)
            _ = try holder.receive(until: "lease")
            let number = try #require(try client.object("lease-taken")["lease"] as? Int)
            for line in [
                #"{"type":"take-lease","id":3,"forMs":1}"#, #"{"type":"join-lease","id":4,"lease":\#(number)}"#,
                #"{"type":"end-lease","id":5,"lease":\#(number)}"#,
            ] {
                let fields = server.fields(server.tokens.watch, page: watching)
                #expect(try server.answer("POST", "/lines", fields, body: line).status == 403)
                #expect(try server.post(line, page: page) == 204)
            }
            #expect(try client.object("error")["id"] as? Int == 3)
            #expect(try client.object("lease")["id"] as? Int == 4)
            #expect(try client.object("ok")["id"] as? Int == 5)
        }
    }

    @Test func settingsThatOthersChangeAreTold() async throws {
        try await Running.with { server in
            let client = try SocketClient(server.socket)
            let (page, _) = try server.open()
            try client.send(#"{"type":"get-camera"}"#)
            _ = try page.object("camera")
            try client.send(#"{"type":"set-viewport","width":640,"height":480}"#)
            let camera = try page.object("camera") { ($0["viewport"] as? [String: Any])?["width"] as? Double == 640 }
            #expect((camera["viewport"] as? [String: Any])?["height"] as? Double == 480)
        }
    }

    @Test func aDaemonThatGoesIsToldAndOneThatComesIsFound() async throws {
        var options = ServerOptions(
            daemon: DaemonSocket(candidates: [TemporaryPath.fresh("sock")]), listening: .address("127.0.0.1", port: 0))
        options.tokens = Tokens()
        let path = options.daemon.path
        // The daemon is killed below and leaves these files behind.
        defer { for name in [path, path + ".lock"] { unlink(name) } }
        let (server, links) = await Running.start(options)
        let port = try #require(links?.local.split(separator: ":").last.flatMap { Int($0) })
        let running = Running(port: port, tokens: options.tokens, socket: path)
        try await Running.onAThread {
            let (client, page) = try running.open()
            #expect(try client.object("daemon")["connected"] as? Bool == false)
            #expect(try running.post(#"{"type":"ping"}"#, page: page) == 502)
            let daemon = try DaemonProcess(socket: path)
            #expect(try client.object("daemon")["connected"] as? Bool == true)
            #expect(try running.post(#"{"type":"ping","id":5}"#, page: page) == 204)
            #expect(try client.object("pong")["id"] as? Int == 5)
            _ = daemon.end(SIGKILL)
            #expect(try client.object("daemon")["connected"] as? Bool == false)
        }
        server.cancel()
        _ = try? await server.value
    }

    @Test func aRecordingIsPlayedIntoTheCameraThatIsNamed() async throws {
        try await Running.with { server in
            let (client, page) = try server.open()
            let recording = """
                {"viewport":{"width":390,"height":844}}
                {"type":"touchstart","timeStamp":0,"touches":[{"identifier":0,"clientX":100,"clientY":200}]}
                {"type":"touchmove","timeStamp":20,"touches":[{"identifier":0,"clientX":160,"clientY":200}]}
                {"type":"touchend","timeStamp":200,"touches":[]}

                """
            let fields = server.fields(server.tokens.feed, page: page)
            #expect(try server.answer("POST", "/recording?camera=left", fields, body: recording).status == 204)
            let changed = try client.object("camera-changed")
            #expect(changed["camera"] as? String == "left")
            #expect(try end("left", client, server, page)["rejected"] as? Int == 0)
            let trace = """
                {"type":"trace","version":1,"camera":"elsewhere"}
                {"type":"move","timeMs":5,"update":{"kind":"zoom-to","zoom":7}}
                """
            #expect(try server.answer("POST", "/recording?camera=right", fields, body: trace).status == 204)
            // The answer comes over a separate connection: events may arrive before or after it.
            let ended = try end("right", client, server, page)
            #expect(ended["cut"] == nil && ended["events"] as? Int == 1)
            #expect((ended["position"] as? [String: Any])?["zoom"] as? Double == 7)
            let refused = try server.answer("POST", "/recording?camera=left", fields, body: "no recording\n")
            #expect(refused.status == 422 && refused.body.contains("nor a recording"))
            #expect(try server.answer("POST", "/recording?camera=no%20name", fields, body: trace).status == 422)
        }
    }

    /// Waits until a recording has been played, which the daemon then holds, and ends it.
    private func end(
        _ camera: String, _ client: HTTPClient, _ server: Running, _ page: String
    ) throws -> [String: Any] {
        while try client.object("replay")["state"] as? String != "at-end" {}
        #expect(try server.post(#"{"type":"end-replay","camera":"\#(camera)"}"#, page: page) == 204)
        return try client.object("trace-ended")
    }

    // MARK: Attackers

    @Test func thePageIsServedWithTheStrictestRules() async throws {
        try await Running.with { server in
            let page = try server.answer("GET", "/")
            #expect(page.status == 200 && page.body.contains("<title>Gimbal</title>"))
            let policy = page.fields["content-security-policy"] ?? ""
            #expect(policy.contains("default-src 'none'") && policy.contains("script-src 'self';"))
            #expect(!policy.contains("unsafe") && !policy.contains("*"))
            #expect(page.fields["x-content-type-options"] == "nosniff")
            #expect(page.fields["referrer-policy"] == "no-referrer")
            #expect(page.fields["access-control-allow-origin"] == nil)
            for file in [
                "/main.js", "/style.css", "/world.json", "/icon.svg", "/earth/4/3/3", "/earth/16/8/5",
                "/samples/tilt.ndjson",
            ] {
                #expect(try server.answer("GET", file).status == 200, "\(file)")
            }
            for path in [
                "/nothing", "/../etc/passwd", "/page/index.html", "/%2e%2e/", "//", "/earth.bin", "/earth/16/16/0",
            ] {
                #expect(try server.answer("GET", path).status == 404, "\(path)")
            }
        }
    }

    @Test func aMapInAStyleOpensThePolicyForItsOriginsAndItsWorkerAlone() async throws {
        let engine = TemporaryPath.fresh("engine.js")
        defer { unlink(engine) }
        try "globalThis.maplibregl = {}\n".write(toFile: engine, atomically: true, encoding: .utf8)
        let style = "https://map.example/style.json?key=1"
        let map = try StyledMap(
            style: style, engine: engine,
            others: ["https://tiles.example", "https://map.example"].compactMap(Origin.init))
        try await Running.with(map: map) { server in
            let policy = try #require(try server.answer("GET", "/").fields["content-security-policy"])
            let parts = policy.components(separatedBy: "; ")
            let strict = Responder.policy(nil).components(separatedBy: "; ")
            #expect(
                Set(parts).symmetricDifference(strict) == [
                    "connect-src 'self'", "connect-src 'self' https://map.example https://tiles.example",
                    "trusted-types 'none'", "trusted-types default", "worker-src blob:",
                ])
            #expect(try server.answer("GET", "/map-engine.js").body == "globalThis.maplibregl = {}\n")
            // The style's address may contain a key: reading it requires a token.
            #expect(try !server.answer("GET", "/").body.contains("map.example"))
            let client = try HTTPClient(server.port)
            client.request("GET", "/stream", server.fields(server.tokens.watch))
            _ = try client.head()
            let told = try #require(try client.object("page")["map"] as? [String: Any])
            #expect(told["style"] as? String == style)
            #expect(told["origins"] as? [String] == ["https://map.example", "https://tiles.example"])
        }
        try await Running.with { server in
            let none = try server.answer("GET", "/map-engine.js")
            #expect(none.status == 404)
        }
    }

    @Test(arguments: [
        ("https://map.example/style.json", "https://map.example"), ("http://127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("https://map.example:443?key=1", "https://map.example"), ("HTTPS://Map.Example/a//b", "https://map.example"),
        ("style.json", nil), ("file:///style.json", nil), ("mapbox://styles/x", nil), ("https:///style.json", nil),
        ("https://user:password@map.example/style.json", nil), ("https://map.example;script-src *", nil),
    ])
    func aStylesAddressHasAnOrigin(_ style: String, _ origin: String?) {
        #expect(StyledMap.origin(of: style)?.text == origin)
    }

    @Test func anEngineThatCannotBeReadIsAMatterOfTheOptions() {
        for path in ["/nowhere/maplibre-gl.js", "/", "/dev/null"] {
            #expect { try StyledMap(style: "https://map.example/s", engine: path, others: []) } throws: { error in
                (error as? StartError)?.isOfOptions == true
            }
        }
    }

    @Test func aForeignHostGetsNothingNotEvenThePage() async throws {
        try await Running.with { server in
            let fields = server.fields(server.tokens.feed)
            for host in ["evil.example", "evil.example:\(server.port)", "127.0.0.1", "127.0.0.1:1"] {
                for path in ["/", "/stream", "/main.js"] {
                    #expect(try server.answer("GET", path, fields, host: host).status == 421, "\(host) \(path)")
                }
                #expect(try server.answer("POST", "/lines", fields, host: host).status == 421)
            }
            let client = try HTTPClient(server.port)
            client.send("GET / HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nHost: evil.example\r\n\r\n")
            #expect([400, 421].contains(try client.head().status))
            let old = try HTTPClient(server.port)
            old.send("GET / HTTP/1.0\r\n\r\n")
            #expect(try old.head().status == 421)
        }
    }

    @Test func noTokenAndAWrongTokenGetNothing() async throws {
        try await Running.with { server in
            let (client, page) = try server.open()
            for token in ["", "x", server.tokens.feed + "x", String(server.tokens.watch.dropLast())] {
                #expect(try server.answer("GET", "/stream", ["Authorization": "Bearer \(token)"]).status == 401)
                let fields = server.fields(token, page: page)
                #expect(try server.answer("POST", "/lines", fields, body: #"{"type":"stop"}"#).status == 401)
                #expect(try server.answer("POST", "/recording", fields, body: "x").status == 401)
            }
            #expect(try server.answer("GET", "/stream").status == 401)
            #expect(try server.answer("GET", "/stream?token=\(server.tokens.feed)").status == 401)
            withExtendedLifetime(client) {}
        }
    }

    @Test func whoMayOnlyWatchMovesNothing() async throws {
        try await Running.with { server in
            let (feeder, page) = try server.open()
            let (stream, watching) = try server.open(server.tokens.watch)
            defer { withExtendedLifetime((feeder, stream)) {} }
            for page in [page, watching] {
                let fields = server.fields(server.tokens.watch, page: page)
                #expect(try server.answer("POST", "/lines", fields, body: #"{"type":"stop"}"#).status == 403)
                #expect(try server.answer("POST", "/recording", fields, body: "x").status == 403)
            }
            // Nor can lines be fed in the name of a page that only watches.
            #expect(try server.post(#"{"type":"stop"}"#, page: watching) == 409)
        }
    }

    @Test func aForeignPageCannotSendThoughItHadTheToken() async throws {
        try await Running.with { server in
            let (client, page) = try server.open()
            let right = server.fields(server.tokens.feed, page: page)
            let line = #"{"type":"move","update":{"kind":"zoom-to","zoom":5}}"#
            for (name, value) in [
                ("Origin", "https://evil.example"), ("Origin", "null"), ("Origin", "http://127.0.0.1:1"),
                ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Site", "same-site"),
            ] {
                var fields = right
                fields[name] = value
                #expect(try server.answer("POST", "/lines", fields, body: line).status == 403, "\(name): \(value)")
            }
            var without = right
            without["Origin"] = nil
            #expect(try server.answer("POST", "/lines", without, body: line).status == 403)
            var foreign = right
            foreign["Sec-Fetch-Site"] = "cross-site"
            #expect(try server.answer("GET", "/stream", foreign).status == 403)
            #expect(try server.answer("OPTIONS", "/lines", foreign).status == 405)
            #expect(try server.answer("POST", "/lines", right, body: line).status == 204)
            let position = try client.object("camera-changed")["position"] as? [String: Any]
            #expect(position?["zoom"] as? Double == 5)
        }
    }

    @Test func aGuestsPageFollowsAndFeedsAndNobodyElses() async throws {
        let guest = "https://map.example"
        try await Running.with(guests: [guest, "http://localhost:5173"]) { server in
            let asks = ["Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"]
            func preflight(_ path: String, _ origin: String, host: String? = nil) throws -> HTTPClient.Answer {
                try server.answer("OPTIONS", path, asks.merging(["Origin": origin]) { $1 }, host: host)
            }
            for path in ["/stream", "/lines", "/recording?camera=main"] {
                let allowed = try preflight(path, guest)
                #expect(allowed.status == 204)
                #expect(allowed.fields["access-control-allow-origin"] == guest)
                #expect(allowed.fields["access-control-allow-methods"] == "GET, POST")
                #expect(allowed.fields["access-control-allow-headers"] == "Authorization, Content-Type, Gimbal-Page")
                #expect(allowed.fields["vary"] == "Origin")
                for origin in ["https://evil.example", "null", server.origin, "http://map.example", guest + ":8443"] {
                    let refused = try preflight(path, origin)
                    #expect(refused.status == 405 && refused.fields["vary"] == "Origin", "\(origin)")
                    #expect(refused.fields.keys.allSatisfy { !$0.hasPrefix("access-control") }, "\(origin)")
                }
                let elsewhere = try preflight(path, guest, host: "evil.example")
                #expect(elsewhere.status == 421 && elsewhere.fields["access-control-allow-origin"] == nil)
            }

            // The stream, and its lines. Cookies are never requested.
            func fields(_ token: String, _ page: String? = nil) -> [String: String] {
                server.fields(token, page: page).merging(["Origin": guest, "Sec-Fetch-Site": "cross-site"]) { $1 }
            }
            let client = try HTTPClient(server.port)
            client.request("GET", "/stream", fields(server.tokens.feed))
            let head = try client.head()
            #expect(head.status == 200 && head.fields["access-control-allow-origin"] == guest)
            #expect(head.fields["vary"] == "Origin" && head.fields["access-control-allow-credentials"] == nil)
            let page = try #require(try client.object("page")["page"] as? String)
            let line = #"{"type":"move","update":{"kind":"zoom-to","zoom":5}}"#
            let sent = try server.answer("POST", "/lines", fields(server.tokens.feed, page), body: line)
            #expect(sent.status == 204 && sent.fields["access-control-allow-origin"] == guest)
            let position = try client.object("camera-changed")["position"] as? [String: Any]
            #expect(position?["zoom"] as? Double == 5)

            // A guest needs its token, and can read why it is refused.
            for (token, status) in [("wrong", 401), (server.tokens.watch, 403)] {
                let refused = try server.answer("POST", "/lines", fields(token, page), body: line)
                #expect(refused.status == status && refused.fields["access-control-allow-origin"] == guest)
            }
            // An origin that is not a guest is refused in spite of its token.
            for origin in ["https://evil.example", "null"] {
                let foreign = fields(server.tokens.feed, page).merging(["Origin": origin]) { $1 }
                for (method, path) in [("GET", "/stream"), ("POST", "/lines"), ("POST", "/recording")] {
                    let refused = try server.answer(method, path, foreign, body: line)
                    #expect(refused.status == 403 && refused.fields["access-control-allow-origin"] == nil)
                    #expect(refused.fields["vary"] == "Origin")
                }
            }
            // The server's own page works as before.
            #expect(try server.post(line, page: page) == 204)
        }
    }

    @Test func recordingsThatAreStillPlayedCountAndOneThatEndsMakesRoom() async throws {
        try await Running.with(limits: { $0.recordings = 1 }) { server in
            // Longer than the daemon's read-ahead: part of it waits in the server for an hour.
            let lines = (0..<20_000).map { #"{"type":"stop","timeMs":\#($0 * 180),"id":\#($0)}"# }
            let header = #"{"type":"trace","version":1}"# + "\n"
            func play(_ trace: String, _ camera: String, _ page: String) throws -> Int {
                try server.post(trace, to: "/recording?camera=\(camera)", page: page)
            }
            var first: (client: HTTPClient, page: String)? = try server.open()
            let (client, other) = try server.open()
            #expect(try play(header + lines.joined(separator: "\n") + "\n", "left", first?.page ?? "") == 204)
            #expect(try play(header, "right", other) == 503)
            first = nil
            try waitUntil("there is room again") { try play(header, "right", other) == 204 }
            #expect(try end("right", client, server, other)["events"] as? Int == 0)
        }
    }

    @Test func aPageMayNotSubscribeOrSendATrace() async throws {
        try await Running.with { server in
            let (client, page) = try server.open()
            for line in [
                #"{"type":"subscribe","camera":"*"}"#, #"{"type":"unsubscribe"}"#, #"{"type":"trace","version":1}"#,
                #"{"type":"trace","version":2}"#, #"{"type":"trace-end"}"#,
                #"[{"type":"ping"},{"type":"subscribe"}]"#,
                // Longer than a daemon accepts by default.
                "[" + String(repeating: #"{"type":"ping"},"#, count: 64) + #"{"type":"subscribe"}]"#,
            ] {
                #expect(try server.post(line, page: page) == 400, "\(line)")
            }
            // The daemon reports errors in a line.
            #expect(try server.post(#"{"type":"pan","id":3}"#, page: page) == 204)
            #expect(try client.object("error")["field"] as? String == "phase")
        }
    }

    @Test func whatIsTooLargeIsRefused() async throws {
        try await Running.with(limits: { ($0.lineBytes, $0.recordingBytes) = (1000, 4000) }) { server in
            let (stream, page) = try server.open()
            defer { withExtendedLifetime(stream) {} }
            let fields = server.fields(server.tokens.feed, page: page)
            let large = String(repeating: " ", count: 1001)
            for (path, body) in [("/lines", large), ("/recording", large + large + large + large)] {
                let client = try HTTPClient(server.port)
                client.request("POST", path, fields, body: body)
                let answer = try client.answer()
                #expect(answer.status == 413 && answer.fields["connection"] == "close")
                #expect(client.isEnded())
            }
            // Before any of it has arrived.
            for path in ["/lines", "/recording"] {
                let client = try HTTPClient(server.port)
                client.request("POST", path, fields.merging(["Content-Length": "1000000000000"]) { $1 })
                #expect(try client.answer().status == 413)
                #expect(client.isEnded())
            }
            // In chunks, without a length.
            let chunked = try HTTPClient(server.port)
            chunked.send("POST /lines HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nTransfer-Encoding: chunked\r\n")
            for (name, value) in fields { chunked.send("\(name): \(value)\r\n") }
            chunked.send("\r\n")
            for _ in 0..<3 { chunked.send("200\r\n" + String(repeating: " ", count: 512) + "\r\n") }
            #expect(try chunked.head().status == 413)
            #expect(chunked.isEnded())
            // A body is not received either if the request is refused for another reason.
            let stranger = try HTTPClient(server.port)
            stranger.request("POST", "/recording", server.fields("none").merging(["Content-Length": "4000"]) { $1 })
            let answer = try stranger.answer()
            #expect(answer.status == 401 && answer.fields["connection"] == "close")
            #expect(stranger.isEnded())
            let fat = try HTTPClient(server.port)
            fat.send(
                "GET / HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nX: \(String(repeating: "x", count: 40_000))\r\n\r\n"
            )
            #expect(fat.isEnded())
        }
    }

    @Test func slowRequestsAreEnded() async throws {
        // Longer than this test may be held up between two steps: what is sent in time is not ended.
        try await Running.with(limits: {
            ($0.headTime, $0.requestTime, $0.idleTime) = (.seconds(4), .seconds(4), .seconds(4))
        }) { server in
            let (client, page) = try server.open()
            let silent = try HTTPClient(server.port)
            let half = try HTTPClient(server.port)
            half.send("GET / HTTP/1.1\r\nHost: 127.0")
            let body = try HTTPClient(server.port)
            body.request(
                "POST", "/lines", server.fields(server.tokens.feed, page: page).merging(["Content-Length": "9"]) { $1 })
            body.send("{")
            let idle = try HTTPClient(server.port)
            idle.request("GET", "/icon.svg")
            _ = try idle.answer()
            for slow in [silent, half, body, idle] { #expect(slow.isEnded()) }
            // A stream has no more requests, and continues.
            #expect(try server.post(#"{"type":"ping","id":1}"#, page: page) == 204)
            #expect(try client.object("pong")["id"] as? Int == 1)
        }
    }

    @Test func garbageIsNoRequest() async throws {
        try await Running.with { server in
            for garbage in [
                "\u{0}\u{1}\u{2}\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\u{16}\u{3}\u{1}\r\n\r\n",
            ] {
                let client = try HTTPClient(server.port)
                client.send(garbage)
                #expect(client.isEnded(), "\(garbage.debugDescription)")
            }
            #expect(try server.answer("GET", "/").status == 200)
        }
    }

    @Test func aPageThatBeginsIsToldOfEveryCameraThereIsAndNothingOfItIsMissed() async throws {
        try await Running.with { server in
            let client = try SocketClient(server.socket)
            // Each has a beginning, settings and a position to send: more lines than are kept for a page.
            let count = 200
            for number in 0..<count {
                try client.send(#"{"type":"move","camera":"c\#(number)","update":{"kind":"zoom-to","zoom":5}}"#)
            }
            try client.send(#"{"type":"ping"}"#)
            _ = try client.receive(until: "pong")
            let (first, _) = try server.open(server.tokens.watch)
            // The server knows all of them.
            var known: Set<String> = []
            while known.count < count { known.insert(try #require(try first.object("camera")["camera"] as? String)) }
            let (page, _) = try server.open(server.tokens.watch)
            var told: [String: Set<String>] = [:]
            while told["camera", default: []].count < count {
                let line = try page.object()
                told[try #require(line["type"] as? String), default: []].insert(line["camera"] as? String ?? "")
            }
            #expect(told["subscribed"] == known && told["missed"] == nil)
        }
    }

    @Test func pagesBeyondTheLimitAreRefusedAndTheirPlacesComeBack() async throws {
        try await Running.with(limits: { $0.streams = 20 }) { server in
            var pages = try (0..<20).map { _ in try server.open(server.tokens.watch).client }
            let refused = try server.answer("GET", "/stream", server.fields(server.tokens.watch))
            #expect(refused.status == 503 && refused.fields["retry-after"] != nil)
            pages.removeAll()
            try waitUntil("the server has noticed that they are gone") {
                let client = try HTTPClient(server.port)
                client.request("GET", "/stream", server.fields(server.tokens.watch))
                return try client.head().status == 200
            }
        }
    }

    @Test func whoeverOnlyWatchesLeavesPlacesToThoseThatFeed() async throws {
        try await Running.with(limits: { $0.streams = 64 }) { server in
            let watching = try (0..<63).map { _ in try server.open(server.tokens.watch).client }
            #expect(try server.answer("GET", "/stream", server.fields(server.tokens.watch)).status == 503)
            let feeding = try server.open(server.tokens.feed).client
            #expect(try server.answer("GET", "/stream", server.fields(server.tokens.feed)).status == 503)
            withExtendedLifetime((watching, feeding)) {}
        }
    }

    @Test func aPageThatDoesNotReadIsToldWhatItMissedAndDelaysNobody() async throws {
        try await Running.with { server in
            let (stalled, _) = try server.open(server.tokens.watch, receiveBuffer: 4096)
            let (reader, _) = try server.open(server.tokens.watch)
            let client = try SocketClient(server.socket)
            // Each is a separate movement; they cannot be skipped one by one.
            var last = 0
            for round in 0..<40 {
                for step in 0..<100 {
                    try client.send(
                        #"{"type":"move","update":{"kind":"zoom-to","zoom":\#(3 + (round * 100 + step) % 17)}}"#)
                }
                try client.send(#"{"type":"get-camera","id":\#(round)}"#)
                let answer = try JSON(try #require(try client.receive(until: "camera").last))
                last = Int(answer["seq"]?.number ?? 0)
            }
            #expect(last > 10_000)
            try reader.read(untilSeq: last)
            let missed = try stalled.object("missed")
            #expect(missed["camera"] as? String == "main" && (missed["events"] as? Int ?? 0) > 100)
            // Then the current state.
            try stalled.read(untilSeq: last)
        }
    }

    @Test func tooManyRequestsAreSlowedDown() async throws {
        try await Running.with(limits: { ($0.requestsPerSecond, $0.requestsAtOnce) = (0.001, 3) }) { server in
            let (stream, page) = try server.open()
            let (second, other) = try server.open()
            defer { withExtendedLifetime((stream, second)) {} }
            for _ in 0..<3 { #expect(try server.post(#"{"type":"ping"}"#, page: page) == 204) }
            let refused = try server.answer(
                "POST", "/lines", server.fields(server.tokens.feed, page: page), body: #"{"type":"ping"}"#)
            #expect(refused.status == 429 && refused.fields["retry-after"] == "1")
            #expect(try server.post(#"{"type":"ping"}"#, page: other) == 204)
        }
    }

    @Test(arguments: [
        ("0.0.0.0", false, false), ("0.0.0.0", true, true), ("127.0.0.1", false, true),
    ])
    func othersConnectOnlyWhereThatWasSaid(_ address: String, _ isSaid: Bool, _ starts: Bool) async throws {
        var options = ServerOptions(
            daemon: DaemonSocket(candidates: ["/nowhere"]), listening: .address(address, port: 0))
        options.isOpenWithoutTLS = isSaid
        let (server, links) = await Running.start(options)
        #expect((links != nil) == starts)
        server.cancel()
        if starts {
            _ = try? await server.value
        } else {
            await #expect(throws: StartError.self) { try await server.value }
        }
    }
}

@Suite struct RateTests {
    @Test func aBudgetFillsUpAgainAndNoFurther() {
        let start = ContinuousClock.now
        var meter = RateMeter(perSecond: 10, atOnce: 2, now: start)
        #expect(meter.take(now: start) && meter.take(now: start) && !meter.take(now: start))
        #expect(meter.take(now: start + .milliseconds(100)) && !meter.take(now: start + .milliseconds(150)))
        let later = start + .seconds(60)
        #expect(meter.take(now: later) && meter.take(now: later) && !meter.take(now: later))
    }
}
