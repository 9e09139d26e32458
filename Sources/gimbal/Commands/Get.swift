// `gimbal get`: a camera's state.

import ArgumentParser

struct Get: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print a camera's state.",
        discussion: """
            A table on a terminal, the daemon's line in a pipe or with --json. A camera that nobody has used before \
            is made by asking for it.

            Examples:
              gimbal get
              gimbal get --camera left
              gimbal get --json | jq .position.target
            """
    )

    @OptionGroup var options: CameraOptions

    func run() throws { try Conversation(options).showState { $0.table() } }
}
