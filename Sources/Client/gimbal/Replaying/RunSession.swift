// Plays one trace into a camera of this process, at the highest speed; the result is what a daemon would send, to the
// byte. Plots, runs and expectations all use it.

import GimbalProtocol
import Traces

final class RunSession {
    let reader: TraceSource
    let opening: TraceSource.Opening
    /// The camera; it answers queries while the trace plays.
    let run: TraceRun
    /// The number of rejected lines.
    private(set) var rejected = 0
    /// Whether the trace has ended.
    private(set) var isOver = false
    private var bar: StatusLine
    private var frames = 0
    private let playsAll: Bool
    /// Whether the file contains anything after the trace that is played.
    private var hasMore = false
    /// Whether lines of the trace follow that its header's `untilMs` leaves out.
    private var hasUnplayed = false
    private var splitter = LineSplitter()

    /// Opens a trace or a recording.
    ///
    /// - Parameters:
    ///   - number: which of several traces in the file to play, from 1.
    ///   - playsAll: whether to play what follows the first trace, too.
    ///   - isOnce: whether to play a trace only once even if its header repeats it.
    ///   - showsProgress: whether to show a progress bar.
    init(
        _ file: InputFile, _ options: RecordingOptions, number: Int? = nil, camera: CameraName? = nil,
        playsAll: Bool = false, isOnce: Bool = false, showsProgress: Bool = true
    ) throws {
        reader = try TraceSource(file, options, number: number)
        opening = try about(file.name) { [reader] in
            var opening = try reader.opening()
            opening.header = try opening.header.atHighestSpeed(isOnce: isOnce)
            if let camera { try opening.header.set([("camera", .string(camera.text))]) }
            return opening
        }
        self.playsAll = playsAll
        run = try TraceRun(camera: opening.header.camera) { try $0.atHighestSpeed(isOnce: isOnce) }
        bar = StatusLine(isWanted: showsProgress)
    }

    /// Plays the trace; reports rejected lines on standard error.
    ///
    /// - Throws: a `Failure` if the header is refused, and what `body` throws.
    func play(_ body: (TraceRun.Line) throws -> Void) throws {
        defer { bar.clear() }
        func play(_ line: LineSplitter.Line) throws {
            try Interrupt.check()
            guard !isOver || playsAll else { return look(behind: line) }
            try run.play(line) { try note($0, body) }
            hasUnplayed = isOver && !playsAll && !Self.isEnd(line)
        }
        try splitter.read(opening.blank + opening.header.bytes + [0x0a], play)
        guard opening.header.isRight, rejected == 0 else { throw Failure(.dataError, "\(reader.name) was not played") }
        try splitter.read(opening.rest, play)
        while !reader.isAtEnd, !isOver || playsAll {
            try splitter.read(try reader.read(), play)
            bar.update { reader.progress(frames: frames).text($0) }
        }
        try splitter.finish(play)
        if !isOver || playsAll { try run.finish { try note($0, body) } }
        bar.clear()
        reader.reportDamage()
    }

    /// Checks that the file has no other trace after the one that was played.
    func checkIsAlone() throws {
        while !hasMore, !reader.isAtEnd { splitter.read(try reader.read(), look(behind:)) }
        splitter.finish(look(behind:))
        if hasMore {
            throw Failure(.dataError, "\(reader.name) has several traces: \"gimbal cut --trace\" takes one of them")
        }
    }

    private func look(behind line: LineSplitter.Line) {
        if hasUnplayed {
            hasUnplayed = !Self.isEnd(line)
        } else if !line.isBlank {
            hasMore = true
        }
    }

    private static func isEnd(_ line: LineSplitter.Line) -> Bool {
        guard !line.isTooLong, case .traceEnd? = try? RequestDecoder.requests(of: line.text.span).first?.body else {
            return false
        }
        return true
    }

    private func note(_ played: TraceRun.Line, _ body: (TraceRun.Line) throws -> Void) throws {
        try Interrupt.check()
        for message in played.messages {
            switch message.type {
            case .cameraChanged: frames += 1
            case .traceEnded: isOver = true
            case .error:
                guard let error = message.error else { continue }
                rejected += 1
                bar.clear()
                say("\(reader.name):\(error.line - TraceRun.linesBefore): \(error)")
            default: break
            }
        }
        try body(played)
    }
}
