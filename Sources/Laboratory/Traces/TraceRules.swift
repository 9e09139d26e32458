// The rules of `gimbal check` beyond the protocol's own: they find likely mistakes in a trace that a daemon accepts.
// The cost depends on the number of gestures down at one time, not on the length of the trace.

import Gestures
import GimbalProtocol

/// Checks a trace for likely mistakes.
package struct TraceRules {
    /// Whether `trace-end` has been read, and no header since.
    private var isOver = false
    /// How many gestures of each type there are.
    package private(set) var counts: [String: Int] = [:]
    private var lastTime: Double?
    private var reporter = GestureReporter()
    /// The active gestures, including those that the camera ignores, each with the line that it began in.
    private var down = ActiveGestures<Int>()
    /// Gestures that a command cancelled, and that have not been reported since.
    private var cancelled: Set<GestureKey> = []
    /// The line in which the first finger landed, for each surface with fingers.
    private var touched: [GestureKey.Label: Int] = [:]

    /// The longest pause between two gestures that is not reported, in milliseconds.
    private static let longestPause = 3_600_000.0

    package init() {}

    /// Checks the requests of a line that was accepted.
    package mutating func check(_ requests: [Request], _ line: Int, _ add: (Finding) -> Void) {
        for request in requests {
            let reports = reporter.reports(of: request, at: request.timeMs ?? lastTime ?? 0)
            switch request.body {
            case .gesture:
                follow(request.timeMs, line, add)
                for report in reports { check(report, line, add) }
            case .touch(let fingers):
                follow(request.timeMs, line, add)
                for event in reports.map(\.event) where event.kind.isTap || event.phase == .began { count(event.kind) }
                note(fingers, line)
            case .move, .animate, .fly, .tour, .stop, .set, .removeCamera:
                follow(request.timeMs, line, add)
                if request.body.cancelsGestures { cancelled.formUnion(down.cancelAll().map(\.key)) }
            case .marker: follow(request.timeMs, line, add)
            case .trace: (isOver, lastTime) = (false, nil)
            case .traceEnd:
                end(add)
                isOver = true
            default:
                break
            }
        }
    }

    /// Checks what is left at the end of a trace.
    package mutating func end(_ add: (Finding) -> Void) {
        for gesture in down.cancelAll() {
            let message = "this \(gesture.key.kind.type) never ends; it is cancelled with the trace"
            add(Finding(line: gesture.value, code: "never-ended", field: "phase", message: message))
        }
        for line in touched.values.sorted() {
            let message = "the fingers of this surface never lift; they are cancelled with the trace"
            add(Finding(line: line, code: "never-ended", field: "touches", message: message))
        }
        (touched, cancelled, reporter) = ([:], [], GestureReporter())
    }

    private mutating func count(_ kind: GestureKind) { counts[kind.type, default: 0] += 1 }

    /// Notes which surfaces have fingers.
    private mutating func note(_ fingers: Fingers, _ line: Int) {
        if fingers.touches.isEmpty {
            touched[fingers.surface] = nil
        } else if touched[fingers.surface] == nil || fingers.isCancelled {
            touched[fingers.surface] = line
        }
    }

    private mutating func follow(_ time: Double?, _ line: Int, _ add: (Finding) -> Void) {
        if isOver {
            let message = "this comes after trace-end: it is not part of the trace, but applied live"
            add(Finding(line: line, code: "after-end", field: "type", message: message))
        }
        guard let time else { return }
        if let lastTime, time - lastTime > Self.longestPause {
            let message = "timeMs jumps by more than an hour"
            add(Finding(line: line, code: "time-jump", field: "timeMs", message: message))
        }
        lastTime = time
    }

    private mutating func check(_ report: GestureReport, _ line: Int, _ add: (Finding) -> Void) {
        let (kind, phase) = (report.event.kind, report.event.phase)
        if kind.isTap { return count(kind) }
        func warn(_ code: String, _ message: String) {
            add(Finding(line: line, code: code, field: "phase", message: message))
        }
        let began = down[report.key]
        let goesOn = cancelled.remove(report.key) != nil
        switch phase {
        case .began:
            if let began { warn("began-again", "this \(kind.type) began in line \(began) and has not ended") }
            count(kind)
        case .changed where began == nil && !goesOn:
            warn("not-begun", "this \(kind.type) has not begun: it begins here, and changes nothing yet")
            count(kind)
        case .ended where began == nil && !goesOn, .cancelled where began == nil && !goesOn:
            warn("not-begun", "this \(kind.type) has not begun: its end does nothing")
        case .changed, .ended, .cancelled: break
        }
        down.handle(report, line)
    }
}

/// An error in a trace, or a warning about it.
package struct Finding {
    package let line: Int
    package let isError: Bool
    /// The protocol's code of an error, or the code of a warning.
    package let code: String
    package let field: String?
    package let message: String

    package init(line: Int, _ error: GimbalError) {
        self.init(line: line, isError: true, code: error.code.rawValue, field: error.field, message: error.message)
    }

    package init(line: Int, isError: Bool = false, code: String, field: String? = nil, message: String) {
        (self.line, self.isError, self.code, self.field, self.message) = (line, isError, code, field, message)
    }

    /// The finding as a line for people.
    package var text: String { "\(isError ? "error" : "warning"): \(message)\(field.map { " (\($0))" } ?? "")" }

    /// Returns the finding as a JSON value for programs.
    package func json(file: String) -> JSONValue {
        var members: JSONObject = [
            "file": .string(file), "line": .number(Double(line)), "severity": .string(isError ? "error" : "warning"),
            "code": .string(code), "message": .string(message),
        ]
        if let field { members["field"] = .string(field) }
        return .object(members)
    }
}
