// Well-formed XML is read; anything else is an error with its line.

import TestSupport
import Testing

@testable import Tours

@Suite struct XMLReaderTests {
    /// Returns the parts of a document, a word for each.
    private static func events(_ text: String) throws(TourFileError) -> [String] {
        try Self.events(Array(text.utf8))
    }

    private static func events(_ bytes: [UInt8]) throws(TourFileError) -> [String] {
        let xml = XMLReader(bytes)
        var events: [String] = []
        while true {
            switch try xml.next() {
            case .open(let element):
                let attributes = element.attributes.map { " \($0.name)=\($0.value)" }.joined()
                events.append("<\(element.name)\(attributes):\(element.line)")
            case .close(let text): events.append(text)
            case .end: return events
            }
        }
    }

    @Test func aDocumentIsElementsWithAttributesAndText() throws {
        let text = """
            \u{feff}<?xml version="1.0" encoding="utf-8"?>
            <!-- a comment with <tags> & all -->
            <a:kml x='1 &lt; 2' a:y="&#228;&#x41;">
              <b>one &amp; <![CDATA[<two> &amp; ]]>three</b><c/>
            </a:kml>
            <?end?>
            """
        #expect(
            try Self.events(text) == ["<kml x=1 < 2 a:y=äA:3", "<b:4", "one & <two> &amp; three", "<c:4", "", "\n"])
    }

    @Test(arguments: [
        ("", 1, "no element"),
        ("<a>\n<b>\n</a>", 3, "</b> must end the element of line 2"),
        ("<a>\n", 2, "ends within <a> of line 1"),
        ("<a>\n<b", 2, "unclosed"),
        ("<a/>\n<b/>", 2, "junk after"),
        ("<a>&nbsp;</a>", 1, "&#160; for &nbsp;"),
        ("<a>&copy;</a>", 1, "write &amp; for &, and characters by number"),
        ("<a>\n\n&#0;</a>", 3, "invalid character"),
        ("<a>&#xD800;</a>", 1, "invalid character"),
        ("<a>&#+65;</a>", 1, "&amp; for &"),
        ("<a>\u{1}</a>", 1, "a character is not allowed here"),
        ("<a>\n<!-- -- --></a>", 2, "a character is not allowed here"),
        ("<a>]]></a>", 1, "a character is not allowed here"),
        ("<a b=1/>", 1, "not well-formed"),
        ("<a b='1' b='2'/>", 1, "duplicate attribute"),
        ("<a b='<'/>", 1, "&lt;"),
        ("<a b='1'c='2'/>", 1, "not well-formed"),
        ("<a>1 < 2</a>", 1, "&lt;"),
        ("text", 1, "syntax error"),
        ("<a><!-- \n\n</a>", 1, "unclosed"),
        ("\n<!DOCTYPE a [<!ENTITY x \"xxxxxxxx\"><!ENTITY y \"&x;&x;&x;\">]>\n<a>&y;</a>", 2, "<!DOCTYPE"),
        ("<a><!ENTITY x SYSTEM 'file:///etc/passwd'></a>", 1, "not well-formed"),
        ("<!DOCTYPE a SYSTEM 'file:///etc/passwd'><a/>", 1, "document types"),
    ]) func whatIsNotWellFormedIsAnErrorWithItsLine(text: String, line: Int, message: String) {
        let error = #expect(throws: TourFileError.self) { try Self.events(text) }
        #expect(error?.line == line)
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }

    @Test(arguments: ["UTF-8", "utf8", "ISO-8859-1", "UTF-16"]) func encodingsAreRead(encoding: String) throws {
        let text = "<?xml version='1.0' encoding='\(encoding)'?><a>é</a>"
        let bytes: [UInt8] =
            switch encoding {
            case "ISO-8859-1": text.unicodeScalars.map { UInt8($0.value) }
            case "UTF-16": [0xff, 0xfe] + text.utf16.flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] }
            default: Array(text.utf8)
            }
        #expect(try Self.events(bytes) == ["<a:1", "é"])
    }

    @Test(arguments: ["utf8", "UTF8", "Utf_8", "UTF-8", "uTf-8"]) func spellingsOfUTF8AreRead(name: String) throws {
        #expect(try Self.events("\n<?xml version='1.0' encoding='\(name)'?>\n<a>é</a>") == ["<a:3", "é"])
    }

    @Test(arguments: ["windows-1252", "UTF-32", "utf16", "cp037", "utf8-1", "latin1"])
    func anotherEncodingIsRefusedByName(name: String) {
        let text = "\n\n<?xml version='1.0' encoding='\(name)'?>\n<a>a</a>"
        let error = #expect(throws: TourFileError.self) { try Self.events(text) }
        #expect(error?.line == 3 && error?.message == "the encoding is \(name): save the file as UTF-8")
    }

    @Test func blankLinesAndOneByteOrderMarkMayComeFirst() throws {
        let mark: [UInt8] = [0xef, 0xbb, 0xbf]
        let blank = Array(" \t\r\n\n".utf8)
        let document = Array("<?xml version='1.0'?><a/>".utf8)
        for (before, line) in [([], 1), (mark, 1), (blank, 3), (mark + blank, 3), (blank + mark, 3)] {
            #expect(try Self.events(before + document) == ["<a:\(line)", ""])
        }
        let wrong: [[UInt8]] = [
            mark + mark, mark + blank + mark, blank + mark + mark, [0xef], [0xef, 0xbb], [0xbf],
            mark + [0xbf], mark.reversed(),
        ]
        for before in wrong {
            #expect(throws: TourFileError.self) { try Self.events(before + document) }
            #expect(throws: TourFileError.self) { try Self.events(before + document.suffix(4)) }
        }
    }

    @Test func whatIsNoUTF8IsAnErrorWithItsLine() {
        for (bytes, line) in [
            (Array("<a>\n\n".utf8) + [0xff] + Array("</a>".utf8), 3), (Array("<a>\n".utf8) + [0xc3], 2),
            (Array("<a>é".utf8) + [0xe2, 0x82], 1),
            (Array("<?xml version='1.0' encoding='windows-1252'?>\n<a>".utf8) + [0xe9, 0x3c, 0x2f, 0x61, 0x3e], 1),
            (Array("<?xml version='1.0' encoding='utf8'?>\n<a>".utf8) + [0xe9, 0x3c, 0x2f, 0x61, 0x3e], 2),
            (Array("<?xml version='1.0' encoding='UTF-16'?>\n<a/>".utf8), 1),
            ([0xff, 0xfe, 0, 0, 0x3c, 0, 0, 0], 1), ([0x4c, 0x6f, 0xa7, 0x94, 0x93], 1),
        ] {
            let error = #expect(throws: TourFileError.self) { try Self.events(bytes) }
            #expect(error?.line == line && error?.message.contains("UTF-8") == true, "\(error?.message ?? "")")
        }
    }

    @Test func elementsNestAsDeepAsTheLimitAndNoDeeper() throws {
        let deepest = XMLReader.deepest
        for (depth, isRight) in [(deepest, true), (deepest + 1, false), (100_000, false)] {
            let text = String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)
            #expect(((try? Self.events(text)) != nil) == isRight)
        }
    }

    @Test func attributesAndNamesHaveLimits() throws {
        func element(_ count: Int) -> String { "<a " + (0..<count).map { "b\($0)='' " }.joined() + "/>" }
        #expect(throws: Never.self) { try Self.events(element(XMLReader.mostAttributes)) }
        #expect(throws: TourFileError.self) { try Self.events(element(XMLReader.mostAttributes + 1)) }
        let name = String(repeating: "n", count: XMLReader.longestName)
        #expect(throws: Never.self) { try Self.events("<\(name)/>") }
        #expect(throws: TourFileError.self) { try Self.events("<\(name)n/>") }
    }

    @Test func everyPrefixAndEveryChangedByteIsReadOrRefused() throws {
        let text = Array("<?xml version='1.0'?><k a='1&amp;'><!-- c --><b>t&#65;<![CDATA[x]]></b><c/></k>".utf8)
        for count in 0..<text.count {
            #expect(throws: TourFileError.self) { try Self.events(String(decoding: text[..<count], as: UTF8.self)) }
        }
        var random = Seeded(7)
        for _ in 0..<2000 {
            var changed = text
            changed[Int.random(in: 0..<text.count, using: &random)] = UInt8.random(in: 0...127, using: &random)
            do throws(TourFileError) {
                #expect(try Self.events(String(decoding: changed, as: UTF8.self)).count >= 2)
            } catch {
                #expect(error.line == 1 || error.line == 2)
            }
        }
    }
}
