// `gimbal get`: prints a camera's state.

import ArgumentParser

struct Get: ParsableCommand {
    static let configuration = CommandConfiguration(
        "Print a camera's state.",
        """
        Prints a table on a terminal, the daemon's line in a pipe or with --json. A query creates no camera: without \
        --camera, if the camera main does not exist yet, it is shown as it would be created.

        Examples:
          gimbal get
          gimbal get --camera left
          gimbal get --json | jq .position.target
        """)

    @OptionGroup var options: QuestionOptions

    func run() throws { try Conversation(options).showState { $0.table() } }
}
