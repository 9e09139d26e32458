// `gimbal wait`: until a camera rests.

import ArgumentParser
import GimbalClient

struct Wait: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Wait until a camera rests.",
        discussion: """
            A camera rests when no gesture is active and nothing moves it; where it rests already, that is at once. Prints \
            where it is then; in a pipe or with --json, the daemon's line. In a replay a camera rests between two movements, \
            too. A camera that still moves after --timeout ends it with status 75.

            Examples:
              gimbal animate --zoom 12 --no-wait; gimbal wait
              gimbal wait --camera left --timeout 5s
              gimbal wait --timeout 0 || echo "it moves"
            """
    )

    @OptionGroup var options: CameraOptions

    @Option(help: ArgumentHelp("Wait no longer than this, such as 5s or 300ms, an hour at most.", valueName: "time"))
    var timeout: WaitingTime?

    func run() throws {
        Interrupt.arm()
        try Conversation(options).show(.awaitIdle(timeoutMs: timeout?.milliseconds)) {
            if case .atRest(let rest) = $0 { [rest.position.text] } else { nil }
        }
    }
}

/// How long to wait: seconds or milliseconds with their unit, or milliseconds; an hour at most.
struct WaitingTime: ExpressibleByArgument {
    let milliseconds: Double

    init?(argument: String) {
        let units: [(suffix: String, factor: Double)] = [("ms", 1), ("s", 1000), ("", 1)]
        guard let unit = units.first(where: { argument.hasSuffix($0.suffix) }),
            let number = Double(argument.dropLast(unit.suffix.count)),
            (0...3_600_000).contains(number * unit.factor)
        else { return nil }
        milliseconds = number * unit.factor
    }
}
