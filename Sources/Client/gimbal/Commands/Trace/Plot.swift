// `gimbal plot`: draws what a trace does to a camera.

import ArgumentParser
import GimbalClient
import Glibc
import Plotting
import TouchTraces
import Traces

struct Plot: ParsableCommand {
    static let configuration = CommandConfiguration(
        "Draw what a trace does to a camera.",
        """
        Draws the target's path on a map, with its bounds and what the camera shows at the beginning, at the end and \
        where it rests between them; below it, where the fingers went on the screen, and over time, zoom, bearing and \
        viewing angle with their limits, and the gestures. No daemon is needed. \(RecordingOptions.note)

        The picture is SVG, for light and dark pages, or PNG or PDF for a file that is named .png or .pdf, which needs \
        rsvg-convert, inkscape or ImageMagick. Times are those of a replay; the picture says where in the file they \
        begin to count. Wrong lines are reported and skipped. If there are several traces in one file, the first is \
        drawn, or the one that --trace selects.

        Examples:
          gimbal plot pan.ndjson -o pan.svg
          gimbal plot pinch.evemu --from-target 48.8584,2.2945 -o pinch.png
          gimbal plot pan.ndjson -o pan.pdf --force --wide
          gimbal convert pinch.evemu | gimbal plot - >pinch.svg
        """)

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
        let session = try RunSession(
            InputFile(trace, endsBySignal: true), options, number: selection.number, isOnce: true)
        var (timeline, surfaces) = (TraceTimeline(), SurfaceTracks())
        var decoder = RequestDecoder()
        try session.play { played in
            let requests = played.requests(&decoder)
            for case .touch(let fingers) in requests.map(\.body) { surfaces.follow(fingers) }
            try timeline.follow(requests, played.messages) { try session.run.state() }
        }
        let tracks = session.reader.converter.tracks.tracks + surfaces.all.flatMap(\.fingers.tracks)
        timeline.add(title: InputFile.title(of: trace), fingers: tracks.map { ($0.points, $0.isCancelled) })
        let picture = Array(Picture(of: timeline.camera).svg(isWide: wide).utf8)
        if let converter { try converter.convert(picture, into: file) } else { try file.write(picture) }
        try file.finish()
        if surfaces.leavesSomeOut {
            say("\(trace): only the fingers of the first \(SurfaceTracks.most) surfaces are drawn")
        }
        if session.rejected > 0 { throw ExitCode(.rejected) }
    }
}

/// The finger tracks of each surface, if a trace contains fingers.
private struct SurfaceTracks {
    private(set) var all: [(surface: GestureKey.Label, fingers: FingerTracks)] = []
    private(set) var leavesSomeOut = false
    /// The most surfaces whose fingers are drawn; more could not be told apart.
    static let most = 64

    mutating func follow(_ fingers: Fingers) {
        let index = all.firstIndex { $0.surface == fingers.surface } ?? all.count
        if index == all.count {
            guard index < Self.most else { return leavesSomeOut = true }
            all.append((fingers.surface, FingerTracks()))
        }
        all[index].fingers.add(fingers.touches, isCancelled: fingers.isCancelled)
    }
}
