// Reads XML as KML and GPX files use it, element by element. Invariants: malformed XML is an error with its line; an
// element costs no more memory than its own text; and nothing outside the file is ever read.
//
// Foundation's parser is not used, because FoundationXML brings in all of Foundation: a program that reads one tag
// grows from 13.7 to 58.1 MB, linked and stripped as `gimbal` is, and needs libxml2 at run time, whose entities would
// have to be disabled. XMLCoder is built on it. KML and GPX need a small part of XML: no document type, so no entities
// except the five predefined ones and numeric references, and only UTF-8.

/// Reads a document step by step.
struct XMLReader {
    /// A start tag. Names are without their prefix.
    struct Element {
        let name: String
        /// The line of the tag, from 1.
        let line: Int
        fileprivate(set) var attributes: [(name: String, value: String)] = []

        subscript(attribute name: String) -> String? { attributes.first { $0.name == name }?.value }
    }

    enum Event {
        case open(Element)
        /// An end tag, and the text between it and the tag before it.
        case close(text: String)
        case end
    }

    /// How deep elements may be nested.
    static let deepest = 64
    /// How many attributes an element may have.
    static let mostAttributes = 64
    /// How long a name may be, in bytes.
    static let longestName = 256

    private let bytes: [UInt8]
    private var position = 0
    private(set) var line = 1
    /// The names of the open elements, with their prefixes.
    private var open: [(name: ArraySlice<UInt8>, line: Int)] = []
    private var text: [UInt8] = []
    /// Whether the last tag opened an empty element, which the next event closes.
    private var isEmptyElement = false
    private var hasRoot = false

    /// - Throws: `TourFileError` if the bytes are not UTF-8, or declare another encoding.
    init(_ bytes: [UInt8]) throws(TourFileError) {
        self.bytes = bytes
        if bytes.starts(with: [0xfe, 0xff]) || bytes.starts(with: [0xff, 0xfe]) {
            throw TourFileError(line: 1, "the file is UTF-16: save it as UTF-8")
        }
        do throws(UTF8.ValidationError) {
            _ = try UTF8Span(validating: bytes.span)
        } catch {
            let line = bytes[..<error.byteOffsets.lowerBound].count { $0 == 0x0a } + 1
            throw TourFileError(line: line, "the file is not UTF-8 here: save it as UTF-8")
        }
        if bytes.starts(with: [0xef, 0xbb, 0xbf]) { position = 3 }
        if isNext("<?xml"), position + 5 < bytes.count, Self.isSpace(bytes[position + 5]) { try readDeclaration() }
    }

    private func wrong(_ message: String, at line: Int? = nil) -> TourFileError {
        TourFileError(line: line ?? self.line, message)
    }

    // MARK: Steps

    /// Returns the next tag.
    mutating func next() throws(TourFileError) -> Event {
        if isEmptyElement {
            isEmptyElement = false
            return close()
        }
        while position < bytes.count {
            let byte = bytes[position]
            guard byte == UInt8(ascii: "<") else {
                try readText()
                continue
            }
            if isNext("<!--") {
                try skip(4, to: "-->", "a comment")
            } else if isNext("<![CDATA[") {
                guard !open.isEmpty else { throw wrong("text is outside the root element") }
                let start = position + 9
                try skip(9, to: "]]>", "CDATA")
                text += bytes[start..<(position - 3)]
            } else if isNext("<?") {
                try skip(2, to: "?>", "an instruction")
            } else if isNext("<!") {
                throw wrong("document types and their entities are not supported: remove <!DOCTYPE …>")
            } else if isNext("</") {
                return try endTag()
            } else {
                return .open(try startTag())
            }
        }
        if let last = open.last {
            throw wrong("the file ends within <\(Self.string(last.name))> of line \(last.line): it is cut off")
        }
        guard hasRoot else { throw wrong("the file has no element") }
        return .end
    }

    /// Returns the next child of the open element; `nil` after the last one, when the element is closed.
    mutating func nextChild() throws(TourFileError) -> Element? {
        switch try next() {
        case .open(let element): element
        case .close, .end: nil
        }
    }

    /// Reads to the end of the element that was just opened, and returns its text after the last nested element.
    mutating func readText(of element: Element) throws(TourFileError) -> String {
        let depth = open.count
        while true {
            switch try next() {
            case .open, .end: break
            case .close(let text): if open.count < depth { return text }
            }
        }
    }

    /// Reads to the end of the element that was just opened.
    mutating func skip(_ element: Element) throws(TourFileError) { _ = try readText(of: element) }

    // MARK: Tags

    private mutating func startTag() throws(TourFileError) -> Element {
        let start = line
        position += 1
        let name = try readName("an element's name")
        if open.isEmpty, hasRoot { throw wrong("a second root element <\(Self.string(name))> follows the first one") }
        guard open.count < Self.deepest else { throw wrong("elements may be nested at most \(Self.deepest) deep") }
        var element = Element(name: Self.localName(name), line: start)
        while true {
            let hasSpace = skipSpace()
            guard position < bytes.count else { throw wrong("the file ends within a tag: it is cut off") }
            if bytes[position] == UInt8(ascii: ">") {
                position += 1
                break
            }
            if isNext("/>") {
                position += 2
                isEmptyElement = true
                break
            }
            guard hasSpace else { throw wrong("a space was expected before an attribute") }
            try readAttribute(into: &element)
        }
        hasRoot = true
        open.append((name, start))
        text = []
        return element
    }

    private mutating func readAttribute(into element: inout Element) throws(TourFileError) {
        let name = try readName("an attribute's name")
        let text = Self.string(name)
        guard element.attributes.count < Self.mostAttributes else {
            throw wrong("an element may have at most \(Self.mostAttributes) attributes")
        }
        _ = skipSpace()
        guard isNext("=") else { throw wrong("= was expected after the attribute \(text)") }
        position += 1
        _ = skipSpace()
        guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") || bytes[position] == UInt8(ascii: "'")
        else {
            throw wrong("quotes were expected around the value of \(text)")
        }
        let quote = bytes[position]
        position += 1
        var value: [UInt8] = []
        while true {
            guard position < bytes.count else { throw wrong("the file ends within a tag: it is cut off") }
            switch bytes[position] {
            case quote:
                position += 1
                guard !element.attributes.contains(where: { $0.name == text }) else {
                    throw wrong("the attribute \(text) occurs twice in one element")
                }
                element.attributes.append((text, Self.string(value[...])))
                return
            case UInt8(ascii: "<"): throw wrong("< is not allowed in an attribute: write &lt;")
            case UInt8(ascii: "&"): value += try readReference()
            default: value.append(try readByte())
            }
        }
    }

    private mutating func endTag() throws(TourFileError) -> Event {
        position += 2
        let name = try readName("an element's name")
        _ = skipSpace()
        guard isNext(">") else { throw wrong("> was expected after </\(Self.string(name))") }
        position += 1
        guard let last = open.last else { throw wrong("</\(Self.string(name))> ends no element") }
        guard last.name.elementsEqual(name) else {
            throw wrong(
                "</\(Self.string(name))> where </\(Self.string(last.name))> must end the element of line \(last.line)")
        }
        return close()
    }

    private mutating func close() -> Event {
        open.removeLast()
        defer { text = [] }
        return .close(text: Self.string(text[...]))
    }

    private mutating func readName(_ what: String) throws(TourFileError) -> ArraySlice<UInt8> {
        let start = position
        while position < bytes.count, Self.isOfName(bytes[position], first: position == start) {
            position += 1
            guard position - start <= Self.longestName else {
                throw wrong("a name may have at most \(Self.longestName) bytes")
            }
        }
        guard position > start else { throw wrong("\(what) was expected; a < in text is written &lt;") }
        return bytes[start..<position]
    }

    private static func isOfName(_ byte: UInt8, first: Bool) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), 0x80...,
            UInt8(ascii: "_"), UInt8(ascii: ":"):
            true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."): !first
        default: false
        }
    }

    private static func localName(_ name: ArraySlice<UInt8>) -> String {
        string(name.lastIndex(of: UInt8(ascii: ":")).map { name[($0 + 1)...] } ?? name)
    }

    private static func string(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

    // MARK: Text

    private mutating func readText() throws(TourFileError) {
        while position < bytes.count, bytes[position] != UInt8(ascii: "<") {
            guard !open.isEmpty else {
                guard Self.isSpace(bytes[position]) else {
                    throw wrong("text is outside the root element")
                }
                _ = try readByte()
                continue
            }
            if bytes[position] == UInt8(ascii: "&") {
                text += try readReference()
            } else {
                text.append(try readByte())
            }
        }
    }

    /// Reads a byte of text, and counts lines.
    private mutating func readByte() throws(TourFileError) -> UInt8 {
        let byte = bytes[position]
        guard byte >= 0x20 || Self.isSpace(byte) else { throw wrong("the text contains a control character") }
        position += 1
        if byte == 0x0a { line += 1 }
        return byte
    }

    private mutating func readReference() throws(TourFileError) -> [UInt8] {
        let end = bytes[position...].prefix(16).firstIndex(of: UInt8(ascii: ";"))
        let name = end.map { Self.string(bytes[(position + 1)..<$0]) } ?? ""
        let known: Character? =
            switch name {
            case "amp": "&"
            case "lt": "<"
            case "gt": ">"
            case "quot": "\""
            case "apos": "'"
            default: Self.character(numbered: name)
            }
        guard let known, let end else {
            throw wrong("& must begin &amp; &lt; &gt; &quot; &apos; or a number such as &#228;: write &amp; for &")
        }
        position = end + 1
        return Array(String(known).utf8)
    }

    private static func character(numbered name: String) -> Character? {
        guard name.hasPrefix("#") else { return nil }
        let digits = name.dropFirst(name.hasPrefix("#x") ? 2 : 1)
        guard digits.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }),
            let number = UInt32(digits, radix: name.hasPrefix("#x") ? 16 : 10),
            number >= 0x20 || [0x09, 0x0a, 0x0d].contains(number), number & 0xfffe != 0xfffe
        else { return nil }
        return Unicode.Scalar(number).map { Character($0) }
    }

    // MARK: Bytes

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0a || byte == 0x09 || byte == 0x0d }

    private func isNext(_ word: StaticString) -> Bool {
        word.withUTF8Buffer { unsafe bytes[position...].starts(with: $0) }
    }

    private mutating func skipSpace() -> Bool {
        let start = position
        while position < bytes.count, Self.isSpace(bytes[position]) {
            if bytes[position] == 0x0a { line += 1 }
            position += 1
        }
        return position > start
    }

    /// Skips `count` bytes, and all that follows up to and including `end`.
    private mutating func skip(_ count: Int, to end: StaticString, _ what: String) throws(TourFileError) {
        let start = line
        position += count
        while !isNext(end) {
            guard position < bytes.count else { throw wrong("\(what) has no end", at: start) }
            if bytes[position] == 0x0a { line += 1 }
            position += 1
        }
        position += end.utf8CodeUnitCount
    }

    /// Reads `<?xml …?>`, which may name no encoding but UTF-8 and its subset ASCII.
    private mutating func readDeclaration() throws(TourFileError) {
        let start = position
        try skip(5, to: "?>", "an instruction")
        let declaration = Self.string(bytes[start..<position])
        guard let match = declaration.firstMatch(of: /encoding\s*=\s*["']([^"']*)["']/) else { return }
        guard ["UTF-8", "UTF8", "US-ASCII", "ASCII"].contains(match.1.uppercased()) else {
            throw wrong("the encoding is \(match.1): save the file as UTF-8", at: 1)
        }
    }
}
