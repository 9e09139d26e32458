// `gimbal edit`: changes a trace as a whole.

import ArgumentParser
import CameraStreams
import GimbalClient
import Traces

struct Edit: ParsableCommand {
    static let configuration = CommandConfiguration(
        "Change a whole trace.",
        """
        --move-to plays the same fingers at another place: the camera begins there, and every place in the trace moves \
        as far on the map. --start changes only where the camera begins. --speed changes times, animations and the \
        velocities of flings; --trim-idle shortens pauses in which no gesture is active and nothing moves, so the \
        camera's path stays the same. Fingers stay where they were on the screen, whatever its size. A recording is \
        edited as the trace that "gimbal convert" makes of it; lines that a daemon would reject stay.

        Examples:
          gimbal edit pan.ndjson --move-to 35.36,138.73 -o fuji.ndjson
          gimbal edit pan.ndjson --viewport 412x915 --start 48.86,2.29,14 -o a.ndjson
          gimbal edit session.ndjson --trim-idle 300ms --speed 2 -o short.ndjson
          gimbal edit pan.ndjson --bounds 48.8,2.2,48.9,2.4 | gimbal run -
        """)

    @Option("The screen's size, in points.", "size", name: .customLong("viewport"))
    var size: Viewport?

    @Option("Where the camera begins, and optionally its zoom.", "lat,lng,zoom")
    var start: String?

    @Option("Do the same elsewhere: where the camera begins.", "lat,lng")
    var moveTo: LatLng?

    @Option(
        help: ArgumentHelp("Play everything this many times as fast.", valueName: "factor"),
        transform: Speed.init(typedFactor:))
    var speed: Speed?

    @Option("Limit pauses in which nothing moves to this time.", "time")
    var trimIdle: Milliseconds?

    @Option("The bounds of the target, or none.", "south,west,north,east")
    var bounds: String?

    @Option("The lowest and the highest zoom, 2 to 21.", "low,high")
    var zoomRange: String?

    @OptionGroup var selection: TraceNumber

    @OptionGroup var destination: OutputOptions

    @Argument(help: "The trace or recording; - is standard input.", completion: .file())
    var trace: String

    func validate() throws {
        try trimIdle?.checkRange("--trim-idle")
        guard try !edits().isEmpty else { throw ValidationError("Say what to change, such as --speed 2.") }
    }

    private func edits() throws -> [TraceEdit] {
        var edits: [TraceEdit] = []
        if let start {
            let numbers = numbers(of: NegativeNumbers.unshielded(start))
            guard 2...3 ~= numbers.count, numbers[0].magnitude <= 90 else {
                throw ValidationError("--start is written as 48.8584,2.2945,14: degrees north, degrees east, zoom.")
            }
            let place = LatLng(latitude: numbers[0], longitude: numbers[1])
            edits.append(.start(place, zoom: numbers.count == 3 ? numbers[2] : nil))
        }
        if let moveTo { edits.append(.moveTo(moveTo)) }
        if let size { edits.append(.viewport(width: size.width, height: size.height)) }
        if let bounds { edits.append(.bounds(try Edit.bounds(bounds))) }
        if let zoomRange {
            let numbers = numbers(of: NegativeNumbers.unshielded(zoomRange))
            guard numbers.count == 2, let range = ZoomRange(min: numbers[0], max: numbers[1]) else {
                throw ValidationError("--zoom-range is written as 3,15: the lowest zoom and the highest, 2 to 21.")
            }
            edits.append(.zoomRange(range))
        }
        if let trimIdle { edits.append(.trimIdle(trimIdle.milliseconds)) }
        if let speed { edits.append(.speed(speed.factor)) }
        return edits
    }

    private static func bounds(_ text: String) throws -> CoordinateBounds? {
        if text == "none" { return nil }
        guard let bounds = CoordinateBounds(edges: NegativeNumbers.unshielded(text)) else {
            throw ValidationError("--bounds is written as south,west,north,east, or none.")
        }
        return bounds
    }

    func run() throws {
        let file = try OutputFile(destination)
        var trace = try Trace(file: trace, number: selection.number)
        for edit in try edits() { try about(self.trace) { try trace.apply(edit) } }
        try file.finish(trace.bytes)
    }
}
