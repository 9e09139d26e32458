// Text for people: a terminal, a log, an error's message. Invariant: only literals in the source code can control a
// terminal, hide, or look like another line. The type enforces this: output for people accepts nothing else, so passing
// a String that has not been made printable does not compile.

/// Text that is safe to write to a terminal or a log.
///
/// Literals are used verbatim, including colours and cursor movements. Everything interpolated is made printable:
/// control characters, line breaks and invisible scalars are escaped, such as `\u{1B}`; invalid UTF-8 becomes U+FFFD.
package struct PrintableText: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringInterpolation {
    package private(set) var description: String

    fileprivate init(unchecked text: String) { description = text }

    /// Uses a literal verbatim. A `StaticString` can only come from a literal.
    package init(stringLiteral literal: StaticString) { description = literal.description }

    package init(stringInterpolation: StringInterpolation) { description = stringInterpolation.text }

    /// Makes a text printable as part of one line.
    package init(_ text: String) {
        if text.utf8.allSatisfy({ (0x20...0x7e).contains($0) }) {
            description = text
            return
        }
        description = ""
        // The scalar that a joiner or a variation selector would apply to.
        var before: Unicode.Scalar?
        for scalar in text.unicodeScalars {
            let isSeen = scalar.isSeen(behind: before)
            description += isSeen ? String(scalar) : scalar.escaped(asASCII: true)
            before = isSeen ? scalar : nil
        }
    }

    /// Makes each line of a text printable.
    package init(lines text: String) {
        self = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
            .map { PrintableText(String($0)) }.joined(separator: "\n")
    }

    /// Makes the bytes of a line printable.
    package init(bytes: some Collection<UInt8>) { self.init(String(decoding: bytes, as: UTF8.self)) }

    // MARK: Composition

    /// Repeats a text; zero or fewer times give an empty text.
    package init(repeating text: PrintableText, count: Int) {
        description = String(repeating: text.description, count: max(count, 0))
    }

    package static func + (one: PrintableText, other: PrintableText) -> PrintableText {
        PrintableText(unchecked: one.description + other.description)
    }

    package static func += (one: inout PrintableText, other: PrintableText) { one.description += other.description }

    package var isEmpty: Bool { description.isEmpty }

    /// Returns the leading characters that satisfy a predicate.
    package func prefix(while isWanted: (Character) -> Bool) -> PrintableText {
        PrintableText(unchecked: String(description.prefix(while: isWanted)))
    }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        package init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

        package mutating func appendLiteral(_ literal: StaticString) { text += literal.description }

        package mutating func appendInterpolation(_ text: PrintableText) { self.text += text.description }

        package mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            appendInterpolation(PrintableText(value.description))
        }

        package mutating func appendInterpolation(_ error: any Error) { appendInterpolation(String(describing: error)) }
    }
}

extension Sequence<PrintableText> {
    package func joined(separator: PrintableText) -> PrintableText {
        PrintableText(unchecked: map(\.description).joined(separator: separator.description))
    }
}

extension Unicode.Scalar {
    /// Whether a terminal shows this scalar and no more than it.
    ///
    /// Excludes controls, line separators and everything that Unicode calls default ignorable: direction marks and
    /// overrides, zero-width characters, fillers, tags (DerivedCoreProperties; UTS 39 excludes them from names for the
    /// same reason). But languages and emoji need joiners and variation selectors (UAX 31, 2.3): one of these may
    /// follow a scalar that it changes.
    fileprivate func isSeen(behind before: Unicode.Scalar?) -> Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: return false
        default: break
        }
        // Interlinear annotation marks are not default ignorable, but invisible, too.
        if (0xfff9...0xfffb).contains(value) { return false }
        guard properties.isDefaultIgnorableCodePoint else { return true }
        guard let before else { return false }
        let isBehindText = !before.properties.isDefaultIgnorableCodePoint
        // The scripts with joiners begin with Arabic; digits and others become emoji with a selector.
        let isOfScript = before.value >= 0x600
        if properties.isVariationSelector { return isBehindText && (isOfScript || before.properties.isEmoji) }
        // The Mongolian vowel separator acts as a joiner, too.
        guard properties.isJoinControl || value == 0x180e else { return false }
        return isOfScript && (isBehindText || before.properties.isVariationSelector)
    }
}
