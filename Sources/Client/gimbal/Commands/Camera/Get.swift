// `gimbal get`: prints a camera's state.

import ArgumentParser

struct Get: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print a camera's state.",
        discussion: """
            A table on a terminal, the daemon's line in a pipe or with --json. Asking makes no camera: without --camera, \
            a camera main that is not there yet is shown as it will be.

            Examples:
              gimbal get
              gimbal get --camera left
              gimbal get --json | jq .position.target
            """
    )

    @OptionGroup var options: QuestionOptions

    func run() throws { try Conversation(options).showState { $0.table() } }
}
