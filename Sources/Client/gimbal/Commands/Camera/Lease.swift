// `gimbal lease`: reserves a camera for one command.

import ArgumentParser
import GimbalClient
import GimbalProtocol
import Glibc

struct Lease: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Keep others from moving a camera while a command runs.",
        discussion: """
            Takes a lease of the camera, runs the command and ends with its status: the lease ends then, or when --for is over. \
            Gestures, commands and traces of others are refused meanwhile. The command finds the lease in GIMBAL_LEASE, as \
            CAMERA:NUMBER, so what it does by "gimbal" moves the camera; other programs send "join-lease". Where another client \
            has the camera, it is refused with status 75; with --wait it waits for its turn.

            Examples:
              gimbal lease -- gimbal replay pan.ndjson
              gimbal lease --for 30s --label guide -- sh -c 'gimbal animate --zoom 14 && gimbal animate --zoom 3'
              gimbal lease --camera left --wait -- ./tour.sh
            """
    )

    @OptionGroup var socket: SocketOptions

    @Option("The camera (default: \(CameraName.main.text)).", "name", completion: .cameras)
    var camera: CameraName?

    @Option("How long at the most (default: an hour, which is the longest).", "time")
    var `for`: Milliseconds?

    @Option(help: "What others are told of who has the camera, of 1 to 256 bytes.")
    var label: String?

    @Flag(help: "Wait while another client has the camera.")
    var wait = false

    @Argument(parsing: .postTerminator, help: "The command.")
    var command: [String]

    /// The longest lease, in milliseconds.
    static let longest = ClosedRange.leases.upperBound

    func validate() throws {
        if command.isEmpty { throw ValidationError("Write the command behind --, as in: gimbal lease -- gimbal stop.") }
        if let time = self.for, !ClosedRange.leases.contains(time.milliseconds) {
            throw ValidationError("--for is 1 millisecond to an hour.")
        }
        if let label, !(1...256).contains(label.utf8.count) { throw ValidationError("--label has 1 to 256 bytes.") }
    }

    func run() throws {
        guard let program = Program.find(command[0]) ?? (command[0].contains("/") ? command[0] : nil) else {
            throw Failure(.usage, "there is no command \(command[0])")
        }
        let conversation = try Conversation(socket, camera: camera, limitsAnswers: !wait)
        HeldLease.tell(
            try conversation.lease(
                LeaseRequest(forMs: self.for?.milliseconds ?? Self.longest, label: label, wait: wait)))
        if let path = socket.socket { unsafe setenv("GIMBAL_SOCKET", path, 1) }
        let process = try Program.start(program, Array(command.dropFirst()), input: STDIN_FILENO)
        let status = try Program.status(of: process)
        // The lease ends with the connection.
        withExtendedLifetime(conversation) {}
        if status != 0 { throw ExitCode(status) }
    }
}
