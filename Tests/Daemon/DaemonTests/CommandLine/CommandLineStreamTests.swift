// Recordings as they arrive: compressed, from pipes that stay open, and live from a screen.

import Foundation
import TestSupport
import Testing

@Suite struct CommandLineStreamTests {
    /// Runs a shell script in its own folder, with `gimbal` as a function and `input` as its standard input.
    private func shell(_ script: String, input: [UInt8] = []) throws -> (status: CInt, output: String, errors: String) {
        let folder = Folder()
        let prologue = "set -u; cd '\(folder.path)'; gimbal() { '\(DaemonProcess.gimbal.path)' \"$@\"; }\n"
        return try DaemonProcess.run(URL(fileURLWithPath: "/bin/bash"), ["-c", prologue + script], input: input)
    }

    /// Returns a finger that lands, moves and stays, without a range of the device.
    private func drag(from start: Int = 0, by step: Int = 20) -> String {
        func event(_ time: Int, _ type: Int, _ code: Int, _ value: Int) -> String {
            String(
                format: "[ %d.%03d000] /dev/input/event2: %04x %04x %08x\n", time / 1000, time % 1000, type, code, value
            )
        }
        var text =
            event(start, 3, 0x39, 1) + event(start, 3, 0x35, 500) + event(start, 3, 0x36, 900) + event(start, 0, 0, 0)
        for move in 1...20 {
            text += event(start + move * 10, 3, 0x35, 500 + move * step) + event(start + move * 10, 0, 0, 0)
        }
        return text
    }

    private let lift =
        "[ 0.210000] /dev/input/event2: 0003 0039 ffffffff\n[ 0.210000] /dev/input/event2: 0000 0000 00000000\n"

    @Test(arguments: ["gzip", "bzip2", "xz", "zstd"])
    func whatIsPackedIsReadAsWhatIsIn(_ program: String) throws {
        let (status, output, errors) = try shell(
            """
            cat >plain; \(program) -c plain >packed || exit 99
            gimbal convert plain >a && gimbal convert packed >b && cat packed | gimbal convert - >c || exit 1
            cmp a b && cmp a c && gimbal inspect --json packed
            head -c 100 packed >cut; gimbal inspect cut; test $? = 65 || exit 2
            PATH=/nowhere gimbal inspect packed
            """, input: Array((drag() + lift).utf8))
        #expect(status == 69 && output.contains("\"frames\":22"), "\(errors)")
        let lines = errors.split(separator: "\n")
        #expect(lines.count == 2 && lines[0].contains("cannot be unpacked completely by \(program)"), "\(errors)")
        #expect(lines.last?.contains("unpacked by \(program), which is not installed (Debian: apt install ") == true)
    }

    /// A lot of blanks in a few kilobytes: unpacked data is not kept.
    @Test func aBombIsReadPieceByPiece() throws {
        let (status, _, errors) = try shell(
            """
            { cat; head -c 600M /dev/zero | tr '\\0' ' '; } | gzip -1 >bomb
            ulimit -v 500000; gimbal inspect bomb
            """, input: Array("E: 1.0 0003 0035 5\n".utf8))
        #expect(status == 65 && errors.contains("line 2: longer than"), "\(errors)")
    }

    /// A stream that declares no range of positions moves the map as it arrives; the command says what it assumed.
    @Test func theFirstFingersOfAStreamAreNotHeldBack() throws {
        let (status, output, errors) = try shell(
            """
            mkfifo in; gimbal convert - <in >out 2>err & exec 3>in; cat >&3
            until test $(wc -l <out) -gt 10; do sleep 0.01; done
            kill -0 $! && echo still open; exec 3>&-; wait $!; tail -n 1 out; cat err >&2
            """, input: Array(drag().utf8))
        #expect(status == 0 && output == "still open\n{\"type\":\"trace-end\"}\n", "\(output)\(errors)")
        #expect(errors.contains("1080 by 2400 is assumed") && errors.contains("getevent -p"), "\(errors)")
    }

    /// A fling continues though no more input arrives. The camera is not reset: it starts where it was.
    @Test func fingersMoveACameraLive() throws {
        let daemon = try DaemonProcess()
        let (status, output, errors) = try shell(
            """
            export GIMBAL_SOCKET='\(daemon.socket)'; gimbal move --camera left --target 10,20 --zoom 6 >/dev/null
            mkfifo in; gimbal replay --live --camera left --viewport 390x844 --follow - <in >out 2>err & exec 3>in
            cat >&3; until grep -q '"type":"idle"' out; do sleep 0.01; done
            kill -0 $! && echo still open; exec 3>&-; wait $!; echo $?; gimbal get --camera left --json
            gimbal cameras --json; grep -c '"reason":"gesture"' out; grep -c reset out
            """, input: Array((drag(by: 25) + lift).utf8))
        #expect(status == 1, "\(errors)")
        let lines = output.split(separator: "\n").map(String.init)
        #expect(lines.prefix(2) == ["still open", "0"] && lines.last == "0", "\(output)\(errors)")
        let state = try JSON(lines[2])
        let position = try #require(state["position"])
        // 25 × 20 of 1080 units to the right on 390 points are 180 points; the fling goes further.
        let moved = try #require(position["target"]?["longitude"]?.number) - 20
        let points = moved / 360 * 256 * 64
        #expect(points < -180 && position["zoom"]?.number == 6, "\(points)")
        #expect(state["viewport"]?["width"]?.number == 390)
        #expect(lines[3].contains("[\"left\"]"))
    }

    /// It is opened only once: a second open would break the pipe of its writer. A shell gives background jobs another
    /// standard input.
    @Test func aTraceIsPlayedFromANamedPipe() throws {
        let daemon = try DaemonProcess()
        let (status, output, errors) = try shell(
            """
            mkfifo in; exec 3<&0; { cat <&3; echo '{"type":"stop","timeMs":9}'; } >in &
            gimbal replay --socket '\(daemon.socket)' --speed max in
            """, input: Array("{\"type\":\"trace\",\"version\":1}\n{\"type\":\"stop\",\"timeMs\":0}\n".utf8))
        #expect(status == 0 && output.contains("\"events\":2"), "\(output)\(errors)")
    }

    @Test func aTraceIsNotFedLive() throws {
        let daemon = try DaemonProcess()
        let (status, _, errors) = try gimbal(
            daemon, ["replay", "--live", "-"], input: "{\"type\":\"trace\",\"version\":1}\n")
        #expect(status == 64 && errors.contains("without --live"), "\(errors)")
        #expect(try gimbal(daemon, ["replay", "--device", "/nonexistent"]).status == 66)
    }

    /// Events as a device sends them, in a pipe that stays open; a file has the kernel's description of the device.
    @Test func theKernelsEventsMoveACameraLive() throws {
        let daemon = try DaemonProcess()
        func event(_ time: Int, _ type: Int, _ code: Int, _ value: Int) -> [UInt8] {
            func bytes(_ number: Int, _ count: Int) -> [UInt8] {
                (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
            }
            return bytes(100, 8) + bytes(time * 1000, 8) + bytes(type, 2) + bytes(code, 2) + bytes(value, 4)
        }
        var events = event(0, 3, 0x39, 5) + event(0, 3, 0x35, 10) + event(0, 3, 0x36, 10) + event(0, 0, 0, 0)
        for move in 1...10 { events += event(move * 10, 3, 0x35, 10 + move * 5) + event(move * 10, 0, 0, 0) }
        let (status, output, errors) = try shell(
            """
            printf 'N: screen\\nA: 35 0 99 0 0\\nA: 36 0 199 0 0\\n' >screen; export GIMBAL_SOCKET='\(daemon.socket)'
            mkfifo in; gimbal replay --live --device screen --follow - <in >out 2>err & exec 3>in
            cat >&3; until grep -q '"type":"camera-changed"' out; do sleep 0.01; done
            exec 3>&-; wait $!; echo $?; cat err
            """, input: events)
        #expect(status == 0 && output == "0\n", "\(output)\(errors)")
    }

    // MARK: Almost unreadable input

    /// Each command's error quotes the first line that it did not understand.
    @Test(arguments: [["inspect", "-"], ["convert", "-"], ["plot", "-"], ["replay", "--speed", "max", "-"]])
    func whatIsHardlyUnderstoodIsAnErrorOfEachCommand(_ command: [String]) throws {
        let daemon = try DaemonProcess()
        let text =
            "Event: time 1.0, type 3 (EV_ABS), code 53 (ABS_MT_POSITION_X), value 1\nEvent: time 1.0, === what ===\n"
        let (status, _, errors) = try gimbal(daemon, command, input: text)
        #expect(status == 65 && errors.contains("line 2: Event: time 1.0, === what ==="), "\(errors)")
        #expect(errors.split(separator: "\n").count == 1)
    }
}
