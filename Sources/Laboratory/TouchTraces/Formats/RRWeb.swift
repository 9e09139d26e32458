// Sessions of web pages by rrweb, as far as they tell of touches and of the mouse's button:
//
//     {"type":4,"data":{"href":"…","width":390,"height":844},"timestamp":1700000000000}
//     {"type":3,"data":{"source":2,"type":7,"id":12,"x":101,"y":200},"timestamp":1700000001000}
//     {"type":3,"data":{"source":6,"positions":[{"x":105,"y":210,"id":12,"timeOffset":-450}]},"timestamp":1700000001500}
//
// It keeps one finger, some twenty times a second, and says of no move which finger it was of: what several did cannot be
// known. Moves come in batches behind what happened meanwhile, and are put in the order of their times.

import JSONLines

/// Reads sessions by rrweb.
struct RRWeb {
    private enum Action {
        case touchStart, touchMove, touchEnd, touchCancel
        case mouseDown, mouseMove, mouseUp
    }

    private struct Event {
        var timeMs: Double
        var action: Action
        var x: Double
        var y: Double
    }

    /// The page's viewport as a device, as far as it is known.
    private(set) var device = DeviceDescription(isInPoints: true)
    /// The frames that the last object made.
    var frames: [ContactFrame] { fingers.frames }

    private var fingers = WebFrames()
    /// What has come and may not be the next yet, in the order of its times.
    private var pending: [Event] = []
    private var latestMs = -Double.infinity
    private var hasTouches = false
    /// Fingers that are on the screen, as far as their starts and ends tell.
    private var touching = 0

    /// Moves are kept back for half a second.
    private static let longestBatchMs = 1000.0
    /// More than can come in that time.
    private static let mostPending = 1024
    /// The numbers of rrweb's events, of what changes in a page, and of what a mouse or a finger does.
    private static let (incremental, meta) = (3.0, 4.0)
    private static let (mouseMoves, interaction, touchMoves) = (1.0, 2.0, 6.0)
    private static let interactions: [Double: Action] = [
        0: .mouseUp, 1: .mouseDown, 7: .touchStart, 9: .touchEnd, 10: .touchCancel,
    ]

    // MARK: JSON

    /// Whether an object is an event of rrweb's, or has such events.
    static func recognizes(_ text: Span<UInt8>) -> Bool {
        guard let json = try? JSONValue(reading: text) else { return false }
        return isEvent(json["events"]?.array?.first ?? json)
    }

    private static func isEvent(_ json: JSONValue) -> Bool {
        json["type"]?.number != nil && json["timestamp"]?.number != nil && json["data"]?.object != nil
    }

    /// Reads an object, of which ``frames`` are then what it made.
    mutating func parse(_ text: Span<UInt8>, _ notes: inout RecordingNotes) throws(Damaged) {
        fingers.clear()
        if Scan.isAtEnd(text, 0) { return }
        guard let json = try? JSONValue(reading: text) else { throw Damaged() }
        for event in json["events"]?.array ?? [json] {
            try read(event)
            try release(before: latestMs - Self.longestBatchMs, &notes)
        }
    }

    private mutating func read(_ json: JSONValue) throws(Damaged) {
        guard let type = json["type"]?.number, let timeMs = json["timestamp"]?.number, WebFrames.isTime(timeMs) else {
            throw Damaged()
        }
        latestMs = max(latestMs, timeMs)
        guard let data = json["data"] else { return }
        if type == Self.meta { set(data) }
        guard type == Self.incremental, let source = data["source"]?.number else { return }
        switch source {
        case Self.interaction:
            guard let action = data["type"]?.number.flatMap({ Self.interactions[$0] }) else { return }
            // The end may have no place: nothing is there any more.
            add(Event(timeMs: timeMs, action: action, x: data["x"]?.number ?? 0, y: data["y"]?.number ?? 0))
        case Self.mouseMoves, Self.touchMoves:
            guard let positions = data["positions"]?.array, positions.count <= Self.mostPending else { throw Damaged() }
            for position in positions {
                let moved = timeMs + (position["timeOffset"]?.number ?? 0)
                guard let x = position["x"]?.number, let y = position["y"]?.number, WebFrames.isTime(moved) else {
                    throw Damaged()
                }
                let action: Action = source == Self.touchMoves ? .touchMove : .mouseMove
                add(Event(timeMs: moved, action: action, x: x, y: y))
            }
        default: return
        }
    }

    /// A viewport that changes later is another recording's business.
    private mutating func set(_ data: JSONValue) {
        guard device.x == nil, let width = data["width"]?.number, let height = data["height"]?.number,
            Surface.sizes.contains(width), Surface.sizes.contains(height)
        else { return }
        device.x = DeviceAxis(minimum: 0, maximum: width)
        device.y = DeviceAxis(minimum: 0, maximum: height)
    }

    // MARK: Order

    private mutating func add(_ event: Event) {
        var index = pending.count
        while index > 0, pending[index - 1].timeMs > event.timeMs { index -= 1 }
        pending.insert(event, at: index)
    }

    private mutating func release(before timeMs: Double, _ notes: inout RecordingNotes) throws(Damaged) {
        let old = pending.firstIndex { $0.timeMs >= timeMs } ?? pending.count
        let count = max(old, pending.count - Self.mostPending)
        let events = pending.prefix(count)
        pending.removeFirst(count)
        for event in events { try play(event, &notes) }
    }

    // MARK: Fingers

    private mutating func play(_ event: Event, _ notes: inout RecordingNotes) throws(Damaged) {
        switch event.action {
        case .touchStart:
            hasTouches = true
            touching += 1
            guard touching > 1 else { return try land(event, &notes) }
            notes.add(.unknownFinger)
            cancel(event, &notes)
        case .touchMove: try move(event, &notes)
        case .touchEnd:
            touching = max(touching - 1, 0)
            lift(event, &notes)
        case .touchCancel:
            touching = 0
            cancel(event, &notes)
        // A browser has the mouse do again what a finger did.
        case .mouseDown: if !hasTouches { try land(event, &notes) }
        case .mouseMove: if !hasTouches { try move(event, &notes) }
        case .mouseUp: if !hasTouches { lift(event, &notes) }
        }
    }

    private mutating func land(_ event: Event, _ notes: inout RecordingNotes) throws(Damaged) {
        try fingers.land(0, event.x, event.y)
        fingers.complete(at: event.timeMs, &notes)
    }

    private mutating func move(_ event: Event, _ notes: inout RecordingNotes) throws(Damaged) {
        guard !fingers.isEmpty else { return }
        try fingers.move(0, event.x, event.y)
        fingers.complete(at: event.timeMs, &notes)
    }

    private mutating func lift(_ event: Event, _ notes: inout RecordingNotes) {
        guard !fingers.isEmpty else { return }
        fingers.liftAll()
        fingers.complete(at: event.timeMs, &notes)
    }

    private mutating func cancel(_ event: Event, _ notes: inout RecordingNotes) {
        guard !fingers.isEmpty else { return }
        fingers.liftAll()
        fingers.complete(at: event.timeMs, isCancelled: true, &notes)
    }

    /// Ends the recording; fingers that are still there are cancelled.
    mutating func finish(_ notes: inout RecordingNotes) {
        fingers.clear()
        // What cannot be played is left out: its line was read long ago.
        while !pending.isEmpty { try? release(before: .infinity, &notes) }
        if hasTouches { notes.add(.oneFinger) }
        fingers.finish(&notes)
    }
}
