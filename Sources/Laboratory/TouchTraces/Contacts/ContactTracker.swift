// Turns input events into frames, by the kernel's multi-touch protocols (multi-touch-protocol.rst): type B with slots,
// type A with whole frames, and single fingers. A frame ends at SYN_REPORT and has its time. Of several devices, the
// one that tells contacts apart is followed; until it sends events, one that follows a single finger.

struct ContactTracker {
    /// The last complete frame.
    private(set) var frame = ContactFrame(time: 0, contacts: [])
    /// The followed device.
    private(set) var device: Int?

    /// Any events of contacts count as slots until SYN_MT_REPORT is seen.
    private var mode = ContactProtocol.single
    private var clock = FrameClock()
    private var isDropping = false
    /// Whether the recording has had no frame yet.
    private var isFresh = true
    /// The time of the frame's first event.
    private var begun: Int?
    private var isMixed = false
    /// The contacts of the previous frame.
    private var before: [Contact] = []
    /// Devices whose contact axes mean something else.
    private var otherDevices: Set<Int> = []
    private var single = SingleContact()
    private var slots = SlotContacts()
    private var wholeFrames = WholeFrameContacts()
    private var numbers = ContactNumbers()

    // MARK: Events

    /// Handles an event, and returns whether it completed a frame.
    @inline(__always)
    mutating func handle(_ event: InputEvent, _ heads: DeviceHeads, _ notes: inout RecordingNotes) -> Bool {
        // Another device may have a clock of its own.
        if begun == nil, clock.isSetBack(to: event.time), device == nil || event.device == device, startOver(&notes) {
            // The frame ends the previous recording; a report alone adds nothing to the next one.
            if !event.isReport { _ = takeNext(event, heads, &notes) }
            return true
        }
        return takeNext(event, heads, &notes)
    }

    @inline(__always)
    private mutating func takeNext(
        _ event: InputEvent, _ heads: DeviceHeads, _ notes: inout RecordingNotes
    ) -> Bool {
        if event.device != device || mode == .single && event.isOfContact {
            guard follow(event, heads, &notes) else { return false }
        }
        if event.isReport { return complete(at: event.time, &notes) }
        guard !isDropping else { return false }
        if let begun { isMixed = isMixed || event.time != begun } else { begun = event.time }
        switch event.type {
        case EventType.absolute:
            if event.code == AxisCode.belowContacts { beOther(event.device) }
            axis(event.code, event.value, &notes)
        case EventType.synchronization: synchronize(event.code, &notes)
        case EventType.key: if event.code == KeyCode.touch { touch(event.value != 0, &notes) }
        default: break
        }
        return false
    }

    /// Returns whether the event is from the followed device; may begin to follow its device.
    @inline(never)
    private mutating func follow(_ event: InputEvent, _ heads: DeviceHeads, _ notes: inout RecordingNotes) -> Bool {
        if event.type == EventType.absolute, event.code == AxisCode.belowContacts { beOther(event.device) }
        let isOfContact =
            event.isOfContact && !otherDevices.contains(event.device) && !heads.hasOtherAxes(event.device)
        if isOfContact, device == nil || mode == .single {
            mode = .slots
            notes.contactProtocol = .slots
        } else if event.device == device {
            return true
        } else if device != nil || event.isOfTouch && heads.isOtherForContacts(than: event.device) {
            notes.add(.otherDevice)
            return false
        } else if !event.isOfTouch {
            return false
        }
        device = event.device
        return true
    }

    /// Handles an axis which shows that the device's contact axes mean something else.
    private mutating func beOther(_ device: Int) {
        guard otherDevices.insert(device).inserted, mode != .single else { return }
        mode = .single
        // What was taken for fingers is cancelled at the next report.
        isDropping = true
    }

    private mutating func axis(_ code: Int, _ value: Int, _ notes: inout RecordingNotes) {
        switch mode {
        case .slots: slots.set(code, value, &numbers, &notes)
        case .wholeFrames: wholeFrames.set(code, value)
        case .single: single.set(code, value)
        }
    }

    private mutating func touch(_ isDown: Bool, _ notes: inout RecordingNotes) {
        switch mode {
        case .slots: if !isDown { slots.liftUnnamed() }
        case .wholeFrames: if !isDown { wholeFrames.isLifted = true }
        case .single:
            notes.contactProtocol = .single
            single.set(isDown: isDown, &numbers)
        }
    }

    private mutating func synchronize(_ code: Int, _ notes: inout RecordingNotes) {
        if code == SynchronizationCode.dropped {
            isDropping = true
            notes.add(.dropped)
        } else if code == SynchronizationCode.contact, mode == .slots, !slots.hasSlots {
            // The data before the first SYN_MT_REPORT was that contact's.
            mode = .wholeFrames
            notes.contactProtocol = .wholeFrames
            wholeFrames.begin(slots.first)
            wholeFrames.endContact(&notes)
        } else if code == SynchronizationCode.contact, mode == .wholeFrames {
            wholeFrames.endContact(&notes)
        }
    }

    // MARK: Frames

    private mutating func complete(at recorded: Int, _ notes: inout RecordingNotes) -> Bool {
        if isMixed || (begun ?? recorded) != recorded { notes.add(.mixedTimes) }
        begun = nil
        isMixed = false
        frame.time = clock.advance(to: recorded, &notes)
        isFresh = false
        swap(&before, &frame.contacts)
        frame.contacts.removeAll(keepingCapacity: true)
        frame.isCancelled = false
        frame.isImplied = false
        if isDropping { return cancel() }
        switch mode {
        case .slots:
            frame.isCancelled = slots.hasLost(one: before, &numbers)
            slots.append(to: &frame.contacts, &numbers, &notes)
        case .wholeFrames: frame.isCancelled = wholeFrames.append(to: &frame.contacts, &numbers, &notes)
        case .single: single.append(to: &frame.contacts)
        }
        if frame.isCancelled {
            frame.contacts.removeAll(keepingCapacity: true)
        } else {
            notes.count(frame, after: before)
        }
        return true
    }

    /// Cancels the fingers after lost events; those that are still down land again.
    private mutating func cancel() -> Bool {
        isDropping = false
        single = SingleContact()
        slots.forget()
        wholeFrames = WholeFrameContacts()
        frame.isCancelled = true
        return !before.isEmpty
    }

    /// Resets everything for another recording. Returns whether this makes a frame: fingers that are still down are
    /// cancelled.
    mutating func startOver(_ notes: inout RecordingNotes) -> Bool {
        guard !isFresh else { return false }
        notes.add(.recordingFollows)
        // Time and the numbers of contacts go on.
        var next = ContactTracker()
        (next.frame, next.before, next.clock, next.numbers) = (frame, before, clock, numbers)
        next.clock.beginAnew()
        self = next
        return finish(&notes)
    }

    /// Ends the recording. Returns whether this makes a last frame: fingers that are still down are cancelled.
    mutating func finish(_ notes: inout RecordingNotes) -> Bool {
        guard !frame.contacts.isEmpty else { return false }
        notes.add(.leftDown, frame.contacts.count)
        frame = ContactFrame(time: frame.time, contacts: [], isCancelled: true, isImplied: true)
        return true
    }
}

/// Numbers for contacts, never reused.
struct ContactNumbers {
    /// The last number given.
    private(set) var last = 0

    mutating func next() -> Int {
        last += 1
        return last
    }
}
