// `gimbal make`: generates finger movements, as a trace or as touches.

import ArgumentParser
import GimbalClient
import TouchScripts
import Traces

struct Make: ParsableCommand {
    static let configuration = CommandConfiguration(
        "Make up fingers: a gesture, or a random session.",
        """
        Fingers move as people's do, with a slight tremor, and the recognizer decides what they mean. The same seed \
        makes the same bytes. Gestures: \(MadeGesture.allCases.map(\.rawValue).joined(separator: ", ")). The seed \
        chooses what no option specifies. A random session has gestures of all kinds; it begins where maps break (the \
        antimeridian, the poles, the ends of the zoom, within narrow bounds) unless --start says where.

        Examples:
          gimbal make pinch --scale 2 --seed 1 -o pinch.ndjson
          gimbal make fling --from 300,700 --to 100,300 | gimbal run --summary -
          gimbal make random --seed 42 --duration 1m -o random.ndjson
          gimbal make rotate --degrees 90 --touches >fingers.ndjson
          for n in $(seq 100); do gimbal make random --seed $n | gimbal check -; done
        """)

    @Option("The seed; the same one makes the same fingers.", "n")
    var seed: UInt64 = 1

    @Option("How long the gesture or the random session takes.", "time")
    var duration: Milliseconds?

    @Option("Where the finger lands, or the middle of several.", "x,y")
    var from: ScreenPoint?

    @Option("Where they move to.", "x,y")
    var to: ScreenPoint?

    @Option("The scale of a pinch.", "factor")
    var scale: Number?

    @Option("How far a rotation turns, clockwise.", "degrees")
    var degrees: Number?

    @Option("The screen's size, in points (default: 390x844).", "size")
    var viewport: Viewport?

    @Option("Where the camera begins.", "lat,lng")
    var start: LatLng?

    @Option("The camera's zoom at the beginning, 2 to 21.", "level")
    var zoom: Number?

    @Flag(help: "Write the touches, as of a web page, instead of the trace that they make.")
    var touches = false

    @OptionGroup var destination: OutputOptions

    @Argument(help: "The gesture, or random.", completion: .list(MadeGesture.allCases.map(\.rawValue)))
    var gesture: MadeGesture

    func validate() throws {
        if let duration, !(10...3_600_000).contains(duration.milliseconds) {
            throw ValidationError("--duration must be 10 ms to an hour.")
        }
        try check("--zoom", zoom?.value, ZoomRange.limits)
        try check("--scale", scale?.value, 0.01...100)
        try check("--degrees", degrees?.value, -3600...3600)
        for side in [viewport?.width, viewport?.height] {
            try check("--viewport", side, 50...10_000, " points wide and high")
        }
    }

    func run() throws {
        let file = try OutputFile(destination)
        var fingers = MadeFingers(viewport: viewport ?? .standard, seed: seed)
        if gesture == .random {
            fingers.makeRandom(for: duration?.milliseconds ?? 20_000)
        } else {
            var shape = GestureShape()
            (shape.from, shape.to, shape.scale, shape.degrees) = (from, to, scale?.value, degrees?.value)
            shape.durationMs = duration?.milliseconds
            fingers.make(gesture, shape)
        }
        try file.finish(touches ? Array(fingers.script.webTouches.utf8) : try trace(fingers.script))
    }

    private func trace(_ script: FingerScript) throws -> [UInt8] {
        var place = MadeBeginning(position: CameraPosition(target: LatLng(latitude: 0, longitude: 0), zoom: 12))
        if gesture == .random, start == nil { place = MadeBeginning.edge(seed) }
        if let start { place.position.target = start }
        if let zoom { place.position.zoom = zoom.value }
        let bytes = try script.trace(from: place.position)
        guard let bounds = place.bounds else { return bytes }
        var trace = try Trace(bytes)
        try trace.apply(.bounds(bounds))
        return trace.bytes
    }
}

extension MadeGesture: ExpressibleByArgument {}
