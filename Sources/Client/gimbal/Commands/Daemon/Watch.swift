// `gimbal watch`: prints what cameras do, as it happens.

import ArgumentParser
import GimbalClient

struct Watch: ParsableCommand {
    static let configuration = CommandConfiguration(
        "Print what cameras do, as it happens.",
        """
        Prints one row for each event on a terminal, one line of JSON in a pipe or with --json. A camera that does not \
        exist yet is created, and waited for. Runs until ^C, with status 0. If the daemon goes away, or every watched \
        camera was removed, the status is 69. With --reconnect, it reconnects to a daemon that went away and requests \
        what it missed; what is no longer available is reported on standard error.

        Examples:
          gimbal watch
          gimbal watch --camera left --camera right --events move-started,idle
          gimbal watch --all --reconnect --json >>events.ndjson
          gimbal watch --latest --json | jq -c .position
          gimbal watch --events idle --count 1    # until the camera next rests
        """)

    @OptionGroup var socket: SocketOptions

    @Option(
        name: .customLong("camera"),
        help: ArgumentHelp("A camera to watch (default: \(CameraName.main.text)); may be repeated.", valueName: "name"),
        completion: .cameras, transform: CameraName.init(typed:))
    var cameras: [CameraName] = []

    @Flag(help: "Watch all cameras, including new ones.")
    var all = false

    @Flag(help: "If the daemon goes away, wait for it and resume where it left off.")
    var reconnect = false

    @Option(
        """
        Only these kinds, separated by commas: move-started, camera-changed and idle; gesture and touch, the camera's \
        input; replay, marker, lease, motion, present and clock.
        """,
        "kinds", completion: .list(EventKindList.words))
    var events: EventKindList?

    @Flag(help: "When output is slow, skip old events instead of missing new ones.")
    var latest = false

    @Option("End after this many events.", "n")
    var count: Int?

    @Flag(help: "Print the daemon's lines of JSON, even on a terminal.")
    var json = false

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count must be 1 or more.") }
        if all, !cameras.isEmpty { throw ValidationError("--all and --camera cannot be combined.") }
        let named = events?.kinds.first { [.gesture, .touch].contains($0) }
        if let named, all {
            throw ValidationError("--all is not for \(named.rawValue): name the cameras to watch.")
        }
        if let named, latest { throw ValidationError("--latest is not for \(named.rawValue): every event counts.") }
    }

    func run() throws {
        do {
            try WatchSession(self).run()
        } catch let interrupt as Interrupt {
            interrupt.accept()
        }
    }
}

private final class WatchSession {
    private let options: Watch
    private var connection: DaemonConnection
    /// Where to reconnect: only to the daemon that was watched, as another has other cameras.
    private var socket: SocketOptions
    private let output = Output()
    private var watched: Set<String>
    private var left: Int
    /// How far each camera's events have been read, for a reconnection.
    private var read = ResumePoints()
    /// The number of attempts to connect since the last event.
    private var attempts = 0

    init(_ options: Watch) throws {
        self.options = options
        connection = try DaemonConnection(options.socket)
        socket = options.socket
        socket.socket = connection.path
        let named = options.cameras.isEmpty && !options.all ? [.main] : options.cameras
        watched = Set(named.map(\.text))
        left = options.count ?? .max
        if !options.json { output.showRows(of: options.all ? nil : Array(watched)) }
    }

    func run() throws {
        // Asked first, since a subscription creates the camera.
        if !options.cameras.isEmpty { connection.queue(try ClientRequest.cameras.line()) }
        // Only the first answer has a time limit: a daemon that restarts may accept connections before it answers.
        connection.expectAnswer()
        try subscribe()
        while left > 0 {
            let turn = try connection.turn(handle)
            try output.flush()
            if watched.isEmpty, !options.all { throw Failure(.unavailable, "there is no camera left to watch") }
            guard turn.end != nil, left > 0 else { continue }
            guard options.reconnect else { throw Failure.daemonWentAway }
            try reconnect()
        }
    }

    private func subscribe() throws {
        let kinds = options.events.map { Set($0.kinds) }
        let delivery: EventDelivery? = options.latest ? .latest : nil
        if options.all {
            return connection.queue(
                try ClientRequest.subscribeAll(kinds: kinds, delivery: delivery, since: read.forAllCameras()).line())
        }
        for name in watched.sorted() {
            let request = ClientRequest.subscribe(kinds: kinds, delivery: delivery, since: read.points[name])
            connection.queue(try request.line(camera: name))
        }
    }

    /// Reconnects, however long that takes, and subscribes again.
    private func reconnect() throws {
        say("gimbal: the daemon ended the connection; waiting for it")
        while true {
            try Interrupt.wait(milliseconds: Int(Reconnection().delay(before: attempts) / .milliseconds(1)))
            attempts += 1
            do {
                connection = try DaemonConnection(socket)
                return try subscribe()
            } catch let failure as Failure where [.unavailable, .noPermission].contains(failure.status) {
                // A daemon that starts lets its group in only after it has made its socket.
            }
        }
    }

    /// Notes how far a camera's events have been read, and reports a gap that the daemon does not report.
    private func note(_ message: ReceivedLine) {
        guard options.reconnect, let event = message.event else { return }
        attempts = 0
        guard let gap = read.note(event) else { return }
        say("gimbal: \(gap.text)")
        if !output.hasRows { output.add(gap.line[...]) }
    }

    private func handle(_ message: ReceivedLine) throws {
        guard left > 0 else { return }
        connection.hasAnswered()
        note(message)
        switch message.type {
        case .cameras:
            guard case .cameras(let names)? = message.content else { return }
            for name in watched.subtracting(names).sorted() {
                say("gimbal: \(Failure.unknownCamera(name, among: names).message); waiting for it")
            }
        case .subscribed:
            if output.hasRows { output.show(message) }
        case .lagged:
            if case .lagged(let lagged)? = message.event { say("gimbal: \(lagged.text)") }
            output.show(message)
        case .removed:
            guard let camera = message.event?.camera else { return }
            say("gimbal: camera \(camera) was removed")
            watched.remove(camera)
            output.show(message)
        case .error:
            // The connection ends next, and another attempt may follow.
            if options.reconnect, !read.points.isEmpty, message.error?.isOfConnection == true { return }
            throw message.error.map(Failure.init) ?? Failure(.rejected, "the daemon refused")
        case .reset: output.show(message)
        default:
            guard message.type?.eventKind != nil else { return }
            output.show(message)
            left -= 1
        }
    }
}
