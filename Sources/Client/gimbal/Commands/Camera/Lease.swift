// `gimbal lease`: reserves a camera for one command.

import ArgumentParser
import GimbalProtocol
import Glibc

struct Lease: ParsableCommand {
    static let configuration = CommandConfiguration(
        "Keep others from moving a camera while a command runs.",
        """
        Leases the camera, runs the command and exits with its status. The lease ends with the command, or when the \
        time of --for is over. Meanwhile, gestures, commands and traces of others are refused. The command finds the \
        lease in GIMBAL_LEASE, as CAMERA:NUMBER, so it can move the camera with "gimbal"; other programs send \
        "join-lease". If another client has leased the camera, the status is 75; with --wait, the command waits for \
        its turn, at most for the time of --timeout.

        Examples:
          gimbal lease -- gimbal replay pan.ndjson
          gimbal lease --for 30s --label guide -- sh -c 'gimbal animate --zoom 14'
          gimbal lease --camera left --wait -- ./tour.sh
        """)

    @OptionGroup var socket: SocketOptions

    @Option("The camera (default: \(CameraName.main.text)).", "name", completion: .cameras)
    var camera: CameraName?

    @Option("The longest time of the lease, in milliseconds or such as 30s (default: an hour, the maximum).", "time")
    var `for`: Milliseconds?

    @Option("A label that tells others who has the camera, of 1 to 256 bytes.", "label")
    var label: String?

    @Flag(help: "Wait while another client has the camera.")
    var wait = false

    @Argument(parsing: .postTerminator, help: "The command to run.")
    var command: [String]

    /// The longest lease, in milliseconds.
    static let longest = ClosedRange.leases.upperBound

    func validate() throws {
        if command.isEmpty { throw ValidationError("Write the command after --, as in: gimbal lease -- gimbal stop.") }
        if let time = self.for, !ClosedRange.leases.contains(time.milliseconds) {
            throw ValidationError("--for must be 1 millisecond to an hour.")
        }
        if let label, !(1...256).contains(label.utf8.count) { throw ValidationError("--label must be 1 to 256 bytes.") }
    }

    func run() throws {
        guard let program = Program.find(command[0]) else {
            throw Failure(.unavailable, "there is no command \(command[0])")
        }
        let conversation = try Conversation(socket, camera: camera)
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
