// The daemon's state on a real disk: it is restored after an exit and after a crash, and errors are survived.

import Foundation
import Libevent
import Service
import TestSupport
import Testing

@testable import gimbald

@Suite struct StateTests {
    private let made = Folder()
    private var folder: URL { made.url }
    private var file: URL { folder.appendingPathComponent("cameras.ndjson") }
    private var damaged: URL { folder.appendingPathComponent("cameras.ndjson.damaged") }

    private func start(_ environment: [String: String]? = nil) throws -> DaemonProcess {
        guard let environment else { return try DaemonProcess(["--state-dir", folder.path]) }
        return try DaemonProcess(environment: environment)
    }

    /// Waits until this many cameras are saved.
    private func waitUntilSaved(_ cameras: Int) throws {
        try waitUntil("\(cameras) cameras are saved") { fileSays(#""cameras":\#(cameras),"#) }
    }

    /// Returns when a name was last added to the folder or removed.
    private func modified() throws -> Date? {
        try FileManager.default.attributesOfItem(atPath: folder.path)[.modificationDate] as? Date
    }

    private func fileSays(_ text: String) -> Bool {
        (try? String(contentsOf: file, encoding: .utf8))?.contains(text) == true
    }

    @Test func whatChangesBetweenTwoSlicesIsInTheLastSave() throws {
        let host = HubHost()
        let log = Log(of: "gimbald", level: .error)
        let keeper = try StateKeeper(folder.path, of: host.hub, EventLoop(), log)
        let client = host.connect()
        for number in 100..<400 {
            client.send(#"{"type":"move","camera":"c\#(number)","update":{"kind":"zoom-to","zoom":3}}"#)
            host.turn()
        }
        keeper.turn(at: host.now)
        #expect(keeper.due == -.infinity, "all was collected in one turn")
        client.send(#"{"type":"move","camera":"c100","update":{"kind":"zoom-to","zoom":4.5}}"#)
        host.turn()
        try keeper.saveLast {}
        #expect(fileSays(#""zoom":4.5"#))
    }

    @Test(arguments: [true, false])
    func aCameraIsTheSameAfterAnOrderlyEnd(isNamedByTheManager: Bool) throws {
        let environment = isNamedByTheManager ? ["STATE_DIRECTORY": "\(folder.path):/nowhere"] : nil
        let first = try start(environment)
        _ = try first.ask(#"{"type":"move","id":1,"update":{"kind":"zoom-to","zoom":7.123456789}}"#)
        let before = try first.ask(#"{"type":"subscribe"}"#)
        #expect(first.end(SIGTERM) == 0)
        let second = try start(environment)
        #expect(try second.ask(#"{"type":"subscribe"}"#) == before)
        #expect(second.end(SIGTERM) == 0)
        #expect(second.log().contains("1 camera restored"))
    }

    @Test func aCrashUnderLoadLeavesAWholeState() throws {
        for _ in 0..<3 {
            let first = try start()
            let feed = try SocketClient(first.socket)
            let lines = (1...2000).map { line in
                #"{"type":"move","camera":"c\#(line % 100)","update":{"kind":"zoom-to","zoom":\#(2 + line % 19)}}"#
                    + "\n"
            }
            let load = Array(lines.joined().utf8)
            try waitUntil("100 cameras are saved") {
                try feed.send(load)
                return fileSays(#""cameras":100,"#)
            }
            // The daemon is still applying what was just sent.
            try feed.send(load)
            #expect(first.end(SIGKILL) == -SIGKILL)
            let second = try start()
            let cameras = try second.ask(#"{"type":"cameras"}"#)["cameras"]?.array
            #expect(cameras?.count == 100)
            #expect(second.end(SIGTERM) == 0)
            #expect(second.log().contains("before the daemon died"))
        }
    }

    @Test func afterACrashTheEpochIsAnother() throws {
        let first = try start()
        let before = try first.ask(#"{"type":"subscribe"}"#)
        try waitUntilSaved(1)
        #expect(first.end(SIGKILL) == -SIGKILL)
        let after = try start().ask(#"{"type":"subscribe"}"#)
        #expect(after["epoch"] != before["epoch"] && after["position"] == before["position"])
    }

    /// A file that claims that nothing has happened since would be wrong as soon as something does.
    @Test func aCrashAfterAGoodEndIsACrash() throws {
        let first = try start()
        let before = try first.ask(#"{"type":"subscribe"}"#)
        #expect(first.end(SIGTERM) == 0)
        let second = try start()
        #expect(try second.ask(#"{"type":"subscribe"}"#) == before)
        #expect(second.end(SIGKILL) == -SIGKILL)
        #expect(try start().ask(#"{"type":"subscribe"}"#)["epoch"] != before["epoch"])
    }

    @Test func aDamagedFileIsSetAside() throws {
        for text in ["not a state\n", "not one either\n"] {
            try Data(text.utf8).write(to: file)
            let daemon = try start()
            #expect(try daemon.ask(#"{"type":"ping"}"#)["type"]?.string == "pong")
            #expect(try String(contentsOf: damaged, encoding: .utf8) == text)
            #expect(daemon.end(SIGTERM) == 0)
            #expect(daemon.log().contains("cannot be used"))
        }
        #expect(made.names.count == 2)
    }

    @Test func aFolderThatIsNotThereIsMade() throws {
        try FileManager.default.removeItem(at: folder)
        let daemon = try start()
        _ = try daemon.ask(#"{"type":"get-camera"}"#)
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path)
        #expect(attributes[.posixPermissions] as? Int == 0o700)
        #expect(daemon.end(SIGTERM) == 0)
        #expect(fileSays(#""cameras":1,"#) && !daemon.log().contains("cannot be saved"))
    }

    @Test func aFolderThatCannotBeMadeIsComplainedOfOnceAndUsedWhenItCan() throws {
        try FileManager.default.removeItem(at: folder)
        try Data().write(to: folder)
        let daemon = try DaemonProcess(["--state-dir", folder.path, "--log-level", "debug"])
        _ = try daemon.ask(#"{"type":"get-camera"}"#)
        #expect(daemon.logs("saving the state failed again: "))
        try FileManager.default.removeItem(at: folder)
        try waitUntilSaved(1)
        #expect(daemon.end(SIGTERM) == 0)
        let log = daemon.log()
        #expect(log.components(separatedBy: "cannot be saved").count == 2 && log.contains("saved again"))
    }

    @Test func aDaemonThatCannotSaveKeepsItsFolderFromOthers() throws {
        // A folder of this name cannot be removed like a file.
        let obstacle = folder.appendingPathComponent("cameras.ndjson.new")
        try FileManager.default.createDirectory(at: obstacle, withIntermediateDirectories: true)
        let daemon = try DaemonProcess(["--state-dir", folder.path, "--log-level", "debug"])
        _ = try daemon.ask(#"{"type":"get-camera"}"#)
        #expect(daemon.logs("saving the state failed again: "))
        let error = #expect(throws: TestFailure.self) { try start() }
        #expect(error?.description.contains("another daemon keeps its state in \(folder.path)") == true)
        try FileManager.default.removeItem(at: obstacle)
        try waitUntilSaved(1)
        #expect(daemon.end(SIGTERM) == 0)
    }

    @Test func aRestartInPlaceWithAnotherFolderIsRefused() throws {
        let other = Folder()
        let settings = other.url.appendingPathComponent("gimbald.conf")
        try Data("state-dir = \(other.path("states"))\n".utf8).write(to: settings)
        let daemon = try DaemonProcess(["--config", settings.path])
        try Data("state-dir = \(folder.path)\n".utf8).write(to: settings)
        kill(daemon.process.processIdentifier, SIGUSR2)
        #expect(daemon.logs("not restarting in place: state-dir has changed, which takes a stop and a start"))
        #expect(try daemon.ask(#"{"type":"ping"}"#)["type"]?.string == "pong")
        #expect(daemon.end(SIGTERM) == 0)
        #expect(made.names == [])
    }

    /// A limit on file sizes acts like a full disk: a write is cut short, and the next one fails.
    @Test func aFullDiskKeepsWhatWasSavedBefore() throws {
        let daemon = try DaemonProcess(["--state-dir", folder.path], prelude: "ulimit -f 8")
        let client = try SocketClient(daemon.socket)
        func forAll(_ request: String) -> String {
            (1...60).map { #"{"type":"\#(request)","camera":"camera-\#($0)"}"# }.joined(separator: "\n")
        }
        try client.send(#"{"type":"get-camera"}"#)
        try waitUntilSaved(1)
        let before = try modified()
        try client.send(forAll("get-camera"))
        try waitUntil("saving more is attempted") { try modified() != before }
        try waitUntil("the attempt leaves nothing behind") { made.names == [file.lastPathComponent] }
        #expect(fileSays(#""cameras":1,"#))
        try client.send(forAll("remove-camera"))
        try client.send(#"{"type":"get-camera","camera":"other"}"#)
        try waitUntilSaved(2)
        #expect(daemon.end(SIGTERM) == 0)
        let log = daemon.log()
        #expect(log.components(separatedBy: "cannot be saved").count == 2 && log.contains("saved again"))
    }

    /// Without an error, the loss would be noticed too late.
    @Test func aStateThatCannotBeSavedAtTheEndIsAnError() throws {
        let daemon = try DaemonProcess(["--state-dir", folder.path], prelude: "ulimit -f 8")
        let client = try SocketClient(daemon.socket)
        let requests = (1...60).map { #"{"type":"get-camera","camera":"camera-\#($0)"}"# }
        try client.send("[" + requests.joined(separator: ",") + "]")
        for _ in requests { _ = client.receive() }
        #expect(daemon.end(SIGTERM) == 74)
        #expect(daemon.log().contains("the state is lost: it cannot be saved in \(folder.path)"))
    }

    /// Other users with write access may put something there, but the daemon's data goes nowhere else.
    @Test(arguments: ["pipe", "link", "symbolic link", "folder"])
    func whatHasTheNameOfTheNewFileIsNotWrittenTo(kind: String) throws {
        let new = folder.appendingPathComponent("cameras.ndjson.new").path
        let other = folder.appendingPathComponent("other").path
        try Data("precious".utf8).write(to: URL(fileURLWithPath: other))
        switch kind {
        case "pipe": #expect(mkfifo(new, 0o600) == 0)
        case "link": #expect(link(other, new) == 0)
        case "symbolic link": #expect(symlink(other, new) == 0)
        default: #expect(mkdir(new, 0o700) == 0)
        }
        let daemon = try start()
        _ = try daemon.ask(#"{"type":"get-camera"}"#)
        #expect(daemon.end(SIGTERM) == (kind == "folder" ? 74 : 0))
        #expect(fileSays(#""cameras":1,"#) == (kind != "folder"))
        #expect(try String(contentsOfFile: other, encoding: .utf8) == "precious")
    }

    /// A file that cannot be a state is not even read.
    @Test func aLongFileThatIsNoStateDelaysNothing() throws {
        let heading = #"{"type":"gimbal-state","version":1,"last":true}"#
        let end = #"{"type":"end","cameras":1,"checksum":"0"}"#
        for (beginning, end) in [("", ""), (heading, ""), (heading, end)] {
            let blank = Data(repeating: 0x0a, count: 16 << 20)
            try (Data(beginning.utf8) + blank + Data((end + "\n").utf8)).write(to: file)
            let daemon = try start()
            #expect(try daemon.ask(#"{"type":"ping"}"#)["type"]?.string == "pong")
            let io = try String(contentsOfFile: "/proc/\(daemon.process.processIdentifier)/io", encoding: .utf8)
            let read = io.split(separator: "\n").first { $0.hasPrefix("rchar:") }?.dropFirst(7) ?? ""
            #expect(try #require(Int(read)) < 8 << 20)
            #expect(daemon.end(SIGTERM) == 0)
            #expect(daemon.log().contains("cannot be used") && FileManager.default.fileExists(atPath: damaged.path))
        }
    }

    /// At level debug the log quotes it, but never as a separate line or a colour.
    @Test(arguments: ["info", "debug"]) func whatClientsSendIsNoFileNameAndNoLineOfTheLog(level: String) throws {
        let daemon = try DaemonProcess(["--state-dir", folder.path, "--log-level", level])
        let client = try SocketClient(daemon.socket)
        let mark = "clients-own-word"
        for line in [
            #"{"type":"get-camera","camera":"..","id":"\#(mark)\n<3>"}"#,
            #"{"type":"get-camera","camera":"\#(mark)"}"#, #"{"type":"get-camera","camera":"../\#(mark)"}"#,
            #"{"type":"\#(mark)\u001b[2J"}"#, #"{"type":"get-camera","camera":"cameras.ndjson"}"#, mark,
        ] {
            try client.send(line)
            #expect(client.receive() != nil)
        }
        #expect(daemon.end(SIGTERM) == 0)
        let log = daemon.log()
        #expect(log.contains(mark) == (level == "debug") && !log.contains("\u{1b}"))
        #expect(log.split(separator: "\n").allSatisfy { $0.hasPrefix("gimbald: ") })
        #expect(made.names == ["cameras.ndjson"])
    }

    @Test func whatAFileHoldsIsNoLineOfTheLog() throws {
        let before = try start()
        _ = try before.ask(#"{"type":"get-camera"}"#)
        #expect(before.end(SIGTERM) == 0)
        var lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").dropLast().map(String.init)
        lines[1] = #"{"type":"a\n<0>b\u001b[2J"}"#
        let text = lines.joined(separator: "\n") + "\n"
        let sum = text.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        let end = #"{"type":"end","cameras":1,"checksum":"\#(String(sum, radix: 16))"}"#
        try Data((text + end + "\n").utf8).write(to: file)
        let daemon = try start()
        #expect(daemon.end(SIGTERM) == 0)
        let log = daemon.log()
        #expect(log.contains(#"a\n<0>b\u{1B}[2J"#) || log.contains(#"a\n<0>b\u{001B}[2J"#), "\(log)")
        #expect(!log.contains("\n<0>b") && !log.contains("\u{1b}"))
    }

    @Test func aDaemonDoesNotStartInAFolderThatAnotherKeepsItsStateIn() throws {
        let first = try start()
        _ = try first.ask(#"{"type":"get-camera"}"#)
        let socket = folder.appendingPathComponent("second.sock").path
        let second = try DaemonProcess.run(DaemonProcess.gimbald, ["--socket", socket, "--state-dir", folder.path])
        #expect(second.status == 69)
        #expect(second.errors.contains("another daemon keeps its state in \(folder.path)"), "\(second.errors)")
        #expect(!FileManager.default.fileExists(atPath: socket))
        #expect(first.end(SIGTERM) == 0)
        #expect(fileSays(#""camera":"main""#) && made.names == ["cameras.ndjson"])
    }

    @Test func whatCouldNotBeReadAtTheStartIsNotWrittenOver() throws {
        let first = try start()
        _ = try first.ask(#"{"type":"get-camera"}"#)
        #expect(first.end(SIGTERM) == 0)
        // Like a disk that is missing when the daemon starts.
        let away = folder.appendingPathExtension("away")
        try FileManager.default.moveItem(at: folder, to: away)
        #expect(FileManager.default.createFile(atPath: folder.path, contents: nil))
        let second = try start()
        #expect(second.logs("the state cannot be saved; trying again"))
        try FileManager.default.removeItem(at: folder)
        try FileManager.default.moveItem(at: away, to: folder)
        _ = try second.ask(#"{"type":"get-camera","camera":"other"}"#)
        try waitUntil("the other camera is saved") { fileSays(#""camera":"other""#) }
        #expect(second.logs("could not be read when the daemon started"))
        #expect(second.end(SIGTERM) == 0)
        #expect(!fileSays(#""camera":"main""#))
        #expect(try String(contentsOf: damaged, encoding: .utf8).contains(#""camera":"main""#))
    }
}
