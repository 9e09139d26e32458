// The camera from the shell: every subcommand that moves, configures or queries a camera, as a user types it.

import Foundation
import TestSupport
import Testing

@Suite struct CommandLineCameraTests {
    private let daemon: DaemonProcess

    init() throws { daemon = try DaemonProcess() }

    /// Returns a position as `latitude longitude zoom bearing viewingAngle`.
    private func place(_ answer: JSON) -> [Double?] {
        let position = answer["position"]
        return ["latitude", "longitude"].map { position?["target"]?[$0]?.number }
            + ["zoom", "bearing", "viewingAngle"].map { position?[$0]?.number }
    }

    @Test(arguments: [
        ("--target 49.26,-123.11 --zoom 12", [49.26, -123.11, 12, 10, 20]),
        ("--target -33.9,151.2", [-33.9, 151.2, 5, 10, 20]),
        ("--target=-33.9,-.5", [-33.9, -0.5, 5, 10, 20]),
        ("--zoom 7.5", [1, 2, 7.5, 10, 20]),
        ("--bearing -90", [1, 2, 5, 270, 20]),
        ("--viewing-angle 25", [1, 2, 5, 10, 25]),
        ("--zoom-in", [1, 2, 6, 10, 20]),
        ("--zoom-out", [1, 2, 4, 10, 20]),
        ("--zoom-by -1.5", [1, 2, 3.5, 10, 20]),
        ("--bearing 40 --viewing-angle 10", [1, 2, 5, 40, 10]),
        ("--target -3,4 --bearing 40", [-3, 4, 5, 40, 20]),
        ("--zoom 6 --viewing-angle 90", [1, 2, 6, 10, 30]),
    ])
    func movesKeepWhatTheyDoNotName(_ options: String, _ expected: [Double]) throws {
        _ = try answer(daemon, "move --target 1,2 --zoom 5 --bearing 10 --viewing-angle 20")
        #expect(try place(answer(daemon, "move \(options)")) == expected)
    }

    @Test func stepsGoByPoints() throws {
        _ = try answer(daemon, "move --zoom 5")
        let right = try answer(daemon, "move --scroll-by 32,0")
        #expect(place(right)[1] == 32 * 360.0 / 8192)
        #expect(try place(answer(daemon, "move --scroll-by -32,0"))[1] == 0)
        // The place under the focus stays there.
        let before = try answer(daemon, "unproject 100,200")
        _ = try answer(daemon, "move --zoom-by 1 --focus 100,200")
        let after = try answer(daemon, "unproject 100,200")
        for axis in ["latitude", "longitude"] {
            let (a, b) = (before["coordinate"]?[axis]?.number ?? .nan, after["coordinate"]?[axis]?.number ?? .nan)
            #expect(abs(a - b) < 1e-8)
        }
    }

    @Test func commandOfALeaseMovesTheCameraAndOthersDoNot() throws {
        let program = DaemonProcess.gimbal.path
        let socket = "--socket \(daemon.socket)"
        let script = """
            '\(program)' animate \(socket) --zoom 7 --duration 20 >&2 && echo "$GIMBAL_LEASE"
            env -u GIMBAL_LEASE '\(program)' move \(socket) --zoom 9 2>/dev/null || echo refused $?
            exit 5
            """
        let words = ["lease", "--for", "1h", "--label", "guide", "--", "sh", "-c", script]
        let (status, output, errors) = try gimbal(daemon, words)
        #expect(status == 5 && output == ["main:1", "refused 75"], "\(output) \(errors)")
        #expect(try place(answer(daemon, "get"))[2] == 7)
        // The lease has ended with the command.
        #expect(try place(answer(daemon, "move --zoom 9"))[2] == 9)
        let refused = try gimbal(daemon, ["lease", "--", "/etc/passwd"])
        #expect(refused.status == 69)
        #expect(refused.errors == "gimbal: /etc/passwd cannot be started: Permission denied\n")
        // The folders of the PATH have this program, but a name with a slash is a path.
        #expect(try gimbal(daemon, ["lease", "--", "./sh"]).status == 69)
        #expect(try gimbal(daemon, ["lease", "--", "no-such-program"]).status == 69)
    }

    @Test func anErrorInALeaseNamesTheLineThatWasSent() throws {
        let lines = [#"{"type":"ping"}"#, #"{"type":"fly"}"#]
        let sent = try gimbal(daemon, ["lease", "--", DaemonProcess.gimbal.path, "send"] + lines)
        #expect(try sent.status == 1 && JSON(sent.output.last ?? "")["line"]?.number == 2, "\(sent)")
    }

    @Test func aTurnThatDoesNotComeIsWaitedForUntilTheTimeIsOver() throws {
        let guide = try SocketClient(daemon.socket)
        #expect(try guide.ask(#"{"type":"take-lease","id":1,"forMs":3600000}"#)["type"]?.string == "lease")
        let (status, _, errors) = try gimbal(daemon, ["lease", "--wait", "--timeout", "200ms", "--", "true"])
        #expect(status == 75 && errors == "gimbal: not done within the --timeout of 200 ms\n", "\(errors)")
        // The time is that of the wait, not of the command.
        guide.close()
        let script = ["--", "sh", "-c", "sleep 1.2; exit 3"]
        #expect(try gimbal(daemon, ["lease", "--wait", "--timeout", "1s"] + script).status == 3)
    }

    @Test func replayTakesALeaseUntilItsTraceHasEnded() throws {
        let folder = Folder()
        let header = #"{"type":"trace","version":1}"# + "\n"
        let trace = try folder.write(
            "trace.ndjson", header + #"{"type":"animate","timeMs":0,"update":{"kind":"zoom-in"}}"# + "\n")
        let watcher = try SocketClient(daemon.socket)
        #expect(try watcher.ask(#"{"type":"subscribe","events":["lease"]}"#)["type"]?.string == "subscribed")
        let (status, output, errors) = try gimbal(daemon, ["replay", "--lease", "--speed", "max", trace])
        #expect(status == 0 && output.count == 1 && errors.isEmpty, "\(output) \(errors)")
        #expect(try watcher.receive(until: "lease-taken").last?.contains(#""label":"gimbal replay""#) == true)
        #expect(try watcher.receive(until: "lease-ended").contains { $0.contains(#""type":"reset""#) })
        _ = try watcher.ask(#"{"type":"take-lease","forMs":3600000,"label":"guide"}"#)
        let (refused, _, why) = try gimbal(daemon, ["replay", "--lease", "--speed", "max", trace])
        #expect(refused == 75 && why.contains(#""guide" has leased this camera"#), "\(why)")
    }

    @Test func fittingWithoutWaitingPrintsNothing() throws {
        let (status, output, errors) = try gimbal(daemon, ["fit", "1,2", "3,4", "--no-wait"])
        #expect(try status == 0 && output.isEmpty && errors.isEmpty && place(answer(daemon, "get"))[0] != 0)
    }

    @Test func animatingWaitsUntilTheCameraRests() throws {
        let client = try SocketClient(daemon.socket)
        try client.send(#"{"type":"subscribe","events":["camera-changed","idle"]}"#)
        let end = try answer(daemon, "animate --target 1,2 --zoom 4 --duration 60 --easing linear")
        #expect(place(end) == [1, 2, 4, 0, 0])
        let lines = try client.receive(until: "idle")
        #expect(lines.count > 3 && lines.last?.contains(#""reason":"animation""#) == true)
        // An animation that changes nothing ends as well.
        #expect(try place(answer(daemon, "animate --zoom 4 --duration 0")) == [1, 2, 4, 0, 0])
    }

    @Test func waitingEndsWithTheRest() throws {
        _ = try answer(daemon, "move --target 1,2 --zoom 4")
        #expect(try place(answer(daemon, "wait")) == [1, 2, 4, 0, 0])
        _ = try gimbal(daemon, ["animate", "--zoom", "5", "--duration", "100", "--no-wait"])
        #expect(try place(answer(daemon, "wait --timeout 60s")) == [1, 2, 5, 0, 0])
        _ = try gimbal(daemon, ["animate", "--zoom", "9", "--duration", "3600000", "--no-wait"])
        for timeout in ["0", "1ms", "0.001s"] {
            let (status, output, errors) = try gimbal(daemon, ["wait", "--timeout", timeout])
            #expect(status == 75 && output.isEmpty && errors.contains("still moving"), "\(timeout): \(errors)")
        }
    }

    @Test func animatingCanBeLeftAlone() throws {
        let (status, output, errors) = try gimbal(
            daemon, ["animate", "--zoom", "9", "--duration", "3600000", "--no-wait"])
        #expect(status == 0 && output.isEmpty && errors.isEmpty)
        let stopped = try answer(daemon, "stop")
        #expect((place(stopped)[2] ?? 9) < 9)
        #expect(try place(answer(daemon, "get")) == place(stopped))
    }

    @Test func boundsAreFitted() throws {
        let dry = try answer(daemon, "fit 49.26,-123.11 51.05,-114.05 --padding 32 --dry-run")
        #expect(dry["fits"]?.bool == true)
        #expect(try place(answer(daemon, "get")) == [0, 0, 2, 0, 0])
        let fitted = try answer(daemon, "fit 49.26,-123.11 51.05,-114.05 --padding 32")
        #expect(place(fitted) == place(dry))
        #expect(try place(answer(daemon, "fit 49.26,-123.11 51.05,-114.05 --padding 32,32,32,32")) == place(dry))
        let usual = try answer(daemon, "fit 49.26,-123.11 51.05,-114.05")
        #expect((place(usual)[2] ?? 99) < (place(dry)[2] ?? 0))
        // Across the antimeridian, animated.
        let crossing = try answer(daemon, "fit -50,165 -30,-175 --duration 20")
        #expect(place(crossing)[1] == 175)
        let unfit = try answer(daemon, "fit -1,-1 1,1 --padding 400 --dry-run")
        #expect(unfit["fits"]?.bool == false && unfit["position"] == .null)
    }

    @Test func settingsAreShownAndSet() throws {
        #expect(try answer(daemon, "bounds")["targetBounds"] == .null)
        let bounds = try answer(daemon, "bounds -50,165 -30,-175")
        #expect(bounds["targetBounds"]?["southWest"]?["latitude"]?.number == -50)
        #expect(place(bounds)[0] == -30)
        #expect(try answer(daemon, "bounds --none")["targetBounds"] == .null)

        func range(_ state: JSON) -> [Double?] { ["minZoom", "maxZoom"].map { state[$0]?.number } }
        #expect(try range(answer(daemon, "zoom-range 4 18")) == [4, 18])
        #expect(try range(answer(daemon, "zoom-range --max 16")) == [4, 16])
        #expect(try range(answer(daemon, "zoom-range --min 3")) == [3, 16])
        #expect(try range(answer(daemon, "zoom-range")) == [3, 16])

        func viewport(_ state: JSON) -> [Double?] {
            let (viewport, padding) = (state["viewport"], state["viewport"]?["padding"])
            return ["width", "height"].map { viewport?[$0]?.number }
                + ["top", "left", "bottom", "right"].map { padding?[$0]?.number }
        }
        #expect(try viewport(answer(daemon, "viewport 800x600 --padding 1,2,3,4")) == [800, 600, 1, 2, 3, 4])
        #expect(try viewport(answer(daemon, "viewport 600x800")) == [600, 800, 1, 2, 3, 4])
        #expect(try viewport(answer(daemon, "viewport --padding 5")) == [600, 800, 5, 5, 5, 5])
        #expect(try viewport(answer(daemon, "viewport")) == [600, 800, 5, 5, 5, 5])

        let gestures = try answer(daemon, "gestures --no-tilt --inertia")["gestures"]
        #expect(gestures?["tilt"]?.bool == false && gestures?["inertia"]?.bool == true)
        #expect(gestures?["scroll"]?.bool == true && gestures?["fling"]?.bool == true)
        #expect(try answer(daemon, "gestures --tilt")["gestures"]?["tilt"]?.bool == true)
    }

    @Test func placesAndPointsAreEachOthers() throws {
        _ = try answer(daemon, "move --target -33.9,151.2 --zoom 8")
        let (status, output, _) = try gimbal(daemon, ["project", "-33.9,151.2", "-34,151"])
        #expect(status == 0 && output.count == 2)
        #expect(output.first == #"{"type":"point","point":{"x":195,"y":422}}"#)
        let place = try answer(daemon, "unproject 195,422")["coordinate"]
        #expect(place?["latitude"]?.number == -33.9 && place?["longitude"]?.number == 151.2)
        #expect(try answer(daemon, "region")["farLeft"]?["latitude"]?.number ?? -90 > -33.9)
    }

    @Test func camerasAreListedAndRemoved() throws {
        for camera in ["left", "right", "main"] { _ = try answer(daemon, "move --zoom-in --camera \(camera)") }
        #expect(try answer(daemon, "cameras")["cameras"]?.array?.map(\.string) == ["left", "main", "right"])
        let (status, output, errors) = try gimbal(daemon, ["remove", "left", "right"])
        #expect(status == 0 && output.isEmpty && errors.isEmpty)
        #expect(try answer(daemon, "cameras")["cameras"]?.array?.map(\.string) == ["main"])
        let missing = try gimbal(daemon, ["remove", "mian"])
        #expect(missing.status == 1 && missing.output.isEmpty)
        #expect(missing.errors == "gimbal: there is no camera mian; there is main. Did you mean main?\n")
    }

    @Test func whatTheDaemonRefusesIsTold() throws {
        _ = try answer(daemon, "zoom-range --max 16")
        let (status, output, errors) = try gimbal(daemon, ["zoom-range", "--min", "17"])
        #expect(status == 1 && output.isEmpty)
        #expect(errors.hasPrefix("gimbal: minZoom"), "\(errors)")
        let feed = try SocketClient(daemon.socket)
        try feed.send(#"{"type":"trace","version":1,"speed":1}"#)
        #expect(try feed.answersPing())
        let played = try gimbal(daemon, ["move", "--zoom", "3"])
        #expect(played.status == 75)
        #expect(played.errors == "gimbal: a replay is running on this camera; wait for its trace-ended\n")
        #expect(try gimbal(daemon, ["animate", "--zoom", "3"]).status == 75)
        let guide = try SocketClient(daemon.socket)
        _ = try guide.ask(#"{"type":"take-lease","camera":"left","forMs":3600000,"label":"guide"}"#)
        let leased = try gimbal(daemon, ["move", "--zoom", "3", "--camera", "left"])
        #expect(leased.status == 75 && leased.errors.hasPrefix(#"gimbal: "guide" has leased this camera, for "#))
        #expect(leased.errors.hasSuffix(" ms more\n"), "\(leased.errors)")
    }

    // MARK: On a terminal

    /// Returns the output of `gimbal` on a terminal without colours.
    private func shown(_ line: String) throws -> [String] {
        let terminal = try PseudoTerminal(
            DaemonProcess.gimbal, line.split(separator: " ").map(String.init),
            environment: ["GIMBAL_SOCKET": daemon.socket])
        #expect(try terminal.end() == 0, "\(line): \(terminal.output)")
        return terminal.output.split(whereSeparator: \.isNewline).map(String.init)
    }

    @Test func onATerminalAnswersAreWords() throws {
        #expect(
            try shown("move --target 49.26,-123.11 --zoom 12")
                == ["at 49.260000, -123.110000, zoom 12.000, bearing 0.0, viewing angle 0.0"])
        #expect(
            try shown("animate --bearing 90 --duration 20")
                == ["at 49.260000, -123.110000, zoom 12.000, bearing 90.0, viewing angle 0.0"])
        #expect(try shown("zoom-range 4 18") == ["zoom           12.000, from 4 to 18"])
        #expect(
            try shown("viewport 400x800 --padding 0,0,50,0")
                == ["viewport       400 by 800 points", "padding        bottom 50"])
        #expect(try shown("gestures --no-tilt") == ["gestures       scroll, zoom, rotate, fling"])
        #expect(try shown("bounds").first == "target bounds  none")
        #expect(try shown("project 49.26,-123.11") == ["200.000, 375.000"])
        #expect(try shown("unproject 200,375") == ["49.260000, -123.110000"])
        #expect(try shown("cameras") == ["main"])
        #expect(try shown("region").map { $0.prefix(10) } == ["far left  ", "far right ", "near left ", "near right"])
        #expect(try shown("fit -1,-1 1,1 --padding 500 --dry-run") == ["nowhere: the padding leaves no room"])
        #expect(try shown("zoom-range --json").first?.hasPrefix(#"{"type":"camera","camera":"main""#) == true)
    }
}
