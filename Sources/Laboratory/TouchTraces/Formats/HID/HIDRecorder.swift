// Parses hid-recorder's text (hid-tools): a HID device's report descriptor and its reports, as the device sent them.
//
//     D: 0                                                          the device, where several may be
//     R: 187 05 0d 09 04 a1 01 …
//     N: Multi Touch Panel with Controller
//     I: 3 2087 0a02
//     E: 3041.740842 14 01 02 02 34 03 8b 04 00 03 25 0a 4d 0e 01
//
// Reports become the kernel's events with slots. All other lines are for humans, and errors in them do no harm.

struct HIDRecorderParser: EventLineParser {
    private var devices: [Int: HIDDevice] = [:]
    /// The device that the next lines are about: the first one is number 0, named or not.
    private var current = InputEvent.onlyDevice
    /// Whether any device has sent a report.
    private var hasReports = false
    /// Whether the next descriptor belongs to the device named last.
    private var isNamed = false
    private var bytes: [UInt8] = []

    private static let mostDevices = 256

    static func isHead(_ line: Span<UInt8>) -> Bool {
        var parser = Self()
        var index = 0
        if Scan.word("# 0x", line, &index) {
            return Scan.hex(line, &index) != nil && Scan.byte(UInt8(ascii: ","), line, &index)
                && Scan.find(" // ", line, &index)
        }
        if Scan.word("R: ", line, &index) { return parser.readBytes(line, &index) && !parser.bytes.isEmpty }
        // Evemu's events have three numbers.
        guard Scan.word("E: ", line, &index), Scan.time(line, &index) != nil else { return false }
        return parser.readBytes(line, &index) && parser.bytes.count > 2
    }

    mutating func parse(_ line: Span<UInt8>, _ heads: inout DeviceHeads) -> RecordedLine {
        var index = 0
        if Scan.word("E: ", line, &index) { return report(line, &index) }
        if Scan.word("R: ", line, &index) { return descriptor(line, &index, &heads) }
        if Scan.word("N:", line, &index) {
            heads.set(name: Scan.name(line, from: index))
        } else if Scan.word("D:", line, &index) {
            Scan.space(line, &index)
            guard let number = Scan.decimal(line, &index), number >= 0 else { return .damaged }
            current = number
            isNamed = true
            heads.begin(current)
        }
        return .nothing
    }

    private mutating func descriptor(
        _ line: Span<UInt8>, _ index: inout Int, _ heads: inout DeviceHeads
    ) -> RecordedLine {
        guard readBytes(line, &index), devices.count < Self.mostDevices || devices[current] != nil else {
            return .damaged
        }
        // All devices may be described before the first report.
        while !isNamed, !hasReports, devices[current] != nil { current += 1 }
        isNamed = false
        let descriptor = HIDDescriptor(bytes.span)
        heads.begin(current)
        if let x = descriptor.x, let y = descriptor.y {
            heads.set(x, AxisCode.contactX)
            heads.set(y, AxisCode.contactY)
        }
        let isKnown = devices.updateValue(HIDDevice(descriptor, number: current), forKey: current) != nil
        hasReports = hasReports && !isKnown
        return isKnown ? .beginning : .nothing
    }

    private mutating func report(_ line: Span<UInt8>, _ index: inout Int) -> RecordedLine {
        Scan.space(line, &index)
        guard let time = Scan.time(line, &index), FrameClock.recorded.contains(time), readBytes(line, &index)
        else { return .damaged }
        hasReports = true
        let bytes = bytes
        return devices[current]?.read(bytes.span, at: time) ?? .damaged
    }

    /// Reads the number of bytes and then the bytes, of two digits each. Returns whether all are there.
    private mutating func readBytes(_ line: Span<UInt8>, _ index: inout Int) -> Bool {
        bytes.removeAll(keepingCapacity: true)
        Scan.space(line, &index)
        guard let count = Scan.decimal(line, &index) else { return false }
        while !Scan.isAtEnd(line, index) {
            guard Scan.byte(0x20, line, &index) else { return false }
            Scan.space(line, &index)
            let start = index
            guard let byte = Scan.hex(line, &index), index == start + 2 else { return false }
            bytes.append(UInt8(byte))
        }
        return bytes.count == count
    }
}

/// A converter from one device's reports to the kernel's events.
///
/// A report has one contact or several. A frame is one report, or as many as are needed for the contact count of the
/// first; reports that continue it have a count of 0, or the same again. Contacts are told apart by their ids.
private struct HIDDevice {
    private let descriptor: HIDDescriptor
    private let number: Int
    /// The current contacts, by slot.
    private var slots: [Int?] = []
    private var landed = 0

    // The incomplete frame.
    /// Its number of contacts; `nil` means at most those of the report, each of which says whether it is there.
    private var expected: Int?
    private var received = 0
    private var scanTime: Int?
    private var time = 0
    private var seen: Set<Int> = []
    private var events: [InputEvent] = []

    private static let mostSlots = 256

    init(_ descriptor: HIDDescriptor, number: Int) {
        self.descriptor = descriptor
        self.number = number
    }

    mutating func read(_ bytes: Span<UInt8>, at time: Int) -> RecordedLine {
        guard bytes.count > 0 else { return .damaged }
        let isNumbered = descriptor.hasNumbers
        guard let layout = descriptor.reports[isNumbered ? Int(bytes[0]) : 0] else { return .events([]) }
        let report = bytes.extracting((isNumbered ? 1 : 0)...)
        if layout.isPen { return isPenThere(report, layout) ? .pen : .events([]) }
        events.removeAll(keepingCapacity: true)
        let isWhole = begin(layout.count?.value(in: report), layout.scanTime?.value(in: report))
        self.time = time
        for (index, contact) in layout.contacts.enumerated() {
            if let expected, received >= expected { break }
            take(contact, contact.id?.value(in: report) ?? index, report)
            received += 1
        }
        guard received >= expected ?? 0 else { return .events(events) }
        // A contact that is missing from a report with several entries has gone, even if no report said so. A device
        // that reports one contact at a time says nothing about the others, unless it counts them as Windows 8
        // requires.
        if isWhole, layout.contacts.count > 1 || descriptor.tellsPalms { liftUnseen() }
        complete()
        return .events(events)
    }

    private func isPenThere(_ report: Span<UInt8>, _ layout: HIDReport) -> Bool {
        layout.contacts.contains { ($0.inRange ?? $0.tip)?.value(in: report) ?? 0 != 0 }
    }

    /// Continues the frame or begins another one, by a report's contact count and scan time. Returns whether the frame
    /// then has all contacts; not if a count of 0 may only mean that the report follows a complete frame.
    private mutating func begin(_ count: Int?, _ scanned: Int?) -> Bool {
        if received > 0, scanned != scanTime || count ?? 0 > 0 && received >= count ?? 0 {
            // The rest of the frame was lost.
            complete()
        }
        defer { scanTime = scanned }
        guard let count else { return false }
        if count > 0 { expected = count } else if received == 0 { expected = nil }
        return count > 0 || received > 0 || scanned != scanTime
    }

    private mutating func complete() {
        emit(EventType.synchronization, SynchronizationCode.report, 0)
        (expected, received) = (nil, 0)
        seen.removeAll(keepingCapacity: true)
    }

    // MARK: Contacts

    private mutating func take(_ contact: HIDContact, _ id: Int, _ report: Span<UInt8>) {
        func isSet(_ field: HIDField?) -> Bool? { field.map { $0.value(in: report) != 0 } }
        // A finger in range that does not touch has not landed yet, or has lifted.
        guard isSet(contact.tip) == true else { return liftUnseen(id) }
        guard let x = contact.x?.value(in: report), let y = contact.y?.value(in: report), land(id) else { return }
        if descriptor.tellsPalms, let isFinger = isSet(contact.confidence) {
            emit(EventType.absolute, AxisCode.toolType, isFinger ? 0 : SlotContacts.palm)
        }
        emit(EventType.absolute, AxisCode.contactX, x)
        emit(EventType.absolute, AxisCode.contactY, y)
    }

    /// Chooses the slot of a contact. Returns whether there is one that no other contact of this frame uses.
    private mutating func land(_ id: Int) -> Bool {
        let slot = slots.firstIndex(of: id) ?? slots.firstIndex(of: nil) ?? slots.count
        guard slot < Self.mostSlots, seen.insert(slot).inserted else { return false }
        if slot == slots.count { slots.append(nil) }
        emit(EventType.absolute, AxisCode.slot, slot)
        if slots[slot] == nil {
            landed += 1
            emit(EventType.absolute, AxisCode.trackingID, landed)
        }
        slots[slot] = id
        return true
    }

    /// Lifts the contacts that are not in this frame, or only the one with an id: unused entries of a report may repeat
    /// the id of a contact that is in the same frame.
    private mutating func liftUnseen(_ id: Int? = nil) {
        for (slot, down) in slots.enumerated() where down != nil && (id == nil || down == id) && !seen.contains(slot) {
            slots[slot] = nil
            emit(EventType.absolute, AxisCode.slot, slot)
            emit(EventType.absolute, AxisCode.trackingID, -1)
        }
    }

    private mutating func emit(_ type: Int, _ code: Int, _ value: Int) {
        events.append(InputEvent(time: time, type: type, code: code, value: value, device: number))
    }
}
