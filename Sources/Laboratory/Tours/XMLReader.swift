// Reads XML as KML and GPX files use it, element by element: libexpat parses, and stops after each tag. Invariants:
// malformed XML is an error with its line; there is no document type, so no entities except the five predefined ones
// and numeric references; and nothing outside the file is ever read.

import CExpat

/// Reads a document step by step.
@safe final class XMLReader {
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

    private let parser: XML_Parser
    /// The lines before the document, which the parser does not see.
    private let linesBefore: Int
    /// The encoding that <?xml …?> names.
    private var encoding = ""
    private var status = XML_STATUS_ERROR
    /// What the last step found: nothing, a tag, or both tags of an empty element.
    private var events: [Event] = []
    /// Why a handler ended the parsing.
    private var refusal: TourFileError?
    /// The names of the open elements, with their prefixes.
    private var open: [(name: String, line: Int)] = []
    private var text: [UInt8] = []

    /// - Parameter bytes: no more than a C `int` counts.
    init(_ bytes: [UInt8]) {
        guard let parser = unsafe XML_ParserCreate(nil) else { fatalError("there is no memory for a parser") }
        unsafe self.parser = parser
        // expat accepts only a byte order mark before <?xml …?>, but some files have blank lines there.
        let mark = bytes.starts(with: [0xef, 0xbb, 0xbf]) ? 3 : 0
        let blank = bytes[mark...].prefix { [0x20, 0x09, 0x0a, 0x0d].contains($0) }
        linesBefore = blank.count { $0 == 0x0a }
        let document = bytes[..<mark] + bytes[blank.endIndex...]
        parse(document)
        guard unsafe XML_GetErrorCode(parser) == XML_ERROR_UNKNOWN_ENCODING else { return }
        // expat knows UTF-8 by no other spelling, such as Python's "utf8".
        if ["UTF8", "UTF_8"].contains(encoding.uppercased()) {
            unsafe XML_ParserReset(parser, "UTF-8")
            parse(document)
        } else {
            refuse("the encoding is \(encoding.prefix(Self.longestName)): save the file as UTF-8")
        }
    }

    deinit { unsafe XML_ParserFree(parser) }

    /// Parses up to the first tag.
    private func parse(_ bytes: ArraySlice<UInt8>) {
        func reader(_ data: UnsafeMutableRawPointer?) -> XMLReader? {
            unsafe data.map { unsafe Unmanaged.fromOpaque($0).takeUnretainedValue() }
        }
        unsafe XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
        unsafe XML_SetXmlDeclHandler(parser) { data, _, encoding, _ in
            if let encoding = unsafe encoding { unsafe reader(data)?.encoding = String(cString: encoding) }
        }
        unsafe XML_SetElementHandler(
            parser, { unsafe reader($0)?.readStart($1, $2) }, { data, _ in unsafe reader(data)?.readEnd() })
        unsafe XML_SetCharacterDataHandler(parser) {
            unsafe reader($0)?.text += UnsafeRawBufferPointer(start: $1, count: Int($2))
        }
        unsafe XML_SetStartDoctypeDeclHandler(parser) { data, _, _, _, _ in
            unsafe reader(data)?.refuse("document types and their entities are not supported: remove <!DOCTYPE …>")
        }
        status = unsafe bytes.withUnsafeBytes { unsafe XML_Parse(parser, $0.baseAddress, CInt($0.count), 1) }
    }

    private var line: Int { unsafe linesBefore + Int(XML_GetCurrentLineNumber(parser)) }

    // MARK: Steps

    /// Returns the next tag.
    func next() throws(TourFileError) -> Event {
        while events.isEmpty {
            switch status {
            case XML_STATUS_OK: return .end
            case XML_STATUS_SUSPENDED: status = unsafe XML_ResumeParser(parser)
            default: throw refusal ?? malformed
            }
        }
        return events.removeFirst()
    }

    /// Returns the next child of the open element; `nil` after the last one, when the element is closed.
    func nextChild() throws(TourFileError) -> Element? {
        switch try next() {
        case .open(let element): element
        case .close, .end: nil
        }
    }

    /// Reads to the end of the element that was just opened, and returns its text after the last nested element.
    func readText(of element: Element) throws(TourFileError) -> String {
        var depth = 1
        while true {
            switch try next() {
            case .open: depth += 1
            case .close(let text):
                depth -= 1
                if depth == 0 { return text }
            case .end: return ""
            }
        }
    }

    /// Reads to the end of the element that was just opened.
    func skip(_ element: Element) throws(TourFileError) { _ = try readText(of: element) }

    // MARK: Tags

    private func readStart(_ tag: UnsafePointer<CChar>?, _ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>?) {
        guard let tag = unsafe tag, var next = unsafe attributes else { return }
        let name = unsafe String(cString: tag)
        let withoutPrefix = name.utf8.lastIndex(of: UInt8(ascii: ":")).map { name[name.utf8.index(after: $0)...] }
        var element = Element(name: String(withoutPrefix ?? name[...]), line: line)
        open.append((name, line))
        text = []
        guard open.count <= Self.deepest else { return refuse("elements may be nested at most \(Self.deepest) deep") }
        while let name = unsafe next[0], let value = unsafe next[1] {
            guard element.attributes.count < Self.mostAttributes else {
                return refuse("an element may have at most \(Self.mostAttributes) attributes")
            }
            unsafe element.attributes.append((String(cString: name), String(cString: value)))
            unsafe next += 2
        }
        let longest = element.attributes.reduce(name.utf8.count) { max($0, $1.name.utf8.count) }
        guard longest <= Self.longestName else { return refuse("a name may have at most \(Self.longestName) bytes") }
        stop(after: .open(element))
    }

    /// Reads an end tag; that of an empty element also after its start tag stopped or ended the parsing.
    private func readEnd() {
        guard refusal == nil else { return }
        open.removeLast()
        stop(after: .close(text: String(decoding: text, as: UTF8.self)))
        text = []
    }

    /// Has the parser return; it goes on when the next tag is wanted.
    private func stop(after event: Event) {
        events.append(event)
        unsafe XML_StopParser(parser, XML_Bool(XML_TRUE))
    }

    // MARK: Errors

    private func refuse(_ message: String) {
        refusal = TourFileError(line: line, message)
        unsafe XML_StopParser(parser, XML_Bool(XML_FALSE))
    }

    private var malformed: TourFileError {
        let error = unsafe XML_GetErrorCode(parser)
        let advice =
            switch (error, open.last) {
            case (XML_ERROR_NO_ELEMENTS, let last?): ": the file ends within <\(last.name)> of line \(last.line)"
            case (XML_ERROR_TAG_MISMATCH, let last?): ": </\(last.name)> must end the element of line \(last.line)"
            case (XML_ERROR_INVALID_TOKEN, _):
                ": a character is not allowed here: write &lt; for < and &amp; for &, and save the file as UTF-8"
            case (XML_ERROR_PARTIAL_CHAR, _), (XML_ERROR_INCORRECT_ENCODING, _): ": save the file as UTF-8"
            case (XML_ERROR_UNDEFINED_ENTITY, _): ": write &amp; for &, and characters by number, as &#160; for &nbsp;"
            default: ""
            }
        return TourFileError(line: line, unsafe String(cString: XML_ErrorString(error)) + advice)
    }
}
