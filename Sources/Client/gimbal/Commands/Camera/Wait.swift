// `gimbal wait`: waits until a camera rests.

import ArgumentParser
import GimbalClient

struct Wait: ParsableCommand {
    static let configuration = CommandConfiguration(
        "Wait until a camera rests.",
        """
        A camera rests when no gesture is active and nothing moves it; if it rests already, the command ends at once. \
        Prints its position; in a pipe or with --json, the daemon's line. During a replay, a camera also rests between \
        two movements. If the camera still moves after --timeout, the status is 75.

        Examples:
          gimbal animate --zoom 12 --no-wait; gimbal wait
          gimbal wait --camera left --timeout 5s
          gimbal wait --timeout 0 || echo "it moves"
        """)

    @OptionGroup var options: QuestionOptions

    private var timeoutMs: Double? { options.answers.socket.timeout?.milliseconds }

    func validate() throws { try check("--timeout", timeoutMs, .durations, " ms") }

    func run() throws {
        let daemon = try Conversation(options, limitsAnswers: false)
        // The daemon reports when the time is up. If it does not, the wait ends soon after.
        let patience = (timeoutMs ?? .infinity) + TimeLimit.usualAnswer
        try daemon.show(.awaitIdle(timeoutMs: timeoutMs), timeout: patience) { (rest: CameraRest) in
            [rest.position.text]
        }
    }
}
