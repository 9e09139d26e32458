// `gimbal perform`: performs fingers on the touchscreen of an Android phone, by adb and the phone's own `uinput`, or by
// scrcpy's server.

import ArgumentParser
import Glibc
import TouchScripts

struct Perform: ParsableCommand {
    static let configuration = CommandConfiguration(
        "Perform the fingers of a recording or a trace on an Android phone.",
        """
        The phone is one that adb reaches. Its command "uinput" makes a touchscreen beside the phone's own and moves \
        fingers on it: those that "gimbal convert --to uinput-script" writes, scaled to the whole screen. What this \
        changes is reported, as by that command. The touchscreen and its fingers are gone at the end, and after ^C.

        If adb may not use uinput, or the phone has none (Android 9 and earlier), the server of scrcpy performs the \
        same fingers: a file of a release of scrcpy, 2.0 or later, which is copied to the phone and removes itself.

        Examples:
          gimbal perform pinch.evemu
          gimbal perform pan.ndjson --serial emulator-5554
          gimbal perform pan.ndjson --scrcpy-server server-v3.3.1 --scrcpy-version 3.3.1
        """)

    @OptionGroup var options: RecordingOptions

    @Option("Perform on the phone with this serial number, if adb reaches several.", "serial")
    var serial: String?

    @Option("Use this adb instead of the one in the PATH.", "program", completion: .file())
    var adb: String?

    @Option("Use this server of scrcpy instead of the phone's uinput.", "file", completion: .file())
    var scrcpyServer: String?

    @Option("The server's version, which it requires.", "version")
    var scrcpyVersion: String?

    @Argument(help: "The recording or trace; - is standard input.", completion: .file())
    var recording: String

    func validate() throws {
        guard (scrcpyServer == nil) == (scrcpyVersion == nil) else {
            throw ValidationError("--scrcpy-server and --scrcpy-version go together.")
        }
    }

    func run() throws {
        guard let program = Program.find(adb ?? "adb") else {
            throw Failure(.unavailable, "\(adb ?? "adb") is not installed (Debian: apt install adb)")
        }
        let source = try InputFile(recording, endsBySignal: true)
        let export = try TouchExport(recording, of: source, options, to: .uinputScript)
        for change in try export.changes() { say("\(recording): \(change)") }
        let words = serial.map { ["-s", $0] } ?? []
        if let scrcpyServer, let scrcpyVersion {
            let phone = ScrcpyPhone(adb: (program, words), server: scrcpyServer, version: scrcpyVersion)
            return try phone.perform(export)
        }
        // adb itself reports what is wrong: no phone, several phones, or one that has not authorized this computer.
        let status = try Program.run(
            program, words + ["shell", "uinput", "-"], reading: export.bytes, output: STDERR_FILENO)
        guard status == 0 else {
            throw Failure(
                .unavailable,
                "adb ended with status \(status): the phone has no uinput, or adb may not use it; see --scrcpy-server")
        }
    }
}
