// Mistyped command lines: the error they get, and that they have no other effect.

import Foundation
import TestSupport
import Testing

@Suite struct CommandLineWordsTests {
    /// swift-argument-parser wraps longer ones, and a shell would take them for two commands.
    @Test func examplesOfTheHelpFitALineOf80Columns() throws {
        let help = try JSON(gimbal(nil, ["--experimental-dump-help"]).output.joined(separator: "\n"))
        var checked = 0
        func check(_ command: JSON) {
            let paragraphs = (command["discussion"]?.string ?? "").components(separatedBy: "\n\n")
            let examples = paragraphs.first { $0.hasPrefix("Examples:\n") } ?? ""
            for line in examples.split(separator: "\n").dropFirst() {
                #expect(line.count <= 80, "\(line)")
                checked += 1
            }
            for subcommand in command["subcommands"]?.array ?? [] { check(subcommand) }
        }
        check(help["command"] ?? .null)
        #expect(checked > 100)
    }

    @Test(arguments: [
        ("wach", "There is no command 'wach'. Did you mean 'watch'?"),
        ("help wach", "Did you mean 'watch'?"),
        ("anmate --zoom 3", "Did you mean 'animate'?"),
        ("quux", "There is no command 'quux'. 'gimbal --help' lists them."),
        ("pan.ndjson", "Did you mean 'replay pan.ndjson'?"),
        ("--camera left get", "'--camera' belongs after the command, as in: gimbal get --camera …"),
        ("move --zom 3", "Unknown option '--zom'. Did you mean '--zoom'?"),
        ("fit --paddin 3 1,2 3,4", "Unknown option '--paddin'. Did you mean '--padding'?"),
        ("viewport --pading 3", "Did you mean '--padding'?"),
        ("project --scoket /tmp/x 1,2", "Did you mean '--socket'?"),
        ("watch --lates", "Did you mean '--latest'?"),
        ("record -x", "Unknown option '-x'."),
        ("move 49.26,-123.11", "Did you mean '--target 49.26,-123.11'?"),
        ("move 3", "Did you mean '--zoom 3'?"),
        ("watch idle,camera-changed", "Did you mean '--events idle,camera-changed'?"),
        ("get left", "Did you mean '--camera left'?"),
        ("gestures tilt", "Did you mean '--tilt'?"),
        ("record out.ndjson", "Did you mean '-o out.ndjson'?"),
    ])
    func aMistypedWordIsAnsweredByTheOneThatWasMeant(_ line: String, _ expected: String) throws {
        let (status, output, errors) = try gimbal(nil, line.split(separator: " ").map(String.init))
        #expect(status == 64 && output.isEmpty)
        #expect(errors.hasPrefix("Error: ") && errors.contains(expected), "\(errors)")
        // The usage follows, but no other complaint.
        #expect(errors.contains("\nUsage: gimbal") && errors.split(separator: "\n").count <= 4, "\(errors)")
    }

    @Test(arguments: [
        ("move --target 49.26", "such as 49.26,-123.11"),
        ("move --target 49.26 -123.11", "write '--target 49.26,-123.11'"),
        ("expect x.ndjson --at end zoom 15.5", "write '--at end --zoom 15.5'"),
        ("move --target 49.26, -123.11", "Did you mean '49.26,-123.11'?"),
        ("move --target -123.11,49.26", "latitude comes first and must be -90 to 90. Did you mean 49.26,-123.11?"),
        ("move --target 200,300", "latitude comes first and must be -90 to 90."),
        ("bounds -123.11,49.26 -110,50", "Did you mean 49.26,-123.11?"),
        ("project 151.2,-33.9", "Did you mean -33.9,151.2?"),
        ("unproject 195", "such as 195,422"),
        ("viewport 390", "such as 390x844"),
        ("fit 1,2 3,4 --padding 1,2", "such as 32, or for top,left,bottom,right"),
        ("move --zoom high", "such as 12.5"),
        ("animate --zoom 3 --duration soon", "such as 800, 800ms, 1.5s, 2m or 1h"),
        ("animate --zoom 3 --duration -4", "--duration must be 0 to 3600000 ms."),
        ("animate --zoom 3 --flight --max-duration 2h", "--max-duration must be 0 to 3600000 ms."),
        ("animate --zoom 3 --flight --speed 0", "--speed must be above 0."),
        ("fit 1,2 3,4 --flight --curve 99", "--curve must be 0.1 to 10."),
        ("home 1,2,3 --duration 2h", "--duration must be 0 to 3600000 ms."),
        ("wait --timeout 2h", "--timeout must be 0 to 3600000 ms."),
        ("zoom-range 9 3", "The lowest zoom must not be above the highest."),
        ("zoom-range 1 9", "The lowest zoom must be 2 to 21."),
        ("zoom-range --max 22", "--max must be 2 to 21."),
        ("viewport 0x4", "'<size>': width and height must be 0.001 to 100000 points."),
        ("viewport --padding -1", "'--padding <points>': each side must be 0 to 100000 points."),
        ("replay --speed fast x", "such as 2, 0.5 or 2x"),
        ("get --camera a/b", "such as left"),
        ("watch --events idel", "Did you mean idle?"),
        ("get --timeout -1s", "--timeout must be 0 or more"),
        ("animate --zoom 3 --easing bouncy", "ease-in-out"),
        ("get --camera left --camera right", "--camera is given 2 times"),
        ("replay --camera=a --camera=b x", "--camera is given 2 times"),
        ("record --camera a --camera b", "--camera is given 2 times"),
        ("plot x.ndjson -o t.jpg", "as .svg, .png or .pdf, not as .jpg"),
    ])
    func anInvalidValueIsAnsweredByHowItIsWritten(_ line: String, _ expected: String) throws {
        let (status, output, errors) = try gimbal(nil, line.split(separator: " ").map(String.init))
        #expect(status == 64 && output.isEmpty)
        #expect(errors.contains(expected), "\(errors)")
    }

    /// Without a daemon, so that a request would fail differently.
    @Test(arguments: [
        "move", "move --zoom", "move --zoom high", "move --zoom nan", "move --target 49", "move --target 49,1,2",
        "move --target 49,east", "move --zoom-in --zoom-out", "move --zoom-in --zoom 3",
        "move --scroll-by 1,2 --bearing 3", "move --focus 1,2", "move --zoom 3 --focus 1,2",
        "move --zoom 3 --camera a/b", "move 3", "move -- -1,2", "animate --zoom 3 --easing bouncy", "animate",
        "fit 1,2", "fit", "fit 3,2 1,4", "fit 1,2 3,4 --padding 1,2", "bounds 1,2", "bounds 3,4 1,2",
        "bounds 1,2 3,4 --none", "zoom-range 4", "zoom-range 4 5 6", "zoom-range 4 5 --min 3", "viewport 390",
        "viewport 390x", "viewport x", "gestures --fly", "project", "unproject 1", "remove", "remove a/b",
        "cameras --camera left", "home 1,2", "home 1,2,3 --none", "home --after 5s", "home 1,2,3 --after 1ms",
        "attract a --none", "edit x --speed max", "edit x --start 1", "edit x --bounds 1,2,3",
        "edit x --zoom-range 9,3", "edit x --trim-idle -1", "edit x", "shrink x -- true", "player", "player stop",
        "player seek", "player seek soon", "player seek 1s --marker a", "player speed", "player speed 0",
        "player step 0", "player pause 1", "player pause --marker a", "player seek --marker ", "mark", "mark ",
        "replay", "replay --from 2s --until 1s x", "replay --loop 0 x", "replay --loop often x",
        "replay --idle-limit -1 x", "record --duration -5", "record --duration soon", "record --camera a/b",
        "cut - --from 2s --until 1s", "cut - --from -1s", "cut - --until soon", "wait --timeout x", "wait --timeout -1",
        "wait --timeout 3601s", "wait --timeout 61m", "wait --timeout ", "convert - --viewport 0x0",
        "convert - --viewport 1e300x1", "convert - --viewport 390", "convert - --to maestro", "convert - --expected x",
        "plot - --trace 0", "expect - --zoom high", "expect - --tolerance 1pt", "make jump", "make pinch --scale 0",
        "perform - --scrcpy-version 3.3.1", "check", "lease --for 2h -- true", "tour", "tour a --record",
        "tour --record --trace", "tour --record --zoom 3", "tour a --for 1s", "tour a --to kml --trace", "tour a -o b",
        "tour a --no-wait --trace", "tour a --to gpx", "tour a --zoom 3 --height 4", "tour a --speed 3 --speed-up 4",
        "expect a --junit -", "expect a --html -", "expect a --plot -", "diff a b --plot -",
        "expect a --zoom 3 --plot b.svg", "expect a --moves 1 --update",
        "tour a --zoom 1", "tour a --viewing-angle 66", "tour a --speed-up 0", "tour a --height nan",
    ])
    func wrongUsageIsToldBeforeAnythingIsReadOrSent(_ line: String) throws {
        let words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        let (status, output, errors) = try gimbal(nil, words)
        #expect(status == 64 && output.isEmpty && errors.hasPrefix("Error: "), "\(status) \(output) \(errors)")
        #expect(errors.contains("\nUsage: gimbal \(words[0])"), "\(errors)")
    }

    @Test(arguments: [
        ("plot x.ndjson -o t.gif", "gimbal plot"), ("get --camera a --camera b", "gimbal get"), ("wach", "gimbal"),
    ])
    func theUsageIsThatOfTheCommand(_ line: String, _ command: String) throws {
        let (status, output, errors) = try gimbal(nil, line.split(separator: " ").map(String.init))
        #expect(status == 64 && output.isEmpty && errors.contains("\nUsage: \(command) "), "\(errors)")
        #expect(errors.hasSuffix("\n  See '\(command) --help' for more information.\n"), "\(errors)")
    }

    @Test func theVersionIsAWordToo() throws {
        let (status, output, errors) = try gimbal(nil, ["version"])
        let expected = try gimbal(nil, ["--version"]).output
        #expect(status == 0 && errors.isEmpty && output == expected)
    }

    @Test func textMayLookLikeANegativeNumber() throws {
        let folder = Folder()
        let script = "cd '\(folder.path)'; PATH='\(DaemonProcess.products.path)':$PATH; "
        let (status, _, errors) = try DaemonProcess.run(
            URL(fileURLWithPath: "/bin/sh"), ["-c", script + "gimbal make pan -o -5 && gimbal run --summary -5"])
        #expect(status == 0 && folder.names == ["-5"], "\(errors)")
    }

    @Test(arguments: ["--help", "help run", "--version"])
    func helpThatCannotBeWrittenIsAnError(_ words: String) throws {
        let (status, _, errors) = try DaemonProcess.run(
            URL(fileURLWithPath: "/bin/sh"), ["-c", "'\(DaemonProcess.gimbal.path)' \(words) >/dev/full"])
        #expect(status == 74 && errors.hasPrefix("gimbal: standard output: "), "\(status) \(errors)")
    }

    @Test func anOutputThatCannotBeMadeIsNamedAsItWasTyped() throws {
        let (status, _, errors) = try gimbal(nil, ["make", "pan", "-o", "/nonexistent/a.ndjson"])
        #expect(status == 74 && errors == "gimbal: /nonexistent/a.ndjson: No such file or directory\n", "\(errors)")
    }

    @Test func aFileIsNoLineToSend() throws {
        let folder = Folder()
        let file = try folder.write("lines.ndjson", "{}\n")
        let (status, _, errors) = try gimbal(nil, ["send", file])
        #expect(status == 64 && errors.contains("'gimbal send <\(file)'"), "\(errors)")
    }
}

/// With a daemon, which each test has for itself.
@Suite struct CommandLineDaemonTests {
    private let daemon: DaemonProcess

    init() throws { daemon = try DaemonProcess() }

    @Test(arguments: ["20", "20ms", "0.02s", "0.00001h"])
    func aDurationHasAUnitOrIsInMilliseconds(_ duration: String) throws {
        #expect(try answer(daemon, "animate --zoom 5 --duration \(duration)")["position"]?["zoom"]?.number == 5)
    }

    @Test func aSpeedMayBeWrittenWithAnX() throws {
        let trace = #"{"type":"trace","version":1}"# + "\n" + #"{"type":"stop","timeMs":0}"# + "\n"
        for speed in ["2x", "1000×", "max", "0.5"] {
            #expect(try gimbal(daemon, ["replay", "--speed", speed, "-"], input: trace).status == 0)
        }
    }

    // MARK: Missing cameras

    @Test(arguments: [
        "get", "project 1,2", "unproject 1,2", "region", "bounds", "zoom-range", "viewport", "gestures",
        "fit 1,2 3,4 --dry-run", "stop",
    ])
    func aQuestionMakesNoCameraAndSaysWhichThereAre(_ line: String) throws {
        let words = line.split(separator: " ").map(String.init)
        let none = try gimbal(daemon, words + ["--camera", "lft"])
        #expect(none.status == 1 && none.output.isEmpty)
        #expect(none.errors == "gimbal: there is no camera lft; there are none\n")
        for camera in ["left", "right"] { _ = try gimbal(daemon, ["move", "--zoom", "4", "--camera", camera]) }
        let (status, output, errors) = try gimbal(daemon, words + ["--camera", "lft"])
        #expect(status == 1 && output.isEmpty)
        #expect(errors == "gimbal: there is no camera lft; there are left and right. Did you mean left?\n")
        #expect(try answer(daemon, "cameras")["cameras"]?.array?.map(\.string) == ["left", "right"])
    }

    @Test func aQuestionWithoutANameIsAnsweredAndMakesNoCameraEither() throws {
        #expect(try answer(daemon, "get")["position"]?["zoom"]?.number == 2)
        #expect(try answer(daemon, "cameras")["cameras"]?.array?.isEmpty == true)
    }

    @Test func createMakesTheCameraOfAQuestion() throws {
        #expect(try gimbal(daemon, ["get", "--camera", "left", "--create"]).status == 0)
        #expect(try answer(daemon, "cameras")["cameras"]?.array?.map(\.string) == ["left"])
    }

    @Test func whatSetsACameraMakesIt() throws {
        for (camera, words) in [
            ("a", ["move", "--target", "1,2", "--bearing", "3"]), ("b", ["viewport", "390x700"]),
            ("c", ["bounds", "1,2", "3,4"]),
            ("d", ["animate", "--target", "1,2", "--bearing", "3", "--duration", "0"]),
        ] {
            let (status, _, errors) = try gimbal(daemon, words + ["--camera", camera])
            #expect(status == 0, "\(errors)")
        }
        #expect(try answer(daemon, "cameras")["cameras"]?.array?.count == 4)
    }

    // MARK: Time limits

    @Test(arguments: ["get", "cameras", "move --zoom 3", "watch", "record", "replay -", "send {\"type\":\"ping\"}"])
    func aDaemonThatDoesNotAnswerIsGivenUp(_ line: String) throws {
        kill(daemon.process.processIdentifier, SIGSTOP)
        defer { kill(daemon.process.processIdentifier, SIGCONT) }
        let words = line.split(separator: " ").map(String.init) + ["--timeout", "50ms"]
        let (status, output, errors) = try gimbal(daemon, words, input: #"{"type":"trace","version":1}"# + "\n")
        // Commands that ask for nothing report that they are not done.
        let asks = !line.hasPrefix("replay") && !line.hasPrefix("send")
        #expect(status == (asks ? 69 : 75) && output.filter { !$0.hasPrefix("{\"type\":\"trace") }.isEmpty)
        #expect(
            errors.contains(
                asks ? "does not answer: nothing came within 50 ms" : "not done within the --timeout of 50 ms"),
            "\(errors)")
    }

    @Test func anAnimationIsGivenUpAfterItsTime() throws {
        let (status, output, errors) = try gimbal(
            daemon, ["animate", "--zoom", "9", "--duration", "1h", "--timeout", "3s"])
        #expect(status == 75 && output.isEmpty && errors.contains("not done within the --timeout of 3 s"), "\(errors)")
    }

    // MARK: The daemon

    @Test func theDaemonsCountersAreShown() throws {
        _ = try gimbal(daemon, ["move", "--zoom", "4"])
        #expect(try answer(daemon, "stats")["cameras"]?.number == 1)
    }

    @Test func whoIsConnectedIsShown() throws {
        let client = try daemon.subscriber()
        let clients = try answer(daemon, "clients")["clients"]?.array ?? []
        #expect(clients.count == 2 && clients.last?["self"]?.bool == true)
        #expect(clients.first?["process"]?.number == Double(getpid()))
        #expect(clients.first?["subscriptions"]?.array?.first?["camera"]?.string == "main")
        withExtendedLifetime(client) {}
    }

    // MARK: Completion

    @Test func completionKnowsTheCamerasOfTheDaemon() throws {
        for camera in ["left", "right"] { _ = try gimbal(daemon, ["move", "--zoom", "4", "--camera", camera]) }
        let words = ["get", "--camera", "l"]
        let (_, output, _) = try gimbal(
            daemon, ["---completion", "get", "--", "--camera", "2", "1"] + ["gimbal"] + words)
        #expect(output == ["left", "right"])
    }
}
