// `gimbal cameras`, `remove` and `stop`: list, remove and stop cameras.

import ArgumentParser
import GimbalProtocol

struct Cameras: ParsableCommand {
    static let configuration = CommandConfiguration(
        "List the cameras.",
        """
        Prints one name per line; in a pipe or with --json, the daemon's line.

        Examples:
          gimbal cameras
          gimbal cameras --json | jq -r '.cameras[]'
        """)

    @OptionGroup var options: AnswerOptions

    func run() throws {
        try Conversation(options).show(.cameras) { (names: [String]) in names.map { PrintableText($0) } }
    }
}

struct Remove: ParsableCommand {
    static let configuration = CommandConfiguration(
        "Remove cameras.",
        """
        Their subscribers are notified. A camera that does not exist is an error; the cameras named before it are \
        still removed. A camera that plays a trace is busy.

        Examples:
          gimbal remove left right
        """)

    @Argument(help: "The names of the cameras.", completion: .cameras, transform: CameraName.init(typed:))
    var cameras: [CameraName]

    @OptionGroup var socket: SocketOptions

    func run() throws {
        for camera in cameras { try Conversation(socket, camera: camera).command(.removeCamera, creates: false) }
    }
}

struct Stop: ParsableCommand {
    static let configuration = CommandConfiguration(
        "Stop a camera where it is.",
        """
        Ends its animation, its fling and its active gestures, and prints its position; in a pipe or with --json, the \
        daemon's line with its state.

        Examples:
          gimbal stop
          gimbal stop --camera left
        """)

    @OptionGroup var options: CameraOptions

    func run() throws {
        let daemon = try Conversation(options)
        try daemon.command(.stop, creates: false)
        try daemon.showPosition()
    }
}
