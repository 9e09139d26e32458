// What a camera does when nothing has moved it for a time (schema: idle-action, client.set-idle-action), and the traces that it
// can play then: `traces` (schema: client.traces, server.traces).

import JSONLines
import MapCamera

/// What a camera does by itself once it has rested for a time, without a finger on it, a command or a lease.
public struct IdleAction: Equatable, Codable, Sendable {
    /// What it does.
    public enum Action: Equatable, Codable, Sendable {
        /// It flies to a position, in 0 to 3,600,000 ms; `nil` is as long as the flight asks for.
        case flyHome(CameraPosition, durationMs: Double? = nil)
        /// It flies to where a trace begins and plays that, once or over and over. ``ClientRequest/traces`` asks for the names.
        case play(trace: String, loop: Bool = true)
    }

    /// How long it rests before, 1,000 to 86,400,000 ms.
    public var afterMs: Double
    /// What it does then.
    public var action: Action

    /// An action after so many milliseconds of rest.
    public init(afterMs: Double, _ action: Action) { (self.afterMs, self.action) = (afterMs, action) }
}

/// A trace that the daemon can play by itself. (Of the message `traces`.)
public struct StoredTraceInfo: Equatable, Codable, Sendable {
    /// The file's name.
    public package(set) var trace: String
    /// How many lines it has, between its first and its last.
    public package(set) var lines: Int
    /// How long it takes at its own pace, until the camera rests, in milliseconds.
    public package(set) var durationMs: Double

    package init(trace: String, lines: Int, durationMs: Double) {
        (self.trace, self.lines, self.durationMs) = (trace, lines, durationMs)
    }
}

// MARK: Members

extension ClosedRange<Double> {
    /// How long a camera rests before its idle action begins, in milliseconds.
    package static var idleTimes: Self { 1000...86_400_000 }
}

extension MemberRule where Self == CameraNameRule {
    /// The name of a trace is made as that of a camera.
    static var traceName: Self { CameraNameRule() }
}

/// The `kind` of an idle action.
private enum IdleActionKind: String, ProtocolWord {
    case flyHome = "fly-home"
    case play
}

extension IdleAction.Action: Described {
    package static let blank = Self.flyHome(.blank)

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        var kind: IdleActionKind = if case .play = self { .play } else { .flyHome }
        try visitor.member(.kind, &kind, WordRule(list: .quoted))
        switch kind {
        case .flyHome:
            var (position, durationMs): (CameraPosition, Double?) = (.blank, nil)
            if case .flyHome(let home, let time) = self { (position, durationMs) = (home, time) }
            try visitor.object(.position, &position)
            try visitor.member(.durationMs, &durationMs, .number(in: .durations))
            self = .flyHome(position.reachable, durationMs: durationMs)
        case .play:
            var (trace, loop) = ("", true)
            if case .play(let name, let isLoop) = self { (trace, loop) = (name, isLoop) }
            try visitor.member(.trace, &trace, .traceName)
            try visitor.member(.loop, &loop, .flag, unless: true)
            self = .play(trace: trace, loop: loop)
        }
    }
}

extension IdleAction: Described {
    /// Whether a client can set it.
    package var isPossible: Bool {
        let isKnown =
            switch action {
            case .flyHome(let home, let duration):
                home.isPossible && ClosedRange.durations ~= duration ?? 0
            case .play(let trace, _): Request.isCameraName(trace.utf8)
            }
        return isKnown && ClosedRange.idleTimes ~= afterMs
    }

    package static let blank = IdleAction(afterMs: 60_000, .blank)

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        var setting: IdleAction? = self
        try Self.describe(&visitor, &setting, isNullable: false)
        self = setting ?? self
    }

    /// Shows a visitor the members of the setting, whose action is `null` where it is `nil`.
    static func describe<V: MemberVisitor & ~Copyable>(
        _ visitor: inout V, _ setting: inout IdleAction?, isNullable: Bool = true
    ) throws(V.Failure) {
        var (afterMs, action): (Double?, Action?) = (setting?.afterMs, setting?.action)
        try visitor.scalar(.afterMs, &afterMs, .number(in: .idleTimes), .optional)
        try visitor.object(.action, &action, isNullable ? .nullable : .required(nil))
        let isTimed = action == nil || afterMs != nil
        try visitor.check(isTimed) { path in
            .missing(path / .afterMs, "it is how many milliseconds the camera rests before")
        }
        setting = action.map { IdleAction(afterMs: afterMs ?? 0, $0) }
    }
}

extension StoredTraceInfo: Described {
    package static let blank = StoredTraceInfo(trace: "", lines: 0, durationMs: 0)

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try visitor.member(.trace, &trace, .traceName)
        try visitor.member(.lines, &lines, .count)
        try visitor.member(.durationMs, &durationMs, .number(places: 3))
    }
}
