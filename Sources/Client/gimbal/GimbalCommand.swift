// The program: its subcommands, and the one place where it ends. A subcommand returns or throws, and what it throws
// determines how the process ends.

import ArgumentParser
import GimbalProtocol
import Glibc
import Service

@main
struct GimbalCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gimbal",
        abstract: "Moves map cameras, plays gestures into them, and shows what they do.",
        discussion: """
            Examples:
              gimbal make pinch -o pinch.ndjson            # a trace of made-up fingers
              gimbal plot pinch.ndjson -o pinch.svg        # a picture of what they do
              gimbal move --target 48.86,2.29 --zoom 14    # gimbald moves a camera

            Commands that ask the daemon print text for people on a terminal, and its lines of JSON, unchanged, in a \
            pipe. On a terminal, control characters and invisible characters are shown by their numbers. \
            "man gimbal" says where commands look for the daemon's socket, and what signals do.

            Exit status:
            \(ExitStatus.help)
            """,
        version: "gimbal \(gimbalVersion)",
        groupedSubcommands: [
            CommandGroup(
                name: "Camera",
                subcommands: [
                    Move.self, Animate.self, TourCommand.self, Fit.self, Wait.self, Stop.self, Get.self, Bounds.self,
                    ZoomRangeCommand.self,
                    ViewportCommand.self, GesturesCommand.self, Project.self, Unproject.self, Region.self, Cameras.self,
                    Remove.self, Lease.self, Home.self, Attract.self,
                ]),
            CommandGroup(
                name: "Daemon", subcommands: [Watch.self, Send.self, Stats.self, Clients.self, Traces.self, Web.self]),
            CommandGroup(name: "Replay", subcommands: [Replay.self, Player.self, Record.self, Mark.self]),
            CommandGroup(name: "Test", subcommands: [Run.self, Expect.self, Diff.self, Make.self, Shrink.self]),
            CommandGroup(
                name: "Trace",
                subcommands: [
                    Check.self, Inspect.self, Plot.self, Convert.self, Perform.self, Cut.self, Join.self,
                    Edit.self,
                ]),
        ]
    )

    static func main() {
        occupyStandardDescriptors()
        // A reader that stops reading is neither an error nor worth a message.
        signal(SIGPIPE, SIG_IGN)
        // If SIGCHLD is ignored, the exit status of started programs is lost.
        signal(SIGCHLD, SIG_DFL)
        Interrupt.arm()
        var words = Array(CommandLine.arguments.dropFirst())
        if words == ["version"] { words = ["--version"] }
        words = Usage.withoutOldWords(words)
        do {
            try Usage.checkCommand(words)
            var command = try parseAsRoot(NegativeNumbers.shielded(words))
            if !(command is Watch) { try CameraName.checkOnlyOne(words) }
            try command.run()
            Interrupt.conclude()
        } catch let failure as Failure {
            say("gimbal: \(failure.message)")
            Glibc.exit(failure.status.rawValue)
        } catch let interrupt as Interrupt {
            interrupt.end()
        } catch is ClosedOutput {
            Glibc.exit(0)
        } catch {
            end(error, words)
        }
    }

    /// Prints the parser's help or error, with words as they were typed, and exits.
    private static func end(_ error: any Error, _ words: [String]) {
        var text = NegativeNumbers.unshielded(fullMessage(for: error))
        let code = exitCode(for: error)
        // The parser knows no command for what is found after it has read the words. An exit code is of a program that
        // this one has started, and that has said what was wrong.
        if code == .validationFailure, !(error is ExitCode),
            let mistake = Usage.mistake(in: words) ?? (error as? ValidationError)?.message
        {
            text = "Error: \(NegativeNumbers.unshielded(mistake))\n\(Usage.synopsis(words.first))"
        }
        // A word may come from a shell's pattern, and be the name of any file.
        for word in words { text = text.replacing(word, with: PrintableText(word).description) }
        guard code.isSuccess else {
            if !text.isEmpty { say(PrintableText(lines: text)) }
            Glibc.exit(code.rawValue)
        }
        let output = Output()
        output.add(PrintableText(lines: text))
        do {
            try output.flush()
        } catch let failure as Failure {
            say("gimbal: \(failure.message)")
            Glibc.exit(failure.status.rawValue)
        } catch {}
        Glibc.exit(0)
    }

    /// Opens closed standard descriptors, so that the socket does not get one of their numbers.
    private static func occupyStandardDescriptors() {
        var descriptor: CInt
        repeat { descriptor = unsafe open("/dev/null", O_RDWR) } while (0...2).contains(descriptor)
        _ = close(descriptor)
    }
}
