// `gimbal record`: records what a camera is fed, as a trace that makes the same camera. Invariant: however it ends,
// what has been written is a complete trace.

import ArgumentParser
import GimbalProtocol
import Glibc
import Traces

struct Record: ParsableCommand {
    static let configuration = CommandConfiguration(
        "Record what a camera is fed, as a trace.",
        """
        Records gestures, commands and settings from all clients, as the camera takes them, until ^C, with status 0. \
        Played again, the trace produces the same camera. The file grows as lines arrive, and can be played at any time.

        The trace begins with the camera as it is, and with the fingers that are down. While the camera moves by \
        itself, the command waits: no trace begins in the middle of an animation. When a trace is played into the \
        camera, the recording starts again with that trace; what was recorded before stays in front of it, as a trace \
        of its own.

        If the daemon goes away or the camera is removed, the status is 69; if the recording cannot be written as fast \
        as the camera is fed, it ends with status 74. What has been written can still be played.

        On a terminal, m sets a marker, as "gimbal mark" does, and q ends the recording. --append adds a trace after \
        those in the file; "gimbal join" makes one trace of several files.

        Examples:
          gimbal record -o session.ndjson
          gimbal record -o session.ndjson --append
          gimbal record --camera left --duration 10s >ten-seconds.ndjson
          gimbal record | grep --line-buffered '"type":"pinch"'
        """)

    @OptionGroup var socket: SocketOptions

    @Option("The camera (default: \(CameraName.main.text)).", "name", name: .customLong("camera"), completion: .cameras)
    var namedCamera: CameraName?

    @OptionGroup var destination: OutputOptions

    @Option("End after this time, in milliseconds or such as 10s or 5m.", "time")
    var duration: Milliseconds?

    @Flag(help: "Append to the file of -o.")
    var append = false

    func validate() throws {
        try duration?.checkRange("--duration")
        if append, destination.file == nil { throw ValidationError("--append needs a file: name it with -o.") }
        if append, destination.force { throw ValidationError("--append and --force cannot be combined.") }
    }

    func run() throws {
        try RecordSession(self).run()
    }
}

private final class RecordSession {
    private let camera: CameraName
    private let connection: DaemonConnection
    private let file: OutputFile
    private var writer = TraceFileWriter()
    private var status: StatusLine
    /// A short-lived note in the status line.
    private var note: (text: PrintableText, end: ContinuousClock.Instant)?
    private let started: ContinuousClock.Instant
    private let keyboard: Keyboard?
    private let end: TimeLimit?
    private var isOver = false
    /// Whether a key has ended the recording.
    private var isEnding = false
    private var marks = 0

    /// How long the daemon has to send the remaining lines after the unsubscription.
    private static let timeoutMs = 250.0
    private static let endMark: RequestID = "gimbal-record-end"
    private static let markID: RequestID = "gimbal-record-mark"

    init(_ options: Record) throws {
        camera = options.namedCamera ?? .main
        file = try OutputFile(options.destination, options.append ? .appending : .growing)
        // Room for the last line, and blank ones after it.
        let existing = file.existingEdges(upTo: 2 * RequestDecoder.longestLine)
        guard writer.continueFile(existing.beginning.withoutByteOrderMark, existing.end) else {
            throw Failure(.dataError, "\(options.destination.file ?? "-") is not a trace that can be continued")
        }
        connection = try DaemonConnection(options.socket)
        let isQuiet = options.destination.file != nil || isatty(STDOUT_FILENO) == 0
        keyboard = isQuiet ? Keyboard() : nil
        status = StatusLine(isWanted: isQuiet, delay: .zero)
        started = .now
        end = options.duration.map { TimeLimit(milliseconds: $0.milliseconds) }
    }

    /// Records until a key, a signal, the time or the daemon ends it.
    func run() throws {
        defer {
            status.clear()
            keyboard?.end()
        }
        do {
            try listen()
        } catch let interrupt as Interrupt {
            // Lines that were fed before the signal are still on their way.
            interrupt.accept()
            do { try unsubscribe() } catch {
                try conclude()
                throw error
            }
        } catch is ClosedOutput {
            throw ClosedOutput()
        } catch {
            try conclude()
            throw error
        }
        try conclude()
        status.clear()
        keyboard?.end()
        if status.isOn { say(writer.hasBegun ? "\(counted(writer.lines, "line")) recorded" : "nothing was recorded") }
    }

    private func listen() throws {
        connection.queue(try ClientRequest.subscribe(kinds: [.gesture]).line(camera: camera.text))
        connection.expectAnswer()
        while !isEnding, end?.left != 0 {
            if try !turn(until: end) { throw Failure.daemonWentAway }
            try press()
            showStatus()
        }
        try unsubscribe()
    }

    /// Handles the keys that were pressed.
    private func press() throws {
        guard let keyboard else { return }
        keyboard.begin()
        keyboard.stopIfAsked { status.clear() }
        for key in keyboard.read() {
            switch key {
            case .character("m"):
                marks += 1
                let request = ClientRequest.marker(label: "mark \(marks)")
                connection.queue(try request.line(camera: camera.text, id: Self.markID))
            case .character("q"): isEnding = true
            default: break
            }
        }
    }

    /// Unsubscribes, and reads what the daemon still has to send.
    private func unsubscribe() throws {
        connection.queue(try ClientRequest.unsubscribe.line(camera: camera.text, id: Self.endMark))
        let last = TimeLimit(milliseconds: Self.timeoutMs)
        while !isOver, last.left > 0, try turn(until: last) {}
    }

    /// Waits, at most until `end`, and writes what has arrived; returns `false` if the daemon has ended the connection.
    private func turn(until end: TimeLimit?) throws -> Bool {
        let timeout = [end?.left, status.isOn ? StatusLine.interval : nil].compactMap(\.self).min()
        let turn = try connection.turn(others: [keyboard?.source].compactMap(\.self), timeout: timeout, handle)
        try file.write(writer.drain())
        return turn.end == nil
    }

    private func conclude() throws {
        writer.end()
        do {
            try file.write(writer.drain())
        } catch {
            // Keeps what could be written.
            try? file.finish()
            throw error
        }
        try file.finish()
    }

    private func handle(_ message: ReceivedLine) throws {
        switch message.type {
        case .subscribed: connection.hasAnswered()
        case .gesture: if case .input(let input)? = message.event { writer.add(input) }
        case .reset: writer.cut()
        case .ok where message.id == Self.markID: show("mark \(marks) set")
        case .ok: isOver = true
        case .lagged:
            guard case .lagged(let lagged)? = message.event else { return }
            throw Failure(.ioError, "\(lagged.text); the recording ends before them")
        case .removed: throw Failure(.unavailable, "camera \(camera.text) was removed; the recording ends there")
        case .error where message.id == Self.markID:
            show(message.error.map { "\($0.message)" } ?? "no marker was set")
        case .error:
            if let error = message.error { throw Failure(error) }
        default: break
        }
    }

    // MARK: The status line

    private func show(_ note: PrintableText) {
        self.note = (note, .now + .seconds(2))
        status.clear()
    }

    private func showStatus() {
        if let end = note?.end, end <= .now { note = nil }
        let state: PrintableText =
            writer.isRunning ? "\(counted(writer.lines, "line"))" : "waiting for the camera to rest"
        let time = clock(milliseconds: (.now - started) / .milliseconds(1), 0)
        let keys: PrintableText = keyboard == nil ? "^C ends it" : "m: mark  q: end"
        status.update { columns in
            let style = Style(STDERR_FILENO)
            let facts = fitting("\(time)  \(note?.text ?? state)", columns - 11)
            let hasRoom = columns - 11 - width(facts) - 2 - width(keys) >= 0
            return style.yellow("recording") + "  " + facts + (hasRoom ? "  " + style.dim(keys) : "")
        }
    }
}
