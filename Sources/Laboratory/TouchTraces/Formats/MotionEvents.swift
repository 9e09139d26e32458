// Reads Android touches from logs: `MotionEvent { action=ACTION_MOVE, id[0]=0, x[0]=297.0, y[0]=672.0, …,
// pointerCount=1, historySize=0, eventTime=488341979, … }`, anywhere in a logcat line. Positions are pixels of a view.

struct MotionEvents {
    private struct Pointer {
        var id = 0
        var x: Double?
        var y: Double?
        var isPalm = false
    }

    private enum Action: Equatable {
        case down, pointerDown, move, up, cancel
        /// The index of the pointer in the list.
        case pointerUp(Int)
        /// Not a touch: a hovering mouse, a wheel, a button.
        case other
    }

    private var action: Action?
    private var pointers: [Pointer] = []
    private var count: Int?
    private var timeMs: Int?
    /// The last event, to skip repetitions: each view may log it again, with positions of its own.
    private var last: (action: Action, timeMs: Int, ids: [Int])?

    /// Android's maximum number of pointers.
    private static let most = 16
    private static let times = 0...10_000_000_000_000

    /// Returns whether only recordings of this format can contain a line.
    static func recognizes(_ line: Span<UInt8>) -> Bool {
        var events = MotionEvents()
        var index = 0
        return begin(line, &index) && events.read(line, &index) && events.action != .other
    }

    /// Reads a line.
    mutating func parse(_ line: Span<UInt8>, _ fingers: inout FingerFrames) throws(Damaged) {
        var index = 0
        guard Self.begin(line, &index) else { return }
        guard read(line, &index), let action else { throw Damaged() }
        if action == .other { return }
        let time: Int
        if let timeMs {
            let ids = pointers.map(\.id)
            // Each view has its share of a move's fingers, but all of them land and lift in the first one's line.
            if let last, last.action == action, last.timeMs == timeMs, action == .move || last.ids == ids { return }
            last = (action, timeMs, ids)
            time = timeMs * 1000
        } else {
            guard let step = fingers.nextStep() else { throw Damaged(isTimeless: true) }
            time = step
        }
        let hasLost = try follow(action, &fingers)
        fingers.complete(atMicroseconds: time, isCancelled: hasLost || action == .cancel)
    }

    /// Updates the fingers from the pointers. Returns whether one of them has turned out to be a palm.
    private mutating func follow(_ action: Action, _ fingers: inout FingerFrames) throws(Damaged) -> Bool {
        var isThere = pointers
        switch action {
        case .up, .cancel: isThere = []
        case .pointerUp(let index): if isThere.indices.contains(index) { isThere.remove(at: index) }
        case .down: fingers.liftAll()
        case .pointerDown, .move, .other: break
        }
        let palms = isThere.count { $0.isPalm }
        if palms > 0, action == .down || action == .pointerDown { fingers.notes.add(.palm, palms) }
        isThere.removeAll { $0.isPalm }
        let lost = pointers.filter { $0.isPalm && fingers.isDown(Double($0.id)) }
        for pointer in lost { fingers.lose(Double(pointer.id)) }
        let touches = isThere.map { WebValue.Touch(identifier: Double($0.id), x: $0.x ?? 0, y: $0.y ?? 0) }
        if action == .move { fingers.notes.add(.downBefore, touches.count { !fingers.isDown($0.identifier) }) }
        try fingers.set(touches)
        return !lost.isEmpty
    }

    // MARK: Text

    /// Skips to just after the brace.
    private static func begin(_ line: Span<UInt8>, _ index: inout Int) -> Bool {
        // The log's tag may be the same word.
        while Scan.find("MotionEvent", line, &index) {
            Scan.space(line, &index)
            if Scan.byte(UInt8(ascii: "{"), line, &index) { return true }
        }
        return false
    }

    /// Reads `name=value` pairs up to the brace. Returns whether they are a whole event.
    private mutating func read(_ line: Span<UInt8>, _ index: inout Int) -> Bool {
        (action, count, timeMs) = (nil, nil, nil)
        pointers.removeAll(keepingCapacity: true)
        repeat {
            guard member(line, &index) else { return false }
            while index < line.count, line[index] != UInt8(ascii: ","), line[index] != UInt8(ascii: "}") { index += 1 }
        } while Scan.byte(UInt8(ascii: ","), line, &index)
        guard let action, Scan.byte(UInt8(ascii: "}"), line, &index) else { return false }
        if action == .other || action == .cancel { return true }
        let isWhole = pointers.allSatisfy { $0.x != nil && $0.y != nil }
        return isWhole && !pointers.isEmpty && pointers.count == count ?? pointers.count
    }

    private mutating func member(_ line: Span<UInt8>, _ index: inout Int) -> Bool {
        Scan.space(line, &index)
        if Scan.word("action=", line, &index) {
            action = Self.action(line, &index)
        } else if Scan.word("pointerCount=", line, &index) {
            count = Scan.decimal(line, &index)
        } else if Scan.word("eventTime=", line, &index) {
            guard let time = Scan.decimal(line, &index), Self.times.contains(time) else { return false }
            timeMs = time
        } else if Scan.word("id[", line, &index) {
            guard let pointer = pointer(line, &index), let id = Scan.decimal(line, &index) else { return false }
            pointers[pointer].id = id
        } else if Scan.word("x[", line, &index) {
            guard let pointer = pointer(line, &index), let x = Self.position(line, &index) else { return false }
            pointers[pointer].x = x
        } else if Scan.word("y[", line, &index) {
            guard let pointer = pointer(line, &index), let y = Self.position(line, &index) else { return false }
            pointers[pointer].y = y
        } else if Scan.word("toolType[", line, &index) {
            guard let pointer = pointer(line, &index) else { return false }
            pointers[pointer].isPalm = Scan.word("TOOL_TYPE_PALM", line, &index)
        }
        return true
    }

    /// Reads `0]=`, the index of a pointer in the list. Ids may be omitted; they default to that index.
    private mutating func pointer(_ line: Span<UInt8>, _ index: inout Int) -> Int? {
        guard let place = Scan.decimal(line, &index), 0..<Self.most ~= place, Scan.word("]=", line, &index) else {
            return nil
        }
        while pointers.count <= place { pointers.append(Pointer(id: pointers.count)) }
        return place
    }

    private static func action(_ line: Span<UInt8>, _ index: inout Int) -> Action {
        guard Scan.word("ACTION_", line, &index) else { return .other }
        if Scan.word("DOWN", line, &index) { return .down }
        if Scan.word("POINTER_DOWN(", line, &index) { return .pointerDown }
        if Scan.word("MOVE", line, &index) { return .move }
        if Scan.word("UP", line, &index) { return .up }
        if Scan.word("POINTER_UP(", line, &index) {
            return Scan.decimal(line, &index).map { .pointerUp($0) } ?? .other
        }
        return Scan.word("CANCEL", line, &index) ? .cancel : .other
    }

    /// Reads a number as Java writes it: `297.0`, `1.2E-4`.
    private static func position(_ line: Span<UInt8>, _ index: inout Int) -> Double? {
        guard var value = Scan.real(line, &index) else { return nil }
        guard Scan.byte(UInt8(ascii: "E"), line, &index) else { return value }
        guard let exponent = Scan.decimal(line, &index), -40...40 ~= exponent else { return nil }
        for _ in 0..<abs(exponent) { value = exponent < 0 ? value / 10 : value * 10 }
        return abs(value) <= 1e9 ? value : nil
    }
}
