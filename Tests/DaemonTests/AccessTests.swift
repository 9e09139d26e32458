// Who may do what, over real sockets: the watch socket, whom the options name, and what a restart makes of it.

import Foundation
import Hub
import TestSupport
import Testing
import UnixSocket

@testable import gimbald

@Suite struct AccessTests {
    private static let gimbald = DaemonProcess.products.appendingPathComponent("gimbald")
    private let move = #"{"type":"move","id":1,"update":{"kind":"zoom-in"}}"#

    private func ask(_ socket: String, _ line: String) throws -> JSON {
        let client = try SocketClient(socket)
        try client.send(line)
        return try JSON(client.receive() ?? "")
    }

    /// A number as the system counts users that nobody has.
    private static let stranger: uid_t = 54_321

    // MARK: The decision

    @Test func whoIsNamedMayDoEverything() {
        let access = Access(users: [1], groups: [20, 21], ownUser: 7)
        let everybody = Access(ownUser: 7)
        for (user, groups, isNamed): (uid_t, Set<gid_t>, Bool) in [
            (0, [0], true), (7, [7], true), (1, [5], true), (2, [5, 21], true), (2, [5], false), (20, [1], false),
        ] {
            let client = PeerCredentials(user: user, groups: groups)
            #expect((access.role(of: client, by: .main) == .everything) == isNamed)
            #expect(everybody.role(of: client, by: .main) == .everything)
            #expect(access.role(of: client, by: .watch) != .everything)
        }
    }

    @Test func aSupplementaryGroupIsOne() throws {
        // What this process is, told by the kernel and by the process itself.
        var ends: [CInt] = [-1, -1]
        #expect(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        var groups = [gid_t](repeating: 0, count: 65_536)
        let count = getgroups(CInt(groups.count), &groups)
        let client = try PeerCredentials(of: ends[0])
        #expect(client.user == geteuid() && client.groups == Set(groups.prefix(Int(count))).union([getegid()]))
    }

    @Test func namesAndNumbersAreKnown() {
        #expect(Account.user("root") == 0 && Account.group("root") == 0)
        #expect(Account.user("54321") == 54_321 && Account.group("4294967294") == 4_294_967_294)
        for text in ["", "4294967295", "no such name", "-1", "1x"] {
            #expect(Account.user(text) == nil && Account.group(text) == nil, "\(text)")
        }
    }

    // MARK: The watch socket

    @Test func whoComesByTheWatchSocketMayOnlyWatch() throws {
        let daemon = try DaemonProcess(watches: true)
        let watcher = try SocketClient(daemon.watchSocket)
        try watcher.send(#"{"type":"subscribe"}"#)
        _ = watcher.receive()
        try watcher.send(move)
        let answer = try JSON(watcher.receive() ?? "")
        #expect(answer["code"]?.string == "denied" && answer["id"]?.number == 1)
        #expect(answer["message"]?.string?.contains("watch socket") == true)
        #expect(try ask(daemon.socket, move)["type"]?.string == "ok")
        #expect(try watcher.receive(until: "idle").count == 3)
        #expect(daemon.end(SIGTERM) == 0)
        for path in [daemon.socket, daemon.watchSocket] {
            #expect(!FileManager.default.fileExists(atPath: path))
            #expect(!FileManager.default.fileExists(atPath: path + ".lock"))
        }
    }

    @Test func aRestartForgetsNoRole() throws {
        let daemon = try DaemonProcess(watches: true)
        let watcher = try SocketClient(daemon.watchSocket)
        for _ in 1...2 {
            try watcher.send(#"{"type":"subscribe"}"#)
            _ = watcher.receive()
            kill(daemon.process.processIdentifier, SIGUSR2)
            for (socket, code) in [(daemon.socket, nil), (daemon.watchSocket, "denied")] {
                #expect(try ask(socket, move)["code"]?.string == code)
            }
            _ = try watcher.receive(until: "idle")
            try watcher.send(move)
            #expect(try JSON(watcher.receive() ?? "")["code"]?.string == "denied")
        }
    }

    @Test func theProgramSaysThatItIsDenied() throws {
        let daemon = try DaemonProcess(watches: true)
        let gimbal = DaemonProcess.products.appendingPathComponent("gimbal")
        let environment = ["GIMBAL_SOCKET": daemon.watchSocket]
        let get = try DaemonProcess.run(gimbal, ["get"], environment: environment)
        #expect(get.status == 0 && get.output.contains("\"camera\":\"main\""))
        let move = try DaemonProcess.run(gimbal, ["move", "--zoom", "9"], environment: environment)
        #expect(move.status == 1 && move.errors.contains("watch socket"))
        #expect(move.errors.split(separator: "\n").count == 1)
        let trace = Files.root.appendingPathComponent("Protocols/examples/traces/pinch-and-rotate.ndjson").path
        let replay = try DaemonProcess.run(gimbal, ["replay", trace], environment: environment)
        #expect(replay.status == 65 && replay.errors.contains("watch socket"))
    }

    // MARK: Modes and groups

    @Test func everySocketFileHasItsOwnModeAndGroup() throws {
        // A group that this process may give away: any for root, else one of its own.
        let group = getuid() == 0 ? 54_322 : getegid()
        let daemon = try DaemonProcess(
            ["--mode", "0640", "--socket-group", "\(group)", "--watch-mode", "0604"], watches: true)
        var status = stat()
        #expect(stat(daemon.socket, &status) == 0 && status.st_mode & 0o777 == 0o640 && status.st_gid == group)
        #expect(stat(daemon.watchSocket, &status) == 0 && status.st_mode & 0o777 == 0o604)
        #expect(status.st_gid == getegid())
    }

    @Test(arguments: [
        ["--socket-group", "no such group"], ["--watch-group=4294967295"], ["--allow-user", "no such user"],
        ["--allow-group", ""], ["--watch-mode", "8"], ["--watch-socket", ""],
        ["--socket", "/tmp/same", "--watch-socket", "/tmp/same"],
    ])
    func aWrongNameIsOneLineAndExitCode64(_ arguments: [String]) throws {
        let (status, output, errors) = try DaemonProcess.run(Self.gimbald, arguments)
        #expect(status == 64 && output.isEmpty)
        #expect(errors.split(separator: "\n").count == 1 && errors.contains(arguments[0].prefix { $0 != "=" }))
    }

    @Test func whereOneSocketCannotBeMadeNoneIsLeft() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("gimbal-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let run = try DaemonProcess.run(
            Self.gimbald,
            ["--socket", folder.appendingPathComponent("a").path, "--watch-socket", "\(folder.path)/none/b"])
        #expect(run.status == 73)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    // MARK: Users

    /// Sends lines as another user, and gives back what is answered; `nil`, with a word, where that cannot be done.
    private func asStranger(groups: String = "", _ socket: String, _ line: String) throws -> String? {
        let (setpriv, socat) = (URL(fileURLWithPath: "/usr/bin/setpriv"), "/usr/bin/socat")
        let isThere = FileManager.default.isExecutableFile(atPath:)
        guard getuid() == 0, isThere(setpriv.path), isThere(socat) else {
            print("skipped: being somebody else takes root, setpriv and socat")
            return nil
        }
        let identity = [
            "--reuid", "\(Self.stranger)", "--regid", "\(Self.stranger)",
            groups.isEmpty ? "--clear-groups" : "--groups=\(groups)",
        ]
        return try DaemonProcess.run(
            setpriv, identity + [socat, "-t", "5", "-", "UNIX-CONNECT:\(socket)"], input: Array((line + "\n").utf8)
        ).output
    }

    @Test(arguments: [
        ([], "", true), (["--allow-user", "54322"], "", false),
        (["--allow-user", "54322", "--allow-user=54321"], "", true),
        (["--allow-group", "54323"], "", false), (["--allow-group", "54323"], "54324,54323", true),
        (["--allow-group", "54321"], "", true),
    ])
    func onlyWhoIsNamedMayFeed(_ options: [String], _ groups: String, _ isNamed: Bool) throws {
        let daemon = try DaemonProcess(["--mode", "0666"] + options)
        // Its folder is not for others, as a service's is.
        chmod(URL(fileURLWithPath: daemon.socket).deletingLastPathComponent().path, 0o755)
        guard let answer = try asStranger(groups: groups, daemon.socket, move) else { return }
        let message = try JSON(answer)
        #expect(message["code"]?.string == (isNamed ? nil : "denied"))
        #expect(isNamed || message["message"]?.string?.contains("user 54321") == true)
        // Root, or whose daemon it is.
        #expect(try ask(daemon.socket, move)["type"]?.string == "ok")
        let question = try #require(try asStranger(daemon.socket, #"{"type":"get-camera"}"#))
        #expect(try JSON(question)["position"]?["zoom"]?.number == (isNamed ? 4 : 3))
    }
}
