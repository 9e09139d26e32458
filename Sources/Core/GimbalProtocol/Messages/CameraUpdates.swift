// `move` and `animate` (schema: client.move, client.animate, update and update.zoom-in and so on): what changes a camera at
// once or over a time, and the easings of an animation.

import JSONLines
import MapCamera

/// The paces that an animation may have. (CSS: `animation-timing-function`, with the same names.)
public enum EasingName: String, CaseIterable, Sendable {
    /// Quick at first, then slow: cubic-bezier(.25, .1, .25, 1).
    case `default`
    /// As fast all the way.
    case linear
    /// Slow at first.
    case easeIn = "ease-in"
    /// Slow at the end.
    case easeOut = "ease-out"
    /// Slow at both ends.
    case easeInOut = "ease-in-out"

    /// The curve of this name.
    public var easing: Easing {
        switch self {
        case .default: .default
        case .linear: .linear
        case .easeIn: .easeIn
        case .easeOut: .easeOut
        case .easeInOut: .easeInOut
        }
    }
}

/// The `kind` of an update.
enum UpdateKind: String, CaseIterable {
    case zoomIn = "zoom-in"
    case zoomOut = "zoom-out"
    case zoomTo = "zoom-to"
    case zoomBy = "zoom-by"
    case setTarget = "set-target"
    case setCamera = "set-camera"
    case scrollBy = "scroll-by"
    case fitBounds = "fit-bounds"
    case setBearing = "set-bearing"
    case setViewingAngle = "set-viewing-angle"
}

extension CameraUpdate {
    /// The update's name in the protocol; `nil` for the three that fingers make, which are gestures there.
    var kind: UpdateKind? {
        switch self {
        case .zoomIn: .zoomIn
        case .zoomOut: .zoomOut
        case .zoomTo: .zoomTo
        case .zoomBy: .zoomBy
        case .setTarget: .setTarget
        case .setCamera: .setCamera
        case .scrollBy: .scrollBy
        case .fitBounds: .fitBounds
        case .setBearing: .setBearing
        case .setViewingAngle: .setViewingAngle
        case .pan, .rotateBy, .tiltBy: nil
        }
    }
}

// MARK: In

extension RequestDecoder {
    static let updates = Words(UpdateKind.allCases, \.rawValue)
    static let easings = Words(EasingName.allCases, \.rawValue)

    func update(_ object: Int, _ line: Span<UInt8>) throws(WireError) -> CameraUpdate {
        let path = FieldPath(.update)
        let inner = try requiredObject(object, path, .update)
        guard let kindNode = child(inner, .kind) else {
            throw .missing(path / .kind, "it is the camera update to make, such as \"zoom-to\"")
        }
        guard tape[kindNode].kind == .string, let kind = word(kindNode, Self.updates, line) else {
            let all = UpdateKind.allCases.map(\.rawValue).joined(separator: ", ")
            throw .wrong(path / .kind, "must be one of \(all)")
        }
        switch kind {
        case .zoomIn: return .zoomIn
        case .zoomOut: return .zoomOut
        case .zoomTo: return .zoomTo(try requiredNumber(inner, path / .zoom, .zoom))
        case .zoomBy:
            return .zoomBy(
                try requiredNumber(inner, path / .amount, .amount), focus: try point(inner, path / .focus, .focus))
        case .setTarget:
            return .setTarget(
                try latLng(inner, path / .target, .target), zoom: try number(inner, path / .zoom, .zoom))
        case .setCamera: return .setCamera(try position(inner, path / .position))
        case .scrollBy:
            return .scrollBy(
                x: try requiredNumber(inner, path / .x, .x, in: .points),
                y: try requiredNumber(inner, path / .y, .y, in: .points))
        case .fitBounds:
            let bounds = try bounds(inner, path / .bounds, .bounds)
            let padding = try number(inner, path / .padding, .padding, in: 0...100_000)
            let insets = try insets(inner, path / .insets, .insets)
            return .fitBounds(
                bounds, insets: insets ?? EdgeInsets(all: padding ?? CameraUpdate.defaultFitPadding))
        case .setBearing: return .setBearing(try requiredNumber(inner, path / .bearing, .bearing))
        case .setViewingAngle:
            return .setViewingAngle(try requiredNumber(inner, path / .viewingAngle, .viewingAngle))
        }
    }

    func animate(_ object: Int, _ line: Span<UInt8>) throws(WireError) -> Request.Command {
        let update = try update(object, line)
        let duration =
            try number(object, FieldPath(.durationMs), .durationMs, in: 0...3_600_000)
            ?? CameraAnimation.usualDuration
        let easing = try word(object, .easing, Self.easings, line)
        return .animate(update, durationMs: duration, easing: (easing ?? .default).easing)
    }
}

// MARK: Out

extension LineWriter {
    mutating func animate(_ update: CameraUpdate, durationMs: Double, _ easing: Easing) {
        self.update(update)
        member("durationMs", exact: durationMs)
        // A request says its easing by name, so every one that it can have has one.
        if let name = EasingName.allCases.first(where: { $0.easing == easing }), name != .default {
            member("easing", name.rawValue)
        }
    }

    mutating func update(_ update: CameraUpdate) {
        guard let kind = update.kind else { preconditionFailure("over the protocol, what fingers do is a gesture") }
        member("update")
        write("{\"kind\":")
        write(string: kind.rawValue)
        switch update {
        case .zoomIn, .zoomOut, .pan, .rotateBy, .tiltBy: break
        case .zoomTo(let zoom): member("zoom", exact: zoom)
        case .zoomBy(let amount, let focus):
            member("amount", exact: amount)
            if let focus { point("focus", focus) }
        case .setTarget(let target, let zoom):
            place("target", exact: target)
            if let zoom { member("zoom", exact: zoom) }
        case .setCamera(let position): self.position(exact: position)
        case .scrollBy(let x, let y):
            member("x", exact: x)
            member("y", exact: y)
        case .fitBounds(let bounds, let insets):
            self.bounds("bounds", exact: bounds)
            self.insets("insets", insets)
        case .setBearing(let bearing): member("bearing", exact: bearing)
        case .setViewingAngle(let angle): member("viewingAngle", exact: angle)
        }
        write("}")
    }
}
