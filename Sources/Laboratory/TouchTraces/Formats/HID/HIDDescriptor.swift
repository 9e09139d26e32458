// Reads a HID device's report descriptor (Device Class Definition for HID 1.11, section 6.2.2; usages of HID Usage
// Tables, Digitizers page), to find the contacts in its reports. Ambiguities are resolved as in Linux's hid-core and
// hid-multitouch. No Swift package does this; everything needed from a descriptor is below.
// Invariant: any bytes are accepted, in linear time; what makes no sense is ignored.

/// The place of a value in a report.
struct HIDField {
    /// The first bit, not counting the report's number byte.
    var bit: Int
    /// The number of bits: 1 to 32.
    var size: Int
    var isSigned: Bool

    /// Returns the value; bits beyond the end of the report are 0.
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

/// The fields of one contact in a report.
struct HIDContact {
    var tip: HIDField?
    var inRange: HIDField?
    var confidence: HIDField?
    var id: HIDField?
    var x: HIDField?
    var y: HIDField?

    fileprivate var isWhole: Bool { tip != nil && x != nil && y != nil }
}

/// The layout of one of a device's input reports.
struct HIDReport {
    var contacts: [HIDContact] = []
    /// The number of contacts in the frame, in this report or the following ones.
    var count: HIDField?
    var scanTime: HIDField?
    fileprivate var application: UInt32 = 0
    fileprivate var isOfStylus = false
    fileprivate var x: DeviceAxis?
    fileprivate var y: DeviceAxis?
    fileprivate var bits = 0
    /// The previous usage, of those that matter.
    fileprivate var last: UInt32 = 0

    fileprivate var hasIDs: Bool { contacts.contains { $0.id != nil } }

    /// Whether it reports a pen. Touchscreens may call a report of a single contact a stylus.
    var isPen: Bool { application == 0x0d_0002 || isOfStylus && !hasIDs }

    /// Whether it reports a single finger on a touchscreen or a touchpad.
    fileprivate var isOfSingle: Bool { 0x0d_0004...0x0d_0005 ~= application && contacts.count == 1 }
}

/// The part of a report descriptor that describes contacts.
struct HIDDescriptor {
    /// The input reports with contacts, by number.
    private(set) var reports: [Int: HIDReport] = [:]
    /// Whether the first byte of each report is its number. Otherwise all have number 0.
    private(set) var hasNumbers = false
    /// Whether confidence tells fingers from palms, as in devices for Windows 8 and later. It means little in others.
    private(set) var tellsPalms = false
    /// The axes of the contacts.
    private(set) var x: DeviceAxis?
    private(set) var y: DeviceAxis?

    /// The maximum length that Linux accepts, in bytes.
    static let longest = 4096

    /// - Parameter bytes: at most ``longest``; the rest is ignored.
    init(_ bytes: Span<UInt8>) {
        var parser = HIDDescriptorParser()
        parser.parse(bytes.extracting(..<min(bytes.count, Self.longest)))
        hasNumbers = parser.hasNumbers
        tellsPalms = parser.tellsPalms
        for number in parser.reports.keys { parser.reports[number]?.contacts.removeAll { !$0.isWhole } }
        // A single-finger report is only a fallback if other reports tell contacts apart.
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
    /// The global items: state for all items that follow.
    private struct Globals {
        var page: UInt32 = 0
        var logical = (minimum: 0, maximum: 0)
        var physical = (minimum: 0, maximum: 0)
        var unit: UInt32 = 0
        var exponent = 0
        var size = 0
        var count = 0
        var report = 0

        /// The axis with its resolution per millimetre; only centimetres and inches are known as units.
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

    /// A range of usages; those without a page belong to the page that is current at the next main item.
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
    /// The open collections, outermost first.
    private var collections: [(usage: UInt32, isApplication: Bool)] = []

    // Linux's limits, except for the push depth, which is four there.
    private static let deepest = 64
    private static let largestSize = 256
    private static let largestCount = 12_288
    /// The maximum; no device reports more contacts.
    private static let mostContacts = 256

    mutating func parse(_ bytes: Span<UInt8>) {
        var index = 0
        while index < bytes.count {
            let prefix = bytes[index]
            index += 1
            if prefix == 0xfe {
                // A long item; none has ever been defined.
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

    /// Handles an item. Returns whether the rest can be understood.
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
        // Many descriptors write the maximum as unsigned if the minimum is not negative.
        case 0x24: globals.logical.maximum = globals.logical.minimum < 0 ? signed : Int(data)
        case 0x34: globals.physical.minimum = signed
        case 0x44: globals.physical.maximum = globals.physical.minimum < 0 ? signed : Int(data)
        // A signed number of four bits, or of the full size.
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

    /// Adds a field to its contact: a new contact begins with a field that the previous one has already.
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
        // A second position right after the first is the centre of the touched area.
        if report.last == usage { return }
        if let last = report.contacts.last, last[keyPath: part] == nil {
            report.contacts[report.contacts.count - 1][keyPath: part] = field
        } else if report.contacts.last?.isWhole ?? true, report.contacts.count < Self.mostContacts {
            report.contacts.append(HIDContact())
            report.contacts[report.contacts.count - 1][keyPath: part] = field
        }
    }
}
