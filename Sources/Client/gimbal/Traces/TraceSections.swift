// The traces of a file, one behind the other: each from its header to its end, with what its lines tell. Times count as a
// replay's do, from a trace's first line that has one.

import GimbalProtocol
import TouchTraces
import Traces

/// What the lines of Gimbal traces tell.
final class TraceSections {
    /// One trace.
    struct Section {
        /// The line of its header, from 1.
        let line: Int
        /// The camera that its header names, if it is right.
        let camera: String?
        fileprivate(set) var findings = Findings()
        fileprivate var origin: Double?
        fileprivate var last = -Double.infinity
        fileprivate var isOver = false
        fileprivate var reporter = GestureReporter()

        /// How many fingers a request lands.
        fileprivate func landed(by request: Request) -> Int {
            guard case .touch(let fingers) = request.body else { return 0 }
            let before = fingers.isCancelled ? [] : reporter.touches(on: fingers.surface)
            return fingers.touches.count { touch in !before.contains { $0.id == touch.id } }
        }
    }

    private(set) var sections: [Section] = []
    /// Lines that a daemon would not take, the first of them with the reason.
    private(set) var damaged: [(line: Int, excerpt: String)] = []
    private(set) var damagedCount = 0
    private var decoder = RequestDecoder()
    private var splitter = LineSplitter()
    /// The line in hand.
    private var lineNumber = 0

    /// More traces than anybody puts into a file are not told apart.
    private static let most = 1000

    func read(_ bytes: [UInt8]) { splitter.read(bytes) { handle($0) } }

    func finish() { splitter.finish { handle($0) } }

    private func damage(_ reason: String) {
        damagedCount += 1
        if damaged.count < RecordingNotes.mostDamaged { damaged.append((lineNumber, reason)) }
    }

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
        guard sections.count < Self.most else { return damage("more than \(Self.most) traces are not told apart") }
        sections.append(Section(line: lineNumber, camera: camera))
    }

    private func handle(_ requests: [Request]) {
        if requests.count == 1, case .trace = requests[0].body {
            guard sections.last?.isOver ?? true else { return damage("a header stands inside of a trace") }
            return begin(camera: requests[0].camera.map { "\($0)" })
        }
        guard var section = sections.popLast() else { return damage("this stands before any header") }
        defer { sections.append(section) }
        if case .traceEnd? = requests.first?.body {
            if section.isOver { damage("this stands behind trace-end") }
            section.isOver = true
            return
        }
        guard let time = requests.lazy.compactMap(\.timeMs).first else { return }
        if section.isOver { return damage("this stands behind trace-end") }
        if time < section.last { return damage("timeMs must not be before that of the line before") }
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

/// Leaves one of several traces of a file, and makes blank lines of the others, so that its lines keep their numbers.
final class TraceSelection {
    /// Which trace is wanted, from 1.
    let number: Int
    /// How many have begun.
    private(set) var begun = 0
    private var isOver = true
    private var framer = LineFramer()
    private var rest: [UInt8] = []
    private var decoder = RequestDecoder()

    init(_ number: Int) { self.number = number }

    /// What is left of the next bytes.
    func read(_ bytes: [UInt8]) -> [UInt8] {
        rest += bytes
        let lines = rest
        var selected: [UInt8] = []
        var position = 0
        while true {
            let start = position
            guard let line = framer.next(in: lines.span, at: &position) else {
                // What is left of a line beyond the limit is passed over.
                if begun == number { selected += lines[start..<position] }
                break
            }
            handle(line, lines, start..<position, &selected)
        }
        rest.removeFirst(position)
        return selected
    }

    /// What is left of the last line.
    func finish() -> [UInt8] {
        let lines = rest
        var selected: [UInt8] = []
        var position = 0
        if let line = framer.last(in: lines.span, at: &position) { handle(line, lines, 0..<lines.count, &selected) }
        return selected
    }

    private func handle(
        _ line: LineFramer.Line, _ bytes: [UInt8], _ raw: Range<Int>, _ selected: inout [UInt8]
    ) {
        if case .line(let range) = line, Self.mayBeOfTrace(bytes[range]) { follow(bytes.span.extracting(range)) }
        if begun == number {
            selected += bytes[raw]
        } else if begun < number {
            selected.append(0x0a)
        }
        if hasEnded { isOver = true }
        hasEnded = false
    }

    /// Whether the line in hand ends a trace.
    private var hasEnded = false

    private static let word = Array("trace".utf8)

    private static func mayBeOfTrace(_ line: ArraySlice<UInt8>) -> Bool {
        // Escapes may hide the word.
        line.contains(UInt8(ascii: "\\")) || line.indices.contains { line[$0...].starts(with: word) }
    }

    private func follow(_ line: Span<UInt8>) {
        switch try? decoder.decode(line).first?.body {
        case .trace? where isOver: (begun, isOver) = (begun + 1, false)
        case .traceEnd?: hasEnded = true
        case .some: break
        case nil:
            // A header that is not right is one all the same.
            if isOver, RecordingFormat.isHeader(line) { (begun, isOver) = (begun + 1, false) }
        }
    }
}
