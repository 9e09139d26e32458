// A recording in, a Gimbal trace out, piece by piece: frames → touches in points → gestures → lines. A Gimbal trace goes
// through as it is. Invariant: the bytes that come out depend on the recording alone, not on how it was cut into reads.

import Gestures
import GimbalProtocol
import MapCamera
import Touches

/// What a trace that is made of a recording begins with.
public struct TraceOptions: Sendable {
    /// The recording's device, if a description is kept beside it.
    public var device: DeviceDescription?
    /// How the device's surface becomes a viewport.
    public var surface: SurfaceOptions
    /// Where the camera is at first; `nil` is where the recording says, or else ``usualPosition``.
    public var position: CameraPosition?
    /// When fingers are taken for gestures.
    public var thresholds: Thresholds
    /// How many frames a second there are where the recording tells no times.
    public var rate: Double?
    /// Which of several devices is followed, from 1; `nil` is the first that tells contacts apart.
    public var deviceNumber: Int?
    /// Whether the lines go to a camera as it is: they have no header and no end.
    public var isLive = false
    /// The camera that each line names, if any.
    public var camera: String?
    /// Whether to write the fingers themselves, for the daemon to recognize, instead of their gestures.
    public var writesTouches = false

    /// Where the camera is at first if nothing says so: in the middle of its zooms, so that fingers can go both ways.
    public static let usualPosition = CameraPosition(target: LatLng(latitude: 0, longitude: 0), zoom: 12)

    /// The options; those left out are the usual ones.
    public init(
        device: DeviceDescription? = nil, surface: SurfaceOptions = SurfaceOptions(),
        position: CameraPosition? = nil,
        thresholds: Thresholds = Thresholds(), rate: Double? = nil
    ) {
        self.device = device
        self.surface = surface
        self.position = position
        self.thresholds = thresholds
        self.rate = rate
    }
}

/// Makes a trace of a recording.
///
/// Give it the bytes of a file by ``read(_:_:)``, then call ``finish(_:)``. After an error it must not be used again.
public final class TraceConverter {
    private var reader: RecordingReader
    private let maker: TraceMaker

    /// A converter of one recording.
    public init(_ options: TraceOptions = TraceOptions()) {
        reader = RecordingReader(
            device: options.device, surface: options.surface, rate: options.rate, deviceNumber: options.deviceNumber)
        maker = TraceMaker(options)
    }

    /// What the recording is, once that is known.
    public var format: RecordingFormat? { reader.format }
    /// The device that was recorded, as far as it is known.
    public var device: DeviceDescription? { reader.device }
    /// The device's surface in points, once there was a frame.
    public var surface: Surface? { reader.surface }
    /// What was met beside the touches.
    public var notes: RecordingNotes { reader.notes }
    /// What the fingers did so far. Of a Gimbal trace, nothing.
    public var findings: Findings { maker.findings }
    /// Where the fingers went. Of a Gimbal trace, nothing.
    public var tracks: FingerTracks { maker.tracks }

    /// Reads the next bytes of the file, and hands out the bytes of the trace that they make.
    ///
    /// - Throws: ``RecordingError`` if it is no recording, and what `body` throws.
    public func read(_ bytes: Span<UInt8>, _ body: (Span<UInt8>) throws -> Void) throws {
        let maker = maker
        try reader.read(bytes) { maker.handle($0) }
        try maker.handOut(body)
    }

    /// Whether fingers are held back until more is known of the range of their positions.
    public var isHolding: Bool { reader.isHolding }

    /// Hands out what is held back, for a stream that goes on: the range of its device's positions is taken for a usual
    /// one.
    ///
    /// - Throws: what `body` throws.
    public func assumeRange(_ body: (Span<UInt8>) throws -> Void) throws {
        let maker = maker
        try reader.assumeRange { maker.handle($0) }
        try maker.handOut(body)
    }

    /// Ends the file, and the trace.
    ///
    /// - Throws: ``RecordingError`` if it was no recording, and what `body` throws.
    public func finish(_ body: (Span<UInt8>) throws -> Void) throws {
        let maker = maker
        try reader.finish { maker.handle($0) }
        if reader.format != .trace { maker.end() }
        try maker.handOut(body)
    }

    /// The trace that a whole recording makes.
    ///
    /// - Throws: ``RecordingError`` if it is no recording.
    package static func trace(of recording: [UInt8], _ options: TraceOptions = TraceOptions()) throws -> [UInt8] {
        let converter = TraceConverter(options)
        var trace: [UInt8] = []
        func append(_ bytes: Span<UInt8>) { for index in bytes.indices { trace.append(bytes[index]) } }
        try converter.read(recording.span, append)
        try converter.finish(append)
        return trace
    }
}

/// What stands behind the reader: it changes while the reader hands over frames.
private final class TraceMaker {
    private let options: TraceOptions
    private(set) var findings = Findings()
    private(set) var tracks = FingerTracks()
    private var lines = LineWriter()
    private var recognizer: GestureRecognizer
    private var surface: Surface?
    private var frame = TouchFrame(timeMs: 0, touches: [])
    /// The recorder's time of the first frame, in microseconds: the trace's clock begins with it.
    private var origin: Int?
    private var tellsAngles = true

    init(_ options: TraceOptions) {
        self.options = options
        recognizer = GestureRecognizer(options.thresholds)
    }

    func handOut(_ body: (Span<UInt8>) throws -> Void) throws {
        try lines.withBytes { bytes in if bytes.count > 0 { try body(bytes) } }
        lines.clear()
    }

    func handle(_ recorded: RecordedFrame) {
        switch recorded {
        case .surface(let surface, let device):
            self.surface = surface
            tellsAngles = device?.isSemiMT != true
            recognizer = GestureRecognizer(options.thresholds, recognizesRotation: tellsAngles)
            if !options.isLive { begin(surface.viewport, device?.header) }
        case .touches(let contacts):
            findings.add(contacts)
            surface?.map(contacts, into: &frame)
            // Use the time as written: readers of the fingers recognize the same.
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

    /// The trace's time of a recorder's, in milliseconds with three decimals.
    private func time(of microseconds: Int) -> Double {
        let start = origin ?? microseconds
        origin = start
        return Double(microseconds - start) / 1000
    }

    /// Writes the header: the one that the recording tells, but for what the options say.
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
            findings.add(GestureReport(event, of: GestureKey(feed: 0, kind: event.kind)), at: timeMs)
        }
    }

    private func write(_ events: [GestureEvent], at timeMs: Double) {
        if !events.isEmpty { lines.frame(events, timeMs: timeMs, camera: options.camera) }
    }

    private func write(_ frame: TouchFrame) {
        let fingers = Fingers(frame.touches, isCancelled: frame.isCancelled, tellsAngles: tellsAngles)
        lines.touchFrame(fingers, timeMs: frame.timeMs, camera: options.camera)
    }

    /// A recording without a finger is a trace as well.
    func end() {
        guard !options.isLive else { return }
        if surface == nil {
            begin(options.surface.viewport ?? .standard, nil)
        }
        lines.traceEnd()
    }
}
