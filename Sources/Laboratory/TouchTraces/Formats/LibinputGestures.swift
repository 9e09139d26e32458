// Reads gestures that libinput has recognized, from `libinput debug-events`. A swipe is a pan; a pinch is a pan, a
// pinch and a rotation at once; a hold is a pan that does not move, which stops a fling; a two-finger scroll on a
// touchpad is a pan. All are about the centre of the viewport.
//
//     event14  GESTURE_PINCH_UPDATE      2  +0.260s	2  1.76/ 0.00 ( 1.76/ 0.00 unaccelerated)  1.10 @  0.24
//     event19  POINTER_SCROLL_FINGER        +0.083s	vert 0.00/0.0 horiz 7.57/0.0* (finger)

import Gestures
import MapCamera

struct LibinputGestures {
    /// The content of a line.
    struct Report {
        enum Kind { case swipe, pinch, hold, scroll }
        enum Phase { case begin, update, end }

        var kind: Kind
        var phase: Phase
        var time: Int
        var isCancelled = false
        /// Since the previous report.
        var translation = ScreenPoint(x: 0, y: 0)
        /// Since the gesture began.
        var scale = 1.0
        /// Degrees clockwise since the previous report.
        var rotation = 0.0
    }

    /// The events of the current line, and their time in milliseconds.
    private var events: [GestureEvent] = []
    private var timeMs = 0.0

    /// The active gesture; its translation and its rotation are those since it began.
    private var active: Report?

    /// Returns whether only recordings of this tool can contain a line.
    static func recognizes(_ line: Span<UInt8>) -> Bool {
        var index = 0
        guard device(line, &index) != nil else { return false }
        return Scan.word("DEVICE_", line, &index) || Scan.word("GESTURE_", line, &index)
            || Scan.word("POINTER_", line, &index) || Scan.word("KEYBOARD_", line, &index)
            || Scan.word("TOUCH_", line, &index)
    }

    /// Reads a line: of a finger, or of a gesture, on the clock of the fingers. The differences of a gesture are turned
    /// like the device.
    mutating func parse(
        _ line: Span<UInt8>, _ rotation: Rotation, _ touches: inout LibinputTouches, _ fingers: inout FingerFrames
    ) throws(Damaged) {
        var index = 0
        guard let device = Self.device(line, &index) else {
            if Scan.isAtEnd(line, 0) { return }
            throw Damaged()
        }
        if Scan.word("TOUCH_", line, &index) { return try touches.parse(line, &index, of: device, &fingers) }
        if Scan.word("DEVICE_ADDED", line, &index) { return touches.add(device, line, &index) }
        guard let report = try Self.report(line, &index) else { return }
        // The frame of earlier lines comes first.
        touches.finishFrame(&fingers)
        timeMs = Double(fingers.clock.advance(to: report.time, &fingers.notes)) / 1000
        handle(report, rotation, &fingers.notes)
        handOut(&fingers)
    }

    private mutating func handOut(_ fingers: inout FingerFrames) {
        if !events.isEmpty { fingers.add(gestures: .gestures(timeMs: timeMs, events)) }
        events.removeAll(keepingCapacity: true)
    }

    // MARK: Text

    /// Reads the rest of a line after the device; returns `nil` if it is not about a gesture.
    private static func report(_ line: Span<UInt8>, _ index: inout Int) throws(Damaged) -> Report? {
        if Scan.word("GESTURE_", line, &index) { return try gesture(line, &index) }
        if Scan.word("POINTER_SCROLL_FINGER", line, &index) { return try scroll(line, &index) }
        // Wheels are not fingers; lines of versions that do not name the source are skipped.
        var end = index
        guard Scan.word("POINTER_AXIS", line, &index), Scan.find("(finger)", line, &end) else { return nil }
        return try scroll(line, &index)
    }

    /// Reads the number of `-event14  `; the dash marks a change of device.
    private static func device(_ line: Span<UInt8>, _ index: inout Int) -> Int? {
        Scan.space(line, &index)
        _ = Scan.byte(UInt8(ascii: "-"), line, &index)
        guard Scan.word("event", line, &index), let device = Scan.decimal(line, &index), index < line.count,
            Scan.isSpace(line[index])
        else { return nil }
        Scan.space(line, &index)
        return device
    }

    private static func gesture(_ line: Span<UInt8>, _ index: inout Int) throws(Damaged) -> Report {
        guard let kind = kind(line, &index), let phase = phase(line, &index), let time = time(line, &index) else {
            throw Damaged()
        }
        var report = Report(kind: kind, phase: phase, time: time)
        // The number of fingers says nothing about what they do.
        guard let fingers = Scan.real(line, &index), fingers > 0 else { throw Damaged() }
        switch phase {
        case .begin: break
        case .end:
            Scan.space(line, &index)
            report.isCancelled = Scan.word("cancelled", line, &index)
        case .update:
            guard kind != .hold, let x = Scan.real(line, &index), Scan.byte(UInt8(ascii: "/"), line, &index),
                let y = Scan.real(line, &index)
            else { throw Damaged() }
            report.translation = ScreenPoint(x: x, y: y)
            guard kind == .pinch else { break }
            guard Scan.byte(UInt8(ascii: " "), line, &index), Scan.find("unaccelerated)", line, &index),
                let scale = Scan.real(line, &index), scale > 0
            else { throw Damaged() }
            Scan.space(line, &index)
            guard Scan.byte(UInt8(ascii: "@"), line, &index), let rotation = Scan.real(line, &index) else {
                throw Damaged()
            }
            report.scale = scale
            report.rotation = rotation
        }
        return report
    }

    /// Reads `vert -12.30/0* horiz 0.00/0 (finger)`, with or without wheel clicks; a scroll ends with zeros.
    private static func scroll(_ line: Span<UInt8>, _ index: inout Int) throws(Damaged) -> Report {
        guard let time = time(line, &index) else { throw Damaged() }
        Scan.space(line, &index)
        guard Scan.word("vert ", line, &index), let y = Scan.real(line, &index), Scan.find("horiz ", line, &index),
            let x = Scan.real(line, &index)
        else { throw Damaged() }
        let isOver = x == 0 && y == 0
        return Report(
            kind: .scroll, phase: isOver ? .end : .update, time: time, translation: ScreenPoint(x: x, y: y))
    }

    private static func kind(_ line: Span<UInt8>, _ index: inout Int) -> Report.Kind? {
        if Scan.word("SWIPE_", line, &index) { return .swipe }
        if Scan.word("PINCH_", line, &index) { return .pinch }
        return Scan.word("HOLD_", line, &index) ? .hold : nil
    }

    private static func phase(_ line: Span<UInt8>, _ index: inout Int) -> Report.Phase? {
        if Scan.word("BEGIN", line, &index) { return .begin }
        if Scan.word("UPDATE", line, &index) { return .update }
        return Scan.word("END", line, &index) ? .end : nil
    }

    /// Reads `+1.39s`, after an optional report number.
    static func time(_ line: Span<UInt8>, _ index: inout Int) -> Int? {
        Scan.space(line, &index)
        if Scan.decimal(line, &index) != nil { Scan.space(line, &index) }
        guard Scan.byte(UInt8(ascii: "+"), line, &index) else { return nil }
        Scan.space(line, &index)
        guard let time = Scan.time(line, &index), Scan.byte(UInt8(ascii: "s"), line, &index) else { return nil }
        return time
    }

    // MARK: Gestures

    private mutating func handle(_ report: Report, _ rotation: Rotation, _ notes: inout RecordingNotes) {
        if report.phase == .begin || active?.kind != report.kind { cancel() }
        let hasBegun = active != nil
        var gesture = active ?? Report(kind: report.kind, phase: .begin, time: report.time)
        if report.phase == .update {
            gesture.translation = gesture.translation + rotation.turn(report.translation)
            gesture.scale = report.scale
            gesture.rotation += report.rotation
        }
        active = gesture
        switch report.phase {
        case .begin: emit(.began)
        case .update:
            // A scroll has no line for its beginning.
            if !hasBegun, report.kind != .scroll { notes.add(.noBegin) }
            emit(hasBegun || report.kind != .scroll ? .changed : .began)
        case .end:
            if hasBegun { emit(report.isCancelled ? .cancelled : .ended) }
            active = nil
        }
    }

    private mutating func cancel() {
        emit(.cancelled)
        active = nil
    }

    private mutating func emit(_ phase: GesturePhase) {
        guard let active else { return }
        events.append(GestureEvent(.pan, phase, .pan(active.translation), time: timeMs))
        guard active.kind == .pinch else { return }
        events.append(GestureEvent(.pinch, phase, .pinch(active.scale), time: timeMs))
        events.append(GestureEvent(.rotate, phase, .rotate(active.rotation), time: timeMs))
    }

    /// Ends the recording; an active gesture is cancelled.
    mutating func finish(_ fingers: inout FingerFrames) {
        guard active != nil else { return }
        fingers.notes.add(.leftDown)
        timeMs = fingers.clock.time.map { Double($0) / 1000 } ?? timeMs
        cancel()
        handOut(&fingers)
    }
}
