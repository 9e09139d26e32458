// Places, points, sizes and insets as they are typed: numbers with commas between them, such as `49.26,-123.11`. What is
// outside a range is for the daemon to say.

import ArgumentParser
import GimbalClient

/// Negative numbers among the arguments.
enum NegativeNumbers {
    /// The minus of print, which the parser does not take for the beginning of an option.
    static let minus = "\u{2212}"

    /// The arguments, with the hyphen of every negative number replaced by a minus.
    ///
    /// No option of the program begins with a digit, so a word such as `-33.9,151.2` can only be a value. What follows
    /// `--` stays as it is.
    static func shielded(_ arguments: some Sequence<String>) -> [String] {
        var isOver = false
        return arguments.map { word in
            isOver = isOver || word == "--"
            return isOver || !isNegative(word) ? word : "\(minus)\(word.dropFirst())"
        }
    }

    /// Text in which hyphens were replaced, as it was typed.
    static func unshielded(_ text: String) -> String { text.replacing(minus, with: "-") }

    private static func isNegative(_ word: String) -> Bool {
        guard word.first == "-", let second = word.dropFirst().first, second.isNumber || second == "." else {
            return false
        }
        return word.utf8.allSatisfy("0123456789.,+-eE".utf8.contains)
    }
}

/// A finite number.
struct Number: ExpressibleByArgument {
    let value: Double

    init?(argument: String) {
        guard let numbers = numbers(argument), numbers.count == 1 else { return nil }
        value = numbers[0]
    }
}

/// Finite numbers with a separator between them; `nil` if there is anything else.
private func numbers(_ text: String, separator: Character = ",") -> [Double]? {
    let parts = text.split(separator: separator, omittingEmptySubsequences: false)
    let numbers = parts.compactMap { part -> Double? in
        let digits = NegativeNumbers.unshielded(String(part)).drop { $0 == " " }
        guard let number = Double(digits), number.isFinite else { return nil }
        return number
    }
    return numbers.count == parts.count ? numbers : nil
}

extension LatLng: ExpressibleByArgument {
    /// Reads degrees north and degrees east, such as `49.26,-123.11`.
    public init?(argument: String) {
        guard let numbers = numbers(argument), numbers.count == 2 else { return nil }
        self.init(latitude: numbers[0], longitude: numbers[1])
    }
}

extension ScreenPoint: ExpressibleByArgument {
    /// Reads points to the right and down, such as `195,422`.
    public init?(argument: String) {
        guard let numbers = numbers(argument), numbers.count == 2 else { return nil }
        self.init(x: numbers[0], y: numbers[1])
    }
}

extension EdgeInsets: ExpressibleByArgument {
    /// Reads top, left, bottom and right, or one number for all.
    public init?(argument: String) {
        guard let numbers = numbers(argument) else { return nil }
        switch numbers.count {
        case 1: self.init(all: numbers[0])
        case 4: self.init(top: numbers[0], left: numbers[1], bottom: numbers[2], right: numbers[3])
        default: return nil
        }
    }
}

/// Width and height, in points.
struct Size: ExpressibleByArgument {
    let width, height: Double

    /// Reads a size such as `390x844`.
    init?(argument: String) {
        guard let numbers = numbers(argument, separator: "x"), numbers.count == 2 else { return nil }
        (width, height) = (numbers[0], numbers[1])
    }
}
