// `gimbal watch`: what cameras do, as it happens.

import ArgumentParser
import GimbalClient
import Glibc

struct Watch: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print what cameras do, as it happens.",
        discussion: """
            One row for each event on a terminal, one line of JSON in a pipe or with --json. It goes on until ^C, \
            which is status 0. When the daemon goes, or every camera that is watched was removed, the status is 69.

            Examples:
              gimbal watch
              gimbal watch --camera left --camera right --events move-started,idle
              gimbal watch --latest --json | jq -c .position
              gimbal watch --events idle --count 1    # the next time that it comes to rest; see "gimbal wait"
            """
    )

    @OptionGroup var socket: SocketOptions

    @Option(name: .customLong("camera"), help: ArgumentHelp("A camera to watch; may be repeated.", valueName: "name"))
    var cameras: [CameraName] = [.main]

    @Option(
        help: ArgumentHelp(
            "Only these, with commas between them: move-started, camera-changed, idle; gesture, what a camera is fed.",
            valueName: "kinds"))
    var events: EventKinds?

    @Flag(help: "Skip what is old when output is slow, instead of missing what is new.")
    var latest = false

    @Option(help: ArgumentHelp("End after so many events.", valueName: "n"))
    var count: Int?

    @Flag(help: "Print the daemon's lines, on a terminal too.")
    var json = false

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count must be 1 or more.") }
    }

    func run() throws {
        Interrupt.arm()
        do {
            try WatchSession(self).run()
        } catch let interrupt as Interrupt where interrupt.isOrderly() {
            return
        }
    }
}

private final class WatchSession {
    private let options: Watch
    private let connection: DaemonConnection
    private let output = Output()
    private let table: EventTable?
    private var watched: Set<String>
    private var left: Int

    init(_ options: Watch) throws {
        self.options = options
        connection = try DaemonConnection(options.socket)
        watched = Set(options.cameras.map(\.text))
        left = options.count ?? .max
        table = options.json || !output.isTerminal ? nil : EventTable(cameras: Array(watched))
    }

    func run() throws {
        for name in watched.sorted() {
            let request = ClientRequest.subscribe(
                kinds: options.events.map { Set($0.kinds) }, delivery: options.latest ? .latest : nil)
            connection.queue(try request.line(camera: name))
        }
        if let table { output.add(table.head) }
        while left > 0 {
            let turn = try connection.turn(take)
            try output.flush()
            if watched.isEmpty { throw Failure(.unavailable, "there is no camera left to watch") }
            if turn.end != nil, left > 0 { throw Failure.daemonWentAway }
        }
    }

    private func take(_ line: ArraySlice<UInt8>) throws {
        guard left > 0 else { return }
        let message = try Message(fromDaemon: line)
        switch message.type {
        case "subscribed":
            if table != nil { show(message) }
        case "lagged":
            if let lagged = message.decode(Lagged.self) { say("gimbal: \(lagged.text)") }
            show(message)
        case "removed":
            guard let camera = message.decode(CameraEvent.self)?.camera else { return }
            say("gimbal: camera \(camera) was removed")
            watched.remove(camera)
            show(message)
        case "error":
            throw message.error.map(Failure.init) ?? Failure(.rejected, "the daemon refused")
        case _ where message.isEvent:
            show(message)
            if message.type != "reset" { left -= 1 }
        default: break
        }
    }

    /// Prints a row for people, where it makes one, or the line.
    private func show(_ message: Message) {
        guard let table else { return output.add(message.bytes) }
        if let row = table.row(message) { output.add(row) }
    }
}
