// The three ways in which devices report contacts. Each collects the data of a frame, and then appends its contacts.

/// One finger: ABS_X, ABS_Y and BTN_TOUCH.
struct SingleContact {
    private var x: Int?
    private var y: Int?
    private var number: Int?

    mutating func set(_ code: Int, _ value: Int) {
        if code == AxisCode.x { x = value } else if code == AxisCode.y { y = value }
    }

    mutating func set(isDown: Bool, _ numbers: inout ContactNumbers) {
        if !isDown { number = nil } else if number == nil { number = numbers.next() }
    }

    func append(to contacts: inout [Contact]) {
        guard let number, let x, let y else { return }
        contacts.append(Contact(id: number, x: Double(x), y: Double(y)))
    }
}

/// Type B: each contact has a slot, and only changes are reported.
struct SlotContacts {
    struct Slot {
        enum State {
            /// Nothing is known; data would belong to a finger that was down before.
            case unknown
            case empty
            case down
        }

        var state = State.unknown
        var number = 0
        /// The kernel's id; -1 if the finger was down before.
        var trackingID = -1
        // The kernel keeps these when a finger lifts, and reports only what differs for the next one.
        var x: Int?
        var y: Int?
        var isPalm = false
        var isHovering = false

        /// Whether it is noted that the contact is hidden.
        var isNoted = false

        /// Whether the contact is reported, but is not a finger on the surface.
        var isHidden: Bool { isPalm || isHovering }
    }

    /// The maximum; no device has more.
    private static let most = 256
    /// The kernel's MT_TOOL_PALM.
    static let palm = 2

    /// Whether any slot has been chosen.
    private(set) var hasSlots = false
    /// Whether data came before any slot was chosen, and this is not noted yet.
    private var isEarly = false
    private var hasData = false
    private var slots = [Slot()]
    /// The slot that data belongs to, or `nil` if its number is invalid.
    private var current: Int? = 0

    /// The slot of data that comes before any is chosen.
    var first: Slot { slots[0] }

    @inline(__always)
    mutating func set(_ code: Int, _ value: Int, _ numbers: inout ContactNumbers, _ notes: inout RecordingNotes) {
        if code == AxisCode.slot { return choose(value) }
        guard let current else { return }
        switch code {
        case AxisCode.contactX: slots[current].x = value
        case AxisCode.contactY: slots[current].y = value
        case AxisCode.trackingID: track(value, current, &numbers, &notes)
        case AxisCode.toolType: hide(value == Self.palm, \.isPalm, current, &numbers)
        case AxisCode.distance: hide(value > 0, \.isHovering, current, &numbers)
        default: return
        }
        if !hasData {
            hasData = true
            isEarly = !hasSlots
        }
    }

    private mutating func choose(_ slot: Int) {
        hasSlots = true
        current = 0..<Self.most ~= slot ? slot : nil
        while slots.count <= current ?? 0 { slots.append(Slot()) }
    }

    private mutating func track(
        _ id: Int, _ slot: Int, _ numbers: inout ContactNumbers, _ notes: inout RecordingNotes
    ) {
        guard id >= 0 else {
            if slots[slot].state == .down, slots[slot].x == nil || slots[slot].y == nil { notes.add(.unplaced) }
            slots[slot].state = .empty
            return
        }
        if slots[slot].state == .down {
            if slots[slot].trackingID == id { return }
            if slots[slot].trackingID >= 0 { notes.add(.idReplaced) }
        }
        slots[slot].state = .down
        slots[slot].trackingID = id
        slots[slot].number = numbers.next()
        slots[slot].isNoted = false
    }

    /// Hides a palm, or a finger that hovers above the surface. Whatever turns out to be a finger on it lands anew.
    private mutating func hide(
        _ isHidden: Bool, _ reason: WritableKeyPath<Slot, Bool>, _ slot: Int, _ numbers: inout ContactNumbers
    ) {
        guard isHidden != slots[slot][keyPath: reason] else { return }
        slots[slot][keyPath: reason] = isHidden
        guard slots[slot].state == .down, !isHidden else { return }
        slots[slot].number = numbers.next()
        slots[slot].isNoted = false
    }

    /// Returns whether one of the fingers before has turned out to be a palm. The others took part in its gesture: they
    /// land again.
    mutating func hasLost(one before: [Contact], _ numbers: inout ContactNumbers) -> Bool {
        guard slots.contains(where: { slot in slot.isPalm && before.contains { $0.id == slot.number } }) else {
            return false
        }
        for index in slots.indices where !slots[index].isPalm { slots[index].number = numbers.next() }
        return true
    }

    /// Lifts the fingers that were down before: they have no id to lift by, and go when the last finger does.
    mutating func liftUnnamed() {
        for index in slots.indices where slots[index].state == .down && slots[index].trackingID < 0 {
            slots[index].state = .unknown
            (slots[index].x, slots[index].y) = (nil, nil)
        }
    }

    /// Forgets everything after lost events, except which slot is chosen.
    mutating func forget() {
        for index in slots.indices { slots[index] = Slot() }
    }

    mutating func append(
        to contacts: inout [Contact], _ numbers: inout ContactNumbers, _ notes: inout RecordingNotes
    ) {
        if isEarly {
            isEarly = false
            notes.add(.noSlotBeforeData)
        }
        for index in slots.indices {
            guard slots[index].state != .empty, let x = slots[index].x, let y = slots[index].y else { continue }
            if slots[index].state == .unknown {
                slots[index].state = .down
                slots[index].trackingID = -1
                slots[index].number = numbers.next()
                notes.add(.downBefore)
            }
            guard !slots[index].isHidden else {
                if !slots[index].isNoted { notes.add(slots[index].isPalm ? .palm : .hovering) }
                slots[index].isNoted = true
                continue
            }
            contacts.append(Contact(id: slots[index].number, x: Double(x), y: Double(y)))
        }
    }
}

/// Type A: each frame has all contacts, and each contact ends with SYN_MT_REPORT. A contact is matched to the one with
/// its id in the previous frame, or without ids to the nearest.
struct WholeFrameContacts {
    private struct Report {
        var x: Int?
        var y: Int?
        var id = -1
        var size = 1
        var isPalm = false
        var isHovering = false
        /// The contact's own number, once it is known.
        var number = 0
    }

    /// The maximum; no device has more.
    private static let most = 64

    private var report = Report()
    private var reports: [Report] = []
    private var before: [Report] = []
    /// Whether the frame says anything about contacts, even that there are none.
    private var isTold = false
    /// Whether a finger of the frame before is a palm in this one.
    private var hasLost = false
    /// Whether the frame says that no finger is left, as drivers do that omit the empty SYN_MT_REPORT.
    var isLifted = false

    mutating func set(_ code: Int, _ value: Int) {
        switch code {
        case AxisCode.contactX: report.x = value
        case AxisCode.contactY: report.y = value
        case AxisCode.trackingID: report.id = value
        case AxisCode.touchMajor: report.size = value
        case AxisCode.toolType: report.isPalm = value == SlotContacts.palm
        case AxisCode.distance: report.isHovering = value > 0
        case AxisCode.pressure: isLifted = value == 0
        default: break
        }
    }

    /// Takes over data that was first read as a slot's.
    mutating func begin(_ slot: SlotContacts.Slot) {
        report.x = slot.x
        report.y = slot.y
        if slot.state == .down {
            report.id = slot.trackingID
            report.number = slot.number
        }
        report.isPalm = slot.isPalm
        report.isHovering = slot.isHovering
    }

    /// Ends a contact. It is ignored without a position, or with size 0, which drivers report when it lifts.
    mutating func endContact(_ notes: inout RecordingNotes) {
        isTold = true
        defer { report = Report() }
        guard report.x != nil, report.y != nil, report.size > 0, reports.count < Self.most else { return }
        if report.isPalm { notes.add(.palm) }
        if report.isHovering { return notes.add(.hovering) }
        reports.append(report)
    }

    /// Appends the contacts. Returns whether one of those before has turned out to be a palm; the others land again.
    mutating func append(
        to contacts: inout [Contact], _ numbers: inout ContactNumbers, _ notes: inout RecordingNotes
    ) -> Bool {
        // The last SYN_MT_REPORT may be missing.
        if report.x != nil, report.y != nil { endContact(&notes) }
        if isTold || isLifted {
            identify(&numbers)
            swap(&before, &reports)
            reports.removeAll(keepingCapacity: true)
        }
        defer { (isTold, isLifted, hasLost) = (false, false, false) }
        for index in before.indices where !before[index].isPalm {
            if hasLost { before[index].number = numbers.next() }
            let report = before[index]
            contacts.append(Contact(id: report.number, x: Double(report.x ?? 0), y: Double(report.y ?? 0)))
        }
        return hasLost
    }

    // MARK: Identity

    private mutating func identify(_ numbers: inout ContactNumbers) {
        for index in reports.indices where reports[index].id >= 0 {
            if let same = before.firstIndex(where: { $0.id == reports[index].id }) {
                match(index, same, &numbers)
            }
        }
        while let (index, nearest) = nearestPair() { match(index, nearest, &numbers) }
        for index in reports.indices where reports[index].number == 0 { reports[index].number = numbers.next() }
    }

    private mutating func match(_ index: Int, _ old: Int, _ numbers: inout ContactNumbers) {
        let wasPalm = before[old].isPalm
        reports[index].number = wasPalm && !reports[index].isPalm ? numbers.next() : before[old].number
        hasLost = hasLost || reports[index].isPalm && !wasPalm
        before.remove(at: old)
    }

    /// Returns the closest pair of contacts without ids, one from each frame.
    private func nearestPair() -> (index: Int, before: Int)? {
        var nearest: (index: Int, before: Int)?
        var least = Double.infinity
        for (index, report) in reports.enumerated() where report.id < 0 && report.number == 0 {
            for (old, candidate) in before.enumerated() where candidate.id < 0 {
                let dx = Double((report.x ?? 0) - (candidate.x ?? 0))
                let dy = Double((report.y ?? 0) - (candidate.y ?? 0))
                guard dx * dx + dy * dy < least else { continue }
                least = dx * dx + dy * dy
                nearest = (index, old)
            }
        }
        return nearest
    }
}
