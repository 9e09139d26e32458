// The program: its options, and the one place where it ends.

import ArgumentParser
import CameraStreams
import GimbalProtocol
import Glibc
import MQTTBridge
import MapCamera
import ProgramOptions
import Service
import UnixSocket

@main
struct GimbalMQTT: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gimbal-mqtt",
        abstract: "Connects map cameras on different machines over MQTT.",
        discussion: """
            Connects gimbald to an MQTT broker. As a node, it publishes what the daemon's cameras do and accepts gestures and \
            commands for them; as a mirror, it moves a camera of this daemon the way a camera of another node moves.

            Topics are below gimbal/NODE/; Protocols/mqtt.md lists them. The broker's access control decides who may publish \
            to them: clients that may publish to CAMERA/gesture, CAMERA/touch or CAMERA/set can move cameras.

            The daemon's socket is --socket PATH, else $GIMBAL_SOCKET, else the first of these where a daemon answers: \
            gimbal.sock in $RUNTIME_DIRECTORY, in $XDG_RUNTIME_DIR and in /tmp/gimbal-UID, and the system's \
            /run/gimbal/gimbal.sock and /run/gimbal/watch.sock.

            The broker and the daemon may come and go: gimbal-mqtt waits for both, then publishes everything again.

            Cameras that would follow each other in a circle follow nothing; the log names them.

            Examples:
              gimbal-mqtt --broker mqtt://localhost --node left
              gimbal-mqtt --broker mqtts://host --credentials mqtt.conf --node k7 --events
              gimbal-mqtt --broker mqtt://broker.example --follow left/main --as main
              gimbal-mqtt --broker mqtt://wall --follow guide/main --as main \\
                --tile 0,0 --of 3,1 --screen 1080,1920
              gimbal-mqtt --broker mqtt://lan --follow a/main --viewsync 10.42.42.255:21567

            Files:
              --credentials FILE   lines such as "user = NAME" and "password = WORDS"; must not be readable by other users. \
            Default: the file mqtt in $CREDENTIALS_DIRECTORY, which systemd's LoadCredential= fills

            Exit status:
              0    stopped by SIGTERM or SIGINT; with --status, this machine's clock is synchronized
              1    with --status, it is not
              64   usage error
              69   another bridge uses the name of this node
              71   operating system error
            """,
        version: "gimbal-mqtt \(gimbalVersion)")

    @Option("The broker: mqtt://HOST[:PORT], or mqtts:// for TLS; repeat for the other servers of a cluster.", "url")
    var broker: [BrokerAddress] = []

    @Option("Publish this daemon's cameras as a node with this name.", "name")
    var node: String?

    @Option("The daemon's socket.", "path")
    var socket: String?

    @Option("Publish this camera only, and accept lines only for it; may be repeated.", "name")
    var camera: [String] = []

    @Flag(help: "Also publish every event.")
    var events = false

    @Flag(help: "Publish a motion when it begins instead of the positions along it; for mirrors.")
    var motions = false

    @Flag(help: "Tell the page of this daemon how well the screens that follow this node keep in step.")
    var skew = false

    @Option(help: "Maximum messages per second about a moving camera, 0.1 to 1000.")
    var rate = 30.0

    @Flag(help: "Accept no gestures, commands or queries from the broker.")
    var watchOnly = false

    @Option("Cancel a publisher's gestures after it has been silent this long, 0.1 to 3600.", "seconds")
    var feedTimeout = 10.0

    @Option("Maximum number of simultaneous publishers of gestures, 1 to 512.", "count")
    var maxFeeds = 64

    @Option("A file with the user name and password.", "file")
    var credentials: String?

    @Option("The certificates to trust, in PEM; by default those of the system.", "file")
    var ca: String?

    @Option("A certificate to present to the broker, in PEM.", "file")
    var certificate: String?

    @Option("The key of that certificate.", "file")
    var key: String?

    @Option("The MQTT version: 5 or 3.1.1.", "version")
    var mqtt = MQTTVersion.five

    @Option("The MQTT keep-alive interval, 5 to 3600; $state is published again every three intervals.", "seconds")
    var keepalive = 10

    @Option("Follow this camera of a node; may be repeated.", "node/camera")
    var follow: [String] = []

    @Option("The local camera that mirrors the followed one; one for each --follow.", "local", name: .customLong("as"))
    var local: [String] = []

    @Option(
        parsing: .unconditional, help: ArgumentHelp("Add this to the followed bearing.", valueName: "degrees")
    )
    var offsetBearing = 0.0

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Show each followed position after this fixed delay, whatever the network does: 10ms to 5s, or 0 for none.",
            valueName: "time"))
    var playOut: Milliseconds?

    @Flag(help: "Keep the local camera's viewport, for a screen of another size.")
    var keepViewport = false

    @Option("The column and row of this screen in a wall, from 0.", "x,y")
    var tile: Pair?

    @Option("The number of columns and rows of the wall.", "n,m")
    var of: Pair?

    @Option("The size of each screen, in points.", "width,height")
    var screen: Pair?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("How much the frames between screens hide, in points.", valueName: "x,y"))
    var bezel: Pair?

    @Option("Send the followed view to Google Earth, as ViewSync datagrams.", "host:port")
    var viewsync: String?

    @Option("Write the followed view to this file, as a KML LookAt, whenever it comes to rest.", "file")
    var kml: String?

    @Option(help: "The log level: error, warning, info or debug.")
    var logLevel = LogLevel.info

    @Flag(help: "Print how accurate this machine's clock is, and exit.")
    var status = false

    // MARK: Checking

    func validate() throws {
        if status { return }
        guard node != nil || !follow.isEmpty else { throw ValidationError("--node or --follow is required") }
        guard node != nil || (camera.isEmpty && !events && !motions && !skew && !watchOnly) else {
            throw ValidationError("--camera, --events, --motions, --skew and --watch-only need --node")
        }
        guard !follow.isEmpty || (tile == nil && screen == nil && offsetBearing == 0 && !keepViewport) else {
            throw ValidationError("--tile, --screen, --offset-bearing and --keep-viewport need --follow")
        }
        for name in [node].compactMap({ $0 }) + camera + local where !NodeTopics.isName(name) {
            throw ValidationError("\"\(name)\" is not a name: it must be 1 to 64 of A-Z a-z 0-9 . _ -")
        }
        // Replies go below that topic, if publishers ask for it.
        guard node != "reply" else { throw ValidationError("a node cannot be named \"reply\"") }
        guard 0.1...1000 ~= rate else { throw ValidationError("--rate must be from 0.1 to 1000") }
        guard 0.1...3600 ~= feedTimeout else { throw ValidationError("--feed-timeout must be from 0.1 to 3600") }
        guard 1...512 ~= maxFeeds else { throw ValidationError("--max-feeds must be from 1 to 512") }
        guard 5...3600 ~= keepalive else { throw ValidationError("--keepalive must be from 5 to 3600") }
        guard (certificate == nil) == (key == nil) else { throw ValidationError("--certificate and --key go together") }
        guard !broker.isEmpty else { throw ValidationError("--broker is required") }
        guard broker.allSatisfy(\.isEncrypted) || (ca == nil && certificate == nil) else {
            throw ValidationError("--ca and --certificate need a broker at mqtts://")
        }
        for file in [ca, certificate, key].compactMap({ $0 }) where unsafe access(file, R_OK) != 0 {
            throw ValidationError("\(file): \(unsafe String(cString: strerror(errno)))")
        }
        try validateFollowing()
    }

    private func validateFollowing() throws {
        _ = try followed()
        let isShownElsewhere = viewsync != nil || kml != nil
        guard local.count == follow.count || (local.isEmpty && isShownElsewhere && follow.count == 1) else {
            throw ValidationError("each --follow needs an --as: the local camera to move")
        }
        guard Set(local).count == local.count else { throw ValidationError("a camera cannot follow two others") }
        if let node, zip(follow, local).contains(where: { $0 == "\(node)/\($1)" }) {
            throw ValidationError("a camera cannot follow itself")
        }
        guard !isShownElsewhere || follow.count == 1 else {
            throw ValidationError("--viewsync and --kml need exactly one --follow")
        }
        guard offsetBearing.isFinite, abs(offsetBearing) <= 360 else {
            throw ValidationError("--offset-bearing must be from -360 to 360")
        }
        if let screen {
            guard 1...100_000 ~= screen.x, 1...100_000 ~= screen.y else {
                throw ValidationError("--screen must be from 1,1 to 100000,100000")
            }
        }
        if let viewsync, Views.parts(of: viewsync) == nil {
            throw ValidationError("--viewsync \(viewsync): must be HOST:PORT, with a port from 1 to 65535")
        }
        if let playOut {
            guard playOut.count == 0 || 10...5000 ~= playOut.count else {
                throw ValidationError("--play-out must be 0, or from 10ms to 5s")
            }
            guard !follow.isEmpty else { throw ValidationError("--play-out needs --follow") }
        }
        _ = try wallTile()
    }

    private func followed() throws -> [(node: String, camera: String)] {
        try follow.map { text in
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 2, parts.allSatisfy({ NodeTopics.isName($0) }) else {
                throw ValidationError("--follow \(text): must be NODE/CAMERA")
            }
            return (String(parts[0]), String(parts[1]))
        }
    }

    private func wallTile() throws -> WallTile? {
        guard let tile else {
            guard of == nil, bezel == nil else { throw ValidationError("--of and --bezel need --tile") }
            return nil
        }
        guard let of, let screen else { throw ValidationError("--tile needs --of and --screen") }
        let counts = [tile.x, tile.y, of.x, of.y].compactMap { Int(exactly: $0) }
        guard counts.count == 4, 1...64 ~= counts[2], 1...64 ~= counts[3], 0..<counts[2] ~= counts[0],
            0..<counts[3] ~= counts[1]
        else { throw ValidationError("--tile X,Y must be within --of N,M, of at most 64 each") }
        guard bezel.map({ $0.x >= 0 && $0.y >= 0 }) ?? true else {
            throw ValidationError("--bezel must be 0,0 or more")
        }
        var wall = WallTile(
            column: counts[0], row: counts[1], columns: counts[2], rows: counts[3], width: screen.x, height: screen.y)
        (wall.horizontalBezel, wall.verticalBezel) = (bezel?.x ?? 0, bezel?.y ?? 0)
        guard wall.wallWidth <= 100_000, wall.wallHeight <= 100_000 else {
            throw ValidationError("a wall must be at most 100,000 points wide and high")
        }
        return wall
    }

    // MARK: Running

    /// Replaces the parser's `main`, which would print errors unescaped.
    static func main() {
        do {
            var command = try parse()
            try command.run()
        } catch {
            end(with: error)
        }
    }

    mutating func run() throws {
        signal(SIGPIPE, SIG_IGN)
        let log = Log(of: "gimbal-mqtt", level: logLevel)
        do {
            if status { Glibc.exit(try Self.tellClock()) }
            try serve(log)
        } catch let error as ValidationError {
            throw error
        } catch {
            log(.error, "\(error)")
            Glibc.exit(Program.osError)
        }
    }

    /// Prints how good this machine's clock is, according to chronyd, or to the kernel if chronyd does not answer.
    ///
    /// - Returns: the exit status: 1 if the clock is not synchronized.
    /// - Throws: the reason if the kernel does not say it.
    private static func tellClock() throws -> CInt {
        let own = Chronyd().quality(at: MonotonicClock.now)
        let quality = try own ?? ClockQuality.kernel()
        let teller: PrintableText = own == nil ? "the kernel" : "chronyd"
        ("This machine's clock is \(quality.text), according to \(teller).\n" as PrintableText).write(to: STDOUT_FILENO)
        return quality.isSynchronized ? 0 : 1
    }

    private func serve(_ log: Log) throws -> Never {
        let instance = String(UInt64.random(in: .min ... .max), radix: 16)
        var settings = Broker.Settings(addresses: broker, clientID: "gimbal-\(instance)")
        settings.certificates = Certificates(authority: ca, own: certificate, key: key)
        if let file = credentials ?? Self.passedCredentials { settings.credentials = try Credentials(file: file) }
        settings.keepalive = CInt(keepalive)
        settings.isVersion5 = mqtt == .five
        let own = node.map { nodeSettings($0, instance) }
        settings.will = own.map { Node.will($0) }
        let program = try Program(DaemonSocket(candidates: SocketPath.candidates(socket)), broker: settings, log)
        let node = own.map { Node($0, program) }
        Glibc.exit(try program.run(node, try mirrors(program, node, log)))
    }

    private static var passedCredentials: String? {
        guard let folder = SocketPath.environmentValue("CREDENTIALS_DIRECTORY") else { return nil }
        let path = folder + "/mqtt"
        return unsafe access(path, R_OK) == 0 ? path : nil
    }

    private func nodeSettings(_ name: String, _ instance: String) -> Node.Settings {
        var settings = Node.Settings(name, instance: instance)
        settings.cameras = Set(camera)
        settings.publishesEvents = events
        settings.tellsMotions = motions
        settings.tellsSkew = skew
        settings.acceptsLines = !watchOnly
        settings.rate = rate
        settings.feedTimeout = feedTimeout * 1000
        settings.mostFeeds = maxFeeds
        settings.interval = Double(keepalive) * 3000
        settings.version = "gimbal-mqtt \(gimbalVersion)"
        return settings
    }

    private func mirrors(_ program: Program, _ node: Node?, _ log: Log) throws -> [CameraMirror] {
        let tile = try wallTile()
        if let tile, tile.rows > 1 {
            log(.info, "this screen shows its viewport from y \(tile.windowTop) on, \(tile.height) points high")
        }
        let views =
            viewsync == nil && kml == nil
            ? nil
            : try Views(
                viewsync: viewsync, kml: kml, height: tile?.wallHeight ?? screen?.y ?? Viewport.standard.height, log)
        return try followed().enumerated().map { index, source in
            var settings = CameraMirror.Settings(
                node: source.node, camera: source.camera, local: local.isEmpty ? nil : local[index])
            settings.bearingOffset = offsetBearing
            settings.playOut = playOut.flatMap { $0.count > 0 ? $0.count : nil }
            settings.keepsViewport = keepViewport
            settings.tile = tile
            return CameraMirror(
                settings, program, node: node, show: views.map { views in { views.show($0, isMoving: $1) } })
        }
    }
}

/// Two numbers separated by a comma.
struct Pair: ExpressibleByArgument {
    let x: Double
    let y: Double

    init?(argument: String) {
        let parts = argument.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
        guard parts.count == 2, let x = parts[0], let y = parts[1], x.isFinite, y.isFinite else { return nil }
        (self.x, self.y) = (x, y)
    }
}

/// A time in any form that `gimbal` reads, such as 50ms, 50 or 1.5s.
struct Milliseconds: ExpressibleByArgument {
    let count: Double

    init?(argument: String) {
        guard let count = WrittenTime.milliseconds(argument) else { return nil }
        self.count = count
    }
}

enum MQTTVersion: String, ExpressibleByArgument, CaseIterable {
    case five = "5"
    case three = "3.1.1"
}

extension LogLevel: ExpressibleByArgument {}
