// `gimbal get`: a camera's state.

import ArgumentParser
import GimbalClient
import Glibc

struct Get: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print a camera's state.",
        discussion: """
            A table on a terminal, the daemon's line in a pipe or with --json. A camera that nobody has used before \
            is made by asking for it.

            Examples:
              gimbal get
              gimbal get --camera left
              gimbal get --json | jq .position.target
            """
    )

    @OptionGroup var socket: SocketOptions

    @Option(help: ArgumentHelp("The camera.", valueName: "name"))
    var camera = CameraName.main

    @Flag(help: "Print the daemon's line, on a terminal too.")
    var json = false

    func run() throws {
        let connection = try DaemonConnection(socket)
        let output = Output()
        connection.queue(try ClientRequest.getCamera.line(camera: camera.text))
        connection.finishSending()
        while try connection.turn({ try take(Message($0), output) }).end == nil {}
        guard !output.isEmpty else { throw Failure.daemonWentAway }
        try output.flush()
    }

    private func take(_ message: Message, _ output: Output) throws {
        if let error = message.decode(GimbalError.self), message.type == "error" {
            throw Failure(error.line == 0 ? .unavailable : .rejected, "\(error)")
        }
        guard message.type == "camera" else { return }
        guard !json, output.isTerminal, let state = message.decode(CameraState.self) else {
            return output.add(message.bytes)
        }
        let style = Style(STDOUT_FILENO)
        for (name, value) in rows(state) { output.add("\(style.dim(filled(name, 15)))\(value)") }
    }

    private func rows(_ state: CameraState) -> [(String, String)] {
        let (position, viewport, padding) = (state.position, state.viewport, state.viewport.padding)
        let sides = [
            ("top", padding.top), ("left", padding.left), ("bottom", padding.bottom), ("right", padding.right),
        ]
        let zooms = "from \(short(state.zoomRange.min)) to \(short(state.zoomRange.max))"
        let padded = sides.filter { $0.1 > 0 }.map { "\($0.0) \(short($0.1))" }.joined(separator: ", ")
        return [
            ("camera", state.camera),
            ("events", grouped(state.seq)),
            ("target", place(position.target)),
            ("zoom", "\(fixed(position.zoom, 3)), \(zooms)"),
            ("bearing", "\(fixed(position.bearing, 3))\(degree)"),
            ("viewing angle", "\(fixed(position.viewingAngle, 3))\(degree)"),
            ("target bounds", state.targetBounds.map { "\(place($0.southWest)) to \(place($0.northEast))" } ?? "none"),
            ("viewport", "\(short(viewport.width)) by \(short(viewport.height)) points"),
            ("padding", padded.isEmpty ? "none" : padded),
            ("gestures", gestures(state.gestures)),
        ]
    }

    private var degree: String { Terminal.isUTF8 ? "°" : " degrees" }

    private func place(_ place: LatLng) -> String { "\(fixed(place.latitude, 6)), \(fixed(place.longitude, 6))" }

    private func gestures(_ gestures: GestureSettings) -> String {
        let switches = [
            ("scroll", gestures.scroll), ("zoom", gestures.zoom), ("rotate", gestures.rotate), ("tilt", gestures.tilt),
        ]
        let names = switches.filter(\.1).map(\.0)
        let list = names.isEmpty ? "none" : names.joined(separator: ", ")
        return gestures.scrollDuringRotateOrZoom ? list : "\(list); no scroll during rotate or zoom"
    }
}
