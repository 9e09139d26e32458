// The camera updates of `move` and `animate` (schema: update, update.zoom-in and so on), and the easings.

import MapCamera

/// The easings of an animation. (CSS: `animation-timing-function`, with the same names.)
public enum EasingName: String, CaseIterable, Sendable, ProtocolWord {
    /// Fast at first, then slow: cubic-bezier(.25, .1, .25, 1).
    case `default`
    /// Constant speed.
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

/// The path of an animation from one position to another.
public enum AnimationPath: Equatable, Sendable {
    /// Each value separately.
    case straight
    /// Out, over and in.
    case flight(Flight = Flight())
}

/// The `path` of an `animate`.
private enum PathWord: String, ProtocolWord { case straight, flight }

extension CameraUpdate {
    /// The update's name in the protocol; `nil` for the three made by fingers, which are gestures there.
    var kind: String? {
        switch self {
        case .zoomIn: "zoom-in"
        case .zoomOut: "zoom-out"
        case .zoomTo: "zoom-to"
        case .zoomBy: "zoom-by"
        case .setTarget: "set-target"
        case .setCamera: "set-camera"
        case .scrollBy: "scroll-by"
        case .fitBounds: "fit-bounds"
        case .setBearing: "set-bearing"
        case .setViewingAngle: "set-viewing-angle"
        case .pan, .rotateBy, .tiltBy: nil
        }
    }
}

extension CameraUpdate: Described {
    package static let blank = CameraUpdate.zoomIn

    /// One update of each kind, for decoding.
    static let blanks: [CameraUpdate] = [
        .zoomIn, .zoomOut, .zoomTo(0), .zoomBy(0, focus: nil), .setTarget(.blank, zoom: nil), .setCamera(.blank),
        .scrollBy(x: 0, y: 0), .fitBounds(.blank, insets: .blank), .setBearing(0), .setViewingAngle(0),
    ]

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        guard kind != nil else { preconditionFailure("over the protocol, finger movements are gestures") }
        var blank = self
        let hint = "it is the camera update to make, such as \"zoom-to\""
        try visitor.member(.kind, &blank, UpdateKindRule(), hint: hint)
        if blank.kind != kind { self = blank }
        switch self {
        case .zoomIn, .zoomOut, .pan, .rotateBy, .tiltBy: break
        case .zoomTo(var zoom):
            try visitor.member(.zoom, &zoom, .number())
            self = .zoomTo(zoom)
        case .zoomBy(var amount, var focus):
            try visitor.member(.amount, &amount, .number())
            try visitor.object(.focus, &focus)
            self = .zoomBy(amount, focus: focus)
        case .setTarget(var target, var zoom):
            try visitor.object(.target, &target)
            try visitor.member(.zoom, &zoom, .number())
            self = .setTarget(target, zoom: zoom)
        case .setCamera(var position):
            try visitor.object(.position, &position)
            self = .setCamera(position)
        case .scrollBy(var x, var y):
            try visitor.member(.x, &x, .number(in: .points))
            try visitor.member(.y, &y, .number(in: .points))
            self = .scrollBy(x: x, y: y)
        case .fitBounds(var bounds, let insets):
            // Equal padding on all sides may be read, but is written as insets.
            var (padding, sides): (Double?, EdgeInsets?) = (nil, insets)
            try visitor.object(.bounds, &bounds)
            try visitor.member(.padding, &padding, .number(in: .insets))
            try visitor.object(.insets, &sides)
            self = .fitBounds(bounds, insets: sides ?? EdgeInsets(all: padding ?? Self.defaultFitPadding))
        case .setBearing(var bearing):
            try visitor.member(.bearing, &bearing, .number())
            self = .setBearing(bearing)
        case .setViewingAngle(var angle):
            try visitor.member(.viewingAngle, &angle, .number())
            self = .setViewingAngle(angle)
        }
    }
}

/// The `kind` of an update: read as the blank of that kind.
private struct UpdateKindRule: MemberRule {
    func read(_ json: JSONValue) -> CameraUpdate? {
        guard case .string(let text) = json else { return nil }
        return CameraUpdate.blanks.first { $0.kind == text }
    }
    func write(_ value: CameraUpdate, to line: inout LineWriter) { line.write(string: value.kind ?? "") }
    var wanted: String { "must be one of \(CameraUpdate.blanks.compactMap(\.kind).joined(separator: ", "))" }
}

extension ClientRequest {
    /// Creates an animation on a path; without a duration, in the default time or the time that the flight needs.
    package static func animate(
        _ update: CameraUpdate, durationMs: Double?, easing: EasingName, path: AnimationPath
    ) -> ClientRequest {
        switch path {
        case .straight:
            .animate(update, durationMs: durationMs ?? CameraAnimation.usualDuration, easing: easing)
        case .flight(let flight): .fly(update, flight, durationMs: durationMs, easing: easing)
        }
    }

    /// Shows a visitor the members of `animate`, and returns the request read.
    static func describe<V: MemberVisitor & ~Copyable>(
        _ visitor: inout V, _ update: CameraUpdate, _ durationMs: Double?, _ easing: EasingName, _ flight: Flight?
    ) throws(V.Failure) -> ClientRequest {
        var path: PathWord = flight == nil ? .straight : .flight
        var (update, durationMs, easing, flight) = (update, durationMs, easing, flight ?? Flight())
        try visitor.object(.update, &update)
        try visitor.member(.durationMs, &durationMs, .number(in: .durations))
        try visitor.member(.easing, &easing, WordRule(), unless: .default)
        try visitor.member(.path, &path, WordRule(isQuoted: true), unless: .straight)
        var (curve, speed): (Double?, Double?) = (flight.curve, flight.speed)
        if curve == Flight.usualCurve { curve = nil }
        if speed == Flight.usualSpeed { speed = nil }
        try visitor.member(.curve, &curve, .number(in: Flight.curves))
        try visitor.member(.speed, &speed, .number(in: .positive))
        try visitor.member(.maxDurationMs, &flight.maxDurationMs, .number(in: .durations))
        guard path == .straight else {
            (flight.curve, flight.speed) = (curve ?? Flight.usualCurve, speed ?? Flight.usualSpeed)
            return .fly(update, flight, durationMs: durationMs, easing: easing)
        }
        let ofFlights: [(field: Field, isThere: Bool)] = [
            (.curve, curve != nil), (.speed, speed != nil), (.maxDurationMs, flight.maxDurationMs != nil),
        ]
        if let (field, _) = ofFlights.first(where: \.isThere) {
            try visitor.check(false) { path in
                .wrong(path / field, "must be omitted on a straight path: it is for \"path\":\"flight\"")
            }
        }
        return .animate(update, durationMs: durationMs ?? CameraAnimation.usualDuration, easing: easing)
    }
}
