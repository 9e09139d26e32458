// A HID device's report descriptor (Device Class Definition for HID 1.11, section 6.2.2; usages of HID Usage Tables,
// Digitizers page): where in its reports the contacts are. What is doubtful is read as Linux's hid-core and
// hid-multitouch read it. No package for Swift does this; all that counts of a descriptor is below.
// Invariant: any bytes are a descriptor, which takes time in proportion to them; what makes no sense says nothing.

/// Where a value stands in a report.
struct HIDField {
    /// The first bit; the byte that numbers a report does not count.
    var bit: Int
    /// How many bits it has: 1 to 32.
    var size: Int
    var isSigned: Bool

    /// The value; what a report is too short for is 0.
    func value(in report: Span<UInt8>) -> Int {
        var bits: UInt64 = 0
        for offset in 0..<size {
            let byte = (bit + offset) / 8
            guard byte < report.count else { break }
            bits |= UInt64(report[byte] >> UInt8((bit + offset) % 8) & 1) << UInt64(offset)
        }
        let sign = isSigned ? UInt64(1) << UInt64(size - 1) : 0
        return Int(bits) - (bits & sign != 0 ? 1 << size : 0)
    }
}

/// Where a report tells of one contact.
struct HIDContact {
    var tip: HIDField?
    var inRange: HIDField?
    var confidence: HIDField?
    var id: HIDField?
    var x: HIDField?
    var y: HIDField?

    fileprivate var isWhole: Bool { tip != nil && x != nil && y != nil }
}

/// What one of a device's input reports holds.
struct HIDReport {
    var contacts: [HIDContact] = []
    /// How many contacts the frame has, be they in this report or in those that follow.
    var count: HIDField?
    var scanTime: HIDField?
    fileprivate var application: UInt32 = 0
    fileprivate var isOfStylus = false
    fileprivate var x: DeviceAxis?
    fileprivate var y: DeviceAxis?
    fileprivate var bits = 0
    /// The usage before, of those that count.
    fileprivate var last: UInt32 = 0

    fileprivate var hasIDs: Bool { contacts.contains { $0.id != nil } }

    /// Whether it tells of a pen. Touchscreens may call what follows a single contact a stylus.
    var isPen: Bool { application == 0x0d_0002 || isOfStylus && !hasIDs }

    /// Whether it follows a single finger on a touchscreen or a touchpad.
    fileprivate var isOfSingle: Bool { 0x0d_0004...0x0d_0005 ~= application && contacts.count == 1 }
}

/// A report descriptor, as far as it tells of contacts.
struct HIDDescriptor {
    /// The input reports that tell of contacts, by their numbers.
    private(set) var reports: [Int: HIDReport] = [:]
    /// Whether the first byte of each report is its number. Otherwise all are number 0.
    private(set) var hasNumbers = false
    /// Whether confidence tells fingers from palms, as in devices for Windows 8 and later. In others it means little.
    private(set) var tellsPalms = false
    /// The axes of the contacts.
    private(set) var x: DeviceAxis?
    private(set) var y: DeviceAxis?

    /// The longest that Linux takes, in bytes.
    static let longest = 4096

    /// - Parameter bytes: at most ``longest``; what is beyond is left out.
    init(_ bytes: Span<UInt8>) {
        var parser = HIDDescriptorParser()
        parser.parse(bytes.extracting(..<min(bytes.count, Self.longest)))
        hasNumbers = parser.hasNumbers
        tellsPalms = parser.tellsPalms
        for number in parser.reports.keys { parser.reports[number]?.contacts.removeAll { !$0.isWhole } }
        // What follows a single finger is there for those who know no better, where contacts are told apart as well.
        let tellsApart = parser.reports.values.contains { !$0.isPen && $0.hasIDs }
        for (number, report) in parser.reports.sorted(by: { $0.key < $1.key }) where !report.contacts.isEmpty {
            guard report.isPen || report.hasIDs || !tellsApart && report.isOfSingle else { continue }
            reports[number] = report
            guard !report.isPen, x == nil else { continue }
            (x, y) = (report.x, report.y)
        }
    }
}

// MARK: Items

private struct HIDDescriptorParser {
    /// What holds for all items that follow.
    private struct Globals {
        var page: UInt32 = 0
        var logical = (minimum: 0, maximum: 0)
        var physical = (minimum: 0, maximum: 0)
        var unit: UInt32 = 0
        var exponent = 0
        var size = 0
        var count = 0
        var report = 0

        /// Positions, and how many of them are a millimetre: only centimetres and inches are lengths.
        var axis: DeviceAxis {
            var axis = DeviceAxis(minimum: Double(logical.minimum), maximum: Double(logical.maximum))
            var millimetres = Double(physical.maximum - physical.minimum)
            switch unit {
            case 0x11: millimetres *= 10
            case 0x13: millimetres *= 25.4
            default: return axis
            }
            guard -20...20 ~= exponent else { return axis }
            for _ in 0..<abs(exponent) { millimetres = exponent < 0 ? millimetres / 10 : millimetres * 10 }
            if axis.length > 0, millimetres > 0 { axis.resolution = axis.length / millimetres }
            return axis
        }
    }

    /// Usages that follow one another; those without a page are of the page that holds at the next main item.
    private struct Usages {
        var first: UInt32
        var last: UInt32
        var hasPage: Bool

        func on(_ page: UInt32) -> ClosedRange<UInt32>? {
            let page = hasPage ? 0 : page << 16
            return first <= last ? (page | first)...(page | last) : nil
        }
    }

    var reports: [Int: HIDReport] = [:]
    var hasNumbers = false
    var tellsPalms = false

    private var globals = Globals()
    private var pushed: [Globals] = []
    private var usages: [Usages] = []
    private var minimum: UInt32?
    /// The collections that are open, outermost first.
    private var collections: [(usage: UInt32, isApplication: Bool)] = []

    // Limits of Linux, but for what is pushed: it takes four.
    private static let deepest = 64
    private static let largestSize = 256
    private static let largestCount = 12_288
    /// No device tells of more contacts.
    private static let mostContacts = 256

    mutating func parse(_ bytes: Span<UInt8>) {
        var index = 0
        while index < bytes.count {
            let prefix = bytes[index]
            index += 1
            if prefix == 0xfe {
                // A long item: nothing has ever been defined for those.
                guard index < bytes.count else { return }
                index += 2 + Int(bytes[index])
                continue
            }
            let size = prefix & 3 == 3 ? 4 : Int(prefix & 3)
            guard index + size <= bytes.count else { return }
            var data: UInt32 = 0
            for offset in 0..<size { data |= UInt32(bytes[index + offset]) << UInt32(8 * offset) }
            index += size
            guard handle(prefix & 0xfc, data, size) else { return }
        }
    }

    /// Handles an item. Says whether the rest can be understood.
    private mutating func handle(_ tag: UInt8, _ data: UInt32, _ size: Int) -> Bool {
        var signed: Int {
            switch size {
            case 1: Int(Int8(truncatingIfNeeded: data))
            case 2: Int(Int16(truncatingIfNeeded: data))
            default: Int(Int32(bitPattern: data))
            }
        }
        switch tag {
        case 0x04: globals.page = data & 0xffff
        case 0x14: globals.logical.minimum = signed
        // Many a largest value is written as if it had no sign, where the smallest has none.
        case 0x24: globals.logical.maximum = globals.logical.minimum < 0 ? signed : Int(data)
        case 0x34: globals.physical.minimum = signed
        case 0x44: globals.physical.maximum = globals.physical.minimum < 0 ? signed : Int(data)
        // Four bits with a sign, or all of them.
        case 0x54: globals.exponent = data <= 0xf ? Int(data) - (data > 7 ? 16 : 0) : signed
        case 0x64: globals.unit = data
        case 0x74: globals.size = Int(data)
        case 0x84: globals.report = Int(data & 0xff)
        case 0x94: globals.count = Int(data)
        case 0xa4:
            guard pushed.count < Self.deepest else { return false }
            pushed.append(globals)
        case 0xb4:
            guard let last = pushed.popLast() else { return false }
            globals = last
        case 0x08: usages.append(Usages(first: data, last: data, hasPage: size == 4))
        case 0x18: minimum = data
        case 0x28:
            usages.append(Usages(first: minimum ?? data, last: data, hasPage: size == 4))
            minimum = nil
        case 0x80, 0x90, 0xa0, 0xb0, 0xc0:
            defer { (usages, minimum) = ([], nil) }
            return handleMain(tag, data)
        default: break
        }
        return true
    }

    private mutating func handleMain(_ tag: UInt8, _ data: UInt32) -> Bool {
        switch tag {
        case 0x80: return addInput(isConstant: data & 1 != 0, isArray: data & 2 == 0)
        case 0xa0:
            let application: UInt32 = 1
            collections.append((usages.first?.on(globals.page)?.lowerBound ?? 0, data == application))
        case 0xb0:
            let certification: UInt32 = 0xff00_00c5
            let isCertification = usages.contains { $0.on(globals.page)?.contains(certification) == true }
            tellsPalms = tellsPalms || isCertification && globals.count == 256 && globals.size == 8
        case 0xc0: _ = collections.popLast()
        default: break
        }
        return true
    }

    private mutating func addInput(isConstant: Bool, isArray: Bool) -> Bool {
        let (size, count) = (globals.size, globals.count)
        guard size <= Self.largestSize, count <= Self.largestCount else { return false }
        hasNumbers = hasNumbers || globals.report > 0
        let start = reports[globals.report, default: HIDReport()].bits
        reports[globals.report, default: HIDReport()].bits += size * count
        guard !isConstant, !isArray, 1...32 ~= size else { return true }
        var place = 0
        for usages in usages {
            guard let range = usages.on(globals.page), place < count else { continue }
            for (offset, usage) in range.prefix(min(count - place, 0x100)).enumerated() {
                add(usage, HIDField(bit: start + (place + offset) * size, size: size, isSigned: isSigned))
            }
            place += range.count
        }
        return true
    }

    private var isSigned: Bool { globals.logical.minimum < 0 }

    private mutating func add(_ usage: UInt32, _ field: HIDField) {
        var report = reports[globals.report, default: HIDReport()]
        switch usage {
        case 0x01_0030:
            put(field, \.x, usage, &report)
            report.x = report.x ?? globals.axis
        case 0x01_0031:
            put(field, \.y, usage, &report)
            report.y = report.y ?? globals.axis
        case 0x0d_0032: put(field, \.inRange, usage, &report)
        case 0x0d_0042: put(field, \.tip, usage, &report)
        case 0x0d_0047: put(field, \.confidence, usage, &report)
        case 0x0d_0051: put(field, \.id, usage, &report)
        case 0x0d_0054: report.count = report.count ?? field
        case 0x0d_0056: report.scanTime = report.scanTime ?? field
        default: return
        }
        reports[globals.report] = report
    }

    /// Puts what tells something of a contact to the contact that it is of: a new one begins with what the one before
    /// has.
    private func put(
        _ field: HIDField, _ part: WritableKeyPath<HIDContact, HIDField?>, _ usage: UInt32, _ report: inout HIDReport
    ) {
        let digitizers: UInt32 = 0x0d
        let stylusAndPuck: ClosedRange<UInt32> = 0x0d_0020...0x0d_0021
        guard let application = collections.last(where: \.isApplication)?.usage, application >> 16 == digitizers else {
            return
        }
        report.application = application
        report.isOfStylus = collections.contains { stylusAndPuck.contains($0.usage) }
        defer { report.last = usage }
        // A second position at once is the middle of what is touched.
        if report.last == usage { return }
        if let last = report.contacts.last, last[keyPath: part] == nil {
            report.contacts[report.contacts.count - 1][keyPath: part] = field
        } else if report.contacts.last?.isWhole ?? true, report.contacts.count < Self.mostContacts {
            report.contacts.append(HIDContact())
            report.contacts[report.contacts.count - 1][keyPath: part] = field
        }
    }
}
