// Reads touches of a web page in JSON: its own TouchEvents or PointerEvents; Chrome's `Input.dispatchTouchEvent`
// messages; WebDriver scripts.
//
//     {"viewport":{"width":390,"height":844}}
//     {"type":"touchmove","timeStamp":1234.5,"touches":[{"identifier":0,"clientX":101.5,"clientY":200}]}
//     {"type":"pointermove","timeStamp":1234.5,"pointerId":2,"clientX":101.5,"clientY":200}
//     {"method":"Input.dispatchTouchEvent","params":{"type":"touchMove","touchPoints":[{"x":101.5,"y":200,"id":0}]}}
//     {"method":"Emulation.setDeviceMetricsOverride","params":{"width":390,"height":844}}
//     {"actions":[{"type":"pointer","id":"finger1","actions":[{"type":"pointerMove","duration":0,"x":101,"y":200}]}]}
//
// `touches` are all touches on the screen after the event. Other members and other events are ignored. Times are
// milliseconds; positions are CSS pixels, which are points.

struct WebTouches {
    /// The recording's format, as far as its values have shown it.
    private(set) var format = RecordingFormat.webTouches
    /// The viewport as a device, as far as it is known.
    private(set) var device = DeviceDescription(isInPoints: true)
    private var isDevToolsOfSingleFingers = false
    private var script = WebDriverScript()

    /// Returns whether only recordings of this format can contain an object. An object over several lines, or in an
    /// array, may be of any of its shapes.
    static func recognizes(_ text: Span<UInt8>) -> Bool {
        guard Scan.begins(text, with: "{"), let value = try? WebValue(text) else { return false }
        if value.dispatch != nil || value.sources != nil { return true }
        guard let type = value.type else { return value.viewport?.width != nil && value.viewport?.height != nil }
        guard value.timeStamp != nil, let kind = Kind(rawValue: type) else { return false }
        return kind.isOfTouches ? value.touches != nil : value.pointerId != nil
    }

    /// Returns whether an object is a script, which may exceed the maximum line length.
    static func isScript(_ text: Span<UInt8>) -> Bool { (try? WebValue(text))?.sources != nil }

    private enum Kind: String {
        case touchstart, touchmove, touchend, touchcancel
        case pointerdown, pointermove, pointerup, pointercancel

        var isOfTouches: Bool { rawValue.hasPrefix("touch") }
    }

    /// Reads an object.
    mutating func parse(_ text: Span<UInt8>, _ fingers: inout FingerFrames) throws(Damaged) {
        if Scan.isAtEnd(text, 0) { return }
        let value = try WebValue(text)
        if let sources = value.sources {
            format = .webDriver
            if script.has(sources) { play(&fingers) }
            if value.viewport != nil || value.header != nil {
                try set(value)
                script.isForBrowser = true
            }
            try script.add(sources)
            return
        }
        play(&fingers)
        if let dispatch = value.dispatch {
            format = .devTools
            try read(dispatch, &fingers)
        } else if let type = value.type {
            guard let kind = Kind(rawValue: type) else { return }
            guard let timeMs = value.timeStamp, FingerFrames.isTime(timeMs) else { throw Damaged() }
            try read(kind, value, at: timeMs, &fingers)
        } else if value.viewport != nil || value.header != nil {
            try set(value)
        }
    }

    /// Plays a script once all of it has come: at the end of an array whose elements were its fingers, or of the file.
    mutating func play(_ fingers: inout FingerFrames) { script.play(into: &fingers) }

    /// Sets the viewport, preferably from the header, which has it exactly.
    private mutating func set(_ value: WebValue) throws(Damaged) {
        let told = value.header?.viewport
        guard let width = told?.width ?? value.viewport?.width, let height = told?.height ?? value.viewport?.height,
            Surface.sizes.contains(width), Surface.sizes.contains(height)
        else { throw Damaged() }
        // Later changes of the viewport are ignored.
        guard device.x == nil else { return }
        device.header = value.header
        device.x = DeviceAxis(minimum: 0, maximum: width)
        device.y = DeviceAxis(minimum: 0, maximum: height)
    }

    // MARK: Events of a page

    private mutating func read(
        _ kind: Kind, _ value: WebValue, at timeMs: Double, _ fingers: inout FingerFrames
    ) throws(Damaged) {
        guard !kind.isOfTouches else {
            if kind == .touchcancel {
                guard !fingers.isEmpty else { return }
                fingers.liftAll()
            } else {
                guard let touches = value.touches else { throw Damaged() }
                try fingers.set(touches)
            }
            return fingers.complete(at: timeMs, isCancelled: kind == .touchcancel)
        }
        guard let id = value.pointerId else { throw Damaged() }
        // A mouse moves without being down.
        guard kind == .pointerdown || fingers.isDown(id) else { return }
        if kind == .pointercancel {
            fingers.lose(id)
        } else {
            guard let x = value.x, let y = value.y else { throw Damaged() }
            switch kind {
            case .pointerdown: try fingers.land(id, x, y)
            case .pointerup: fingers.lift(id)
            default: try fingers.move(id, x, y)
            }
        }
        fingers.complete(at: timeMs, isCancelled: kind == .pointercancel)
    }

    // MARK: Messages to Chrome

    /// Reads a message, whose points are all fingers that are down; unless a second finger started alone while another
    /// one was down: then each finger has its own messages, as Puppeteer writes them.
    private mutating func read(_ dispatch: WebValue.Dispatch, _ fingers: inout FingerFrames) throws(Damaged) {
        guard let timeMs = dispatch.timeMs ?? fingers.nextStep().map({ Double($0) / 1000 }) else {
            throw Damaged(isTimeless: true)
        }
        guard FingerFrames.isTime(timeMs) else { throw Damaged() }
        let points = dispatch.touchPoints
        switch dispatch.type {
        case "touchStart", "touchMove":
            guard !points.isEmpty else { throw Damaged() }
            let areNew = points.allSatisfy { !fingers.isDown($0.identifier) }
            if dispatch.type == "touchStart", !fingers.isEmpty, areNew { isDevToolsOfSingleFingers = true }
            guard isDevToolsOfSingleFingers else {
                try fingers.set(points)
                break
            }
            for point in points {
                if fingers.isDown(point.identifier) {
                    try fingers.move(point.identifier, point.x, point.y)
                } else {
                    try fingers.land(point.identifier, point.x, point.y)
                }
            }
        case "touchEnd":
            if points.isEmpty { fingers.liftAll() } else { for point in points { fingers.lift(point.identifier) } }
        case "touchCancel":
            guard !fingers.isEmpty else { return }
            fingers.liftAll()
            return fingers.complete(at: timeMs, isCancelled: true)
        default: throw Damaged()
        }
        fingers.complete(at: timeMs)
    }
}
