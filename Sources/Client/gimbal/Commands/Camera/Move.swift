// `gimbal move` and `gimbal animate`: move a camera, at once or over a time.

import ArgumentParser
import GimbalClient

/// The destination of a camera: attributes to set, or one step from its position.
struct UpdateOptions: ParsableArguments {
    @Option("Put this place in the centre.", "lat,lng")
    var target: LatLng?

    @Option("Set the zoom.", "level")
    var zoom: Number?

    @Option("Turn this compass direction up.", "degrees")
    var bearing: Number?

    @Option("Set the viewing angle, from straight down.", "degrees")
    var viewingAngle: Number?

    @Flag(help: "Zoom in by one level.")
    var zoomIn = false

    @Flag(help: "Zoom out by one level.")
    var zoomOut = false

    @Option("Add to the zoom.", "levels")
    var zoomBy: Number?

    @Option("With --zoom-by: the point of the viewport that stays on its place.", "x,y")
    var focus: ScreenPoint?

    @Option("Move the camera by points to the right and down.", "x,y")
    var scrollBy: ScreenPoint?

    static let note = """
        --target, --zoom, --bearing and --viewing-angle can be combined, and values that are omitted stay as they are. \
        --zoom-in, --zoom-out, --zoom-by and --scroll-by stand alone.
        """

    func validate() throws {
        let attributes = [target != nil, zoom != nil, bearing != nil, viewingAngle != nil].count { $0 }
        let steps = [zoomIn, zoomOut, zoomBy != nil, scrollBy != nil].count { $0 }
        if focus != nil, zoomBy == nil { throw ValidationError("--focus needs --zoom-by.") }
        switch (attributes, steps) {
        case (0, 0): throw ValidationError("Say where to move, such as by --target, --zoom or --scroll-by.")
        case (_, 0), (0, 1): break
        default: throw ValidationError("--zoom-in, --zoom-out, --zoom-by and --scroll-by stand alone.")
        }
    }

    /// - Parameter current: returns the camera's position; called only if it is needed.
    func update(from current: () throws -> CameraPosition) rethrows -> CameraUpdate {
        if zoomIn { return .zoomIn }
        if zoomOut { return .zoomOut }
        if let zoomBy { return .zoomBy(zoomBy.value, focus: focus) }
        if let scrollBy { return .scrollBy(x: scrollBy.x, y: scrollBy.y) }
        switch (target, zoom?.value, bearing?.value, viewingAngle?.value) {
        case (nil, let zoom?, nil, nil): return .zoomTo(zoom)
        case (let target?, let zoom, nil, nil): return .setTarget(target, zoom: zoom)
        case (nil, nil, let bearing?, nil): return .setBearing(bearing)
        case (nil, nil, nil, let viewingAngle?): return .setViewingAngle(viewingAngle)
        case (let target, let zoom, let bearing, let viewingAngle):
            let old = try current()
            return .setCamera(
                CameraPosition(
                    target: target ?? old.target, zoom: zoom ?? old.zoom, bearing: bearing ?? old.bearing,
                    viewingAngle: viewingAngle ?? old.viewingAngle))
        }
    }
}

/// Options for how a camera moves over a time.
struct AnimationOptions: ParsableArguments {
    @Option(
        "How long, in milliseconds or such as 800ms or 1.5s "
            + "(default: \(spoken(CameraAnimation.usualDuration)), or as a flight needs).", "time")
    var duration: Milliseconds?

    @Option("How the pace changes.", "easing")
    var easing: EasingName?

    @Flag(help: "Zoom out, travel and zoom in, in the time that this takes.")
    var flight = false

    @Option("With --flight: how far to zoom out (default: \(short(Flight.usualCurve))).", "number")
    var curve: Number?

    @Option("With --flight: how fast, in screenfuls per second (default: \(short(Flight.usualSpeed))).", "number")
    var speed: Number?

    @Option("With --flight: the longest duration.", "time")
    var maxDuration: Milliseconds?

    @Flag(help: "Do not wait until the camera rests, and print nothing.")
    var noWait = false

    /// Whether an option asks for an animation.
    var isNamed: Bool { duration != nil || easing != nil || flight }

    /// The path of the animation.
    var path: AnimationPath {
        guard flight else { return .straight }
        return .flight(
            Flight(
                curve: curve?.value ?? Flight.usualCurve, speed: speed?.value ?? Flight.usualSpeed,
                maxDurationMs: maxDuration?.milliseconds))
    }

    func validate() throws {
        if !flight, curve != nil || speed != nil || maxDuration != nil {
            throw ValidationError("--curve, --speed and --max-duration need --flight.")
        }
        try check("--duration", duration?.milliseconds, .durations, " ms")
        try check("--curve", curve?.value, Flight.curves)
        if let speed, speed.value <= 0 { throw ValidationError("--speed must be above 0.") }
        try check("--max-duration", maxDuration?.milliseconds, .durations, " ms")
    }
}

extension EasingName: ExpressibleByArgument {
    /// The description of the easing in help texts.
    public var defaultValueDescription: String {
        switch self {
        case .default: "quick at first, then slow; the default"
        case .linear: "at a constant pace"
        case .easeIn: "slow at first"
        case .easeOut: "slow at the end"
        case .easeInOut: "slow at both ends"
        }
    }
}

struct Move: ParsableCommand {
    static let configuration = CommandConfiguration(
        "Move a camera at once.",
        """
        Prints the camera's new position; in a pipe or with --json, the daemon's line with its state.

        \(UpdateOptions.note)

        Examples:
          gimbal move --target 49.26,-123.11 --zoom 12
          gimbal move --bearing 90 --viewing-angle 30
          gimbal move --zoom-by 1 --focus 100,200
          gimbal move --scroll-by -10,5
        """)

    @OptionGroup var update: UpdateOptions
    @OptionGroup var options: CameraOptions

    func run() throws {
        let daemon = try Conversation(options)
        try daemon.go(try update.update { try daemon.state().position })
    }
}

struct Animate: ParsableCommand {
    static let configuration = CommandConfiguration(
        "Move a camera over time.",
        """
        Waits until the camera rests and prints its position, as "gimbal move" does; with --no-wait, prints nothing. \
        Anything else that moves the camera meanwhile, such as a finger or another command, takes over. ^C stops the \
        camera where it is; "gimbal stop" stops an animation that was started with --no-wait. After --timeout, the \
        status is 75, and the camera moves on.

        \(UpdateOptions.note)

        Examples:
          gimbal animate --target 49.26,-123.11 --zoom 12 --duration 2s
          gimbal animate --zoom-in --easing ease-out
          gimbal animate --bearing 180 --no-wait
          gimbal animate --target 35.68,139.69 --zoom 11 --flight --max-duration 8s
          gimbal animate --zoom 4 && gimbal animate --target -33.9,151.2
        """)

    @OptionGroup var update: UpdateOptions
    @OptionGroup var animation: AnimationOptions
    @OptionGroup var options: CameraOptions

    func run() throws {
        let daemon = try Conversation(options)
        try daemon.go(try update.update { try daemon.state().position }, animation)
    }
}
