// What a daemon takes in a trace, though it is hardly meant: the rules of `gimbal check` beside the protocol's own.
// Costs as much as there are gestures down at one time, however long the trace is.

import Gestures
import GimbalProtocol

/// Holds a trace against what is meant by one.
package struct TraceRules {
    /// Whether `trace-end` has been read, and no header since.
    private var isOver = false
    /// How many gestures of each type there are.
    package private(set) var counts: [String: Int] = [:]
    private var lastTime: Double?
    private var reporter = GestureReporter()
    /// The gestures that are active, whether the camera ignores them or not, with the line that each began in.
    private var down = ActiveGestures<Int>()
    /// Gestures that a command has cancelled, and that have not been reported since.
    private var cancelled: Set<GestureKey> = []
    /// In which line the first finger of each surface landed that has fingers.
    private var touched: [GestureKey.Label: Int] = [:]

    /// A longer pause between two gestures is hardly meant, in milliseconds.
    private static let longestPause = 3_600_000.0

    package init() {}

    /// Looks at the requests of a line that was taken.
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

    /// Looks at what is left at the end of a trace.
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
            let message = "this stands behind trace-end: it is no part of the trace, but taken live"
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

/// Something that is wrong with a trace, or looks so.
package struct Finding {
    package let line: Int
    package let isError: Bool
    /// The protocol's code of an error, or what the warning is about.
    package let code: String
    package let field: String?
    package let message: String

    package init(line: Int, _ error: WireError) {
        self.init(line: line, isError: true, code: error.code.rawValue, field: error.field, message: error.message)
    }

    package init(line: Int, _ error: GimbalError) {
        self.init(line: line, isError: true, code: error.code.rawValue, field: error.field, message: error.message)
    }

    package init(line: Int, isError: Bool = false, code: String, field: String? = nil, message: String) {
        (self.line, self.isError, self.code, self.field, self.message) = (line, isError, code, field, message)
    }

    /// One line for people.
    package var text: String { "\(isError ? "error" : "warning"): \(message)\(field.map { " (\($0))" } ?? "")" }

    /// One line for programs.
    package func json(file: String) -> JSONValue {
        var members: JSONObject = [
            "file": .string(file), "line": .number(Double(line)), "severity": .string(isError ? "error" : "warning"),
            "code": .string(code), "message": .string(message),
        ]
        if let field { members["field"] = .string(field) }
        return .object(members)
    }
}
