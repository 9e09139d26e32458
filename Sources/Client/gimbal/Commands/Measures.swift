// Places, points, sizes, insets and times as people type them: numbers separated by commas, such as `49.26,-123.11`.
// The error for an invalid one shows the right form with an example. Latitude and longitude in the wrong order are
// reported as well, since a daemon would clamp them.

import ArgumentParser
import CameraStreams
import GimbalClient
import ProgramOptions

/// Negative numbers among the arguments.
enum NegativeNumbers {
    /// The typographic minus sign, which the parser does not mistake for the start of an option.
    static let minus = "\u{2212}"

    /// Returns the arguments, with the hyphen of every negative number replaced by a minus.
    ///
    /// No option of the program begins with a digit, so a word such as `-33.9,151.2` can only be a value. Words after
    /// `--` stay unchanged.
    static func shielded(_ arguments: some Sequence<String>) -> [String] {
        var isOver = false
        return arguments.map { word in
            isOver = isOver || word == "--"
            return isOver || !isNegative(word) ? word : "\(minus)\(word.dropFirst())"
        }
    }

    /// Returns text as it was typed, with its hyphens restored.
    static func unshielded(_ text: String) -> String { text.replacing(minus, with: "-") }

    /// Returns a word as it was typed: only the leading hyphen of a number was replaced.
    static func unshieldedWord(_ word: String) -> String {
        let typed = "-" + word.dropFirst()
        return word.hasPrefix(minus) && isNegative(typed) ? typed : word
    }

    /// Whether a word can only be a number, or several separated by commas.
    static func isNumeric(_ word: String) -> Bool { word.first?.isNumber ?? false || isNegative(word) }

    static func isNegative(_ word: String) -> Bool {
        guard word.first == "-", let second = word.dropFirst().first, second.isNumber || second == "." else {
            return false
        }
        // The letters are those of exponents and units of time.
        return word.utf8.allSatisfy("0123456789.,:+-eEmsinh".utf8.contains)
    }
}

// Text keeps its hyphen: a file, a label or a marker may be called "-5".

extension Option where Value == String? {
    init(
        _ help: String, _ valueName: String, name: NameSpecification = .long, completion: CompletionKind? = nil
    ) {
        self.init(
            name: name, help: ArgumentHelp(help, valueName: valueName), completion: completion,
            transform: NegativeNumbers.unshieldedWord)
    }
}

extension Argument {
    init(help: ArgumentHelp? = nil, completion: CompletionKind? = nil) where Value == String {
        self.init(help: help, completion: completion, transform: NegativeNumbers.unshieldedWord)
    }

    init(help: ArgumentHelp? = nil, completion: CompletionKind? = nil) where Value == String? {
        self.init(help: help, completion: completion, transform: NegativeNumbers.unshieldedWord)
    }

    init(help: ArgumentHelp? = nil, completion: CompletionKind? = nil) where Value == [String] {
        self.init(help: help, completion: completion, transform: NegativeNumbers.unshieldedWord)
    }

    init(wrappedValue: [String], help: ArgumentHelp? = nil, completion: CompletionKind? = nil)
    where Value == [String] {
        self.init(
            wrappedValue: wrappedValue, help: help, completion: completion, transform: NegativeNumbers.unshieldedWord)
    }
}

/// A value that is typed as one word.
protocol TypedArgument: Sendable {
    /// Reads the word.
    ///
    /// - Throws: a usage error that shows the expected form.
    init(typed text: String) throws
}

extension Option {
    init<Typed: TypedArgument>(
        _ help: String, _ valueName: String, name: NameSpecification = .long, completion: CompletionKind? = nil
    ) where Value == Typed? {
        self.init(
            name: name, help: ArgumentHelp(help, valueName: valueName), completion: completion,
            transform: Typed.init(typed:))
    }
}

/// Reads finite numbers with a separator between them; returns `nil` for anything else.
private func numbers(_ text: String, separator: Character = ",") -> [Double]? {
    let parts = text.split(separator: separator, omittingEmptySubsequences: false)
    let numbers = parts.compactMap { part -> Double? in
        let digits = NegativeNumbers.unshielded(String(part)).drop { $0 == " " }
        guard let number = Double(digits), number.isFinite else { return nil }
        return number
    }
    return numbers.count == parts.count ? numbers : nil
}

/// A finite number.
struct Number: TypedArgument {
    let value: Double

    /// Reads a number such as `12.5`.
    init(typed text: String) throws {
        guard let numbers = numbers(text), numbers.count == 1 else {
            throw ValidationError("write a number, such as 12.5.")
        }
        value = numbers[0]
    }
}

extension LatLng: TypedArgument {
    /// Reads degrees north and degrees east, such as `49.26,-123.11`.
    init(typed text: String) throws {
        guard let numbers = numbers(text), numbers.count == 2 else {
            throw ValidationError(
                "write degrees north and degrees east, separated by a comma without a space, such as 49.26,-123.11.")
        }
        let (latitude, longitude) = (numbers[0], numbers[1])
        guard latitude.magnitude <= 90 else {
            let swapped = longitude.magnitude <= 90 ? " Did you mean \(short(longitude)),\(short(latitude))?" : ""
            throw ValidationError("latitude comes first and must be -90 to 90.\(swapped)")
        }
        self.init(latitude: latitude, longitude: longitude)
    }
}

extension ScreenPoint: TypedArgument {
    /// Reads points to the right and down, such as `195,422`.
    init(typed text: String) throws {
        guard let numbers = numbers(text), numbers.count == 2 else {
            throw ValidationError("write points to the right and down, separated by a comma, such as 195,422.")
        }
        self.init(x: numbers[0], y: numbers[1])
    }
}

extension EdgeInsets: TypedArgument {
    /// Reads top, left, bottom and right, or one number for all.
    init(typed text: String) throws {
        let numbers = numbers(text) ?? []
        for side in numbers { try check("each side", side, .insets, " points") }
        switch numbers.count {
        case 1: self.init(all: numbers[0])
        case 4: self.init(top: numbers[0], left: numbers[1], bottom: numbers[2], right: numbers[3])
        default:
            throw ValidationError("write points for all sides, such as 32, or for top,left,bottom,right: 60,20,200,20.")
        }
    }
}

/// Checks that an option's value is within a range.
///
/// - Parameter unit: text that follows the range in the error.
func check(_ option: String, _ value: Double?, _ range: ClosedRange<Double>, _ unit: String = "") throws {
    guard let value, !range.contains(value) else { return }
    let limits =
        range.upperBound.isFinite
        ? "\(short(range.lowerBound)) to \(short(range.upperBound))" : "\(short(range.lowerBound)) or more"
    throw ValidationError("\(option) must be \(limits)\(unit).")
}

extension Viewport: TypedArgument {
    /// Reads a size such as `390x844`.
    init(typed text: String) throws {
        guard let numbers = numbers(text, separator: "x"), numbers.count == 2 else {
            throw ValidationError("write width and height in points, separated by an x, such as 390x844.")
        }
        for side in numbers { try check("width and height", side, .sizes, " points") }
        self.init(width: numbers[0], height: numbers[1])
    }
}

/// A span of time, or a time in a trace: a number of milliseconds, a number with a unit, or minutes and seconds as on a
/// clock.
struct Milliseconds: TypedArgument {
    let milliseconds: Double

    /// How times are written, for help texts.
    static let note = WrittenTime.note

    init(_ milliseconds: Double) { self.milliseconds = milliseconds }

    /// Reads a time such as `800`, `800ms`, `1.5s`, `2m`, `1h`, `1:05` or `1:02:03.5`.
    init(typed text: String) throws {
        let text = NegativeNumbers.unshielded(text)
        guard let milliseconds = WrittenTime.milliseconds(text) else {
            throw ValidationError(
                text.contains(":")
                    ? "write minutes and seconds, with or without hours, such as 1:05 or 1:02:03.5."
                    : "write milliseconds or a number with its unit, such as 800, 800ms, 1.5s, 2m or 1h; "
                        + "or minutes and seconds, such as 1:05.")
        }
        self.milliseconds = milliseconds
    }

    /// Checks that the time is 0 or more, and at most a million days, which can be counted in nanoseconds.
    func checkRange(_ option: String) throws {
        guard !(0...86_400e9).contains(milliseconds) else { return }
        throw ValidationError("\(option) must be 0 or more, and less than a million days.")
    }
}
