// Text for people: a terminal, a log, an error's message. Invariant: what our own sources do not say word for word cannot steer
// a terminal, hide, or look like another line. The type is the gate: whatever writes for people takes nothing else, so
// that a String which has not been made printable does not compile there.

/// Text that may be written to a terminal or a log.
///
/// Literals are taken as they are, colours and the cursor's moves included. Everything that is put into them is made printable:
/// a scalar that steers, breaks a line or is not seen is written out, such as `\u{1B}`; invalid UTF-8 is U+FFFD.
package struct PrintableText: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringInterpolation {
    package private(set) var description: String

    fileprivate init(unchecked text: String) { description = text }

    /// Takes a literal as it is. There is no other way to say `StaticString`.
    package init(stringLiteral literal: StaticString) { description = literal.description }

    package init(stringInterpolation: StringInterpolation) { description = stringInterpolation.text }

    /// Makes a text printable, as a part of one line.
    package init(_ text: String) {
        if text.utf8.allSatisfy({ (0x20...0x7e).contains($0) }) {
            description = text
            return
        }
        description = ""
        // What a joiner would join, or a variation selector vary.
        var before: Unicode.Scalar?
        for scalar in text.unicodeScalars {
            let isSeen = scalar.isSeen(behind: before)
            description += isSeen ? String(scalar) : scalar.escaped(asASCII: true)
            before = isSeen ? scalar : nil
        }
    }

    /// Makes the lines of a text printable.
    package init(lines text: String) {
        self = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
            .map { PrintableText(String($0)) }.joined(separator: "\n")
    }

    /// Makes a line of bytes printable.
    package init(bytes: some Collection<UInt8>) { self.init(String(decoding: bytes, as: UTF8.self)) }

    // MARK: Parts and wholes

    /// A text so many times, or not at all.
    package init(repeating text: PrintableText, count: Int) {
        description = String(repeating: text.description, count: max(count, 0))
    }

    package static func + (one: PrintableText, other: PrintableText) -> PrintableText {
        PrintableText(unchecked: one.description + other.description)
    }

    package static func += (one: inout PrintableText, other: PrintableText) { one.description += other.description }

    package var isEmpty: Bool { description.isEmpty }

    /// The characters at its beginning that a test passes.
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
    /// Whether a terminal shows it, and only it.
    ///
    /// No control or separator of lines is, and nothing that Unicode calls default ignorable: marks and overrides of direction,
    /// what has no width, fillers, tags (DerivedCoreProperties; UTS 39 keeps them out of names for the same reason). But
    /// languages and emoji are written with joiners and variation selectors (UAX 31, 2.3): one of these may follow a scalar that
    /// they change.
    fileprivate func isSeen(behind before: Unicode.Scalar?) -> Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: return false
        default: break
        }
        // The marks of interlinear annotations are not default ignorable, and not seen either.
        if (0xfff9...0xfffb).contains(value) { return false }
        guard properties.isDefaultIgnorableCodePoint else { return true }
        guard let before else { return false }
        let isBehindText = !before.properties.isDefaultIgnorableCodePoint
        // The scripts that have joiners begin with Arabic; digits and others become emoji by a selector.
        let isOfScript = before.value >= 0x600
        if properties.isVariationSelector { return isBehindText && (isOfScript || before.properties.isEmoji) }
        // The Mongolian vowel separator is a joiner of its own.
        guard properties.isJoinControl || value == 0x180e else { return false }
        return isOfScript && (isBehindText || before.properties.isVariationSelector)
    }
}
