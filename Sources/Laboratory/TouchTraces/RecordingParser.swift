// Parses the lines, objects and events of a recording. Each format has its own parser, and all of them produce frames.
// A new format gets a property here, and the compiler asks where to use it. If nothing gives the range of a device's
// positions, fingers are held back until enough of them have shown it.
// Invariants: output is whole: a frame is handed out when its report is complete. The surface is handed out once, before
// the first frame, and never changes afterwards.

import GimbalProtocol

struct RecordingParser: Sendable {
    /// The recording's format, once it is known.
    var format: RecordingFormat?
    /// The surface, once it has been handed out.
    private(set) var surface: Surface?
    /// The number of bytes read.
    var consumed = 0

    private let options: TraceOptions
    /// The number of lines, objects or events that were understood.
    private var understood = 0

    private var heads = DeviceHeads()
    /// The device of the previous event, and its number.
    private var current: (device: Int, number: Int)?
    private var tracker = ContactTracker()
    /// The fingers of formats that tell them apart themselves, and the notes of all formats.
    private var fingers: FingerFrames
    private var evemu = EvemuParser()
    private var getevent = GeteventParser()
    private var evtest = EvtestParser()
    private var libinputRecord = LibinputRecordParser()
    private var hidRecorder = HIDRecorderParser()
    private var pythonEvdev = PythonEvdevParser()
    private var sendevent: SendeventParser
    private var androidScript: AndroidScript
    private var gestures = LibinputGestures()
    private var libinputTouches = LibinputTouches()
    private var motionEvents = MotionEvents()
    private var web = WebTouches()
    private var session = RRWeb()

    /// Frames that wait until the range of their device is observed.
    private var held: [ContactFrame] = []
    private var heldContacts = 0
    private var observed = ObservedRange()
    /// Whether any finger or gesture has been seen.
    private var hasTouches = false

    /// How many bytes of a file are observed for the range of an undescribed device, and how many contacts are held
    /// back meanwhile at most.
    private static let observedLength = 1 << 20
    private static let mostHeld = 1 << 18
    /// The range of values in kernel events.
    private static let values = Int(Int32.min)...Int(UInt32.max)

    init(_ options: TraceOptions) {
        self.options = options
        fingers = FingerFrames(rate: options.rate)
        sendevent = SendeventParser(rate: options.rate)
        androidScript = AndroidScript(rate: options.rate)
    }

    var notes: RecordingNotes { fingers.notes }

    /// The device that reported the touches, as far as it is known.
    var device: DeviceDescription? {
        if let given = options.device { return given }
        switch format {
        case .webTouches, .devTools, .webDriver: return web.device
        case .rrweb: return session.device
        case .libinputDebugEvents: return libinputTouches.device
        case .motionEvents, .androidInput, .monkey: return nil
        case .evemu, .getevent, .evtest, .libinputRecord, .hidRecorder, .pythonEvdev, .sendevent, .inputEvents, .trace,
            nil:
            return heads.description(of: tracker.device)
        }
    }

    // MARK: Lines

    @inline(__always)
    mutating func parse(_ line: Span<UInt8>, number: Int, _ body: (RecordedFrame) throws -> Void) throws {
        let content: RecordedLine
        switch format {
        case .evemu: content = evemu.parse(line, &heads)
        case .getevent: content = getevent.parse(line, &heads)
        case .evtest: content = evtest.parse(line, &heads)
        case .libinputRecord: content = libinputRecord.parse(line, &heads)
        case .hidRecorder: content = hidRecorder.parse(line, &heads)
        case .pythonEvdev: content = pythonEvdev.parse(line, &heads)
        case .sendevent: content = sendevent.parse(line, &heads)
        case .libinputDebugEvents, .androidInput, .monkey, .motionEvents, .webTouches, .devTools, .webDriver, .rrweb:
            return try parse(object: line, number: number, body)
        // These have no text to parse.
        case .inputEvents, .trace, nil: return
        }
        switch content {
        case .event(let event):
            guard FrameClock.recorded.contains(event.time), Self.values.contains(event.value) else {
                return addDamaged(number, Scan.excerpt(line))
            }
            try follow(event, body)
        case .events(let events):
            if events.isEmpty { understood += 1 }
            for event in events { try follow(event, body) }
        case .pen:
            understood += 1
            fingers.notes.add(.pen)
        case .nothing: break
        case .beginning: if tracker.startOver(&fingers.notes) { try hand(tracker.frame, body) }
        case .timeless(let event): try follow(timeless: event, line, number, body)
        case .damaged: addDamaged(number, Scan.excerpt(line))
        }
    }

    /// Follows an event without a time, if the caller gave a frame rate.
    private mutating func follow(
        timeless event: InputEvent, _ line: Span<UInt8>, _ number: Int, _ body: (RecordedFrame) throws -> Void
    ) throws {
        guard let now = event.isReport ? fingers.nextStep() : fingers.step else {
            return try damaged(Damaged(isTimeless: true), line, number)
        }
        var event = event
        event.time = now
        try follow(event, body)
    }

    // MARK: Objects

    /// Parses an object, or a line, of a format whose parser makes the frames itself.
    mutating func parse(object text: Span<UInt8>, number: Int, _ body: (RecordedFrame) throws -> Void) throws {
        var damage: Damaged?
        do {
            switch format {
            case .libinputDebugEvents: try gestures.parse(text, options.rotation, &libinputTouches, &fingers)
            case .androidInput: try androidScript.parseInput(text, &fingers)
            case .monkey: try androidScript.parseMonkey(text, &fingers)
            case .motionEvents: try motionEvents.parse(text, &fingers)
            case .rrweb: try session.parse(text, &fingers)
            default:
                defer { format = web.format }
                try web.parse(text, &fingers)
            }
        } catch {
            damage = error
        }
        let frames = fingers.take()
        // A script's or a log's other lines may be anything.
        let isOther = format == .androidInput || format == .monkey || format == .motionEvents
        if let damage { try damaged(damage, text, number) } else if !isOther || !frames.isEmpty { understood += 1 }
        try hand(frames, body)
    }

    mutating func endArray(_ body: (RecordedFrame) throws -> Void) throws {
        guard format != .rrweb else { return }
        web.play(&fingers)
        try hand(fingers.take(), body)
    }

    // MARK: Events

    /// - Parameter event: `nil` for an event without a time.
    @inline(__always)
    mutating func parse(_ event: InputEvent?, _ body: (RecordedFrame) throws -> Void) throws {
        guard let event else { return addDamaged(understood + notes.damagedCount + 1, "an event without a time") }
        try follow(event, body)
    }

    /// Notes that the file ends within an event.
    mutating func eventWasCutOff() { addDamaged(understood + 1, "an event that is cut off") }

    @inline(__always)
    private mutating func follow(_ event: InputEvent, _ body: (RecordedFrame) throws -> Void) throws {
        understood += 1
        if event.device != current?.device { current = (event.device, heads.number(of: event.device)) }
        guard options.deviceNumber == nil else { return try followChosen(event, body) }
        let isComplete = tracker.handle(event, heads, &fingers.notes)
        if event.isLanding, event.device != tracker.device, let current, !heads.hasOtherAxes(event.device) {
            fingers.notes.leaveOut(deviceNumber: current.number)
        }
        if isComplete { try hand(tracker.frame, body) }
    }

    /// Follows an event if it is from the device that the caller chose.
    private mutating func followChosen(_ event: InputEvent, _ body: (RecordedFrame) throws -> Void) throws {
        guard current?.number == options.deviceNumber else { return fingers.notes.add(.otherDevice) }
        // The heads of other devices do not matter.
        if tracker.handle(event, DeviceHeads(), &fingers.notes) { try hand(tracker.frame, body) }
    }

    // MARK: Damage

    /// Notes a line, an object or an event that could not be read.
    mutating func addDamaged(_ number: Int, _ excerpt: String) { fingers.notes.addDamaged(number, excerpt) }

    private mutating func damaged(_ error: Damaged, _ line: Span<UInt8>, _ number: Int) throws {
        if error.isTimeless, understood == 0 { throw RecordingError.noTimes }
        addDamaged(number, Scan.excerpt(line))
    }

    // MARK: Frames

    @inline(__always)
    private mutating func hand(_ frame: ContactFrame, _ body: (RecordedFrame) throws -> Void) throws {
        hasTouches = hasTouches || !frame.contacts.isEmpty
        if surface == nil {
            guard try canBegin(with: frame, body) else { return }
        }
        try body(.touches(frame))
    }

    /// Hands out frames, and gestures after any frames that were held back.
    private mutating func hand(_ frames: [RecordedFrame], _ body: (RecordedFrame) throws -> Void) throws {
        for frame in frames {
            if case .touches(let contacts) = frame {
                try hand(contacts, body)
            } else {
                hasTouches = true
                try release(body)
                try body(frame)
            }
        }
    }

    /// Ends the recording, and hands out what this completes.
    ///
    /// - Throws: ``RecordingError`` if hardly any of it was understood.
    mutating func finish(_ body: (RecordedFrame) throws -> Void) throws {
        switch format {
        case .trace, nil: return
        case .libinputDebugEvents: libinputTouches.finishFrame(&fingers)
        case .webTouches, .devTools, .webDriver: web.play(&fingers)
        case .rrweb: session.finish(&fingers)
        case .motionEvents, .androidInput, .monkey: break
        case .sendevent where sendevent.isTimeless: throw RecordingError.noTimes
        case .evemu, .getevent, .evtest, .libinputRecord, .hidRecorder, .pythonEvdev, .sendevent, .inputEvents:
            if tracker.finish(&fingers.notes) { try hand(tracker.frame, body) }
        }
        fingers.finish()
        gestures.finish(&fingers)
        try hand(fingers.take(), body)
        if let number = options.deviceNumber, number > max(heads.numbered, 1) {
            throw RecordingError.noSuchDevice(number: number, count: max(heads.numbered, 1))
        }
        // A keyboard has no fingers, whether or not its lines are damaged.
        let isOther = tracker.device == nil && heads.numbered > 0 && notes.damagedCount < understood
        let isDamaged = !hasTouches && !isOther || notes.damagedCount > 9 * understood
        if let first = notes.damaged.first, isDamaged {
            throw RecordingError.notUnderstood(first, count: notes.damagedCount)
        }
        try release(body)
    }

    // MARK: The surface

    var isHolding: Bool { !held.isEmpty }

    /// Chooses the surface, or else holds the frame back. Returns whether the frame can be handed out.
    private mutating func canBegin(with frame: ContactFrame, _ body: (RecordedFrame) throws -> Void) throws -> Bool {
        if device?.ranges != nil || consumed > Self.observedLength || heldContacts > Self.mostHeld {
            try release(body)
            return true
        }
        for contact in frame.contacts { observed.add(contact) }
        held.append(frame)
        heldContacts += frame.contacts.count + 1
        return false
    }

    /// Assumes a common range for a device that has not shown its own, and hands out what is held back.
    mutating func assumeRange(_ body: (RecordedFrame) throws -> Void) throws {
        guard isHolding else { return }
        if device?.isInPoints != true { observed.assumeUsual() }
        try release(body)
    }

    /// Chooses the surface from what is known, and hands out what was held back.
    private mutating func release(_ body: (RecordedFrame) throws -> Void) throws {
        if surface == nil {
            let device = device
            let chosen = chooseSurface(of: device)
            surface = chosen
            try body(.surface(chosen, device))
        }
        let frames = held
        held = []
        for frame in frames { try body(.touches(frame)) }
    }

    private mutating func chooseSurface(of device: DeviceDescription?) -> Surface {
        guard device == nil, format == .libinputDebugEvents else {
            if device?.ranges == nil, hasTouches { fingers.notes.add(.noHead) }
            return Surface(of: device, observed: observed, options: options)
        }
        // Gestures are in points. Any fingers that follow are on the same viewport.
        var options = options
        options.viewport = options.viewport ?? .standard
        let device = DeviceDescription(x: LibinputTouches.range, y: LibinputTouches.range)
        return Surface(of: device, observed: observed, options: options)
    }
}
