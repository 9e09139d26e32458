// Converts a recording to a Gimbal trace, piece by piece: frames → touches in points → gestures → lines. A Gimbal trace
// passes through unchanged. Invariant: the output depends only on the recording, not on how it was cut into reads.

import Gestures
import GimbalProtocol
import MapCamera
import Touches

/// Options for reading a recording, and for making a trace of it.
public struct TraceOptions: Sendable {
    /// Replaces the recording's own description of its device.
    public var device: DeviceDescription?
    /// The viewport that the device's whole surface maps to, before turning; `nil` derives it from the device.
    public var viewport: Viewport?
    /// How surface and viewport are turned.
    public var rotation = Rotation.none
    /// The initial position of the camera; `nil` uses the recording's, or else ``usualPosition``.
    public var position: CameraPosition?
    /// The frames per second of a recording without times, above 0. Without it such a recording throws
    /// ``RecordingError/noTimes``.
    public var rate: Double?
    /// Which of several devices to follow, from 1, in the order in which the recording names them; `nil` is the first
    /// that tells contacts apart.
    public var deviceNumber: Int?
    /// Whether the lines feed a live camera: no header and no end is written.
    public var isLive = false
    /// The camera that each line names, if any.
    public var camera: String?
    /// Whether to write the fingers, for the daemon to recognize, instead of their gestures.
    public var writesTouches = false

    /// The default initial position: in the middle of the zoom range, so that fingers can zoom both ways.
    public static let usualPosition = CameraPosition(target: LatLng(latitude: 0, longitude: 0), zoom: 12)

    /// Creates options; omitted ones have their defaults.
    public init(viewport: Viewport? = nil, position: CameraPosition? = nil) {
        self.viewport = viewport
        self.position = position
    }
}

/// A converter from a recording to a trace.
///
/// Pass the bytes of a file to ``read(_:_:)``, then call ``finish(_:)``. Do not use it after an error.
public final class TraceConverter {
    private let options: TraceOptions
    /// The reader of the recording, which knows its format, its device, and what was found besides the touches.
    public private(set) var reader: RecordingReader
    private var lines = LineWriter()
    private var recognizer = GestureRecognizer()
    private var frame = TouchFrame(timeMs: 0, touches: [])
    /// The recorder's time of the first frame, in microseconds: time 0 of the trace.
    private var origin: Int?
    private var surface: Surface?
    private var tellsAngles = true

    /// When the first gesture was reported, in milliseconds since the first frame: time 0 of a replay.
    package private(set) var originMs: Double?
    /// What the fingers did so far. Empty for a Gimbal trace.
    public private(set) var findings = Findings()
    /// Where the fingers went. Empty for a Gimbal trace.
    public private(set) var tracks = FingerTracks()

    /// Creates a converter of one recording.
    public init(_ options: TraceOptions = TraceOptions()) {
        self.options = options
        reader = RecordingReader(options)
    }

    /// Reads the next bytes of the file, and hands out the resulting bytes of the trace.
    ///
    /// - Throws: ``RecordingError`` if it is not a recording, and whatever `body` throws.
    public func read(_ bytes: Span<UInt8>, _ body: (Span<UInt8>) throws -> Void) throws {
        try reader.read(bytes, handle)
        try handOut(body)
    }

    /// Hands out what the reader holds back, for a live stream: assumes a common range of its device's positions.
    ///
    /// - Throws: whatever `body` throws.
    public func assumeRange(_ body: (Span<UInt8>) throws -> Void) throws {
        try reader.assumeRange(handle)
        try handOut(body)
    }

    /// Ends the file and the trace.
    ///
    /// - Throws: ``RecordingError`` if it was not a recording, and whatever `body` throws.
    public func finish(_ body: (Span<UInt8>) throws -> Void) throws {
        try reader.finish(handle)
        if reader.format != .trace { end() }
        try handOut(body)
    }

    /// Reads a whole recording, and returns its trace.
    ///
    /// - Throws: ``RecordingError`` if it is not a recording.
    package func trace(of recording: [UInt8]) throws -> [UInt8] {
        var trace: [UInt8] = []
        func append(_ bytes: Span<UInt8>) { for index in bytes.indices { trace.append(bytes[index]) } }
        try read(recording.span, append)
        try finish(append)
        return trace
    }

    // MARK: The trace

    private func handOut(_ body: (Span<UInt8>) throws -> Void) throws {
        try lines.withBytes { bytes in if bytes.count > 0 { try body(bytes) } }
        lines.clear()
    }

    /// Takes what the reader hands out, while it is reading: the reader must not be touched here.
    private func handle(_ recorded: RecordedFrame) {
        switch recorded {
        case .surface(let surface, let device):
            self.surface = surface
            tellsAngles = device?.isSemiMT != true
            recognizer = GestureRecognizer(recognizesRotation: tellsAngles)
            if !options.isLive { begin(surface.viewport, device?.header) }
        case .touches(let contacts):
            findings.add(contacts)
            surface?.map(contacts, into: &frame)
            // Use the time as written, so that readers of the fingers recognize the same gestures.
            frame.timeMs = time(of: contacts.time)
            tracks.add(frame.touches, isCancelled: frame.isCancelled)
            recognizer.handle(frame)
            if !contacts.isImplied { findings.addFrame(at: frame.timeMs) }
            note(recognizer.events, at: frame.timeMs)
            if options.writesTouches {
                write(frame)
            } else {
                write(recognizer.events, at: frame.timeMs)
            }
        case .gestures(let recorded, let events):
            let timeMs = time(of: Int((recorded * 1000).rounded()))
            findings.addFrame(at: timeMs)
            note(events, at: timeMs)
            write(events, at: timeMs)
        case .trace(let bytes): lines.write(bytes.span)
        }
    }

    /// Converts a recorder's time to the trace's, in milliseconds with three decimals.
    private func time(of microseconds: Int) -> Double {
        let start = origin ?? microseconds
        origin = start
        return Double(microseconds - start) / 1000
    }

    /// Writes the header: the recording's own if it has one, except for what the options override.
    private func begin(_ viewport: Viewport, _ told: ToldHeader?) {
        guard let told else {
            return lines.traceHeader(viewport: viewport, position: options.position ?? TraceOptions.usualPosition)
        }
        var own = LineWriter()
        own.traceHeader(viewport: viewport, position: options.position ?? TraceOptions.usualPosition)
        var names: [String] = []
        if viewport != told.viewport { names.append("viewport") }
        if options.position != nil { names.append("position") }
        lines.write(told.taking(names, from: own.bytes))
        lines.write("\n")
    }

    private func note(_ events: [GestureEvent], at timeMs: Double) {
        for event in events {
            let start = originMs ?? timeMs
            originMs = start
            findings.add(GestureReport(event, of: GestureKey(feed: 0, kind: event.kind)), at: timeMs - start)
        }
    }

    private func write(_ events: [GestureEvent], at timeMs: Double) {
        if !events.isEmpty { lines.frame(events, timeMs: timeMs, camera: options.camera) }
    }

    private func write(_ frame: TouchFrame) {
        let fingers = Fingers(frame.touches, isCancelled: frame.isCancelled, tellsAngles: tellsAngles)
        lines.touchFrame(fingers, timeMs: frame.timeMs, camera: options.camera)
    }

    /// Writes the end of the trace. A recording without a finger is a trace, too.
    private func end() {
        guard !options.isLive else { return }
        if surface == nil { begin(options.viewport ?? .standard, nil) }
        let line = Request.traceEndLine
        lines.write(line.span)
    }
}
