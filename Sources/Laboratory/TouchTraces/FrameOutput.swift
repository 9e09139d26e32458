// Hands out a reader's frames, after the surface. If nothing gives the range of a device's positions, fingers are held
// back until enough of them have shown it.
// Invariant: the surface is handed out once, before the first frame, and never changes afterwards.

struct FrameOutput: Sendable {
    /// What is known about the origin of the frames.
    struct Source {
        var format: RecordingFormat?
        var device: DeviceDescription?
    }

    private let options: SurfaceOptions
    private(set) var surface: Surface?
    /// Frames that wait until the range of their device is observed.
    private var held: [ContactFrame] = []
    private var heldContacts = 0
    private var observed = ObservedRange()
    /// Whether the surface has been handed out.
    private var hasBegun = false
    /// Whether any finger or gesture has been seen.
    private(set) var hasTouches = false
    /// The number of bytes read.
    var consumed = 0

    /// How many bytes of a file are observed for the range of an undescribed device, and how many contacts are held
    /// back meanwhile at most.
    private static let observedLength = 1 << 20
    private static let mostHeld = 1 << 18

    init(_ options: SurfaceOptions) { self.options = options }

    var isHolding: Bool { !held.isEmpty }

    /// Whether the surface is not chosen yet, or earlier frames are still held back.
    var isUndecided: Bool { surface == nil || isHolding }

    /// Notes a frame that is about to be handed out.
    mutating func note(_ frame: ContactFrame) { hasTouches = hasTouches || !frame.contacts.isEmpty }

    /// Chooses the surface, or else holds the frame back. Returns whether the frame can be handed out.
    mutating func canBegin(
        with frame: ContactFrame, of source: Source, _ notes: inout RecordingNotes,
        _ body: (RecordedFrame) throws -> Void
    ) throws -> Bool {
        let isKnown = source.device?.ranges != nil || surface != nil
        if isKnown || consumed > Self.observedLength || heldContacts > Self.mostHeld {
            try release(source, &notes, body)
            return true
        }
        for contact in frame.contacts { observed.add(contact) }
        held.append(frame)
        heldContacts += frame.contacts.count + 1
        return false
    }

    /// Hands out gestures, after any frames that were held back.
    mutating func hand(
        _ gestures: LibinputGestures, of source: Source, _ notes: inout RecordingNotes,
        _ body: (RecordedFrame) throws -> Void
    ) throws {
        hasTouches = true
        try release(source, &notes, body)
        try body(.gestures(timeMs: gestures.timeMs, gestures.events))
    }

    /// Assumes a common range for a device that has not shown its own, and hands out what is held back.
    mutating func assumeRange(
        of source: Source, _ notes: inout RecordingNotes, _ body: (RecordedFrame) throws -> Void
    ) throws {
        guard isHolding else { return }
        if source.device?.isInPoints != true { observed.assumeUsual() }
        try release(source, &notes, body)
    }

    /// Chooses the surface from what is known, and hands out what was held back.
    mutating func release(
        _ source: Source, _ notes: inout RecordingNotes, _ body: (RecordedFrame) throws -> Void
    ) throws {
        if !hasBegun {
            hasBegun = true
            let surface = surface ?? choose(source, &notes)
            self.surface = surface
            try body(.surface(surface, source.device))
        }
        let frames = held
        held = []
        for frame in frames { try body(.touches(frame)) }
    }

    private func choose(_ source: Source, _ notes: inout RecordingNotes) -> Surface {
        switch source.format {
        case .libinputDebugEvents where source.device == nil:
            // Gestures are in points. Any fingers that follow are on the same viewport.
            let device = DeviceDescription(x: LibinputTouches.range, y: LibinputTouches.range)
            let viewport = options.viewport ?? .standard
            return Surface(
                of: device, observed: observed, options: SurfaceOptions(viewport: viewport, rotation: options.rotation))
        default:
            if source.device?.ranges == nil, hasTouches { notes.add(.noHead) }
            return Surface(of: source.device, observed: observed, options: options)
        }
    }
}
