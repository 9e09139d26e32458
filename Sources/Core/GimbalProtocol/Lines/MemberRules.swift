// Rules for members that are not objects: type, range, how they are written, and what errors say about them.

import Gestures

/// The rule for a member: which values are valid.
package protocol MemberRule {
    associatedtype Value

    /// Whether a number must be an integer that a double represents exactly; the reader checks it.
    static var asksForIntegers: Bool { get }
    /// Returns the value; `nil` if it has another type.
    func read(_ json: JSONValue) -> Value?
    /// Whether a client may send a value. The daemon's are checked only if they are camera input.
    func allows(_ value: Value) -> Bool
    func write(_ value: Value, to line: inout LineWriter)
    /// The text of an error about an invalid value.
    var wanted: String { get }
    /// The text of an error about a missing value.
    var hint: String { get }
}

extension MemberRule {
    package static var asksForIntegers: Bool { true }
    package func allows(_ value: Value) -> Bool { true }
    package var hint: String { "it \(wanted)" }
}

// MARK: Numbers

extension ClosedRange<Double> {
    /// Points of the screen, and distances that fingers have moved.
    static var points: Self { -1e9...1e9 }
    /// Degrees of rotation, not wrapped.
    static var rotation: Self { -1e9...1e9 }
    /// Scale factors of a pinch.
    static var scale: Self { 1e-9...1e9 }
    /// Milliseconds of a clock with any origin.
    static var times: Self { -1e15...1e15 }
    /// Durations and waits, in milliseconds.
    package static var durations: Self { 0...3_600_000 }
    /// Times within a trace, in milliseconds.
    static var ofTraces: Self { 0...1e14 }
    /// The size of a viewport, in points.
    package static var sizes: Self { 0.001...100_000 }
    package static var insets: Self { 0...100_000 }
    static var finite: Self { -Double.greatestFiniteMagnitude...Double.greatestFiniteMagnitude }
    /// All finite numbers above 0.
    static var positive: Self { Double.leastNonzeroMagnitude...Double.greatestFiniteMagnitude }
}

package struct NumberRule: MemberRule {
    var range = ClosedRange<Double>.finite
    /// The number of decimals if the line is rounded.
    var places = 6

    package static var asksForIntegers: Bool { false }
    package func read(_ json: JSONValue) -> Double? { if case .number(let number) = json { number } else { nil } }
    package func allows(_ value: Double) -> Bool { range.contains(value) }
    package func write(_ value: Double, to line: inout LineWriter) {
        if line.isRounded { line.write(FixedDecimal(value, places: places)) } else { line.write(exact: value) }
    }
    package var wanted: String {
        if range == .positive { return "must be a number above 0" }
        if range == .finite { return "must be a finite number" }
        return "must be a number from \(plain(range.lowerBound)) to \(plain(range.upperBound))"
    }
    package var hint: String { "it must be a number" }
}

/// Formats a number for people: whole numbers have no point.
package func plain(_ number: Double) -> String { Int64(exactly: number).map { "\($0)" } ?? "\(number)" }

package struct IntegerRule: MemberRule {
    /// The integers that a double represents exactly.
    static let exact = -(1 << 53 - 1)...(1 << 53 - 1)

    var range = 0...Self.exact.upperBound
    package let wanted: String

    package func read(_ json: JSONValue) -> Int? {
        guard case .number(let number) = json else { return nil }
        // Beyond 2^53 not every integer has its own double, so the largest integer will do.
        return Int(exactly: number) ?? (number < 0 ? .min : .max)
    }
    package func allows(_ value: Int) -> Bool { range.contains(value) }
    package func write(_ value: Int, to line: inout LineWriter) {
        if value < 0 { line.write("-") }
        line.write(UInt64(value.magnitude))
    }
}

extension MemberRule where Self == NumberRule {
    static func number(in range: ClosedRange<Double> = .finite, places: Int = 6) -> Self {
        NumberRule(range: range, places: places)
    }
    /// Milliseconds of a clock.
    package static var time: Self { .number(in: .times, places: 3) }
}

extension MemberRule where Self == IntegerRule {
    static func integer(_ range: ClosedRange<Int>, _ wanted: String) -> Self {
        IntegerRule(range: range, wanted: wanted)
    }
    /// A non-negative count.
    package static var count: Self { IntegerRule(wanted: "must be a non-negative integer") }
    /// The number of an event.
    package static var seq: Self { IntegerRule(wanted: "must be a seq: an integer from 0 to 2^53 - 1") }
}

/// A speed; infinity is written `"max"`.
struct SpeedRule: MemberRule {
    static var asksForIntegers: Bool { false }
    func read(_ json: JSONValue) -> Double? {
        switch json {
        case .number(let number) where number.isFinite: number
        case .string("max"): .infinity
        default: nil
        }
    }
    func allows(_ value: Double) -> Bool { value > 0 }
    func write(_ value: Double, to line: inout LineWriter) {
        if value == .infinity { line.write("\"max\"") } else { line.write(exact: value) }
    }
    var wanted: String { "must be a number above 0, or \"max\"" }
    var hint: String { "it is a number above 0, or \"max\"" }
}

struct LoopRule: MemberRule {
    func read(_ json: JSONValue) -> TracePlayback.Loop? {
        switch json {
        case .bool(true): .forever
        case .number(let number): Int(exactly: number).map { .times($0) }
        default: nil
        }
    }
    func allows(_ value: TracePlayback.Loop) -> Bool { if case .times(let times) = value { times >= 1 } else { true } }
    func write(_ value: TracePlayback.Loop, to line: inout LineWriter) {
        switch value {
        case .times(let times): line.write(UInt64(clamping: times))
        case .forever: line.write("true")
        }
    }
    var wanted: String { "must be an integer from 1 to 2^53 - 1, or true" }
}

// MARK: Flags and texts

package struct FlagRule: MemberRule {
    package func read(_ json: JSONValue) -> Bool? { if case .bool(let flag) = json { flag } else { nil } }
    package func write(_ value: Bool, to line: inout LineWriter) { line.write(value) }
    package var wanted: String { "must be true or false" }
}

extension MemberRule where Self == FlagRule {
    package static var flag: Self { FlagRule() }
}

package struct TextRule: MemberRule {
    /// The allowed length in bytes.
    var bytes = 0...Int.max

    package func read(_ json: JSONValue) -> String? { if case .string(let text) = json { text } else { nil } }
    package func allows(_ value: String) -> Bool { bytes.contains(value.utf8.count) }
    package func write(_ value: String, to line: inout LineWriter) { line.write(string: value) }
    package var wanted: String {
        let least = bytes.lowerBound > 0 ? "\(bytes.lowerBound) to" : "at most"
        return bytes.upperBound == .max ? "must be a string" : "must be a string of \(least) \(bytes.upperBound) bytes"
    }
}

extension MemberRule where Self == TextRule {
    package static func text(bytes: ClosedRange<Int> = 0...Int.max) -> Self { TextRule(bytes: bytes) }
}

/// An array of strings.
struct TextsRule: MemberRule {
    func read(_ json: JSONValue) -> [String]? {
        guard case .array(let values) = json else { return nil }
        let texts = values.compactMap(\.string)
        return texts.count == values.count ? texts : nil
    }
    func write(_ value: [String], to line: inout LineWriter) {
        line.write("[")
        for text in value {
            line.separate()
            line.write(string: text)
        }
        line.write("]")
    }
    var wanted: String { "must be an array of strings" }
}

struct CameraNameRule: MemberRule {
    func read(_ json: JSONValue) -> String? { if case .string(let name) = json { name } else { nil } }
    func allows(_ value: String) -> Bool { Request.isCameraName(value.utf8) }
    func write(_ value: String, to line: inout LineWriter) { line.write(string: value) }
    var wanted: String { "must be 1 to \(Request.longestCameraName) characters of A-Z a-z 0-9 . _ -" }
}

extension MemberRule where Self == CameraNameRule {
    static var cameraName: Self { CameraNameRule() }
}

/// A label that distinguishes gestures or surfaces of one connection; `none` is omitted.
struct LabelRule: MemberRule {
    func read(_ json: JSONValue) -> GestureKey.Label? {
        switch json {
        case .string(let text): .text(text)
        case .number(let number): Int64(exactly: number).map { .number($0) }
        default: nil
        }
    }
    func allows(_ value: GestureKey.Label) -> Bool {
        if case .text(let text) = value { text.utf8.count <= RequestDecoder.longestLabel } else { true }
    }
    func write(_ value: GestureKey.Label, to line: inout LineWriter) {
        switch value {
        case .none: line.write("null")
        case .number(let number): line.write(exact: Double(number))
        case .text(let text): line.write(string: text)
        }
    }
    var wanted: String { "must be an integer, or a string of at most \(RequestDecoder.longestLabel) bytes" }
}

// MARK: Words

/// An enumeration of protocol words.
package protocol ProtocolWord: CaseIterable, Equatable, Sendable where AllCases == [Self] {
    /// The word as the protocol writes it.
    var word: String { get }
}

extension ProtocolWord where Self: RawRepresentable<String> {
    package var word: String { rawValue }
}

struct WordRule<Word: ProtocolWord>: MemberRule {
    /// Whether an error quotes the words that it lists.
    var isQuoted = false

    func read(_ json: JSONValue) -> Word? {
        guard case .string(let text) = json else { return nil }
        return Word.allCases.first { $0.word == text }
    }
    func write(_ value: Word, to line: inout LineWriter) { line.write(string: value.word) }
    var wanted: String { "must be \(alternatives)" }
    var hint: String { "it is \(alternatives)" }

    private var alternatives: String {
        let words = Word.allCases.map(\.word)
        return listed(isQuoted ? words.map(quoted) : words, "or")
    }
}

/// A set of protocol words, as an array.
struct WordsRule<Word: ProtocolWord & Hashable>: MemberRule {
    func read(_ json: JSONValue) -> Set<Word>? {
        guard let texts = TextsRule().read(json) else { return nil }
        let words = texts.compactMap { text in Word.allCases.first { $0.word == text } }
        return words.count == texts.count ? Set(words) : nil
    }
    func write(_ value: Set<Word>, to line: inout LineWriter) {
        TextsRule().write(Word.allCases.filter(value.contains).map(\.word), to: &line)
    }
    var wanted: String { "must be an array with any of \(listed(Word.allCases.map { quoted($0.word) }, "and"))" }
}

/// Joins words as in a sentence: a, b and c.
package func listed(_ words: [String], _ conjunction: String) -> String {
    guard let last = words.last, words.count > 1 else { return words.first ?? "" }
    return "\(words.dropLast().joined(separator: ", ")) \(conjunction) \(last)"
}

func quoted(_ word: String) -> String { "\"\(word)\"" }
