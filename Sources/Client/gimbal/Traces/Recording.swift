// Recordings on the command line: the options for reading them, and a source that reads any format as a trace, a piece at
// a time, never whole.

import ArgumentParser
import GimbalClient
import TouchTraces
import Traces

struct RecordingOptions: ParsableArguments {
    @Option(
        "The recorded device, if the recording does not describe it: a file that does, or /dev/input/eventN.",
        "file", completion: .file())
    var device: String?

    @Option("Which of several devices in the recording, from 1 (default: the first that tells fingers apart).", "n")
    var deviceNumber: Int?

    @Option("The size in points of the device's surface, before --rotate (default: from the recording).", "size")
    var viewport: Viewport?

    @Option("How far the device was turned clockwise: 90, 180 or 270.", "degrees")
    var rotate: Rotation?

    @Option("Frames per second, if the recording has no times.", "hz")
    var rate: Number?

    @Option("The camera's initial target (default: 0,0).", "lat,lng")
    var fromTarget: LatLng?

    @Option("The initial zoom (default: 12).", "level")
    var fromZoom: Number?

    @Option("The initial bearing (default: 0).", "degrees")
    var fromBearing: Number?

    @Option("The initial viewing angle (default: 0).", "degrees")
    var fromViewingAngle: Number?

    /// The name of the first option that was given.
    var given: String? {
        let options = [
            ("--viewport", viewport != nil), ("--from-target", fromTarget != nil), ("--from-zoom", fromZoom != nil),
            ("--from-bearing", fromBearing != nil), ("--from-viewing-angle", fromViewingAngle != nil),
        ]
        return givenOfDevice ?? options.first(where: \.1)?.0
    }

    /// The name of the first given option about how the device records.
    var givenOfDevice: String? {
        let options = [
            ("--device", device != nil), ("--device-number", deviceNumber != nil), ("--rotate", rotate != nil),
            ("--rate", rate != nil),
        ]
        return options.first(where: \.1)?.0
    }

    func validate() throws {
        try check("--device-number", deviceNumber.map(Double.init), 1 ... .infinity)
        try check("--rate", rate?.value, 0.1...100_000, " Hz")
    }

    static let note = """
        Recordings are those of evemu, getevent, evtest, python-evdev, hid-recorder, "libinput record", "libinput \
        debug-events", the kernel's own input events, touches of a web page in JSON (events, Chrome DevTools messages, \
        WebDriver actions, sessions by rrweb), the MotionEvents of an Android log, and scripts of Android's sendevent, \
        input and monkey. They may be compressed by gzip, bzip2, xz or zstd, and are recognized by their content, not \
        by their names. In scripts, only stated durations and sleeps take time; how long a command takes to start is \
        ignored.
        """

    /// Returns the options for making a trace of a recording.
    ///
    /// - Parameter file: the recording, which may be a device that describes itself.
    func traceOptions(of file: InputFile? = nil) throws -> TraceOptions {
        var options = TraceOptions()
        options.device = try device.map(Self.description) ?? file?.askDevice()
        options.viewport = viewport
        options.rotation = rotate ?? .none
        if fromTarget != nil || [fromZoom, fromBearing, fromViewingAngle].contains(where: { $0 != nil }) {
            let usual = TraceOptions.usualPosition
            options.position = CameraPosition(
                target: fromTarget ?? usual.target, zoom: fromZoom?.value ?? usual.zoom,
                bearing: fromBearing?.value ?? 0, viewingAngle: fromViewingAngle?.value ?? 0)
        }
        options.rate = rate?.value
        options.deviceNumber = deviceNumber
        return options
    }

    private static func description(_ name: String) throws -> DeviceDescription {
        let file = try InputFile(name)
        if let device = file.askDevice() { return device }
        let bytes = try file.readAll(upTo: 1 << 20)
        return try about(name) {
            guard let device = try? DeviceDescription(bytes.span) else { throw RecordingError.noDevice }
            return device
        }
    }
}

extension Rotation: ExpressibleByArgument {}

/// The option that selects one of several traces in a file.
struct TraceNumber: ParsableArguments {
    @Option("Which of several traces in the file, from 1.", "n", name: .customLong("trace"))
    var number: Int?

    func validate() throws {
        if let number, number < 1 { throw ValidationError("--trace must be 1 or more.") }
    }
}

/// A file of any format, or standard input, read as a trace; a Gimbal trace is read unchanged.
final class TraceSource {
    private let file: InputFile
    let converter: TraceConverter
    private(set) var isAtEnd = false
    /// The number of bytes read from the file.
    private(set) var bytesRead = 0

    /// The first given option that means nothing for a trace.
    private let optionForRecordings: String?
    private let selection: TraceSelection?

    /// How long a stream must be quiet, in milliseconds, before fingers held back are released: an instant for a person
    /// who touches the screen, and long for a program that writes everything it has.
    private static let quiet: CInt = 50
    /// The end of what has been read: enough to recognize a `trace-end`.
    private var tail: [UInt8] = []
    private static let tailSize = 1024

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - trace: replaces the trace options that follow from `options`.
    ///   - number: which of several traces in the file to read, from 1; `nil` for all of them.
    init(_ file: InputFile, _ options: RecordingOptions, _ trace: TraceOptions? = nil, number: Int? = nil) throws {
        self.file = file
        selection = number.map { TraceSelection($0) }
        var trace = try trace ?? options.traceOptions(of: file)
        if trace.device == nil { trace.device = file.askDevice() }
        converter = TraceConverter(trace)
        optionForRecordings = options.given ?? (trace.writesTouches ? "--touches" : nil)
    }

    /// The file's name as it was given.
    var name: String { file.name }
    var descriptor: CInt { file.descriptor }
    /// The size of the file in bytes, if it is known.
    var size: Int? { file.size }
    var format: RecordingFormat? { converter.reader.format }
    var notes: RecordingNotes { converter.reader.notes }
    var findings: Findings { converter.findings }

    /// Reads a piece of the file; returns what it adds to the trace, which may be nothing yet.
    ///
    /// - Throws: a `Failure` if the file cannot be read or is no recording.
    func read() throws -> [UInt8] {
        let piece = try file.read()
        isAtEnd = piece.isEmpty
        bytesRead += piece.count
        var trace: [UInt8] = []
        func append(_ bytes: Span<UInt8>) {
            unsafe bytes.withUnsafeBufferPointer { unsafe trace.append(contentsOf: $0) }
        }
        try about(name) {
            if isAtEnd { try converter.finish(append) } else { try converter.read(piece.span, append) }
            if converter.reader.isHolding, file.isStream, try file.isQuiet(for: Self.quiet) { try assumeRange(append) }
        }
        if let optionForRecordings, format == .trace {
            throw Failure(
                .usage, "\(name): \(optionForRecordings) is for recordings; a trace specifies this in its own lines")
        }
        if let selection, format == .trace { trace = try select(trace, selection) }
        tail = Array((tail + trace.suffix(Self.tailSize)).suffix(Self.tailSize))
        return trace
    }

    /// Returns the part of a piece that belongs to the selected trace.
    private func select(_ piece: [UInt8], _ selection: TraceSelection) throws -> [UInt8] {
        var left = selection.read(piece)
        if isAtEnd { left += selection.finish() }
        if isAtEnd, selection.begun < selection.number {
            throw Failure(
                .dataError,
                """
                \(name) has no trace \(selection.number): there \(selection.begun == 1 ? "is" : "are") \
                \(counted(selection.begun, "trace"))
                """)
        }
        return left
    }

    /// Continues a stream that does not describe its device with an assumed range, and reports it.
    private func assumeRange(_ append: (Span<UInt8>) -> Void) throws {
        try converter.assumeRange(append)
        guard let surface = converter.reader.surface else { return }
        let range = surface.range
        let (width, height) = (fixed(surface.viewport.width, 0), fixed(surface.viewport.height, 0))
        say(
            """
            \(name): the range of positions is unknown: \(fixed(range.x, 0)) by \(fixed(range.y, 0)) is assumed, as \
            \(width) by \(height) points. "getevent -p" in front of it, or --device, specifies it
            """)
    }

    /// The beginning of a trace.
    struct Opening {
        /// Blank lines before the header.
        var blank: [UInt8]
        var header: HeaderLine
        /// The line number of the header, from 1.
        var headerLine: Int
        /// What has been read after the header's line.
        var rest: [UInt8]
    }

    /// Reads the header.
    ///
    /// - Throws: `TraceError` when the file begins with something else.
    func opening() throws -> Opening {
        var bytes: [UInt8] = []
        while true {
            bytes += try read()
            let start = bytes.firstIndex { ![0x20, 0x09, 0x0d, 0x0a].contains($0) } ?? bytes.count
            let end = bytes[start...].firstIndex(of: 0x0a)
            guard end != nil || isAtEnd || bytes.count - start > RequestDecoder.longestLine else { continue }
            guard start < bytes.count else { throw TraceError.empty }
            let line = Array(bytes[start..<(end ?? bytes.count)])
            guard line.count <= RequestDecoder.longestLine else { throw TraceError.noHeader }
            return Opening(
                blank: Array(bytes[..<start]), header: try HeaderLine(line),
                headerLine: bytes[..<start].count { $0 == 0x0a } + 1,
                rest: end.map { Array(bytes[($0 + 1)...]) } ?? [])
        }
    }

    /// What to append to a trace that does not end itself.
    var ending: [UInt8] { Trace.ending(behind: tail) }

    /// Returns the last bytes of a Gimbal trace whose size is known, at most `most`; reading continues where it was.
    func lastBytes(_ most: Int) -> [UInt8]? { format == .trace && selection == nil ? file.lastBytes(most) : nil }

    /// Returns how far the file has been read, for a progress bar.
    ///
    /// - Parameter frames: the number of frames made of it; `nil` for the recording's own.
    func progress(frames: Int? = nil) -> ProgressState {
        var state = ProgressState(name: name, frames: frames ?? findings.frames)
        if let size, size > 0 { state.share = Double(bytesRead) / Double(size) }
        if format != .trace { state.time = findings.durationMs }
        return state
    }

    /// Reports what was skipped in the recording.
    func reportDamage() {
        if format != .trace, isAtEnd, findings.landed == 0, findings.gestureCount == 0 {
            say("\(name): it contains no touches")
        }
        for number in notes.devicesLeftOut {
            say("\(name): the fingers on device \(number) are left out: --device-number \(number) selects them")
        }
        for line in notes.damaged { say("\(name):\(line.line): skipped: \(line.excerpt)") }
        let more = notes.damagedCount - notes.damaged.count
        if more > 0 { say("\(name): \(counted(more, "more line")) skipped") }
    }
}
