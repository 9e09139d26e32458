// What a camera does after nothing has moved it for a time (schema: idle-action, client.set-idle-action), and the
// traces available for that: `traces` (schema: client.traces, server.traces).

import MapCamera

/// What a camera does on its own after resting for a time without fingers, commands or a lease.
public struct IdleAction: Equatable, Codable, Sendable {
    /// The action of a camera.
    public enum Action: Equatable, Codable, Sendable {
        /// Flies to a position, in 0 to 3,600,000 ms; `nil` to use the flight's speed.
        case flyHome(CameraPosition, durationMs: Double? = nil)
        /// Flies to where a trace begins and plays it, once or repeatedly. ``ClientRequest/traces`` asks for the names.
        case play(trace: String, loop: Bool = true)
    }

    /// How long the camera rests before the action, 1,000 to 86,400,000 ms.
    public var afterMs: Double
    /// The action.
    public var action: Action

    /// Creates an action that starts after so many milliseconds of rest.
    public init(afterMs: Double, _ action: Action) { (self.afterMs, self.action) = (afterMs, action) }
}

/// A trace that the daemon can play on its own. (Part of the message `traces`.)
public struct StoredTraceInfo: Equatable, Codable, Sendable {
    /// The name of the file.
    public package(set) var trace: String
    /// The number of lines between the first and the last.
    public package(set) var lines: Int
    /// The duration at the trace's own pace until the camera rests, in milliseconds.
    public package(set) var durationMs: Double

    package init(trace: String, lines: Int, durationMs: Double) {
        (self.trace, self.lines, self.durationMs) = (trace, lines, durationMs)
    }
}

// MARK: Members

extension ClosedRange<Double> {
    /// The allowed rest before an idle action, in milliseconds.
    package static var idleTimes: Self { 1000...86_400_000 }
}

extension MemberRule where Self == CameraNameRule {
    /// The name of a trace, with the same rules as a camera's.
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
        try visitor.member(.kind, &kind, WordRule(isQuoted: true))
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
    /// Whether a client could set it.
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

    /// Shows a visitor the members of the setting; `nil` has a `null` action.
    static func describe<V: MemberVisitor & ~Copyable>(
        _ visitor: inout V, _ setting: inout IdleAction?, isNullable: Bool = true
    ) throws(V.Failure) {
        var (afterMs, action): (Double?, Action?) = (setting?.afterMs, setting?.action)
        try visitor.scalar(.afterMs, &afterMs, .number(in: .idleTimes), .optional)
        try visitor.object(.action, &action, isNullable ? .nullable : .required(nil))
        let isTimed = action == nil || afterMs != nil
        try visitor.check(isTimed) { path in
            .missing(path / .afterMs, "it is how long the camera rests first, in milliseconds")
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
