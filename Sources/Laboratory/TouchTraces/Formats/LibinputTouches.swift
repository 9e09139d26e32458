// Reads fingers from `libinput debug-events`: each line has the finger of one slot, and TOUCH_FRAME ends a frame.
//
//     event7   TOUCH_MOTION   12  +8.152s	0 (0) 80.78/51.21 (255.33/90.17mm)
//     event7   TOUCH_FRAME        +8.152s
//
// Positions become hundredths of a percent of the surface. The line DEVICE_ADDED gives its size, or else the
// millimetres next to the first position.

import MapCamera

struct LibinputTouches {
    private enum Kind { case down, motion, up, cancel, frame }

    /// The surface, once a finger has had a position.
    private(set) var device: DeviceDescription?

    /// The time of the data since the last frame.
    private var pending: Int?
    private var isCancelled = false
    /// The sizes that devices have told, in millimetres.
    private var sizes: [Int: ScreenPoint] = [:]

    /// Hundredths of a percent.
    static let range = DeviceAxis(minimum: 0, maximum: 10_000)

    /// Reads the rest of a line after `TOUCH_`. It may complete a frame: the current one, or the previous one if the
    /// lines that end frames are missing.
    mutating func parse(
        _ line: Span<UInt8>, _ index: inout Int, of device: Int, _ fingers: inout FingerFrames
    ) throws(Damaged) {
        guard let kind = kind(line, &index) else { throw Damaged() }
        let time = LibinputGestures.time(line, &index)
        if kind == .frame { return finishFrame(&fingers) }
        Scan.space(line, &index)
        // A finger's seat slot is unique among all devices.
        guard Scan.decimal(line, &index) != nil, Scan.word(" (", line, &index), let slot = Scan.decimal(line, &index),
            Scan.byte(UInt8(ascii: ")"), line, &index)
        else { throw Damaged() }
        let finger = Double(slot)
        let place = kind == .down || kind == .motion ? try position(line, &index, of: device) : ScreenPoint(x: 0, y: 0)
        guard let time else { throw Damaged() }
        if let pending, pending != time { finishFrame(&fingers) }
        pending = time
        switch kind {
        case .down: try fingers.land(finger, place.x, place.y)
        case .motion where fingers.isDown(finger): try fingers.move(finger, place.x, place.y)
        case .motion:
            try fingers.land(finger, place.x, place.y)
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

    private func kind(_ line: Span<UInt8>, _ index: inout Int) -> Kind? {
        if Scan.word("DOWN", line, &index) { return .down }
        if Scan.word("MOTION", line, &index) { return .motion }
        if Scan.word("UP", line, &index) { return .up }
        if Scan.word("CANCEL", line, &index) { return .cancel }
        return Scan.word("FRAME", line, &index) ? .frame : nil
    }

    /// Reads `size 316x176mm` in the rest of a line about a new device.
    mutating func add(_ device: Int, _ line: Span<UInt8>, _ index: inout Int) {
        // The device's name may have the word, too.
        while Scan.find("size ", line, &index) {
            guard let width = Scan.real(line, &index), Scan.byte(UInt8(ascii: "x"), line, &index),
                let height = Scan.real(line, &index), Scan.word("mm", line, &index), width > 0, height > 0
            else { continue }
            sizes[device] = ScreenPoint(x: width, y: height)
        }
    }

    /// Reads `80.78/51.21 (255.33/90.17mm)`. The first one, in percent and in millimetres, gives the size of a surface
    /// that has not told it.
    private mutating func position(
        _ line: Span<UInt8>, _ index: inout Int, of number: Int
    ) throws(Damaged) -> ScreenPoint {
        func pair() -> ScreenPoint? {
            guard let x = Scan.real(line, &index), Scan.byte(UInt8(ascii: "/"), line, &index),
                let y = Scan.real(line, &index)
            else { return nil }
            return ScreenPoint(x: x, y: y)
        }
        guard let percent = pair() else { throw Damaged() }
        let place = ScreenPoint(x: (percent.x * 100).rounded(), y: (percent.y * 100).rounded())
        guard device == nil else { return place }
        var (x, y) = (Self.range, Self.range)
        Scan.space(line, &index)
        if let size = sizes[number] {
            x.resolution = x.length / size.x
            y.resolution = y.length / size.y
        } else if Scan.byte(UInt8(ascii: "("), line, &index), let size = pair(), size.x > 0, size.y > 0, place.x > 0,
            place.y > 0
        {
            x.resolution = place.x / size.x
            y.resolution = place.y / size.y
        }
        device = DeviceDescription(x: x, y: y)
        return place
    }

    // MARK: Frames

    /// Ends the current frame, if there is one.
    mutating func finishFrame(_ fingers: inout FingerFrames) {
        if let time = pending { fingers.complete(atMicroseconds: time, isCancelled: isCancelled) }
        (pending, isCancelled) = (nil, false)
    }
}
