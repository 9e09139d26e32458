// Which clients may do what, over real sockets: the watch socket, the users and groups in the options, and restarts.

import Foundation
import Hub
import Service
import TestSupport
import Testing
import UnixSocket

@testable import gimbald

@Suite struct AccessTests {
    private let move = #"{"type":"move","id":1,"update":{"kind":"zoom-in"}}"#

    /// An unassigned user ID.
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

    @Test func roomIsKeptForThoseWhoFeedAndForRoot() {
        var (counts, limits) = (ConnectionCounts(), Limits())
        limits.connections = 32
        limits.connectionsPerUser = 16
        func objection(_ user: uid_t, _ role: Role = .everything) -> String? {
            counts.objection(to: user, role, isTrusted: user == 0, limits)
        }
        let watches = Role.watchOnly(because: "a test")
        for _ in 0..<12 {
            counts.add(1, watches)
            counts.add(2, watches)
        }
        #expect(objection(3, watches) == "there are 24 connections that may only watch" && objection(0, watches) != nil)
        for _ in 0..<6 {
            #expect(objection(4) == nil)
            counts.add(4, .everything)
        }
        #expect(objection(5) == "there are 30 connections; the rest are reserved for root")
        for _ in 0..<2 {
            #expect(objection(0) == nil)
            counts.add(0, .everything)
        }
        #expect(objection(0) == "there are 32 connections")
        counts.remove(0, .everything)
        for _ in 0..<12 { counts.remove(1, watches) }
        #expect(objection(0) == nil && objection(3, watches) == nil)
        for _ in 0..<10 { counts.add(4, .everything) }
        #expect(objection(4) == "user 4 has 16 connections" && objection(5) == nil)
    }

    @Test func aClientIsInItsSupplementaryGroups() throws {
        // This process's identity, according to the kernel and to the process itself.
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
        _ = try watcher.ask(#"{"type":"subscribe"}"#)
        let answer = try watcher.ask(move)
        #expect(answer["code"]?.string == "denied" && answer["id"]?.number == 1)
        #expect(answer["message"]?.string?.contains("watch socket") == true)
        #expect(try daemon.ask(move)["type"]?.string == "ok")
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
            _ = try watcher.ask(#"{"type":"subscribe"}"#)
            kill(daemon.process.processIdentifier, SIGUSR2)
            for (socket, code) in [(daemon.socket, nil), (daemon.watchSocket, "denied")] {
                #expect(try SocketClient(socket).ask(move)["code"]?.string == code)
            }
            _ = try watcher.receive(until: "idle")
            #expect(try watcher.ask(move)["code"]?.string == "denied")
        }
    }

    @Test func theProgramSaysThatItIsDenied() throws {
        let daemon = try DaemonProcess(watches: true)
        let environment = ["GIMBAL_SOCKET": daemon.watchSocket]
        let get = try DaemonProcess.run(DaemonProcess.gimbal, ["get"], environment: environment)
        #expect(get.status == 0 && get.output.contains("\"camera\":\"main\""))
        let move = try DaemonProcess.run(DaemonProcess.gimbal, ["move", "--zoom", "9"], environment: environment)
        #expect(move.status == 1 && move.errors.contains("watch socket"))
        #expect(move.errors.split(separator: "\n").count == 1)
        let words = ["replay", Files.sample("pinch-and-rotate")]
        let replay = try DaemonProcess.run(DaemonProcess.gimbal, words, environment: environment)
        #expect(replay.status == 65 && replay.errors.contains("watch socket"))
    }

    // MARK: Modes and groups

    @Test func everySocketFileHasItsOwnModeAndGroup() throws {
        // A group that this process may give a file to: any for root, otherwise one of its own.
        let group = getuid() == 0 ? 54_322 : getegid()
        let daemon = try DaemonProcess(
            ["--mode", "0640", "--socket-group", "\(group)", "--watch-mode", "0604"], watches: true)
        var status = stat()
        #expect(stat(daemon.socket, &status) == 0 && status.st_mode & 0o777 == 0o640 && status.st_gid == group)
        #expect(stat(daemon.watchSocket, &status) == 0 && status.st_mode & 0o777 == 0o604)
        #expect(status.st_gid == getegid())
    }

    @Test func whereOneSocketCannotBeMadeNoneIsLeft() throws {
        let folder = Folder()
        let run = try DaemonProcess.run(
            DaemonProcess.gimbald,
            ["--socket", folder.path("a"), "--watch-socket", folder.path("none/b")])
        #expect(run.status == 73)
        #expect(folder.names.isEmpty)
    }

    // MARK: Users

    private static let (setpriv, socat) = (URL(fileURLWithPath: "/usr/bin/setpriv"), "/usr/bin/socat")

    /// Returns the arguments for connecting as another user.
    private func connecting(groups: String = "", to socket: String) -> [String] {
        let groups = groups.isEmpty ? "--clear-groups" : "--groups=\(groups)"
        let identity = ["--reuid", "\(Self.stranger)", "--regid", "\(Self.stranger)", groups]
        return identity + [Self.socat, "-t", "5", "-", "UNIX-CONNECT:\(socket)"]
    }

    /// Connects as another user, sends a line if there is one, and returns the answer.
    private func asStranger(groups: String = "", _ socket: String, _ line: String? = nil) throws -> String {
        let input = line.map { Array(($0 + "\n").utf8) } ?? []
        return try DaemonProcess.run(Self.setpriv, connecting(groups: groups, to: socket), input: input).output
    }

    /// Opens a daemon's folder to others: unlike a service's, it is private here.
    private func letIn(_ daemon: DaemonProcess) {
        chmod(URL(fileURLWithPath: daemon.socket).deletingLastPathComponent().path, 0o755)
    }

    /// A persistent connection of another user.
    private final class Stranger {
        private let program: RunningProgram

        init(_ words: [String]) throws {
            program = try RunningProgram(words, of: AccessTests.setpriv, readsPipe: true)
        }

        func ask(_ line: String) throws -> JSON {
            try program.input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
            return try JSON(String(decoding: program.output.fileHandleForReading.availableData, as: UTF8.self))
        }

        func leave() {
            try? program.input.fileHandleForWriting.close()
            _ = program.wait()
        }
    }

    @Test(.needsRoot, .needs("setpriv", "socat")) func aUserHasOnlySoManyConnections() throws {
        let ping = #"{"type":"ping","id":1}"#
        let daemon = try DaemonProcess(["--mode", "0666", "--max-connections-per-user", "2"], watches: true)
        letIn(daemon)
        let strangers = try [daemon.socket, daemon.watchSocket].map { try Stranger(connecting(to: $0)) }
        for stranger in strangers { #expect(try stranger.ask(ping)["type"]?.string == "pong") }
        for isAnew in [false, true] {
            if isAnew { kill(daemon.process.processIdentifier, SIGUSR2) }
            for socket in [daemon.socket, daemon.watchSocket] {
                // It sends nothing, because it may be refused before it has sent anything.
                let refusal = try JSON(asStranger(socket))
                #expect(refusal["code"]?.string == "limit-reached" && refusal["line"]?.number == 0)
                #expect(refusal["message"]?.string == "user 54321 has 2 connections, and no more are accepted")
                #expect(try SocketClient(socket).ask(ping)["type"]?.string == "pong")
            }
            for stranger in strangers { #expect(try stranger.ask(ping)["type"]?.string == "pong") }
        }
        strangers[1].leave()
        try waitUntil("another connection of the user's is taken") {
            (try? JSON(asStranger(daemon.socket, ping)))?["type"]?.string == "pong"
        }
        strangers[0].leave()
        #expect(daemon.end(SIGTERM) == 0)
        #expect(daemon.log().contains("clients are refused: user 54321 has 2 connections"))
    }

    @Test(
        .needsRoot, .needs("setpriv", "socat"),
        arguments: [
            ([], "", true), (["--allow-user", "54322"], "", false),
            (["--allow-user", "54322", "--allow-user=54321"], "", true),
            (["--allow-group", "54323"], "", false), (["--allow-group", "54323"], "54324,54323", true),
            (["--allow-group", "54321"], "", true),
        ])
    func onlyWhoIsNamedMayFeed(_ options: [String], _ groups: String, _ isNamed: Bool) throws {
        let daemon = try DaemonProcess(["--mode", "0666"] + options)
        letIn(daemon)
        let message = try JSON(asStranger(groups: groups, daemon.socket, move))
        #expect(message["code"]?.string == (isNamed ? nil : "denied"))
        #expect(isNamed || message["message"]?.string?.contains("user 54321") == true)
        // Root, or the daemon's own user.
        #expect(try daemon.ask(move)["type"]?.string == "ok")
        let question = try asStranger(daemon.socket, #"{"type":"get-camera"}"#)
        #expect(try JSON(question)["position"]?["zoom"]?.number == (isNamed ? 4 : 3))
    }
}
