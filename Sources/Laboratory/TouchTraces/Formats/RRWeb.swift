// Reads touches and mouse buttons from sessions of web pages recorded by rrweb:
//
//     {"type":4,"data":{"href":"…","width":390,"height":844},"timestamp":1700000000000}
//     {"type":3,"data":{"source":2,"type":7,"id":12,"x":101,"y":200},"timestamp":1700000001000}
//     {"type":3,"data":{"source":6,"positions":[{"x":105,"y":210,"id":12,"timeOffset":-50}]},"timestamp":1700000001500}
//
// rrweb keeps one finger, about twenty times a second, and no move says which finger it belongs to, so what several
// fingers did cannot be known. Moves come in batches after the events in between, and are sorted by time.

import JSONLines

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

    /// Events that earlier ones may still precede, sorted by time.
    private var pending: [Event] = []
    private var latestMs = -Double.infinity
    private var hasTouches = false
    /// The number of fingers on the screen, by their starts and ends.
    private var touching = 0

    /// rrweb holds moves back for half a second.
    private static let longestBatchMs = 1000.0
    /// More events than can come in that time.
    private static let mostPending = 1024
    /// rrweb's numbers for event types, for sources of changes, and for mouse and touch interactions.
    private static let (incremental, meta) = (3.0, 4.0)
    private static let (mouseMoves, interaction, touchMoves) = (1.0, 2.0, 6.0)
    private static let interactions: [Double: Action] = [
        0: .mouseUp, 1: .mouseDown, 7: .touchStart, 9: .touchEnd, 10: .touchCancel,
    ]

    // MARK: JSON

    /// Returns whether an object is an rrweb event, or contains such events.
    static func recognizes(_ text: Span<UInt8>) -> Bool {
        guard let json = try? JSONValue(reading: text) else { return false }
        let event = json["events"]?.array?.first ?? json
        return event["type"]?.number != nil && event["timestamp"]?.number != nil && event["data"]?.object != nil
    }

    /// Reads an object.
    mutating func parse(_ text: Span<UInt8>, _ fingers: inout FingerFrames) throws(Damaged) {
        if Scan.isAtEnd(text, 0) { return }
        guard let json = try? JSONValue(reading: text) else { throw Damaged() }
        for event in json["events"]?.array ?? [json] {
            try read(event)
            try release(before: latestMs - Self.longestBatchMs, &fingers)
        }
    }

    private mutating func read(_ json: JSONValue) throws(Damaged) {
        guard let type = json["type"]?.number, let timeMs = json["timestamp"]?.number, FingerFrames.isTime(timeMs)
        else {
            throw Damaged()
        }
        latestMs = max(latestMs, timeMs)
        guard let data = json["data"] else { return }
        if type == Self.meta { set(data) }
        guard type == Self.incremental, let source = data["source"]?.number else { return }
        switch source {
        case Self.interaction:
            guard let action = data["type"]?.number.flatMap({ Self.interactions[$0] }) else { return }
            // An end may lack a position: the finger is gone.
            add(Event(timeMs: timeMs, action: action, x: data["x"]?.number ?? 0, y: data["y"]?.number ?? 0))
        case Self.mouseMoves, Self.touchMoves:
            guard let positions = data["positions"]?.array, positions.count <= Self.mostPending else { throw Damaged() }
            for position in positions {
                let moved = timeMs + (position["timeOffset"]?.number ?? 0)
                guard let x = position["x"]?.number, let y = position["y"]?.number, FingerFrames.isTime(moved) else {
                    throw Damaged()
                }
                let action: Action = source == Self.touchMoves ? .touchMove : .mouseMove
                add(Event(timeMs: moved, action: action, x: x, y: y))
            }
        default: return
        }
    }

    /// Sets the viewport. Later changes of it are ignored.
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

    private mutating func release(before timeMs: Double, _ fingers: inout FingerFrames) throws(Damaged) {
        let old = pending.firstIndex { $0.timeMs >= timeMs } ?? pending.count
        let count = max(old, pending.count - Self.mostPending)
        let events = pending.prefix(count)
        pending.removeFirst(count)
        for event in events { try play(event, &fingers) }
    }

    // MARK: Fingers

    private mutating func play(_ event: Event, _ fingers: inout FingerFrames) throws(Damaged) {
        switch event.action {
        case .touchStart:
            hasTouches = true
            touching += 1
            guard touching > 1 else { return try land(event, &fingers) }
            fingers.notes.add(.unknownFinger)
            lift(event, isCancelled: true, &fingers)
        case .touchMove: try move(event, &fingers)
        case .touchEnd:
            touching = max(touching - 1, 0)
            lift(event, &fingers)
        case .touchCancel:
            touching = 0
            lift(event, isCancelled: true, &fingers)
        // Browsers repeat what a finger did as mouse events.
        case .mouseDown: if !hasTouches { try land(event, &fingers) }
        case .mouseMove: if !hasTouches { try move(event, &fingers) }
        case .mouseUp: if !hasTouches { lift(event, &fingers) }
        }
    }

    private mutating func land(_ event: Event, _ fingers: inout FingerFrames) throws(Damaged) {
        try fingers.land(0, event.x, event.y)
        fingers.complete(at: event.timeMs)
    }

    private mutating func move(_ event: Event, _ fingers: inout FingerFrames) throws(Damaged) {
        guard !fingers.isEmpty else { return }
        try fingers.move(0, event.x, event.y)
        fingers.complete(at: event.timeMs)
    }

    private mutating func lift(_ event: Event, isCancelled: Bool = false, _ fingers: inout FingerFrames) {
        guard !fingers.isEmpty else { return }
        fingers.liftAll()
        fingers.complete(at: event.timeMs, isCancelled: isCancelled)
    }

    /// Ends the recording: plays what is left.
    mutating func finish(_ fingers: inout FingerFrames) {
        // Skips what cannot be played: its line was read long ago.
        while !pending.isEmpty { try? release(before: .infinity, &fingers) }
        if hasTouches { fingers.notes.add(.oneFinger) }
    }
}
