// `gimbal perform`: fingers on the touchscreen of an Android phone, by adb and the phone's own `uinput`.

import ArgumentParser
import CLinux
import Glibc
import TouchScripts
import UnixSocket

struct Perform: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Perform a recording's or a trace's fingers on an Android phone.",
        discussion: """
            The phone is one that adb reaches. Its command "uinput" makes a touchscreen beside the phone's own and moves \
            fingers on it: those that "gimbal convert --to uinput-script" writes, scaled to the whole screen. What they \
            change is said as there. The touchscreen is gone at the end, and with ^C, and its fingers with it.

            Examples:
              gimbal perform pinch.evemu
              gimbal perform pan.ndjson --serial emulator-5554
            """
    )

    @OptionGroup var options: RecordingOptions

    @Option("Perform on the phone of this serial number, where adb reaches several.", "serial")
    var serial: String?

    @Option("Use this adb instead of the one in the PATH.", "program", completion: .file())
    var adb: String?

    @Argument(help: "The recording or trace; - is standard input.", completion: .file())
    var recording: String

    func run() throws {
        guard let program = adb ?? Program.find("adb") else {
            throw Failure(.unavailable, "adb is not installed (Debian: apt install adb)")
        }
        let source = try InputFile(recording, endsBySignal: true)
        let export = try TouchExport(recording, of: source, options, to: .uinputScript)
        for change in try export.changes() { say("\(recording): \(change)") }
        let input = try Self.file(of: export.bytes)
        defer { _ = close(input) }
        let arguments = (serial.map { ["-s", $0] } ?? []) + ["shell", "uinput", "-"]
        // adb says itself what is wrong with a phone: that there is none, or several, or one that has not allowed it.
        let status = try Program.status(of: Program.start(program, arguments, input: input, output: STDERR_FILENO))
        guard status == 0 else {
            throw Failure(
                .unavailable, "adb ended with status \(status): the phone has no uinput, or adb may not use it")
        }
    }

    /// Bytes as a program's standard input.
    private static func file(of bytes: [UInt8]) throws -> CInt {
        let input = unsafe memfd_create("gimbal-fingers", MFD_CLOEXEC)
        guard input >= 0 else { throw Failure(.ioError, "\(SystemError("memfd_create"))") }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe write(input, $0.baseAddress, $0.count) }
            guard count > 0 else { throw Failure(.ioError, "\(SystemError("write"))") }
            rest = rest.dropFirst(count)
        }
        _ = lseek(input, 0, SEEK_SET)
        return input
    }
}
