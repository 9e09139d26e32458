// Reports of gestures: `pan`, `pinch`, `rotate`, `tilt`, `one-finger-zoom`, `double-tap`, `two-finger-tap` and
// `position` (schema: client.pan and so on). A new kind needs its word and its value here; the compiler asks for both.

import Gestures
import MapCamera

extension GestureKind {
    /// The `type` of a line about the gesture.
    public var type: String {
        switch self {
        case .pan: "pan"
        case .pinch: "pinch"
        case .rotate: "rotate"
        case .tilt: "tilt"
        case .oneFingerZoom: "one-finger-zoom"
        case .doubleTap: "double-tap"
        case .twoFingerTap: "two-finger-tap"
        case .position: "position"
        }
    }
}

extension GesturePhase: ProtocolWord {
    package var word: String {
        switch self {
        case .began: "began"
        case .changed: "changed"
        case .ended: "ended"
        case .cancelled: "cancelled"
        }
    }
}

extension ClientRequest {
    /// A report of a gesture, and the label that distinguishes it from others of its kind.
    public struct Gesture: Equatable, Sendable {
        /// The report.
        public var event: GestureEvent
        /// Distinguishes gestures of the same kind on one connection.
        public var label: GestureKey.Label

        /// Creates a report of a gesture, optionally with a label.
        public init(_ event: GestureEvent, label: GestureKey.Label = .none) {
            (self.event, self.label) = (event, label)
        }
    }

    /// Creates a report of a gesture; the label distinguishes gestures of the same kind on one connection.
    public static func gesture(_ event: GestureEvent, label: GestureKey.Label = .none) -> ClientRequest {
        .gesture(Gesture(event, label: label))
    }
}

extension ClientRequest.Gesture {
    /// Why the protocol cannot express the report; `nil` if it can.
    var problem: String? {
        if let problem = label.problem { return problem }
        guard let value = event.value else {
            let lacksPosition = event.kind == .position && event.phase == .changed
            return lacksPosition ? "a changed position gesture needs a position" : nil
        }
        return value.kind == event.kind ? nil : "the value does not belong to the gesture \(event.kind.type)"
    }

    /// Shows a visitor the members, except for the time, which is the line's.
    mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        if event.kind.isTap {
            // A tap is over when it is reported.
            try visitor.member(.phase, &event.phase, WordRule(), default: .ended)
        } else {
            try visitor.member(.phase, &event.phase, WordRule())
        }
        try visitor.member(.gesture, &label, LabelRule(), unless: .none)
        if event.kind != .position { try visitor.object(.focus, &event.focus) }
        try event.describeValue(&visitor)
        if event.kind == .pan, event.phase == .ended { try visitor.object(.velocity, &event.velocity) }
    }
}

extension GestureEvent {
    fileprivate mutating func describeValue<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        switch kind {
        case .pan:
            var translation: Translation?
            if case .pan(let point)? = value { translation = Translation(x: point.x, y: point.y) }
            try visitor.object(.translation, &translation)
            value = translation.map { .pan(ScreenPoint(x: $0.x ?? 0, y: $0.y)) }
        case .pinch:
            var scale: Double?
            if case .pinch(let told)? = value { scale = told }
            try visitor.member(.scale, &scale, .number(in: .scale, places: 9))
            value = scale.map { .pinch($0) }
        case .rotate:
            var degrees: Double?
            if case .rotate(let told)? = value { degrees = told }
            try visitor.member(.rotationDeg, &degrees, .number(in: .rotation))
            value = degrees.map { .rotate($0) }
        case .tilt:
            var translation: Translation?
            if case .tilt(let y)? = value { translation = Translation(y: y) }
            try visitor.object(.translation, &translation)
            value = translation.map { .tilt($0.y) }
        case .oneFingerZoom:
            var translation: Translation?
            if case .oneFingerZoom(let y)? = value { translation = Translation(y: y) }
            try visitor.object(.translation, &translation)
            value = translation.map { .oneFingerZoom($0.y) }
        case .doubleTap, .twoFingerTap: break
        case .position:
            var position: CameraPosition?
            if case .position(let told)? = value { position = told }
            try visitor.object(.position, &position, phase == .changed ? .required(nil) : .optional)
            value = position.map { .position($0) }
        }
    }
}

/// The distance that fingers have moved; for some gestures only y counts, and only it is written.
private struct Translation: Described {
    var x: Double?
    var y = 0.0

    static let blank = Translation()

    mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try visitor.member(.x, &x, .number(in: .points))
        try visitor.member(.y, &y, .number(in: .points), default: 0)
    }
}

extension GestureKey.Label {
    /// Why the protocol cannot express the label; `nil` if it can.
    var problem: String? {
        guard case .number(let number) = self, !IntegerRule.exact.contains(Int(number)) else { return nil }
        return "a label must be a string or a number within ±(2^53−1)"
    }
}

extension LineWriter {
    /// Writes the reports of one frame of a recording as a line of a trace, LF included: points and degrees are rounded
    /// to 6 decimals, a scale to 9, times to 3.
    ///
    /// - Parameter camera: the camera to name; a trace names it in its header.
    package mutating func frame(_ events: [GestureEvent], timeMs: Double, camera: String? = nil) {
        requests(events.map { .gesture($0) }, timeMs: timeMs, camera: camera, isRounded: true)
        write("\n")
    }
}
