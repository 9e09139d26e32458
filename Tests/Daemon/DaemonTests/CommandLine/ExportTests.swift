// `gimbal make` and `gimbal convert --to` as a shell sees them: exported fingers, the expected camera, changes.

import Foundation
import TestSupport
import Testing

@Suite struct ExportTests {
    private let folder = Folder()

    private func path(_ name: String) -> String { folder.path(name) }

    /// Recordings of all formats, the samples, and generated sessions: each is exported, and read without options gives
    /// exactly the bytes that were predicted.
    @Test(arguments: ["webdriver", "devtools", "web", "evemu"])
    func theExpectedCameraIsThatOfTheExportedFingers(_ tool: String) throws {
        var files = Files.list("Tests/Fuzz/Recordings")
        // It has gestures recognized by a touchpad, and no fingers.
        files.removeAll { $0.lastPathComponent == "gestures.libinput-debug-events.txt" }
        files += Files.list("Protocols/examples/traces", "ndjson")
        for (seed, size) in [(3, "390x844"), (6, "358.4x637.2")] {
            let made = folder.url.appendingPathComponent("made-\(seed)")
            let arguments = ["random", "--seed", "\(seed)", "--viewport", size, "--duration", "3s", "-o", made.path]
            #expect(try gimbal(nil, ["make"] + arguments).status == 0)
            files.append(made)
        }
        #expect(files.count > 18)
        for file in files {
            let (fingers, golden) = (path("fingers"), path("golden.ndjson"))
            let exported = try gimbal(
                nil, ["convert", file.path, "--to", tool, "-o", fingers, "--expected", golden, "--force"])
            #expect(exported.status == 0 && exported.errors.contains("from where it did"), "\(exported.errors)")
            let back = try gimbal(nil, ["expect", fingers, "--golden", golden])
            #expect(back.status == 0, "\(file.lastPathComponent): \(back.output) \(back.errors)")
        }
    }

    private func program(_ name: String, _ script: String) throws -> String {
        try folder.write(name, script)
        chmod(path(name), 0o755)
        return path(name)
    }

    /// Returns a stand-in for adb that keeps its input and exits as adb does with or without a phone that has `uinput`.
    private func adb(status: Int = 0) throws -> String {
        let script = """
            #!/bin/sh
            echo "$*" >>\(path("words"))
            cat >\(path("bytes"))
            exit \(status)
            """
        return try program("adb", script)
    }

    @Test func aPhoneIsSentTheVeryBytesOfTheExport() throws {
        let exported = try gimbal(
            nil, ["convert", Files.sample("pan-fling"), "--to", "uinput-script", "-o", path("script")])
        let performed = try gimbal(nil, ["perform", Files.sample("pan-fling"), "--adb", adb(), "--serial", "a b"])
        #expect(performed.status == 0 && performed.output.isEmpty && performed.errors == exported.errors)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path("bytes")))
        #expect(try bytes.count > 1000 && bytes == Data(contentsOf: URL(fileURLWithPath: path("script"))))
        let words = try String(contentsOfFile: path("words"), encoding: .utf8)
        #expect(words == "-s a b shell uinput -\n")
    }

    @Test func aPhoneThatCannotPerformIsSaidToBeSo() throws {
        let lacking = try gimbal(nil, ["perform", Files.sample("tilt"), "--adb", adb(status: 127)])
        #expect(lacking.status == 69 && lacking.errors.contains("adb ended with status 127"), "\(lacking.errors)")
        #expect(try gimbal(nil, ["perform", Files.sample("tilt"), "--adb", path("none")]).status == 69)
        let folderOfAdb = try URL(fileURLWithPath: adb()).deletingLastPathComponent().path
        let found = try DaemonProcess.run(
            DaemonProcess.gimbal, ["perform", Files.sample("tilt"), "--adb", "adb"],
            environment: ["PATH": "\(folderOfAdb):/usr/bin:/bin"])
        #expect(found.status == 0, "\(found.errors)")
        #expect(try gimbal(nil, ["perform", Files.sample("tilt"), "--adb", adb(), "--viewport", "1x2"]).status == 64)
    }

    /// Returns a stand-in for adb and a phone of 1080 by 2340 pixels that keeps what its scrcpy server receives.
    private func phone(version: String) throws -> String {
        let script = """
            #!/usr/bin/python3
            import socket, sys
            words = sys.argv[1:]
            print(*words, file=open("\(path("words"))", "a"))
            if words[0] == "forward" and "--remove" not in words:
                with socket.create_server(("127.0.0.1", 0)) as probe:
                    port = probe.getsockname()[1]
                print(port, file=open("\(path("port"))", "w"))
                print(port)
            elif words[:2] == ["shell", "dumpsys"]:
                print("  Display: mDisplayId=0\\n    init=1080x2340 440dpi cur=1080x2340 app=1080x2208")
            elif words[0] == "shell":
                if words[5] != "\(version)":
                    sys.exit("The server version (\(version)) does not match the client (" + words[5] + ")")
                with socket.create_server(("127.0.0.1", int(open("\(path("port"))").read()))) as server:
                    connection, _ = server.accept()
                    connection.sendall(b"\\0")
                    with open("\(path("bytes"))", "wb", buffering=0) as file:
                        while data := connection.recv(4096):
                            file.write(data)
            """
        return try program("phone", script)
    }

    @Test func scrcpyIsSentTheFingersOfTheExport() throws {
        let options = try ["--adb", phone(version: "3.3.1"), "--scrcpy-server", path("jar"), "--scrcpy-version"]
        let performed = try gimbal(nil, ["perform", Files.sample("pinch-and-rotate")] + options + ["3.3.1"])
        #expect(performed.status == 0 && performed.output.isEmpty, "\(performed.errors)")
        let words = try String(contentsOfFile: path("words"), encoding: .utf8).split(separator: "\n").map(String.init)
        #expect(words.map { $0.prefix(5) } == ["shell", "push ", "forwa", "shell", "forwa"])
        #expect(words[0] == "shell dumpsys window displays" && words[1].hasPrefix("push \(path("jar")) "))
        #expect(words[3].contains(" app_process / com.genymobile.scrcpy.Server 3.3.1 scid="))
        #expect(words[4].contains("--remove"))
        let scid = try #require(words[2].split(separator: "_").last)
        #expect(words[3].contains("scid=\(scid) "))

        // The changes of each finger in the events for a page, one after the other, as messages of 32 bytes.
        var expected = Data()
        var before: [Int: [Double]] = [:]
        let events = try gimbal(nil, ["convert", Files.sample("pinch-and-rotate"), "--to", "web"]).output
        let screen = try #require(try JSON(events[0])["viewport"])
        let (width, height) = try (#require(screen["width"]?.number), #require(screen["height"]?.number))
        for event in events.dropFirst() {
            let touches = try #require(try JSON(event)["touches"]?.array)
            var now: [Int: [Double]] = [:]
            for touch in touches {
                let numbers = try ["identifier", "clientX", "clientY"].map { try #require(touch[$0]?.number) }
                now[Int(numbers[0])] = Array(numbers[1...])
            }
            for id in Set(before.keys).union(now.keys).sorted() where before[id] != now[id] {
                let place = try #require(now[id] ?? before[id])
                let action: UInt8 = now[id] == nil ? 1 : before[id] == nil ? 0 : 2
                let (x, y) = (Int(place[0] / width * 1080), Int(place[1] / height * 2340))
                expected += [2, action, 0, 0, 0, 0, 0, 0, 0, UInt8(id)]
                for number in [0, x, 0, y, 1080, 2340] { expected += [UInt8(number >> 8), UInt8(number & 255)] }
                expected += action == 1 ? [0, 0] : [255, 255]
                expected += [UInt8](repeating: 0, count: 8)
            }
            before = now
        }
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path("bytes")))
        #expect(bytes.count > 32 * 50 && bytes == expected)

        let other = try gimbal(nil, ["perform", Files.sample("tilt")] + options + ["2.7"])
        #expect(other.status == 69 && other.errors.contains("does not match") && other.errors.contains("version 2.7"))
    }

    @Test func scrcpyLiftsTheFingersThatAreDownWhenASignalComes() throws {
        let server = ["--scrcpy-server", path("jar"), "--scrcpy-version", "3.3.1"]
        let running = try RunningProgram(
            ["perform", Files.sample("pinch-and-rotate"), "--adb", phone(version: "3.3.1")] + server)
        func bytes() -> [UInt8] { FileManager.default.contents(atPath: path("bytes")).map { [UInt8]($0) } ?? [] }
        try waitUntil("two fingers move") { bytes().count >= 32 * 10 }
        let (status, _, errors) = running.end(SIGINT)
        #expect(status == -SIGINT || status == 130, "\(errors)")
        let messages = bytes()
        var down: Set<UInt8> = []
        for start in stride(from: 0, to: messages.count, by: 32) {
            let (action, finger) = (messages[start + 1], messages[start + 9])
            if action == 0 { down.insert(finger) }
            if action == 1 { down.remove(finger) }
        }
        #expect(messages.count % 32 == 0 && messages.count > 32 * 10 && down.isEmpty)
    }

    @Test func whatChangesIsSaid() throws {
        let exported = try gimbal(nil, ["convert", Files.sample("pan-fling"), "--to", "webdriver"])
        #expect(exported.errors.contains("2 lifts of flinging fingers"), "\(exported.errors)")
        let command = """
            {"type":"trace","version":1}
            {"type":"double-tap","phase":"ended","timeMs":0,"focus":{"x":195,"y":422}}
            {"type":"move","timeMs":1000,"update":{"kind":"zoom-in"}}
            """
        let partly = try gimbal(nil, ["convert", "-", "--to", "webdriver"], input: command)
        #expect(partly.errors.contains("1 request that no finger can make") && partly.errors.contains("1 zoom"))
    }

    @Test func whatCannotBeExportedIsRefused() throws {
        let golden = path("there.ndjson")
        try "golden".write(toFile: golden, atomically: true, encoding: .utf8)
        let script = ["convert", Files.sample("tilt"), "--to", "web", "-o", path("made.js"), "--expected", golden]
        for options in [["-o", path("new.js"), "--expected", folder.path + "/./new.js"], ["--expected", "-"]] {
            #expect(try gimbal(nil, ["convert", Files.sample("tilt"), "--to", "web"] + options).status == 64)
        }
        #expect(folder.names == ["there.ndjson"])
        #expect(try gimbal(nil, script).status == 73)
        #expect(try String(contentsOfFile: golden, encoding: .utf8) == "golden")
        #expect(!FileManager.default.fileExists(atPath: path("made.js")))
        #expect(try gimbal(nil, script + ["--force"]).status == 0)
        #expect(try gimbal(nil, ["convert", Files.sample("tilt"), "--to", "web", "--viewport", "1x2"]).status == 64)
        let nothing = try gimbal(nil, ["convert", "-", "--to", "web"], input: "{\"type\":\"trace\",\"version\":1}\n")
        #expect(nothing.status == 65 && nothing.errors.contains("no touches"))
        // A WebDriver script is read up to an hour; the same taps as page events have no such limit.
        let taps = """
            {"type":"touchstart","timeStamp":0,"touches":[{"identifier":0,"clientX":9,"clientY":9}]}
            {"type":"touchend","timeStamp":50,"touches":[]}
            {"type":"touchstart","timeStamp":7200000,"touches":[{"identifier":0,"clientX":9,"clientY":9}]}
            {"type":"touchend","timeStamp":7200050,"touches":[]}
            """
        let long = try gimbal(nil, ["convert", "-", "--to", "webdriver"], input: taps)
        #expect(long.status == 65 && long.errors.contains("too long") && long.output.isEmpty)
        #expect(try gimbal(nil, ["convert", "-", "--to", "web"], input: taps).status == 0)
    }

    @Test func madeTracesAreRightAndTheSameAgain() throws {
        for seed in ["1", "2", "6"] {
            let made = try gimbal(nil, ["make", "random", "--seed", seed, "--duration", "5s"])
            #expect(try gimbal(nil, ["make", "random", "--seed", seed, "--duration", "5s"]).output == made.output)
            let checked = try gimbal(nil, ["check", "--strict", "-"], input: made.output.joined(separator: "\n"))
            #expect(checked.status == 0 && made.output.count > 2, "\(checked.output)")
        }
        let touches = try gimbal(nil, ["make", "tilt", "--touches", "--viewport", "800x600"])
        #expect(touches.output.first == #"{"viewport":{"width":800,"height":600}}"#)
    }
}
