// Puts what the daemon says about a camera into words.

import GimbalClient
import Glibc

private let degree: PrintableText = Terminal.isUTF8 ? "\u{b0}" : " degrees"

/// Returns a row of a table, its title dim.
func titled(_ title: PrintableText, _ text: PrintableText) -> PrintableText {
    Style(STDOUT_FILENO).dim(filled(title, 15)) + text
}

extension LatLng {
    var text: PrintableText { "\(fixed(latitude, 6)), \(gimbal.longitude(longitude, 6))" }
}

extension ScreenPoint {
    var text: PrintableText { "\(fixed(x, 3)), \(fixed(y, 3))" }
}

extension CoordinateBounds {
    var text: PrintableText { "\(southWest.text) to \(northEast.text)" }
}

extension CameraPosition {
    /// One line of less than 80 columns.
    var text: PrintableText { facts.joined(separator: " ") }

    /// The same in parts, between which a line may break.
    var facts: [PrintableText] {
        [
            "at \(target.text),", "zoom \(fixed(zoom, 3)),", "bearing \(gimbal.bearing(bearing, 1)),",
            "viewing angle \(fixed(viewingAngle, 1))",
        ]
    }
}

extension EdgeInsets {
    /// The sides with an inset.
    var text: PrintableText {
        let sides = [("top", top), ("left", left), ("bottom", bottom), ("right", right)].filter { $0.1 > 0 }
        return sides.isEmpty ? "none" : sides.map { "\($0.0) \(short($0.1))" as PrintableText }.joined(separator: ", ")
    }
}

extension GestureSettings {
    /// The switches that are on.
    var text: PrintableText {
        let switches = [
            ("scroll", scroll), ("zoom", zoom), ("rotate", rotate), ("tilt", tilt), ("fling", fling),
            ("inertia", inertia),
        ]
        let names = switches.filter(\.1).map(\.0)
        let list = names.isEmpty ? "none" : PrintableText(names.joined(separator: ", "))
        return scrollDuringRotateOrZoom ? list : "\(list); no scroll during rotate or zoom"
    }
}

extension Lagged {
    var text: PrintableText { "missed \(counted(missed, "event")) of camera \(camera)" }
}

extension IdleAction {
    fileprivate var text: PrintableText {
        let after: PrintableText = "after \(clock(milliseconds: afterMs, 0)) min at rest"
        return switch action {
        case .flyHome(let home, _): "\(after), home to \(home.target.text) at zoom \(short(home.zoom))"
        case .play(let trace, let loops): "\(after), plays \(trace)\(loops ? "" : ", once")"
        }
    }
}

extension CameraState {
    /// A part of a camera's state that is shown as one row.
    enum Row: String, CaseIterable {
        case camera, events, target, zoom, bearing
        case viewingAngle = "viewing angle"
        case targetBounds = "target bounds"
        case viewport, padding, gestures
        case idleAction = "when idle"
    }

    /// Returns the rows of a table with everything.
    func table() -> [PrintableText] {
        let rows: [Row] = [.camera, .events, .target, .bearing, .viewingAngle] + setup.changes.flatMap(\.rows)
        return table(Row.allCases.filter(rows.contains))
    }

    /// Returns rows of a table, their names dim.
    func table(_ rows: [Row]) -> [PrintableText] {
        rows.map { titled("\($0.rawValue)", text($0)) }
    }

    private func text(_ row: Row) -> PrintableText {
        switch row {
        case .camera: "\(camera)"
        case .events: "\(grouped(seq))"
        case .target: position.target.text
        case .zoom: "\(fixed(position.zoom, 3)), from \(short(setup.zoomRange.min)) to \(short(setup.zoomRange.max))"
        case .bearing: "\(bearing(position.bearing, 3))\(degree)"
        case .viewingAngle: "\(fixed(position.viewingAngle, 3))\(degree)"
        case .targetBounds: setup.targetBounds?.text ?? "none"
        case .viewport: "\(short(setup.viewport.width)) by \(short(setup.viewport.height)) points"
        case .padding: setup.viewport.padding.text
        case .gestures: setup.gestures.text
        case .idleAction: setup.idleAction?.text ?? "nothing"
        }
    }
}

extension CameraSetup.Change {
    /// The rows that show the setting.
    fileprivate var rows: [CameraState.Row] {
        switch self {
        case .viewport: [.viewport, .padding]
        case .zoomRange: [.zoom]
        case .targetBounds: [.targetBounds]
        case .gestures: [.gestures]
        case .idleAction: [.idleAction]
        }
    }
}
