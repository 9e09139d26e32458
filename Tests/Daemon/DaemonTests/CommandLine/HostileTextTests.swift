// Daemons, files and arguments that try to control a terminal: each command runs on its own terminal, shows them
// escaped and emits no control sequences. Colours and cursor control are off here, so that any control sequence is a
// fault; where they are on, text has the same type (PlayerFaceTests).

import Foundation
import TestSupport
import Testing

/// Text that sets a title, clears the screen, colours, turns and hides what follows, and spans two lines.
private let hostile = "h\u{1b}]0;t\u{7}\u{1b}[2J\u{9b}31m\u{85}\u{8}\u{7f}\u{202e}\u{2066}\u{200f}\u{200b}\u{feff}\nj\r"

/// Returns what is wrong with a terminal's input; `nil` if it consists of lines of text.
private func fault(_ bytes: [UInt8]) -> String? {
    // The terminal itself inserts a CR before each LF.
    let text = String(decoding: bytes, as: UTF8.self).replacing("\r\n", with: "\n")
    guard Array(text.utf8) == bytes.filter({ $0 != 0x0d }) else { return "no UTF-8, or a CR alone" }
    let wrong = text.unicodeScalars.first { scalar in
        switch scalar.value {
        case 0x0a: false
        case 0..<0x20, 0x7f..<0xa0, 0x61c, 0x200b, 0x200e, 0x200f, 0x2028...0x202e, 0x2066...0x2069, 0xfeff: true
        default: false
        }
    }
    return wrong.map { "U+\(String($0.value, radix: 16))" }
}

/// Lines that are sent in place of a daemon's.
struct HostileAnswers: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let lines: [[UInt8]]
    /// Whether every command that talks to a daemon shows some of it.
    let isShown: Bool

    /// Members whose values are words of the protocol.
    private static let words: Set<String> = [
        "type", "id", "code", "phase", "kind", "reason", "role", "delivery", "state", "moving", "easing", "speed",
        "surface",
    ]

    /// Returns the value with every text in it replaced by a hostile one.
    private static func spoilt(_ value: JSON, _ name: String = "") -> JSON {
        switch value {
        case .string: words.contains(name) ? value : .string(hostile)
        case .array(let items): .array(items.map { spoilt($0, name) })
        case .object(let members):
            .object(Dictionary(uniqueKeysWithValues: members.map { ($0, spoilt($1, $0)) }))
        case .null, .bool, .number: value
        }
    }

    static func all() throws -> [HostileAnswers] {
        // Every message in the specification.
        let examples = try Files.fenced("json server", in: "Protocols/README.md").map { try JSON($0) }.filter {
            $0.array == nil
        }
        func lines(_ isWanted: (String?) -> Bool) -> [[UInt8]] {
            examples.filter { isWanted($0["type"]?.string) }.map { Array(spoilt($0).text.utf8) }
        }
        let ends: Set<String?> = ["error", "lagged", "removed"]
        let messages = lines { !ends.contains($0) }
        func error(_ code: String) -> [UInt8] {
            let error: JSON = .object([
                "type": .string("error"), "line": .number(2), "code": .string(code), "field": .string(hostile),
                "message": .string(hostile),
            ])
            return Array(error.text.utf8)
        }
        return [
            // Each question finds its answer after those to other questions.
            .init(
                testDescription: "messages", lines: Array(repeating: messages, count: 4).flatMap(\.self), isShown: false
            ),
            .init(
                testDescription: "ends", lines: lines { $0 == "subscribed" || ends.contains($0) && $0 != "error" },
                isShown: false),
            .init(testDescription: "errors", lines: [error("invalid-value")], isShown: true),
            .init(
                testDescription: "unknown cameras", lines: [error("unknown-camera")] + lines { $0 == "cameras" },
                isShown: true),
            .init(
                testDescription: "no JSON", lines: [Array(hostile.utf8.prefix { $0 != 0x0a }) + [0x9b, 0xff]],
                isShown: true),
            .init(
                testDescription: "bytes within JSON",
                lines: [
                    Array(#"{"type":"subscribed","camera":""#.utf8) + [0x1b, 0x9b, 0xc2, 0x9b, 0xff] + Array("\"}".utf8)
                ],
                isShown: false),
        ]
    }

    /// Returns a server that sends all of it to every client and hangs up.
    func standIn() throws -> StandIn {
        let bytes = lines.map { $0 + [0x0a] }
        return try StandIn { _, connection in
            _ = isReadable(connection)
            StandIn.pour(bytes, to: connection)
            shutdown(connection, CInt(SHUT_WR))
            var rest = [UInt8](repeating: 0, count: 4096)
            while recv(connection, &rest, rest.count, 0) > 0 {}
        }
    }
}

@Suite struct HostileTextTests {
    /// How each command talks to a daemon; FILE is one of the files below.
    private static let daemonCommands: [String: [String]] = [
        "move": ["--zoom", "3"], "animate": ["--zoom", "3"], "fit": ["1,2", "3,4"], "wait": [], "stop": [], "get": [],
        "tour": [Files.root.appendingPathComponent("Protocols/examples/tours/alps.json").path],
        "bounds": ["1,2", "3,4"], "zoom-range": ["3", "4"], "viewport": ["300x400"], "gestures": ["--no-tilt"],
        "project": ["1,2"], "unproject": ["1,2"], "region": [], "cameras": [], "remove": ["a"], "watch": [],
        "send": ["{}"], "lease": ["--label", "a", "--", "true"],
        "home": ["1,2,3"], "attract": ["a"], "traces": [],
        "stats": [], "clients": [], "replay": ["--follow", "FILE"], "player": ["status"], "record": [], "mark": ["a"],
        "expect": ["--camera", "a", "--zoom", "3", "--timeout", "200ms"],
    ]

    /// How each command reads or names a file.
    private static let fileCommands: [String: [[String]]] = [
        "replay": [["FILE"], ["--live", "FILE"]], "run": [["FILE"], ["--summary", "FILE"]],
        "expect": [
            ["FILE", "--zoom-between", "3,4"], ["FILE", "--golden", "FILE"], ["FILE", "--statements", "FILE"],
            ["FILE", "--tap", "--zoom-between", "3,4"], ["FILE"],
            ["FILE", "--zoom-between", "3,4", "--html", "OUT.svg"],
        ],
        "diff": [["FILE", "SAMPLE"]], "make": [["pinch", "-o", "FILE"]],
        "shrink": [["FILE", "--", "/bin/false", "{}"], ["FILE", "--", "FILE/", "{}"]],
        "check": [["FILE"], ["--json", "FILE"]], "inspect": [["FILE"], ["--json", "FILE"]],
        "plot": [["FILE", "-o", "FILE"], ["FILE", "-o", "OUT.svg"]],
        "convert": [["FILE"], ["FILE", "--to", "webdriver"]], "cut": [["FILE", "--until", "1s"]],
        "join": [["FILE", "SAMPLE"]], "perform": [["FILE", "--adb", "FILE"], ["SAMPLE", "--adb", "FILE"]],
        "edit": [["FILE", "--speed", "2"]],
        "record": [["-o", "FILE", "--duration", "1ms"], ["-o", "FILE", "--duration", "1ms", "--append"]],
        "send": [["FILE"]], "tour": [["FILE"], ["FILE", "--trace"], ["SAMPLE", "--to", "kml", "-o", "FILE"]],
        "web": [["--no-open", "--listen", "FILE"]],
    ]

    private static let sample = Files.sample("tilt")

    /// Creates files with hostile names and contents: traces, a recording, statements, bytes; the last does not exist.
    private static func files(in folder: URL) throws -> [String] {
        let quoted = JSON.string(hostile).text
        let flat = Array(hostile.utf8.filter { $0 != 0x0a })
        let trace = """
            {"type":"trace","version":1,"speed":"max","id":\(quoted)}
            {"type":"marker","timeMs":0,"label":\(quoted)}
            {"type":"touch","timeMs":0,"surface":\(quoted),"touches":[{"id":1,"x":10,"y":10}]}
            {"type":"touch","timeMs":20,"surface":\(quoted),"touches":[{"id":1,"x":90,"y":10}]}
            {"type":"pan","phase":"began","timeMs":20}
            {"type":"pan","phase":"changed","timeMs":40,"translation":{"x":30,"y":0}}
            {"type":\(quoted),"timeMs":50,\(quoted):1}
            {"type":"pan","phase":\(quoted),"timeMs":50}
            {"type":"animate","timeMs":50,"update":{"kind":"zoom-to","zoom":5},"easing":\(quoted)}

            """
        let evemu = """
            # EVEMU 1.3
            N: \(String(decoding: flat, as: UTF8.self))
            A: 35 0 1000 0 0 0
            A: 36 0 1000 0 0 0
            E: 0.000001 0003 0039 1
            E: 0.000001 0003 0035 100
            E: \(String(decoding: flat, as: UTF8.self))
            E: 0.000001 0000 0000 0

            """
        let contents: [[UInt8]] = [
            Array(trace.utf8), Array(trace.utf8) + flat + [0x9b, 0xff, 0x0a], Array(evemu.utf8),
            Array("at end zoom ".utf8) + flat + [0x0a], flat + [0x9b, 0xff, 0x0a],
            Array(#"{"type":"camera-changed","timeMs":0,"camera":\#(quoted)}"#.utf8) + [0x0a],
        ]
        let names = (0...contents.count).map { folder.appendingPathComponent("\($0)\(hostile).ndjson").path }
        for (name, bytes) in zip(names, contents) {
            guard FileManager.default.createFile(atPath: name, contents: Data(bytes)) else {
                throw CocoaError(.fileWriteUnknown)
            }
        }
        return names
    }

    /// Runs a command on a terminal to its end and expects that nothing controls the terminal.
    ///
    /// - Returns: whether anything had to be escaped.
    @discardableResult private func run(_ command: [String], socket: String, _ where: String = "") throws -> Bool {
        let terminal = try PseudoTerminal(
            DaemonProcess.gimbal, command, columns: 100,
            environment: ["TERM": "dumb", "GIMBAL_SOCKET": socket])
        _ = try terminal.end()
        if let fault = fault(terminal.bytes) {
            Issue.record("\(fault) of \(command.first ?? "") \(`where`): \(terminal.output.debugDescription)")
        }
        return terminal.output.contains(#/\\u\{0*(1B|9B)\}/#)
    }

    @Test func everyCommandIsTried() throws {
        let tried = Set(Self.daemonCommands.keys).union(Self.fileCommands.keys)
        #expect(try Set(subcommands()).subtracting(["help"]) == tried)
    }

    @Test(arguments: try HostileAnswers.all()) func noDaemonSteersTheTerminal(_ answers: HostileAnswers) throws {
        let stranger = try answers.standIn()
        for (command, arguments) in Self.daemonCommands.sorted(by: { $0.key < $1.key }) {
            let words = [command] + arguments.map { $0.replacing("FILE", with: Self.sample) }
            let isShown = try run(words, socket: stranger.path, answers.testDescription)
            #expect(isShown || !answers.isShown, "\(command) shows nothing of it")
        }
    }

    @Test(arguments: fileCommands.keys.sorted()) func noFileSteersTheTerminal(_ command: String) throws {
        let daemon = try DaemonProcess()
        let folder = Folder()
        var count = 0
        for file in try Self.files(in: folder.url) {
            for arguments in Self.fileCommands[command] ?? [] {
                let words = arguments.map {
                    $0.replacing("FILE", with: file).replacing("SAMPLE", with: Self.sample).replacing(
                        "OUT", with: folder.path)
                }
                count += try run([command] + words, socket: daemon.socket, arguments.joined(separator: " ")) ? 1 : 0
            }
        }
        // The page's server is built only on request.
        let server = DaemonProcess.products.appendingPathComponent("gimbal-web").path
        let isThere = command != "web" || FileManager.default.fileExists(atPath: server)
        #expect(count > 0 || !isThere, "nothing of it is shown")
    }

    @Test func noWordOfTheCommandLineSteersTheTerminal() throws {
        // Words unknown to "web" are passed to gimbal-web.
        for command in try subcommands().filter({ $0 != "web" }) + [hostile] {
            #expect(try run([command, "--" + hostile], socket: "/nonexistent/\(hostile)"), "\(command)")
        }
        for command in ["cameras", "watch", "record"] {
            #expect(try run([command], socket: "/nonexistent/\(hostile)"), "\(command)")
        }
    }

    @Test func inAPipeTheDaemonsLineStaysAsItIs() throws {
        let raw = Array(#"{"type":"cameras","cameras":["\u001b"],"x":"\#("\u{9b}\u{202e}")"}"#.utf8)
        let stranger = try HostileAnswers(testDescription: "", lines: [raw], isShown: true).standIn()
        for command in [["cameras"], ["send", #"{"type":"cameras"}"#]] {
            let ended = try DaemonProcess.run(DaemonProcess.gimbal, command + ["--socket", stranger.path])
            #expect(Array(ended.output.utf8) == raw + [0x0a], "\(command)")
        }
    }

    @Test func aNameThatIsNoneIsNotOfferedToTheShell() throws {
        let raw = Array(#"{"type":"cameras","cameras":["left","$(reboot)","a b","\u001b[2J"]}"#.utf8)
        let stranger = try HostileAnswers(testDescription: "", lines: [raw], isShown: true).standIn()
        let words = ["get", "--socket", stranger.path, "--camera", "l"]
        let (_, output, _) = try gimbal(nil, ["---completion", "get", "--", "--camera", "4", "1", "gimbal"] + words)
        #expect(output == ["left"])
    }

    // MARK: The daemon

    @Test func noClientSteersWhoReadsTheLog() throws {
        let daemon = try DaemonProcess(["--log-level", "debug"])
        let client = try SocketClient(daemon.socket)
        let quoted = JSON.string(hostile).text
        for line in [
            #"{"type":\#(quoted)}"#, #"{"type":"stop","camera":\#(quoted)}"#, #"{"type":"stop",\#(quoted):1}"#,
            #"{"type":"marker","label":1,"id":\#(quoted)}"#, #"{"type":"pan","phase":\#(quoted)}"#,
        ] {
            try client.send(line)
        }
        try client.send([0x1b, 0x9b, 0xff, 0x0a])
        try client.send(#"{"type":"ping","id":1}"#)
        _ = try client.receive(until: "pong")
        client.close()
        #expect(daemon.end(SIGTERM) == 0)
        let log = daemon.log()
        #expect(log.contains(" refused") && fault(Array(log.utf8)) == nil, "\(log.debugDescription)")
    }

    @Test(arguments: [
        ["--\(hostile)"], ["--socket", "/nonexistent/\(hostile)/s"], ["--log-level", hostile],
        ["--allow-user", hostile],
    ])
    func noOptionSteersWhoReadsTheLog(_ arguments: [String]) throws {
        let ended = try DaemonProcess.run(DaemonProcess.gimbald, arguments)
        #expect(ended.status != 0 && ended.errors.contains(#"\u{1B}"#))
        #expect(fault(Array(ended.errors.utf8)) == nil, "\(ended.errors.debugDescription)")
    }
}
