// `gimbal mark`: sets a marker, a name for a camera's present.

import ArgumentParser
import GimbalClient

struct Mark: ParsableCommand {
    static let configuration = CommandConfiguration(
        "Set a marker in the current recording.",
        """
        A marker gives the present a name, and moves nothing. "gimbal record" writes it into the trace; a replay shows \
        it on its bar, and can seek to it. While nothing records the camera, only those that follow its events get the \
        marker, and it is not kept.

        Examples:
          gimbal mark "lost the corner"
          gimbal mark start --camera left
        """)

    @OptionGroup var options: CameraOptions

    @Argument(help: "The marker's name, of 1 to 256 bytes.")
    var label: String

    /// - Throws: a `ValidationError` if the label is not a valid marker name.
    static func check(_ label: String) throws {
        guard !(1...256).contains(label.utf8.count) else { return }
        throw ValidationError("A marker's name must be 1 to 256 bytes.")
    }

    func validate() throws { try Self.check(label) }

    func run() throws { try Conversation(options).command(.marker(label: label)) }
}
