// `gimbal plot`: a picture of what a trace does to a camera.

import ArgumentParser
import GimbalClient
import Glibc
import Plotting

struct Plot: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Draw what a trace does to a camera.",
        discussion: """
            The target's way on a map, with its bounds and what the camera shows at the beginning, at the end and where it \
            rests between them; below, where the fingers went on the screen, zoom, bearing and viewing angle with their limits, and the gestures, over time. \
            It needs no daemon. \(RecordingOptions.note)

            The picture is SVG, for light and dark pages. For a file that is named .png or .pdf, one of rsvg-convert, \
            inkscape and ImageMagick must be there. Lines that are wrong are named and left out. Of several traces in one \
            file the first is drawn, or the one that --trace says.

            Examples:
              gimbal plot pan.ndjson -o pan.svg
              gimbal plot pinch.evemu --from 48.8584,2.2945 -o pinch.png
              gimbal plot pan.ndjson -o pan.pdf --force
              gimbal convert pinch.evemu | gimbal plot - >pinch.svg
            """
    )

    @OptionGroup var options: RecordingOptions

    @OptionGroup var selection: TraceNumber

    @OptionGroup var destination: OutputOptions

    @Argument(help: "The trace or recording; - is standard input.", completion: .file())
    var trace: String

    func run() throws {
        if destination.file == nil, isatty(STDOUT_FILENO) == 1 {
            throw ValidationError("A picture is nothing for a terminal: name a file with -o, or use a pipe.")
        }
        let format = try PictureFormat(of: destination.file)
        let converter = format == .svg ? nil : try PictureConverter(to: format)
        let file = try OutputFile(destination)
        let session = try PlotSession(trace, options, selection.number)
        let picture = Array(Picture(of: try session.run()).svg.utf8)
        if let converter { try converter.convert(picture, into: file) } else { try file.write(picture) }
        try file.finish()
        if session.rejected > 0 { throw ExitCode(.rejected) }
    }
}

/// One trace's way through a camera of this process.
private final class PlotSession {
    private let reader: TraceReader
    private let opening: TraceReader.Opening
    private let play: TraceRun
    private var journey = Journey(from: .initial)
    private var book = GestureBook()
    private var bar: ProgressBar
    private var isOver = false
    private(set) var rejected = 0

    init(_ name: String, _ options: RecordingOptions, _ number: Int?) throws {
        reader = try TraceReader(name, options, number: number, endsBySignal: true)
        var opening = try reader.opening()
        try opening.header.set(speed: Speed(factor: .infinity), camera: nil, of: name)
        self.opening = opening
        play = try TraceRun(camera: opening.header.camera.text)
        bar = ProgressBar(name, isWanted: true)
    }

    func run() throws -> Journey {
        defer { bar.clear() }
        try play.play(opening.blank + opening.header.bytes + [0x0a], take)
        guard opening.header.isRight, rejected == 0 else {
            throw Failure(.dataError, "\(reader.name) was not drawn")
        }
        try play.play(opening.rest, take)
        while !reader.isAtEnd, !isOver {
            try play.play(try reader.read(), take)
            bar.update(progress)
        }
        if !isOver { try play.finish(take) }
        bar.clear()
        reader.reportDamage()
        for track in reader.tracks { journey.finger(through: track.points, isCancelled: track.isCancelled) }
        let file = reader.name.split(separator: "/").last.map(String.init) ?? reader.name
        journey.title = reader.name == "-" ? "standard input" : file
        return journey
    }

    private func progress() -> ProgressState {
        var state = ProgressState(frames: journey.frames)
        if let size = reader.size, size > 0 { state.share = Double(reader.bytes) / Double(size) }
        return state
    }

    // MARK: From the camera

    private func take(_ line: TraceRun.Line) throws {
        guard !isOver else { return }
        let isRejected = line.messages.contains { $0.type == .error }
        let isSetting = !isRejected && book.take(line.requests, into: &journey)
        for message in line.messages { try take(message) }
        if isSetting { try learnLimits() }
    }

    private func take(_ message: Message) throws {
        switch message.type {
        case .reset:
            guard case .reset(let reset)? = message.event else { return }
            journey = Journey(from: reset.position)
            try learnLimits()
        case .error: report(message)
        case .traceEnded:
            guard let ended = message.traceEnded else { return }
            book.finish(&journey)
            journey.durationMs = ended.durationMs
            (journey.events, journey.rejected) = (ended.events, ended.rejected)
            isOver = true
        default:
            if message.isEvent, let event = message.event { take(event) }
        }
    }

    private func take(_ event: CameraEvent) {
        switch event {
        case .moveStarted(let move): journey.moveStarted(at: move.timeMs, from: move.position)
        case .cameraChanged(let move):
            journey.moved(at: move.timeMs, to: move.position, cause(of: move))
            journey.frames += 1
        case .idle(let move): journey.rested(at: move.timeMs)
        // The book reads the trace's own lines.
        case .fed, .subscribed, .subscribedToAll, .reset, .replay, .marker, .lagged, .removed: break
        }
    }

    private func cause(of move: CameraMove) -> Cause {
        switch move.reason {
        case .gesture: book.cause(at: move.timeMs)
        case .animation: .animation
        case .command: .command
        }
    }

    private func learnLimits() throws {
        for message in try play.ask(.getCamera) {
            guard case .camera(let state)? = message.content else { continue }
            journey.limit(
                from: book.timeMs, zoomRange: state.zoomRange, targetBounds: state.targetBounds,
                viewport: state.viewport)
        }
    }

    private func report(_ message: Message) {
        guard let error = message.error else { return }
        rejected += 1
        bar.clear()
        say("\(reader.name):\(error.line): \(error)")
    }
}
