// `gimbal fit`: moves a camera to the largest zoom that shows bounds.

import ArgumentParser
import GimbalClient

struct Fit: ParsableCommand {
    static let configuration = CommandConfiguration(
        "Move a camera so that it shows bounds.",
        """
        The camera then looks straight down, with north up, at the largest zoom that shows all of the bounds. Prints \
        its position. Bounds may cross the antimeridian: from 165 to -175 they are 20 degrees wide.

        Examples:
          gimbal fit 49.26,-123.11 51.05,-114.05 --padding 32
          gimbal fit -50,165 -30,-175 --padding 60,20,200,20
          gimbal fit 47.27,5.87 55.06,15.04 --duration 800
          gimbal fit 47.27,5.87 55.06,15.04 --dry-run
        """)

    @Argument(help: "Latitude and longitude of the south-west corner.", transform: LatLng.init(typed:))
    var southWest: LatLng

    @Argument(help: "Latitude and longitude of the north-east corner.", transform: LatLng.init(typed:))
    var northEast: LatLng

    @Option(
        "Points to keep free on every side, or at the top, left, bottom and right, separated by commas "
            + "(default: \(short(CameraUpdate.defaultFitPadding))).", "points")
    var padding: EdgeInsets?

    @Flag(help: "Move over time; --duration, --easing and --flight imply it.")
    var animate = false

    @Flag(help: "Do not move the camera; print where it would be.")
    var dryRun = false

    @OptionGroup var animation: AnimationOptions
    @OptionGroup var options: QuestionOptions

    private var insets: EdgeInsets { padding ?? EdgeInsets(all: CameraUpdate.defaultFitPadding) }

    func validate() throws { _ = try CoordinateBounds(from: southWest, to: northEast) }

    func run() throws {
        let bounds = try CoordinateBounds(from: southWest, to: northEast)
        let daemon = try Conversation(options)
        let isOverTime = animate || animation.isNamed
        guard dryRun else {
            let update = CameraUpdate.fitBounds(bounds, insets: insets)
            if animation.noWait, !isOverTime { return try daemon.command(.move(update)) }
            return try daemon.go(update, isOverTime ? animation : nil)
        }
        try daemon.show(.cameraForBounds(bounds, insets: insets)) { (fit: BoundsFit) in
            let remark: PrintableText = fit.fits ? "" : ", but the bounds do not fit"
            return [fit.position.map { $0.text + remark } ?? "nowhere: the padding leaves no room"]
        }
    }
}

extension CoordinateBounds {
    /// - Throws: a usage error if the first corner is north of the second.
    init(from southWest: LatLng, to northEast: LatLng) throws {
        guard let bounds = Self(southWest: southWest, northEast: northEast) else {
            throw ValidationError("The south-west corner comes first; here, the first corner is north of the second.")
        }
        self = bounds
    }
}
