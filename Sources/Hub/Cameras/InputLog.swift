// What one camera is sent, recorded as the lines of a trace that makes the same camera. It is there only while somebody has
// subscribed to it, with a log of its own, so that it takes nothing from the history of the camera's events.
// Invariant: an active gesture has a number that no other active one of its kind has, whoever sends it.

import Gestures
import MapCamera
import GimbalProtocol

final class InputLog {
    /// The camera's events and what it was sent, in the order in which they arose.
    let log: EventLog
    private let encoder: LineEncoder
    private let camera: String
    private let largestArray: Int
    /// The numbers of gestures that are active. In a trace one connection sends them all.
    private var numbers: [GestureKey: Int] = [:]
    /// Which numbers the gestures of a kind have.
    private var taken: [GestureKind: NumberSet] = [:]
    private var batch: [Request.Body] = []
    /// The time of the last line: the next is not before it.
    private var lastTime = -Double.infinity
    /// How many times as much it holds as a history has to, at the most: a line is as long as what was sent.
    private static let longest = 4
    /// Lines that have not been counted by ``takeLineCount()``.
    private var uncounted = 0

    init(
        of camera: String, active: [GestureKey], encoder: LineEncoder, limits: Limits, memory: (any HistoryMemory)?
    ) {
        (self.camera, self.encoder) = (camera, encoder)
        largestArray = min(limits.frame, RequestDecoder.largestFrame)
        log = EventLog(limits: limits, maximumBytes: Self.longest * limits.historyBytes, memory: memory)
        for key in active { _ = number(of: key) }
    }

    // MARK: From process to process

    /// What the log is, between batches.
    func write(to out: inout FieldWriter) {
        out.put(InputLogField.lastTime, lastTime)
        out.put(InputLogField.log) { log.write(to: &$0) }
        for (key, number) in numbers {
            out.put(InputLogField.gesture) { out in
                key.write(to: &out)
                out.put(GestureField.logged, number)
            }
        }
    }

    /// Goes on where ``write(to:)`` left off.
    init(
        _ row: FieldReader, of camera: String, encoder: LineEncoder, limits: Limits, memory: (any HistoryMemory)?
    ) throws(FieldReader.Damage) {
        (self.camera, self.encoder) = (camera, encoder)
        largestArray = min(limits.frame, RequestDecoder.largestFrame)
        let maximumBytes = Self.longest * limits.historyBytes
        var row = row
        var log: EventLog?
        var gestures: [(GestureKey, Int)] = []
        while let (tag, field) = try row.next(InputLogField.self) {
            switch tag {
            case .lastTime: lastTime = try field.double()
            case .log:
                log = try EventLog.read(field.record(), limits: limits, maximumBytes: maximumBytes, memory: memory)
            case .gesture:
                let (key, fields) = try GestureKey.read(field.record())
                if let number = fields.logged { gestures.append((key, number)) }
            }
        }
        for (key, number) in gestures {
            numbers[key] = number
            taken[key.kind, default: NumberSet()].insert(number)
        }
        self.log = log ?? EventLog(limits: limits, maximumBytes: maximumBytes, memory: memory)
    }

    // MARK: A batch

    func add(_ event: GestureEvent, of key: GestureKey) {
        guard !event.kind.isTap else { return batch.append(.gesture(Request.Gesture(event, label: .none))) }
        let number = number(of: key)
        if event.phase == .ended || event.phase == .cancelled { free(key) }
        batch.append(.gesture(Request.Gesture(event, label: label(number))))
    }

    func add(_ command: Request.Command) { batch.append(.command(command)) }

    func add(marker label: String) { batch.append(.marker(label: label)) }

    /// Adds the cancellation of gestures whose client is gone.
    func cancel(_ keys: [GestureKey]) {
        for key in keys { add(GestureEvent(key.kind, .cancelled), of: key) }
    }

    /// Writes what was added since the last batch, as one line.
    ///
    /// - Parameters:
    ///   - velocity: what a pan that ended goes on with, where that matters: measured or not, it is written out.
    ///   - gestures: those that are active after the batch.
    func endBatch(at time: Double, velocity: ScreenPoint?, _ gestures: borrowing GestureTracker) {
        guard !batch.isEmpty else { return }
        if let velocity { setVelocity(velocity) }
        if numbers.count > gestures.count { freeAll(but: Set(gestures.reports.map(\.key))) }
        let time = advance(to: time)
        encoder.encode({ $0.fed(batch, camera: camera, timeMs: time) }, then: { append($0) })
        batch.removeAll(keepingCapacity: true)
    }

    private func setVelocity(_ velocity: ScreenPoint) {
        for index in batch.indices {
            guard case .gesture(var gesture) = batch[index], gesture.event.kind == .pan, gesture.event.phase == .ended
            else { continue }
            gesture.event.velocity = velocity
            batch[index] = .gesture(gesture)
        }
    }

    private func append(_ line: Span<UInt8>) {
        log.append(line, kind: .gesture)
        uncounted += 1
    }

    /// How many lines were written since this was asked last.
    func takeLineCount() -> Int {
        defer { uncounted = 0 }
        return uncounted
    }

    /// Notes that the camera moved by itself at a time. The next line is written as later than that by more than any
    /// rounding: in a replay a tick that is due goes ahead of a line at the same time, and a line's time is reckoned from
    /// another origin there.
    func passed(_ tick: Double) { lastTime = max(lastTime, tick + 8 * tick.ulp) }

    /// The time of the next line. The camera's clock may be set back by a rounding error; the trace's must not run backwards.
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

    /// Begins a trace with a header, and the gestures that are active, in place of what was recorded before.
    func begin(_ header: TraceHeader, _ active: [(key: GestureKey, event: GestureEvent)], at time: Double) {
        (numbers, taken) = ([:], [:])
        batch.removeAll()
        lastTime = time
        encoder.encode({ $0.fed(header, camera: camera, timeMs: time) }, then: { append($0) })
        forEachFrame(of: active) { frame in
            encoder.encode({ $0.fed(frame, camera: camera, timeMs: time) }, then: { append($0) })
        }
    }

    /// Writes for one subscriber how a trace begins that the others have already begun.
    func writeBeginning(
        _ header: TraceHeader, _ active: [(key: GestureKey, event: GestureEvent)], at time: Double,
        to line: inout LineWriter
    ) {
        let time = max(lastTime, time)
        line.fed(header, camera: camera, timeMs: time)
        forEachFrame(of: active) { line.fed($0, camera: camera, timeMs: time) }
    }

    /// The reports that begin active gestures, in frames that are not too long.
    private func forEachFrame(
        of active: [(key: GestureKey, event: GestureEvent)], _ body: ([Request.Body]) -> Void
    ) {
        for start in stride(from: 0, to: active.count, by: largestArray) {
            let part = active[start..<min(start + largestArray, active.count)]
            body(part.map { .gesture(Request.Gesture($0.event, label: label(number(of: $0.key)))) })
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

    mutating func insert(_ number: Int) {
        // As many as there may be gestures, and no more, whatever is read.
        guard (0..<65536).contains(number) else { return }
        while words.count <= number / 64 { words.append(0) }
        words[number / 64] |= 1 << (number % 64)
    }

    mutating func remove(_ number: Int) {
        if number / 64 < words.count { words[number / 64] &= ~(1 << (number % 64)) }
    }
}
