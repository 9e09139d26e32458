// Reads fingers from `libinput debug-events`: each line has the finger of one slot, and TOUCH_FRAME ends a frame.
//
//     event7   TOUCH_MOTION   12  +8.152s	0 (0) 80.78/51.21 (255.33/90.17mm)
//     event7   TOUCH_FRAME        +8.152s
//
// Positions become hundredths of a percent of the surface; the millimetres next to them give its size.

/// A reader of libinput's touches.
struct LibinputTouches {
    private struct Report {
        enum Kind { case down, motion, up, cancel, frame }

        var kind: Kind
        /// Microseconds; `nil` for a frame line without a time.
        var time: Int?
        var slot = 0
        var x = 0.0
        var y = 0.0
    }

    /// The surface, once a finger has had a position.
    private(set) var device: DeviceDescription?

    /// The time of the data since the last frame.
    private var pending: Int?
    private var isCancelled = false

    /// Hundredths of a percent.
    static let range = DeviceAxis(minimum: 0, maximum: 10_000)

    /// Reads the rest of a line after `TOUCH_`. It may complete a frame: the current one, or the previous one if the
    /// lines that end frames are missing.
    mutating func parse(_ line: Span<UInt8>, _ index: inout Int, _ fingers: inout FingerFrames) throws(Damaged) {
        guard let report = report(line, &index) else { throw Damaged() }
        if report.kind == .frame { return finishFrame(&fingers) }
        guard let time = report.time else { throw Damaged() }
        if let pending, pending != time { finishFrame(&fingers) }
        pending = time
        try handle(report, &fingers)
    }

    private mutating func handle(_ report: Report, _ fingers: inout FingerFrames) throws(Damaged) {
        let finger = Double(report.slot)
        switch report.kind {
        case .down: try fingers.land(finger, report.x, report.y)
        case .motion where fingers.isDown(finger): try fingers.move(finger, report.x, report.y)
        case .motion:
            try fingers.land(finger, report.x, report.y)
            fingers.notes.add(.downBefore)
        case .up: fingers.lift(finger)
        case .cancel where fingers.isDown(finger):
            // The other fingers took part in its gesture: they are cancelled, and land again.
            fingers.lose(finger)
            isCancelled = true
        case .cancel, .frame: break
        }
    }

    // MARK: Text

    private mutating func report(_ line: Span<UInt8>, _ index: inout Int) -> Report? {
        guard let kind = kind(line, &index) else { return nil }
        var report = Report(kind: kind)
        report.time = LibinputGestures.time(line, &index)
        if kind == .frame { return report }
        Scan.space(line, &index)
        // A finger's seat slot is unique among all devices.
        guard Scan.decimal(line, &index) != nil, Scan.word(" (", line, &index), let slot = Scan.decimal(line, &index),
            Scan.byte(UInt8(ascii: ")"), line, &index)
        else { return nil }
        report.slot = slot
        guard kind == .down || kind == .motion else { return report }
        guard let x = Scan.real(line, &index), Scan.byte(UInt8(ascii: "/"), line, &index),
            let y = Scan.real(line, &index)
        else { return nil }
        (report.x, report.y) = ((x * 100).rounded(), (y * 100).rounded())
        if device == nil { measure(report, line, &index) }
        return report
    }

    private func kind(_ line: Span<UInt8>, _ index: inout Int) -> Report.Kind? {
        if Scan.word("DOWN", line, &index) { return .down }
        if Scan.word("MOTION", line, &index) { return .motion }
        if Scan.word("UP", line, &index) { return .up }
        if Scan.word("CANCEL", line, &index) { return .cancel }
        return Scan.word("FRAME", line, &index) ? .frame : nil
    }

    /// Finds the size of the surface from a position given both in percent and in millimetres.
    private mutating func measure(_ report: Report, _ line: Span<UInt8>, _ index: inout Int) {
        var (x, y) = (Self.range, Self.range)
        Scan.space(line, &index)
        if Scan.byte(UInt8(ascii: "("), line, &index), let width = Scan.real(line, &index),
            Scan.byte(UInt8(ascii: "/"), line, &index), let height = Scan.real(line, &index),
            width > 0, height > 0, report.x > 0, report.y > 0
        {
            x.resolution = report.x / width
            y.resolution = report.y / height
        }
        device = DeviceDescription(x: x, y: y)
    }

    // MARK: Frames

    /// Ends the current frame, if there is one.
    mutating func finishFrame(_ fingers: inout FingerFrames) {
        if let time = pending { fingers.complete(atMicroseconds: time, isCancelled: isCancelled) }
        (pending, isCancelled) = (nil, false)
    }
}
