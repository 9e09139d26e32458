// The input of one camera, recorded as the lines of a trace that makes the same camera, and shown as the fingers on its
// surfaces. It exists only while a client subscribes to one of the two, and has a log of its own, so that it takes
// nothing from the history of the camera's events.
// Invariants: the number of an active gesture is unique among the active ones of its kind, from any client; fingers are
// recorded from landing to lifting, either as they are or as the gestures that they make.

import Gestures
import MapCamera
import GimbalProtocol
import Touches

final class InputLog {
    /// The camera's events and its input, in the order in which they arose.
    let log: EventLog
    private let encoder: LineEncoder
    private let camera: String
    private let largestBatch: Int
    /// The numbers of active gestures. In a trace, one connection sends them all.
    private var numbers: [GestureKey: Int] = [:]
    private var batch: [ClientRequest] = []
    /// Whether a client records.
    private var isRecording = false
    /// Whether a client wants to see the fingers.
    var showsTouches = false
    /// When fingers were last shown, on the camera's clock.
    private(set) var lastTouchTime: Double?
    /// The surfaces whose fingers are recorded as they are, with their numbers in the recording.
    private var surfaces: [Int: Int] = [:]
    /// The number of the next surface; none is reused, so that nothing remains of a previous one.
    private var nextSurface = 0
    /// The time of the last line; the next line is not earlier.
    private var lastTime = -Double.infinity
    /// The maximum size, as a multiple of a history's: a line is as long as what was sent.
    private static let sizeFactor = 4
    /// Lines that ``takeLineCount()`` has not counted yet.
    private var uncounted = 0

    init(of camera: String, encoder: LineEncoder, limits: Limits, memory: (any HistoryMemory)?) {
        (self.camera, self.encoder) = (camera, encoder)
        largestBatch = min(limits.batch, RequestDecoder.largestBatch)
        log = EventLog(limits: limits, maximumBytes: Self.sizeFactor * limits.historyBytes, memory: memory)
    }

    /// Starts or stops recording.
    ///
    /// - Parameter gestures: the active ones.
    func setRecording(_ isRecording: Bool, active gestures: borrowing GestureTracker) {
        guard isRecording != self.isRecording else { return }
        self.isRecording = isRecording
        (numbers, surfaces) = ([:], [:])
        guard isRecording else { return }
        var free: [GestureKind: Int] = [:]
        for (key, _) in gestures.reports {
            numbers[key] = free[key.kind, default: 0]
            free[key.kind, default: 0] += 1
        }
    }

    // MARK: Handover

    /// What is handed over to the next process, between batches.
    struct Record: Codable {
        fileprivate let log: EventLog.Record
        fileprivate let numbers: [GestureKey: Int]
        fileprivate let isRecording: Bool
        fileprivate let lastTouchTime: Double?
        fileprivate let surfaces: [Int: Int]
        fileprivate let nextSurface: Int
        fileprivate let lastTime: Double
    }

    var record: Record {
        Record(
            log: log.record, numbers: numbers, isRecording: isRecording, lastTouchTime: lastTouchTime,
            surfaces: surfaces, nextSurface: nextSurface, lastTime: lastTime)
    }

    /// Resumes where another process left off.
    init(
        _ record: Record, of camera: String, encoder: LineEncoder, limits: Limits, memory: (any HistoryMemory)?
    ) throws(StateDecoder.Damage) {
        (self.camera, self.encoder) = (camera, encoder)
        largestBatch = min(limits.batch, RequestDecoder.largestBatch)
        log = try EventLog(
            record.log, limits: limits, maximumBytes: Self.sizeFactor * limits.historyBytes, memory: memory)
        guard record.numbers.values.allSatisfy({ $0 >= 0 }) else { throw StateDecoder.Damage() }
        (numbers, isRecording) = (record.numbers, record.isRecording)
        (lastTouchTime, lastTime) = (record.lastTouchTime, record.lastTime)
        (surfaces, nextSurface) = (record.surfaces, record.nextSurface)
    }

    // MARK: A batch

    func add(_ event: GestureEvent, of key: GestureKey) {
        guard isRecording else { return }
        guard !event.kind.isTap else { return batch.append(.gesture(event)) }
        let number = number(of: key)
        if event.phase == .ended || event.phase == .cancelled { numbers[key] = nil }
        batch.append(.gesture(event, label: label(number)))
    }

    func add(_ command: ClientRequest) { if isRecording { batch.append(command) } }

    /// Adds a request ahead of everything else in the batch.
    func addFirst(_ command: ClientRequest) { if isRecording { batch.insert(command, at: 0) } }

    /// Shows the fingers of a surface and records them as they are. If they landed before the recording, it records the
    /// gestures that they make instead, since a replay would not recognize the same ones.
    func add(_ fingers: Fingers, _ outcome: TouchSurfaces.Outcome, at time: Double) {
        let surface = outcome.surface
        show(fingers, of: surface, at: time)
        guard isRecording else { return }
        if surfaces[surface.number] == nil, outcome.wasNew {
            surfaces[surface.number] = nextSurface
            nextSurface += 1
        }
        if let number = surfaces[surface.number] {
            var fingers = fingers
            fingers.surface = label(number)
            fingers.surfaceTimeMs = outcome.timeMs
            batch.append(.touch(fingers))
        } else {
            for event in outcome.events { add(event, of: GestureKey(feed: surface.gestureFeed, kind: event.kind)) }
        }
    }

    /// Shows the fingers on a surface, for subscribers that have not seen them land.
    func show(_ surface: TouchSurfaces.Surface, at time: Double) {
        show(Fingers(surface.touches, surface: surface.key.label), of: surface, at: time)
    }

    private func show(_ fingers: Fingers, of surface: TouchSurfaces.Surface, at time: Double) {
        guard showsTouches else { return }
        lastTouchTime = max(lastTouchTime ?? time, time)
        let touches = SurfaceTouches(
            fingers, number: surface.number, camera: camera, timeMs: lastTouchTime ?? time)
        encoder.encode({ $0.answer(.event(.touch(touches)), Span()) }, then: { append($0, .touch) })
    }

    /// Whether fingers are down that are recorded as they are.
    func isFollowing(_ touched: TouchSurfaces) -> Bool {
        touched.all.contains { $0.isTouched && surfaces[$0.number] != nil }
    }

    /// From now on, records fingers that are down, or whose gesture may not be over yet, as the gestures that they
    /// make: a new recorder has not seen them land.
    func forgetSurfaces() { surfaces = [:] }

    /// Adds the cancellation of gestures whose client is gone.
    func cancel(_ keys: [GestureKey]) {
        for key in keys { add(GestureEvent(key.kind, .cancelled), of: key) }
    }

    /// Writes what was added since the last batch as one line, or as several if it is more than a line may hold.
    ///
    /// - Parameters:
    ///   - velocity: the velocity with which an ended pan continues, where that matters; always written out.
    ///   - gestures: the active ones after the batch.
    func writeBatch(at time: Double, velocity: ScreenPoint?, _ gestures: borrowing GestureTracker) {
        guard !batch.isEmpty else { return }
        if let velocity { setVelocity(velocity) }
        if numbers.count > gestures.count {
            let active = Set(gestures.reports.map(\.key))
            numbers = numbers.filter { active.contains($0.key) }
        }
        let time = advance(to: time)
        for start in stride(from: 0, to: batch.count, by: largestBatch) {
            let part = batch.count <= largestBatch ? batch : Array(batch[start...].prefix(largestBatch))
            encoder.encode({ $0.input(part, camera: camera, timeMs: time) }, then: { append($0, .gesture) })
        }
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

    private func append(_ line: Span<UInt8>, _ kind: EventKinds) {
        log.append(line, kind: kind)
        uncounted += 1
    }

    /// Returns the number of lines written since the last call.
    func takeLineCount() -> Int {
        defer { uncounted = 0 }
        return uncounted
    }

    /// Notes that the camera moved by itself at a time. The next line gets a time that is later than that by more than
    /// any rounding error: in a replay, a tick precedes a line that is due at the same time, and the line's time is
    /// relative to another origin.
    func passed(_ tick: Double) { lastTime = max(lastTime, tick + 8 * tick.ulp) }

    /// Returns the next line's time. The camera's clock may be set back by a rounding error; the trace's must not run
    /// backwards.
    private func advance(to time: Double) -> Double {
        lastTime = max(lastTime, time)
        return lastTime
    }

    // MARK: Numbers

    /// Returns the number of a gesture: the lowest that is free among those of its kind when it begins.
    private func number(of key: GestureKey) -> Int {
        if let known = numbers[key] { return known }
        var isTaken = [Bool](repeating: false, count: numbers.count + 1)
        for (other, number) in numbers where other.kind == key.kind && number < isTaken.count { isTaken[number] = true }
        let number = isTaken.firstIndex(of: false) ?? numbers.count
        numbers[key] = number
        return number
    }

    private func label(_ number: Int) -> GestureKey.Label { number == 0 ? .none : .number(Int64(number)) }

    // MARK: Beginning of a trace

    /// Begins a trace with a header and the active gestures, in place of what was recorded before; without a header,
    /// with nothing.
    func begin(_ header: TraceHeader?, _ active: [(key: GestureKey, event: GestureEvent)], at time: Double) {
        (numbers, surfaces, nextSurface) = ([:], [:], 0)
        batch.removeAll()
        lastTime = time
        lastTouchTime = nil
        guard isRecording, let header else { return }
        encoder.encode({ $0.input(header, camera: camera, timeMs: time) }, then: { append($0, .gesture) })
        forEachBatch(of: active) { batch in
            encoder.encode({ $0.input(batch, camera: camera, timeMs: time) }, then: { append($0, .gesture) })
        }
    }

    /// Writes the beginning of a trace for one subscriber, when others have already begun theirs.
    func writeBeginning(
        _ header: TraceHeader, _ active: [(key: GestureKey, event: GestureEvent)], at time: Double,
        to line: inout LineWriter
    ) {
        let time = advance(to: time)
        line.input(header, camera: camera, timeMs: time)
        forEachBatch(of: active) { line.input($0, camera: camera, timeMs: time) }
    }

    /// Passes on the reports that begin active gestures, in batches that are not too long.
    private func forEachBatch(
        of active: [(key: GestureKey, event: GestureEvent)], _ body: ([ClientRequest]) -> Void
    ) {
        for start in stride(from: 0, to: active.count, by: largestBatch) {
            let part = active[start..<min(start + largestBatch, active.count)]
            body(part.map { .gesture($0.event, label: label(number(of: $0.key))) })
        }
    }
}
