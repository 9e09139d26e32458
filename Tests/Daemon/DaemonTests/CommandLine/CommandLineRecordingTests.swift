// Recordings of touches on the command line: conversion, inspection, replay, and errors.

import Foundation
import TestSupport
import Testing

@Suite struct CommandLineRecordingTests {
    /// Two fingers that spread to twice their distance, with an invalid line in between.
    private let pinch: String = {
        var lines = [#"{"viewport":{"width":390,"height":844}}"#]
        for step in 0...20 {
            let (left, right) = (150 - step * 2, 190 + step * 0)
            lines.append(
                #"{"type":"\#(step == 0 ? "touchstart" : "touchmove")","timeStamp":\#(1000 + step * 10),"touches":["#
                    + #"{"identifier":0,"clientX":\#(left),"clientY":400},{"identifier":1,"clientX":\#(right),"clientY":400}]}"#
            )
            if step == 7 { lines.append(#"{"type":"touchmove","timeStamp":"#) }
        }
        lines.append(#"{"type":"touchend","timeStamp":1300,"touches":[]}"#)
        return lines.joined(separator: "\n") + "\n"
    }()

    @Test func aRecordingBecomesATraceThatADaemonPlays() throws {
        let (status, trace, errors) = try gimbal(nil, ["convert", "-"], input: pinch)
        #expect(status == 0)
        #expect(errors.hasPrefix("-:10: skipped: ") && errors.split(separator: "\n").count == 1, "\(errors)")
        #expect(try Schema.complaints(trace, from: .client) == "")
        #expect(trace.last == #"{"type":"trace-end"}"#)

        let daemon = try DaemonProcess()
        let direct = try gimbal(daemon, ["replay", "--speed", "max", "-"], input: pinch)
        let converted = try gimbal(
            daemon, ["replay", "--speed", "max", "-"], input: trace.joined(separator: "\n") + "\n")
        #expect(direct.status == 0 && direct.output == converted.output && direct.output.count == 1)
        #expect(try JSON(direct.output[0])["position"]?["zoom"]?.number == 13)
    }

    @Test func aRecordingBecomesATraceOfTouchesThatComesToTheSame() throws {
        let (status, touches, _) = try gimbal(nil, ["convert", "--touches", "-"], input: pinch)
        #expect(status == 0 && touches.count == 24)
        #expect(try Schema.complaints(touches, from: .client) == "")
        #expect(touches[1].hasPrefix(#"{"type":"touch","timeMs":0,"touches":[{"id":"#))
        let text = touches.joined(separator: "\n") + "\n"
        let daemon = try DaemonProcess()
        let gestures = try gimbal(daemon, ["replay", "--speed", "max", "-"], input: pinch)
        let played = try gimbal(daemon, ["replay", "--speed", "max", "-"], input: text)
        let positions = try (gestures.output + played.output).map { try JSON($0)["position"]?.text }
        #expect(played.status == 0 && positions.count == 2 && positions[0] == positions[1])

        let report = try JSON(try gimbal(nil, ["inspect", "--json", "-"], input: text).output[0])
        let own = try JSON(try gimbal(nil, ["inspect", "--json", "-"], input: pinch).output[0])
        // Gestures count from the first gesture, touches from the first touch; both state where in the file that is.
        func found(_ report: JSON) throws -> [String] {
            let origin = try #require(report["originMs"]?.number)
            return try #require(report["gestures"]?.array).map { gesture in
                let start = try #require(gesture["startMs"]?.number) + origin
                return "\(gesture["type"]?.string ?? "") \(start) \(gesture["scale"]?.text ?? "")"
            }
        }
        #expect(try found(report) == found(own) && report["fingers"] == own["fingers"])
        #expect(own["gestures"]?.array?.first?["startMs"]?.number == 0 && own["originMs"]?.number ?? 0 > 0)
        #expect(report["fingersAtOnce"]?.number == 2)

        let (drawn, picture, _) = try gimbal(nil, ["plot", "-"], input: text)
        let ownPicture = try gimbal(nil, ["plot", "-"], input: pinch).output
        func marks(_ picture: [String]) -> [Int] {
            ["gesture", "curve", "started", "idle", "dot"].map { name in
                picture.count { $0.contains("class=\"\(name)\"") }
            }
        }
        #expect(drawn == 0 && marks(picture) == marks(ownPicture))
        let origin = own["originMs"]?.number.map { "0 is \(($0 / 1000).formatted()) s of the file" } ?? "?"
        #expect(ownPicture.contains { $0.contains(origin) }, "inspect and plot have one clock")

        let again = try gimbal(nil, ["convert", "--touches", "-"], input: text)
        #expect(again.status == 64 && again.errors.contains("--touches is for recordings"), "\(again.errors)")
    }

    @Test(arguments: [64, 65])
    func aPictureWithoutTheFingersOfSomeSurfacesIsSaidToBeOne(_ surfaces: Int) throws {
        let touches = (1...surfaces).map { surface in
            [#"{"id":1,"x":1,"y":1}"#, ""].map { fingers in
                #"{"type":"touch","surface":\#(surface),"timeMs":\#(surface * 10),"touches":[\#(fingers)]}"# + "\n"
            }.joined()
        }
        let header = #"{"type":"trace","version":1}"# + "\n"
        let (status, _, errors) = try gimbal(nil, ["plot", "-"], input: header + touches.joined())
        #expect(status == 0)
        #expect(errors.contains("only the fingers of the first 64 surfaces are drawn") == (surfaces > 64), "\(errors)")
    }

    @Test(arguments: [([], "is guessed from where fingers were"), (["--viewport", "390x844"], "is given")])
    func theSizeOfADeviceIsGuessedUnlessItIsGiven(options: [String], told: String) throws {
        let file = Files.root.appendingPathComponent("Tests/Fuzz/Recordings/anonymous.evemu").path
        let rows = try gimbal(nil, ["inspect", file] + options).output
        #expect(rows.contains { $0.contains("the device is not described: its size \(told)") }, "\(rows)")
    }

    @Test func whatIsInARecordingIsTold() throws {
        let (status, rows, _) = try gimbal(nil, ["inspect", "-"], input: pinch)
        #expect(status == 0)
        #expect(rows.contains { $0.hasPrefix("format") && $0.hasSuffix("touches of a web page") })
        #expect(rows.contains { $0.contains("pinch") && $0.contains("to 2.000 times") })
        #expect(rows.contains { $0.hasPrefix("damaged") && $0.contains("line 10") })
        let json = try JSON(try gimbal(nil, ["inspect", "--json", "-"], input: pinch).output[0])
        #expect(json["frames"]?.number == 22 && json["durationMs"]?.number == 300)
        #expect(json["fingers"]?.number == 2 && json["damagedCount"]?.number == 1)

        let trace = """
            {"type":"trace","version":1}
            {"type":"pan","phase":"began","timeMs":0}
            {"type":"pan","phase":"began","timeMs":100}
            {"type":"pan","phase":"changed","gesture":2,"timeMs":120}
            {"type":"pan","phase":"ended","timeMs":200}
            {"type":"pan","phase":"ended","gesture":2,"timeMs":300}

            """
        let pans = try gimbal(nil, ["inspect", "-"], input: trace).output.filter { $0.contains("pan ") }
        #expect(pans.map { String($0.suffix(20)).trimmingCharacters(in: .whitespaces) }.count == 3)
        #expect(pans.map { $0.contains("its end") } == [false, false, false])
    }

    @Test func aRecordingMayBeConvertedInItsPlace() throws {
        let folder = Folder()
        // More than one read returns.
        let file = try folder.write("pinch.ndjson", pinch + String(repeating: "\n", count: 600_000))
        #expect(try gimbal(nil, ["convert", file, "-o", file, "--force"]).status == 0)
        let trace = try String(contentsOfFile: file, encoding: .utf8)
        #expect(trace.hasPrefix(#"{"type":"trace""#) && trace.hasSuffix("{\"type\":\"trace-end\"}\n"))
        // A failure leaves the existing file as it was, and no other.
        let other = try folder.write("other", "no recording\n")
        #expect(try gimbal(nil, ["convert", other, "-o", file, "--force"]).status == 65)
        #expect(try String(contentsOfFile: file, encoding: .utf8) == trace)
        #expect(folder.names == ["other", "pinch.ndjson"])
        #expect(try gimbal(nil, ["convert", file, "-o", "/dev/full"]).status == 74)
    }

    @Test func whatCannotBeReadIsSaidInOneLine() throws {
        for (input, reason) in [
            ("", "empty"), ("hello\n", "\"hello\""),
            ("/tuio/2Dcur set 1 0.5 0.5\n", "this is a TUIO log, which cannot be read"),
        ] {
            let (status, output, errors) = try gimbal(nil, ["convert", "-"], input: input)
            #expect(status == 65 && output.isEmpty && errors.contains(reason), "\(errors)")
            #expect(errors.split(separator: "\n").count == 1)
        }
        #expect(try gimbal(nil, ["convert", "/nonexistent"]).status == 66)
    }

    @Test func aTraceWhoseEndIsCutIsEnded() throws {
        let daemon = try DaemonProcess()
        let trace = "{\"type\":\"trace\",\"version\":1,\"speed\":\"max\"}\n{\"type\":\"trace-end\""
        let (status, output, _) = try gimbal(daemon, ["replay", "-"], input: trace)
        #expect(status == 1)
        #expect(try output.map { try JSON($0)["type"]?.string } == ["trace-ended"])
    }

    @Test func whatIsForRecordingsIsNotForTraces() throws {
        let trace = "{\"type\":\"trace\",\"version\":1}\n"
        for option in [["--from-target", "10,10"], ["--viewport", "100x100"], ["--rotate", "90"]] {
            let (status, output, errors) = try gimbal(nil, ["convert", "-"] + option, input: trace)
            #expect(status == 64 && output.isEmpty && errors.contains("\(option[0]) is for recordings"))
        }
        let old = try gimbal(nil, ["convert", "-", "--from=10,10"], input: trace)
        #expect(old.status == 64 && old.errors.contains("--from-target is for recordings"))
        let wrong = try gimbal(nil, ["inspect", "-"], input: trace + "foo\n{\"type\":\"pinch\"}\n").output
        #expect(wrong.contains { $0.hasPrefix("damaged") && $0.contains("line 2") })
        #expect(wrong.contains { $0.contains("line 3: phase is missing") })
    }

    private let twoTraces = """
        {"type":"trace","version":1,"camera":"left"}
        {"type":"pan","phase":"began","timeMs":50000}
        {"type":"pan","phase":"ended","timeMs":50100}
        {"type":"trace-end"}

        {"type":"trace","version":1,"position":{"target":{"latitude":1,"longitude":2},"zoom":9}}
        {"type":"pinch","phase":"began","timeMs":7}
        {"type":"pinch","phase":"changed","timeMs":5,"scale":3}
        {"type":"pinch","phase":"changed","timeMs":27,"scale":2}
        {"type":"trace-end"}
        {"type":"stop","timeMs":99}

        """

    @Test func eachTraceOfAFileIsToldByItself() throws {
        let (status, rows, _) = try gimbal(nil, ["inspect", "-"], input: twoTraces)
        #expect(status == 0)
        #expect(
            rows.count { $0.hasPrefix("trace ") } == 2
                && rows.contains { $0.contains("1 of 2, from line 1, camera left") })
        #expect(rows.contains { $0.contains("2 of 2, from line 6") })
        #expect(
            rows.contains { $0.contains("2 lines in 0:00.100") } && rows.contains { $0.contains("2 lines in 0:00.020") }
        )
        #expect(rows.contains { $0.contains("line 8: timeMs must not be before") })
        #expect(rows.contains { $0.contains("line 11: this is after trace-end") })
        let json = try JSON(try gimbal(nil, ["inspect", "--json", "-"], input: twoTraces).output[0])
        let traces = try #require(json["traces"]?.array)
        #expect(traces.map { $0["line"]?.number } == [1, 6] && traces[0]["camera"]?.string == "left")
        #expect(traces[1]["gestures"]?.array?.first?["startMs"]?.number == 0)
        #expect(try gimbal(nil, ["inspect", "-"], input: "{\"type\":\"trace\",\"version\":1}\nfoo\n").status == 65)
    }

    @Test func oneOfSeveralTracesIsPlayedAndDrawn() throws {
        let daemon = try DaemonProcess()
        let (status, output, errors) = try gimbal(
            daemon, ["replay", "--speed", "max", "--trace", "2", "-"], input: twoTraces)
        #expect(status == 1 && output.count == 1 && errors.hasPrefix("-:8: "), "\(errors)")
        #expect(try JSON(output[0])["position"]?["zoom"]?.number == 10)
        for (number, kind) in [("1", "pan"), ("2", "pinch")] {
            let picture = try gimbal(nil, ["plot", "--trace", number, "-"], input: twoTraces).output.joined()
            #expect(picture.contains(">\(kind)</text>") && picture.contains(">pan</text>") == (number == "1"))
        }
        let none = try gimbal(nil, ["plot", "--trace", "3", "-"], input: twoTraces)
        #expect(none.status == 65 && none.errors.contains("no trace 3: there are 2 traces"), "\(none.errors)")
    }

    @Test func aByteOrderMarkIsLeftOutByAllCommands() throws {
        let daemon = try DaemonProcess()
        let trace = "\u{feff}{\"type\":\"trace\",\"version\":1,\"speed\":\"max\"}\n{\"type\":\"stop\",\"timeMs\":0}\n"
        for command in [["check"], ["inspect"], ["convert"], ["plot"], ["replay"]] {
            #expect(try gimbal(daemon, command + ["-"], input: trace).status == 0, "\(command)")
        }
    }

    @Test func aNameNeedNotBeUTF8() throws {
        let folder = Folder()
        let script = "f=$1/$(printf 'a\\377b'); cat >\"$f\"; \"$2\" inspect --json \"$f\""
        let (status, output, errors) = try DaemonProcess.run(
            URL(fileURLWithPath: "/bin/bash"), ["-c", script, "bash", folder.path, DaemonProcess.gimbal.path],
            input: Array(pinch.utf8))
        #expect(status == 0 && output.contains("\"frames\":22"), "\(errors)")
    }

    @Test func aPictureIsWrittenWhereItIsWanted() throws {
        let folder = Folder()
        let file = folder.path("pinch.svg")
        let (status, output, errors) = try gimbal(nil, ["plot", "-", "-o", file], input: pinch)
        #expect(status == 0 && output.isEmpty && errors.contains("-:10: skipped"))
        let picture = try String(contentsOfFile: file, encoding: .utf8)
        #expect(picture.hasPrefix("<svg ") && picture.hasSuffix("</svg>\n"))
        #expect(folder.names == ["pinch.svg"])
    }
}
