// What one camera is fed, told as the lines of a trace that makes the same camera. It is there only while somebody has
// subscribed to it, with a log of its own, so that it takes nothing from the history of the camera's events.
// Invariant: a gesture that is active has a number that no other active one of its kind has, whoever feeds it.

import Gestures
import MapCamera
import Wire

final class FeedLog {
    /// The camera's events and what it is fed, in the order in which they arose.
    let log: EventLog
    private let camera: String
    private let largestFrame: Int
    /// The numbers of gestures that are active. In a trace one connection feeds them all.
    private var numbers: [GestureKey: Int] = [:]
    /// Which numbers the gestures of a kind have.
    private var taken: [GestureKind: NumberSet] = [:]
    private var frame: [Request.Body] = []
    /// The time of the last line: the next is not before it.
    private var lastTime = -Double.infinity
    /// How many times as much it holds as a history has to, at the most: a line is as long as what was fed.
    private static let longest = 4
    /// Lines that the hub has not taken note of.
    private var told = 0

    init(of camera: String, active: [GestureKey], limits: Limits, memory: (any HistoryMemory)?) {
        self.camera = camera
        largestFrame = min(limits.frame, RequestDecoder.largestFrame)
        log = EventLog(limits: limits, maximumBytes: Self.longest * limits.historyBytes, memory: memory)
        for key in active { _ = number(of: key) }
    }

    // MARK: From process to process

    /// What a log without active gestures is.
    func write(to out: inout FieldWriter) {
        out.put(FeedLogField.lastTime, lastTime)
        out.put(FeedLogField.log) { log.write(to: &$0) }
    }

    /// Goes on where ``write(to:)`` left off.
    init(
        _ row: FieldReader, of camera: String, limits: Limits, memory: (any HistoryMemory)?
    ) throws(FieldReader.Damage) {
        self.camera = camera
        largestFrame = min(limits.frame, RequestDecoder.largestFrame)
        let maximumBytes = Self.longest * limits.historyBytes
        var row = row
        var log: EventLog?
        while let (tag, field) = try row.next(FeedLogField.self) {
            switch tag {
            case .lastTime: lastTime = try field.double()
            case .log:
                log = try EventLog.read(field.record(), limits: limits, maximumBytes: maximumBytes, memory: memory)
            }
        }
        self.log = log ?? EventLog(limits: limits, maximumBytes: maximumBytes, memory: memory)
    }

    // MARK: A frame

    func take(_ event: GestureEvent, of key: GestureKey) {
        guard !event.kind.isTap else { return frame.append(.gesture(Request.Gesture(event, label: .none))) }
        let number = number(of: key)
        if event.phase == .ended || event.phase == .cancelled { free(key) }
        frame.append(.gesture(Request.Gesture(event, label: label(number))))
    }

    func take(_ command: Request.Command) { frame.append(.command(command)) }

    /// Takes gestures that end with their feed.
    func cancel(_ keys: [GestureKey]) {
        for key in keys { take(GestureEvent(key.kind, .cancelled), of: key) }
    }

    /// Tells what was taken, as one line; `false` if that was nothing.
    ///
    /// - Parameters:
    ///   - velocity: what a pan that ended goes on with, where that matters: measured or not, it is written out.
    ///   - gestures: those that are active after the frame.
    func endFrame(
        at time: Double, velocity: ScreenPoint?, _ gestures: borrowing GestureTracker, _ line: inout LineWriter
    ) -> Bool {
        guard !frame.isEmpty else { return false }
        if let velocity { setVelocity(velocity) }
        if numbers.count > gestures.count { freeAll(but: Set(gestures.reports.map(\.key))) }
        line.clear()
        line.fed(frame, camera: camera, timeMs: advance(to: time))
        frame.removeAll(keepingCapacity: true)
        append(line)
        return true
    }

    private func setVelocity(_ velocity: ScreenPoint) {
        for index in frame.indices {
            guard case .gesture(var gesture) = frame[index], gesture.event.kind == .pan, gesture.event.phase == .ended
            else { continue }
            gesture.event.velocity = velocity
            frame[index] = .gesture(gesture)
        }
    }

    private func append(_ line: borrowing LineWriter) {
        line.withBytes { log.append($0, kind: .gesture) }
        told += 1
    }

    /// How many lines were told since this was asked last.
    func takeTold() -> Int {
        defer { told = 0 }
        return told
    }

    /// Takes note of a frame of what moves by itself. What comes after it comes later, by more than any rounding: in a
    /// replay a frame that is due goes ahead of a line, and when a line comes is told from another origin there.
    func passed(_ frame: Double) { lastTime = max(lastTime, frame + 8 * frame.ulp) }

    /// A clock that is set anew by a hair must not run backwards in the trace.
    private func advance(to time: Double) -> Double {
        lastTime = max(lastTime, time)
        return lastTime
    }

    // MARK: Numbers

    /// The number of a gesture: the lowest that is free among those of its kind when it begins.
    private func number(of key: GestureKey) -> Int {
        if let known = numbers[key] { return known }
        let number = taken[key.kind, default: NumberSet()].insertLowest()
        numbers[key] = number
        return number
    }

    private func free(_ key: GestureKey) {
        guard let number = numbers.removeValue(forKey: key) else { return }
        taken[key.kind]?.remove(number)
    }

    private func freeAll(but active: Set<GestureKey>) {
        for key in numbers.keys where !active.contains(key) { free(key) }
    }

    private func label(_ number: Int) -> GestureKey.Label { number == 0 ? .none : .number(Int64(number)) }

    // MARK: The beginning

    /// Begins with the camera of a trace's header.
    func begin(_ header: TraceHeader, _ line: inout LineWriter) {
        (numbers, taken) = ([:], [:])
        frame.removeAll()
        lastTime = 0
        line.clear()
        line.fed(header, camera: camera, timeMs: 0)
        append(line)
    }

    /// Writes for one subscriber how a trace begins that the others have already begun.
    func describe(
        _ header: TraceHeader, _ active: [(key: GestureKey, event: GestureEvent)], at time: Double,
        _ line: inout LineWriter
    ) {
        let time = max(lastTime, time)
        line.fed(header, camera: camera, timeMs: time)
        for start in stride(from: 0, to: active.count, by: largestFrame) {
            let part = active[start..<min(start + largestFrame, active.count)]
            let frame = part.map { Request.Body.gesture(.init($0.event, label: label(number(of: $0.key)))) }
            line.fed(frame, camera: camera, timeMs: time)
        }
    }
}

/// Numbers from 0 on, a bit for each.
private struct NumberSet {
    private var words: [UInt64] = []

    /// Adds the lowest number that is not in it.
    mutating func insertLowest() -> Int {
        let index = words.firstIndex { $0 != .max } ?? words.count
        if index == words.count { words.append(0) }
        let bit = (~words[index]).trailingZeroBitCount
        words[index] |= 1 << bit
        return index * 64 + bit
    }

    mutating func remove(_ number: Int) { words[number / 64] &= ~(1 << (number % 64)) }
}
