// `gimbal wait`: waits until a camera rests.

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

    @OptionGroup var options: QuestionOptions

    func validate() throws {
        guard let timeout = options.camera.answers.socket.timeout, timeout.milliseconds > 3_600_000 else { return }
        throw ValidationError("--timeout is an hour at most.")
    }

    func run() throws {
        try Conversation(options, limitsAnswers: false)
            .showRest(timeoutMs: options.camera.answers.socket.timeout?.milliseconds)
    }
}
