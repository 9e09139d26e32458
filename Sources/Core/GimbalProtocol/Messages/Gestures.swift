// Reports of gestures: `pan`, `pinch`, `rotate`, `tilt`, `one-finger-zoom`, `double-tap`, `two-finger-tap` and `position`
// (schema: client.pan and so on). A kind that is added needs its word and its value here; the compiler asks for both.

import Gestures
import JSONLines
import MapCamera

extension GestureKind {
    /// The `type` of the gesture's line.
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

extension GesturePhase {
    /// The phase as the protocol writes it.
    var word: StaticString {
        switch self {
        case .began: "began"
        case .changed: "changed"
        case .ended: "ended"
        case .cancelled: "cancelled"
        }
    }
}

extension Request {
    /// A report, and which of several gestures of its kind it is about.
    package struct Gesture: Sendable {
        package var event: GestureEvent
        package var label: GestureKey.Label

        package init(_ event: GestureEvent, label: GestureKey.Label) {
            self.event = event
            self.label = label
        }
    }
}

extension Request.Gesture {
    /// Why the protocol has no words for it; `nil` if it has.
    var problem: String? {
        if let problem = label.problem { return problem }
        guard let value = event.value else {
            let lacksPosition = event.kind == .position && event.phase == .changed
            return lacksPosition ? "a position that has changed says what it is" : nil
        }
        return value.kind == event.kind ? nil : "the value is not one of the gesture \(event.kind.type)"
    }
}

extension GestureKey.Label {
    /// Why the protocol has no words for it; `nil` if it has.
    var problem: String? {
        guard case .number(let number) = self, !RequestID.numbers.contains(Int(number)) else { return nil }
        return "a label is a number within ±(2^53−1), or a text"
    }
}

// MARK: In

extension RequestDecoder {
    static let phases = Words(GesturePhase.allCases) { "\($0.word)" }

    @inline(__always)
    func gesture(
        _ kind: GestureKind, _ object: Int, _ line: Span<UInt8>, _ time: Double?
    ) throws(WireError) -> Request.Body {
        let phase = try phase(object, line, isRequired: !kind.isTap)
        var event = GestureEvent(kind, phase)
        event.time = time
        if kind != .position { event.focus = try point(object, FieldPath(.focus), .focus) }
        switch kind {
        case .pan:
            event.value = try translation(object).map { .pan($0) }
            if phase == .ended { event.velocity = try point(object, FieldPath(.velocity), .velocity) }
        case .pinch:
            event.value = try number(object, FieldPath(.scale), .scale, in: .scale).map { .pinch($0) }
        case .rotate:
            event.value = try number(object, FieldPath(.rotationDeg), .rotationDeg, in: .rotation).map { .rotate($0) }
        case .tilt:
            event.value = try translation(object).map { .tilt($0.y) }
        case .oneFingerZoom:
            event.value = try translation(object).map { .oneFingerZoom($0.y) }
        case .doubleTap, .twoFingerTap:
            break
        case .position:
            if phase == .changed || child(object, .position) != nil {
                event.value = .position(try position(object, FieldPath(.position)))
            }
        }
        return .gesture(Request.Gesture(event, label: try label(object, .gesture, line)))
    }

    /// A tap has happened when it is reported: its phase is `ended`, and may be left out.
    private func phase(_ object: Int, _ line: Span<UInt8>, isRequired: Bool) throws(WireError) -> GesturePhase {
        if !isRequired, child(object, .phase) == nil { return .ended }
        return try requiredWord(object, .phase, Self.phases, line)
    }

    private func translation(_ object: Int) throws(WireError) -> ScreenPoint? {
        let path = FieldPath(.translation)
        guard let inner = try self.object(object, path, .translation) else { return nil }
        return ScreenPoint(
            x: try number(inner, path / .x, .x, in: .points) ?? 0,
            y: try number(inner, path / .y, .y, in: .points) ?? 0)
    }

    /// What tells apart several gestures, or surfaces, of one connection.
    func label(_ object: Int, _ field: Field, _ line: Span<UInt8>) throws(WireError) -> GestureKey.Label {
        guard let node = child(object, field) else { return .none }
        if tape[node].kind == .string, tape[node].text.count <= Self.longestLabel {
            return .text(text(node, line))
        }
        if let number = integer(node, line) { return .number(number) }
        throw .wrong(FieldPath(field), "must be an integer, or a string of at most \(Self.longestLabel) bytes")
    }
}

// MARK: Out

extension LineWriter {
    /// Writes the members of a report behind the common ones. Rounded, points and degrees have 6 decimals and a scale
    /// 9.
    mutating func gesture(_ gesture: Request.Gesture, _ precision: Precision) {
        let event = gesture.event
        write(",\"phase\":\"")
        write(event.phase.word)
        write("\"")
        label("gesture", gesture.label)
        if let focus = event.focus { point("focus", focus, precision) }
        switch event.value {
        case .pan(let translation): point("translation", translation, precision)
        case .pinch(let scale): member("scale", scale, places: 9, precision)
        case .rotate(let degrees): member("rotationDeg", degrees, places: 6, precision)
        case .tilt(let y), .oneFingerZoom(let y):
            write(",\"translation\":{\"y\":")
            number(y, places: 6, precision)
            write("}")
        case .position(let position): self.position(exact: position)
        case nil: break
        }
        if let velocity = event.velocity { point("velocity", velocity, precision) }
    }

    mutating func label(_ name: StaticString, _ label: GestureKey.Label) {
        switch label {
        case .none: break
        case .number(let number): member(name, exact: Double(number))
        case .text(let text): member(name, text)
        }
    }

    /// Writes the reports of one frame as a line of a trace that is made of a recording, LF included. Times are rounded to
    /// 3 decimals.
    ///
    /// - Parameter camera: the camera that they name; a trace has it in its header.
    package mutating func frame(_ events: [GestureEvent], timeMs: Double, camera: String? = nil) {
        if events.count > 1 { write("[") }
        for index in events.indices {
            if index > 0 { write(",") }
            write("{\"type\":")
            write(string: events[index].kind.type)
            // A frame has one time, which its first object names.
            if index == 0 { member("timeMs", timeMs, places: 3, .rounded) }
            gesture(Request.Gesture(events[index], label: .none), .rounded)
            if let camera { member("camera", camera) }
            write("}")
        }
        write(events.count > 1 ? "]\n" : "\n")
    }
}
