// `gimbal tour`: moves a camera along a tour from a file, or records one into a file.

import ArgumentParser
import GimbalClient
import Tours

struct TourCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        "Move a camera through a tour from a file: keyframes, KML, GPX or GeoJSON.", name: "tour",
        """
        Files are recognized by their content: Gimbal's own tours in JSON, tours of Google Earth in KML (gx:Tour), and \
        lines that the camera follows with its bearing along the way: tracks and routes of GPX, lines of GeoJSON and, \
        with --follow-path, lines of KML. They may be compressed as recordings may, and KML may be KMZ. What a camera \
        cannot do, such as sounds, is skipped and reported.

        Waits until the camera rests and prints its position, as "gimbal animate" does; ^C stops the camera where it \
        is. With --trace, the tour becomes a trace for "gimbal run", "plot", "expect" and "replay", whose camera \
        begins at the first place; with --to, it is written as a tour. Neither needs a daemon.

        A followed line is smoothed at the scale of the screen and keeps its times; --speed-up divides them. A line \
        without times is followed at \(short(Following.usualPace)) points of the screen per second, or at --speed.

        --record makes a tour from a live camera until ^C, with status 0: each place where the camera rests is a \
        keyframe, with the time that it took to get there and the time that it stayed.

        Examples:
          gimbal tour alps.kml
          gimbal tour hike.gpx --speed-up 60 --zoom 15.5 --viewing-angle 50
          gimbal tour river.geojson --speed 200 --trace | gimbal plot - -o river.svg
          gimbal tour alps.kml --name Winter --to json -o winter.tour.json
          gimbal tour --record --for 2m --to kml -o walk.kml
        """)

    /// The formats in which a tour can be written.
    enum Written: String, CaseIterable, ExpressibleByArgument { case json, kml }

    @Option("The format of the file, whatever its content looks like.", "format")
    var from: TourFormat?

    @Option("Which of several tours or lines in the file (default: the first).", "name")
    var name: String?

    @Flag(help: "Follow the line of a KML file.")
    var followPath = false

    @OptionGroup var following: FollowingOptions

    @Option(
        "The screen's size in points, for distances in KML (default: the camera's; without a daemon, 390x844).", "size")
    var viewport: Viewport?

    @Flag(help: "Write the tour as a trace.")
    var trace = false

    @Option("Write the tour in this format.", "format")
    var to: Written?

    @OptionGroup var destination: OutputOptions

    @Flag(help: "Record a tour from the live camera, as json unless --to says kml.")
    var record = false

    @Option(
        "With --record: end after this time, such as 10s or 5m.", "time", name: .customLong("for"))
    var duration: Milliseconds?

    @Flag(help: "Do not wait until the camera rests, and print nothing.")
    var noWait = false

    @OptionGroup var options: CameraOptions

    @Argument(
        help: "The tour; - is standard input.", completion: .file(extensions: ["json", "kml", "kmz", "gpx", "geojson"]))
    var file: String?

    func validate() throws {
        if record {
            if file != nil {
                throw ValidationError("--record makes a tour and reads no file; -o names the file to write.")
            }
            if trace { throw ValidationError("\"gimbal record\" records a trace; --record makes a tour.") }
            let given = from != nil || name != nil || followPath || following.isGiven || noWait
            if given { throw ValidationError("--record takes only --to, --for, -o, --viewport and camera options.") }
        } else {
            if file == nil { throw ValidationError("Name a tour file; - is standard input.") }
            if duration != nil { throw ValidationError("--for is for --record.") }
            if to != nil, trace { throw ValidationError("--to writes a tour and --trace a trace: choose one.") }
            if destination.output != nil, !isWritten { throw ValidationError("-o is for --to, --trace and --record.") }
            if noWait, isWritten { throw ValidationError("--no-wait is for a tour that moves a camera.") }
        }
        try duration?.checkRange("--for")
    }

    /// Whether the tour is written to a file instead of moving a camera.
    private var isWritten: Bool { to != nil || trace }

    func run() throws {
        if record { return try TourRecording(self).run() }
        guard let file else { return }
        if isWritten {
            let output = try OutputFile(destination)
            let size = viewport ?? .standard
            let tour = told(try read(try contents(of: file), file, height: size.height))
            try output.write(try to.map { try bytes(of: tour, as: $0, height: size.height) } ?? traced(tour, size))
            try output.finish()
        } else {
            let bytes = try contents(of: file)
            // Errors in the file are reported before a connection is made.
            let height = viewport?.height ?? Viewport.standard.height
            var tour = try read(bytes, file, height: height)
            let daemon = try Conversation(options)
            if viewport == nil, case let own = try daemon.state().setup.viewport.height, own != height {
                tour = try read(bytes, file, height: own)
            }
            try daemon.perform(.tour(told(tour).keyframes), isWaitedFor: !noWait)
        }
    }

    // MARK: Reading

    /// Returns the bytes of a file, at most one piece more than the largest permitted size.
    private func contents(of file: String) throws -> [UInt8] {
        try InputFile(file, takesKMZ: true).readAll(upTo: TourFile.largest + 1)
    }

    private func read(_ bytes: [UInt8], _ file: String, height: Double) throws -> TourFile {
        var options = TourOptions()
        (options.name, options.viewportHeight, options.followsPath) = (name, height, followPath)
        options.following = following.following
        return try about(file) {
            let format = try from ?? TourFormat.recognized(bytes)
            if following.isGiven, format == .json || format == .kml && !followPath {
                throw Failure(.usage, "\(file): \(FollowingOptions.names) are for lines that are followed")
            }
            return try TourFile(bytes, as: format, options)
        }
    }

    /// Returns the tour of a file, and reports what it leaves out.
    private func told(_ read: TourFile) -> NamedTour {
        for note in read.notes.texts { say("\(file ?? "-")\(note)") }
        return read.tour
    }

    // MARK: Writing

    /// Returns a tour as a file, and reports what the format cannot express.
    fileprivate func bytes(of tour: NamedTour, as format: Written, height: Double) throws -> [UInt8] {
        switch format {
        case .json: return try tour.json()
        case .kml:
            let (bytes, notes) = tour.kml(viewportHeight: height)
            for note in notes.texts { say("\(destination.file ?? "-")\(note)") }
            return bytes
        }
    }

    /// Returns a trace from the tour's first place on: the flight there takes no time, unless the tour gives one.
    private func traced(_ tour: NamedTour, _ size: Viewport) throws -> [UInt8] {
        var keyframes = tour.keyframes
        if let first = keyframes.first, first.durationMs == nil { keyframes[0].durationMs = 0 }
        var header = TraceHeader(position: keyframes.first?.position ?? .initial)
        header.viewport = size
        let first = try ClientRequest.trace(header).line(camera: options.camera?.text)
        let line = try ClientRequest.tour(keyframes).line(timeMs: 0)
        return first + line + Request.traceEndLine
    }
}

extension TourFormat: ExpressibleByArgument {}

/// Options for how a camera follows a line.
struct FollowingOptions: ParsableArguments {
    @Option("For a line: the zoom (default: \(short(Following.usualZoom))).", "level")
    var zoom: Number?

    @Option("For a line: the height of the eye above the ground, instead of a zoom.", "metres")
    var height: Number?

    @Option("For a line: the angle from straight down (default: \(short(Following().viewingAngle))).", "degrees")
    var viewingAngle: Number?

    @Option(
        help: ArgumentHelp("For a line with times: how many times faster, such as 10.", valueName: "factor"),
        transform: Speed.init(typedFactor:))
    var speedUp: Speed?

    @Option("For a line: the speed, whatever its times.", "metres-a-second")
    var speed: Number?

    static let names: PrintableText = "--zoom, --height, --viewing-angle, --speed-up and --speed"

    /// Whether any of these options is given.
    var isGiven: Bool { speedUp != nil || [zoom, height, viewingAngle, speed].contains { $0 != nil } }

    func validate() throws {
        if zoom != nil, height != nil { throw ValidationError("--zoom and --height set the same thing: choose one.") }
        if speed != nil, speedUp != nil {
            throw ValidationError("--speed replaces the times that --speed-up would divide: choose one.")
        }
        try check("--zoom", zoom?.value, ZoomRange.limits)
        try check("--height", height?.value, 1...100_000_000, " metres")
        try check("--viewing-angle", viewingAngle?.value, 0...CameraConstraints.viewingAngleCeiling(atZoom: 21))
        try check("--speed", speed?.value, 0.01...1_000_000, " metres a second")
        try check("--speed-up", speedUp?.factor, 0.001...1_000_000)
    }

    var following: Following {
        var following = Following()
        (following.zoom, following.height, following.speed) = (zoom?.value, height?.value, speed?.value)
        if let viewingAngle { following.viewingAngle = viewingAngle.value }
        if let speedUp { following.speedUp = speedUp.factor }
        return following
    }
}

/// The recording of a tour from a live camera. However it ends, what has been recorded is written.
private final class TourRecording {
    private let command: TourCommand
    private let file: OutputFile
    private let connection: DaemonConnection
    private let end: TimeLimit?
    private let height: Double
    private var recorder = TourRecorder()

    init(_ command: TourCommand) throws {
        self.command = command
        file = try OutputFile(command.destination)
        // Only KML contains distances, which depend on the viewport's height.
        let size = try command.to == .kml ? Conversation(command.options).state().setup.viewport.height : 0
        height = command.viewport?.height ?? size
        connection = try DaemonConnection(command.options.answers.socket)
        end = command.duration.map { TimeLimit(milliseconds: $0.milliseconds) }
    }

    func run() throws {
        do {
            try listen()
        } catch let interrupt as Interrupt {
            interrupt.accept()
            // Lines that the daemon sent before the signal still count.
            try? read(timeout: 0)
        } catch {
            try? conclude()
            throw error
        }
        try conclude()
    }

    /// Follows the camera until a signal, the time, the daemon or the last keyframe ends it.
    private func listen() throws {
        let camera = command.options.camera ?? .main
        connection.queue(try ClientRequest.subscribe(kinds: [.moveStarted, .idle]).line(camera: camera.text))
        connection.expectAnswer()
        while !recorder.isFull, end?.left != 0 { try read(timeout: end?.left) }
        if recorder.isFull {
            say(
                "gimbal: a tour has at most \(counted(TourKeyframe.most, "keyframe")) and lasts at most an hour: it ends here"
            )
        }
    }

    /// Reads lines that have arrived, or arrive within `timeout` milliseconds.
    private func read(timeout: Int?) throws {
        let turn = try connection.turn(timeout: timeout) { message in
            if let error = message.error { throw Failure(error) }
            connection.hasAnswered()
            guard let event = message.event else { return }
            recorder.read(event)
            switch event {
            case .lagged(let lagged): say("gimbal: \(lagged.text)")
            case .removed(let camera): throw Failure(.unavailable, "camera \(camera) was removed; the tour ends there")
            default: break
            }
        }
        if turn.end != nil { throw Failure.daemonWentAway }
    }

    private func conclude() throws {
        guard !recorder.keyframes.isEmpty else { return }
        try file.finish(
            try command.bytes(of: NamedTour(recorder.keyframes), as: command.to ?? .json, height: height))
    }
}
