// `gimbal plot`: draws what a trace does to a camera.

import ArgumentParser
import GimbalClient
import GimbalProtocol
import Glibc
import Plotting
import TouchTraces
import Traces

struct Plot: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Draw what a trace does to a camera.",
        discussion: """
            Draws the target's path on a map, with its bounds and what the camera shows at the beginning, at the end \
            and where it rests between them; below it, where the fingers went on the screen, and over time, zoom, \
            bearing and viewing angle with their limits, and the gestures. No daemon is needed. \
            \(RecordingOptions.note)

            The picture is SVG, for light and dark pages, or PNG or PDF for a file that is named .png or .pdf, which \
            needs rsvg-convert, inkscape or ImageMagick. Times are those of a replay; the picture says where in the \
            file they begin to count. Wrong lines are reported and skipped. If there are several traces in one file, \
            the first is drawn, or the one that --trace selects.

            Examples:
              gimbal plot pan.ndjson -o pan.svg
              gimbal plot pinch.evemu --from-target 48.8584,2.2945 -o pinch.png
              gimbal plot pan.ndjson -o pan.pdf --force --wide
              gimbal convert pinch.evemu | gimbal plot - >pinch.svg
            """
    )

    @OptionGroup var options: RecordingOptions

    @OptionGroup var selection: TraceNumber

    @Flag(help: "Draw what changes over time beside the map, not below it.")
    var wide = false

    @OptionGroup var destination: OutputOptions

    @Argument(help: "The trace or recording; - is standard input.", completion: .file())
    var trace: String

    func run() throws {
        if destination.file == nil, isatty(STDOUT_FILENO) == 1 {
            throw ValidationError("A terminal cannot show the picture: name a file with -o, or use a pipe.")
        }
        let format = try PictureFormat(of: destination.file)
        let converter = format == .svg ? nil : try PictureConverter(to: format)
        let file = try OutputFile(destination)
        let session = try PlotSession(trace, options, selection.number)
        let picture = Array(Picture(of: try session.run()).svg(isWide: wide).utf8)
        if let converter { try converter.convert(picture, into: file) } else { try file.write(picture) }
        try file.finish()
        if session.leavesSurfacesOut {
            say("\(trace): only the fingers of the first \(PlotSession.mostSurfaces) surfaces are drawn")
        }
        if session.rejected > 0 { throw ExitCode(.rejected) }
    }
}

/// One trace, played to collect what its picture shows.
private final class PlotSession {
    private let session: RunSession
    private var timeline = TraceTimeline()
    private var decoder = RequestDecoder()
    /// The finger tracks of each surface, if the trace contains fingers.
    private var tracks: [(surface: GestureKey.Label, fingers: FingerTracks)] = []

    init(_ name: String, _ options: RecordingOptions, _ number: Int?) throws {
        session = try RunSession(
            try InputFile(name, endsBySignal: true), options, number: number, isOnce: true)
    }

    /// The number of rejected lines.
    var rejected: Int { session.rejected }

    func run() throws -> CameraTimeline {
        try session.play { played in
            let requests = played.requests(&decoder)
            for case .touch(let fingers) in requests.map(\.body) { follow(fingers) }
            try timeline.follow(requests, played.messages) { try session.run.state() }
        }
        let reader = session.reader
        timeline.add(
            title: InputFile.title(of: reader.name),
            fingers: (reader.tracks + tracks.flatMap(\.fingers.tracks)).map { ($0.points, $0.isCancelled) })
        return timeline.camera
    }

    /// The most surfaces whose fingers are drawn; more could not be told apart.
    static let mostSurfaces = 64
    private(set) var leavesSurfacesOut = false

    private func follow(_ fingers: Fingers) {
        let index = tracks.firstIndex { $0.surface == fingers.surface } ?? tracks.count
        if index == tracks.count {
            guard index < Self.mostSurfaces else { return leavesSurfacesOut = true }
            tracks.append((fingers.surface, FingerTracks()))
        }
        tracks[index].fingers.add(fingers.touches, isCancelled: fingers.isCancelled)
    }
}
