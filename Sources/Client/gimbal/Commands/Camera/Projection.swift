// `gimbal project`, `unproject` and `region`: convert between places and points of the screen.

import ArgumentParser
import GimbalClient

struct Project: ParsableCommand {
    static let configuration = CommandConfiguration(
        "Print where on the screen places are.",
        """
        Prints a line for each place: points to the right and down from the top left of the viewport. They may be \
        outside it. A place behind the camera is an error.

        Examples:
          gimbal project 48.8584,2.2945
          gimbal project -33.9,151.2 49.26,-123.11 --json | jq -c .point
        """)

    @Argument(help: ArgumentHelp("The places.", valueName: "lat,lng"), transform: LatLng.init(typed:))
    var places: [LatLng]

    @OptionGroup var options: QuestionOptions

    func run() throws {
        let daemon = try Conversation(options)
        for place in places {
            try daemon.show(.project(place)) { (point: ScreenPoint) in [point.text] }
        }
    }
}

struct Unproject: ParsableCommand {
    static let configuration = CommandConfiguration(
        "Print which places are at points of the screen.",
        """
        Prints a line for each point: degrees north and east. A point above the horizon is an error.

        Examples:
          gimbal unproject 195,422
          gimbal unproject 0,0 390,844 --json | jq -c .coordinate
        """)

    @Argument(
        help: ArgumentHelp("Points to the right and down from the top left.", valueName: "x,y"),
        transform: ScreenPoint.init(typed:))
    var points: [ScreenPoint]

    @OptionGroup var options: QuestionOptions

    func run() throws {
        let daemon = try Conversation(options)
        for point in points {
            try daemon.show(.unproject(point)) { (place: LatLng) in [place.text] }
        }
    }
}

struct Region: ParsableCommand {
    static let configuration = CommandConfiguration(
        "Print which places are in the corners of the viewport.",
        """
        Near is the bottom edge of the viewport, far is the top. A corner above the horizon is an error.

        Examples:
          gimbal region
          gimbal region --json | jq .farLeft
        """)

    @OptionGroup var options: QuestionOptions

    func run() throws {
        let daemon = try Conversation(options)
        try daemon.show(.visibleRegion) { (region: VisibleRegion) in
            let corners: [(PrintableText, LatLng)] = [
                ("far left", region.farLeft), ("far right", region.farRight), ("near left", region.nearLeft),
                ("near right", region.nearRight),
            ]
            return corners.map { titled($0, $1.text) }
        }
    }
}
