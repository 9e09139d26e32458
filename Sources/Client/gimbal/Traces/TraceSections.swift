// The traces of a file, one after the other: each from its header to its end, with the facts from its lines. Times
// count as in a replay, from a trace's first line that has one.

import GimbalProtocol
import TouchTraces
import Traces

/// The facts about Gimbal traces, from their lines.
final class TraceSections {
    /// One trace.
    struct Section {
        /// The line number of its header, from 1.
        let line: Int
        /// The camera that its header names, if the header is valid.
        let camera: String?
        fileprivate(set) var findings = Findings()
        /// The time of its first line, in milliseconds of its own clock.
        fileprivate(set) var origin: Double?
        fileprivate var last = -Double.infinity
        fileprivate var isOver = false
        fileprivate var reporter = GestureReporter()

        /// Returns how many fingers a request lands.
        fileprivate func landed(by request: Request) -> Int {
            guard case .touch(let fingers) = request.body else { return 0 }
            let before = fingers.isCancelled ? [] : reporter.touches(on: fingers.surface)
            return fingers.touches.count { touch in !before.contains { $0.id == touch.id } }
        }
    }

    private(set) var sections: [Section] = []
    /// Lines that a daemon would reject, with the reasons.
    private(set) var notes = RecordingNotes()
    private var decoder = RequestDecoder()
    private var splitter = LineSplitter()
    /// The number of the current line.
    private var lineNumber = 0

    /// The most traces in one file that are told apart.
    private static let most = 1000

    func read(_ bytes: [UInt8]) { splitter.read(bytes) { handle($0) } }

    func finish() { splitter.finish { handle($0) } }

    private func damage(_ reason: String) { notes.addDamaged(lineNumber, reason) }

    private func handle(_ line: LineSplitter.Line) {
        lineNumber = line.number
        guard !line.isTooLong else { return damage("the line is too long") }
        guard !line.isBlank else { return }
        do {
            handle(try decoder.decode(line.text.span))
        } catch {
            if error.isHeader, sections.last?.isOver ?? true { begin(camera: nil) }
            damage(error.error.message)
        }
    }

    private func begin(camera: String?) {
        guard sections.count < Self.most else { return damage("at most \(Self.most) traces are told apart") }
        sections.append(Section(line: lineNumber, camera: camera))
    }

    private func handle(_ requests: [Request]) {
        if requests.count == 1, case .trace = requests[0].body {
            guard sections.last?.isOver ?? true else { return damage("this header is inside a trace") }
            return begin(camera: requests[0].camera.map { "\($0)" })
        }
        guard var section = sections.popLast() else { return damage("this is before any header") }
        defer { sections.append(section) }
        if case .traceEnd? = requests.first?.body {
            if section.isOver { damage("this is after trace-end") }
            section.isOver = true
            return
        }
        guard let time = requests.lazy.compactMap(\.timeMs).first else { return }
        if section.isOver { return damage("this is after trace-end") }
        if time < section.last { return damage("timeMs must not be before that of the previous line") }
        section.last = time
        let start = section.origin ?? time
        section.origin = start
        section.findings.addFrame(at: time - start)
        for request in requests {
            let landed = section.landed(by: request)
            for report in section.reporter.reports(of: request, at: time - start) {
                section.findings.add(report, at: time - start)
            }
            section.findings.addTouches(landed: landed, down: section.reporter.fingersDown)
        }
    }
}
