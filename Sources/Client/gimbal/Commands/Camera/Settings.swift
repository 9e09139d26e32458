// `gimbal bounds`, `zoom-range`, `viewport` and `gestures`: a camera's settings. Each command changes its setting if
// arguments say so, and shows it.

import ArgumentParser
import GimbalClient

struct Bounds: ParsableCommand {
    static let configuration = CommandConfiguration(
        "Show or set the bounds that the target stays in.",
        """
        Without corners, shows the bounds. With corners, sets them, and the target moves inside at once. Bounds may \
        cross the antimeridian: from 165 to -175 they are 20 degrees wide.

        Examples:
          gimbal bounds
          gimbal bounds 47.27,5.87 55.06,15.04
          gimbal bounds -50,165 -30,-175
          gimbal bounds --none
        """)

    @Argument(help: "Latitude and longitude of the south-west corner.", transform: LatLng.init(typed:))
    var southWest: LatLng?

    @Argument(help: "Latitude and longitude of the north-east corner.", transform: LatLng.init(typed:))
    var northEast: LatLng?

    @Flag(help: "Remove the bounds.")
    var none = false

    @OptionGroup var options: QuestionOptions

    func validate() throws {
        if southWest != nil, none { throw ValidationError("Name corners or --none, not both.") }
        if southWest != nil, northEast == nil { throw ValidationError("Bounds need two corners; one is missing.") }
        _ = try bounds
    }

    private var bounds: CoordinateBounds? {
        get throws {
            guard let southWest, let northEast else { return nil }
            return try CoordinateBounds(from: southWest, to: northEast)
        }
    }

    func run() throws {
        let daemon = try Conversation(options)
        let bounds = try bounds
        if bounds != nil || none { try daemon.command(.set(.targetBounds(bounds))) }
        try daemon.showState { $0.table([.targetBounds, .target]) }
    }
}

struct ZoomRangeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        "Show or set the range that the zoom stays in.", name: "zoom-range",
        """
        Without levels, shows the range. With levels, sets it, and the zoom moves inside at once.

        Examples:
          gimbal zoom-range
          gimbal zoom-range 4 18
          gimbal zoom-range --max 16
        """)

    @Argument(help: "The lowest and the highest zoom.", transform: Number.init(typed:))
    var levels: [Number] = []

    @Option("The lowest zoom only.", "level")
    var min: Number?

    @Option("The highest zoom only.", "level")
    var max: Number?

    @OptionGroup var options: QuestionOptions

    func validate() throws {
        if ![0, 2].contains(levels.count) {
            throw ValidationError("A range needs two levels; --min or --max sets one.")
        }
        if !levels.isEmpty, min != nil || max != nil {
            throw ValidationError("Give two levels, or --min or --max, not both.")
        }
        try check(levels.isEmpty ? "--min" : "The lowest zoom", low, ZoomRange.limits)
        try check(levels.isEmpty ? "--max" : "The highest zoom", high, ZoomRange.limits)
        if let low, let high, low > high { throw ValidationError("The lowest zoom must not be above the highest.") }
    }

    private var low: Double? { (levels.first ?? min)?.value }
    private var high: Double? { (levels.last ?? max)?.value }

    func run() throws {
        let daemon = try Conversation(options)
        if low != nil || high != nil { try daemon.command(.set(.zoomRange(min: low, max: high))) }
        try daemon.showState { $0.table([.zoom]) }
    }
}

struct ViewportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        "Show or set the size of the screen and its padding.", name: "viewport",
        """
        Without a size or padding, shows both; what is omitted stays as it is. The centre is that of the viewport \
        without its padding.

        Examples:
          gimbal viewport
          gimbal viewport 390x844
          gimbal viewport 1280x720 --padding 0,320,0,0
          gimbal viewport --padding 0
        """)

    @Argument(
        help: ArgumentHelp("Width and height in points, such as 390x844.", valueName: "size"),
        transform: Viewport.init(typed:))
    var size: Viewport?

    @Option("Points covered on every side, or at the top, left, bottom and right, separated by commas.", "points")
    var padding: EdgeInsets?

    @OptionGroup var options: QuestionOptions

    func run() throws {
        let daemon = try Conversation(options)
        if size != nil || padding != nil {
            let old = try daemon.state().viewport
            var viewport = size ?? old
            viewport.padding = padding ?? old.padding
            try daemon.command(.set(.viewport(viewport)))
        }
        try daemon.showState { $0.table([.viewport, .padding]) }
    }
}

struct GesturesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        "Show, enable or disable the gestures that move a camera.", name: "gestures",
        """
        Without an option, shows what is enabled. What is not named stays as it is. These settings never limit commands.

        Examples:
          gimbal gestures
          gimbal gestures --no-tilt --no-rotate
          gimbal gestures --inertia
        """)

    @Flag(inversion: .prefixedNo, help: "Pan; without it, other gestures leave the target where it is.")
    var scroll: Bool?

    @Flag(inversion: .prefixedNo, help: "Pinch, taps and one-finger zoom.")
    var zoom: Bool?

    @Flag(inversion: .prefixedNo, help: "Rotate.")
    var rotate: Bool?

    @Flag(inversion: .prefixedNo, help: "Tilt.")
    var tilt: Bool?

    @Flag(inversion: .prefixedNo, help: "Pan while another gesture zooms or rotates.")
    var scrollDuringRotateOrZoom: Bool?

    @Flag(inversion: .prefixedNo, help: "Continue a pan after the finger lifts.")
    var fling: Bool?

    @Flag(inversion: .prefixedNo, help: "Continue pinch and rotate, too.")
    var inertia: Bool?

    @OptionGroup var options: QuestionOptions

    func run() throws {
        let daemon = try Conversation(options)
        let switches = GestureSwitches(
            scroll: scroll, zoom: zoom, rotate: rotate, tilt: tilt, scrollDuringRotateOrZoom: scrollDuringRotateOrZoom,
            fling: fling, inertia: inertia)
        if switches != GestureSwitches() { try daemon.command(.set(.gestures(switches))) }
        try daemon.showState { $0.table([.gestures]) }
    }
}
