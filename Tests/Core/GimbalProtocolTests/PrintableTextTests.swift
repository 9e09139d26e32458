// The gate to terminals and logs: what it escapes, and what it keeps.

import Foundation
import GimbalProtocol
import TestSupport
import Testing

@Suite struct PrintableTextTests {
    @Test(arguments: [
        ("\u{1b}]0;title\u{7}", #"\u{1B}]0;title\u{07}"#), ("a\nb\r\tc\0", #"a\nb\r\tc\0"#), ("\u{7f}", #"\u{7F}"#),
        ("\u{9b}2J\u{85}", #"\u{009B}2J\u{0085}"#), ("a\u{2028}b\u{2029}", #"a\u{2028}b\u{2029}"#),
        ("\u{202a}\u{202e}\u{2066}\u{2069}", #"\u{202A}\u{202E}\u{2066}\u{2069}"#),
        ("\u{200e}\u{200f}\u{61c}", #"\u{200E}\u{200F}\u{061C}"#),
        ("ma\u{200b}in\u{feff}\u{ad}\u{2060}\u{34f}", #"ma\u{200B}in\u{FEFF}\u{00AD}\u{2060}\u{034F}"#),
        ("ma\u{200d}in\u{200c}\u{fe0f}", #"ma\u{200D}in\u{200C}\u{FE0F}"#),
        ("🏴\u{e0067}\u{e007f}", #"🏴\u{000E0067}\u{000E007F}"#), ("\u{fff9}\u{3164}", #"\u{FFF9}\u{3164}"#),
        ("م\u{200d}\u{200d}", "م\u{200d}" + #"\u{200D}"#), ("葛\u{e0100}\u{e0101}", "葛\u{e0100}" + #"\u{000E0101}"#),
    ])
    func whatSteersOrHidesIsWrittenOut(text: String, printable: String) {
        #expect(PrintableText(text).description == printable)
    }

    @Test(arguments: [
        "Straße 1 – “a” \\ 100 %", "e\u{301}", "שלום", "مرحبا ١٢٣ \u{600}", "می\u{200c}خواهم", "क\u{94d}\u{200d}ष",
        "ᠮᠣᠩᠭᠣᠯ\u{180b}\u{180e}", "日本語\u{3000}葛\u{e0100}", "ไทย", "👨‍👩‍👧", "❤️‍🔥", "1️⃣ ©️", "\u{fffd}", "",
    ])
    func whatIsWrittenInALanguageStays(text: String) {
        #expect(PrintableText(text).description == text)
    }

    @Test func everyScalarIsEitherSeenOrWrittenOut() {
        for value in 0...0x10ffff as ClosedRange<UInt32> {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let text = PrintableText(String(scalar)).description
            let isControl = value < 0x20 || (0x7f..<0xa0).contains(value)
            let isHidden = isControl || scalar.properties.isDefaultIgnorableCodePoint
            if isHidden { #expect(text.utf8.allSatisfy { (0x20...0x7e).contains($0) } && text.hasPrefix("\\")) }
            if (0x20...0x7e).contains(value) { #expect(text == String(scalar)) }
        }
    }

    @Test func literalsStayAndWhatIsPutIntoThemIsMadePrintable() {
        let hostile = "\u{1b}[2J\n"
        let printed = PrintableText(hostile)
        let text: PrintableText = "\u{1b}[1m\(hostile)\u{1b}[0m \(7) \(2.5) \(hostile.prefix(1)) \(printed)\n"
        #expect(text.description == "\u{1b}[1m" + #"\u{1B}[2J\n"# + "\u{1b}[0m 7 2.5 " + #"\u{1B} \u{1B}[2J\n"# + "\n")
        #expect("\(text)" as PrintableText == text)
    }

    @Test func linesStayLines() {
        #expect(PrintableText(lines: "a\u{1b}\nb\r\n\n").description == #"a\u{1B}"# + "\n" + #"b\r"# + "\n\n")
    }

    @Test func bytesThatAreNoTextAreReplaced() {
        let text = PrintableText(bytes: [0x61, 0x9b, 0xc2, 0x9b, 0xff])
        #expect(text.description == "a\u{fffd}" + #"\u{009B}"# + "\u{fffd}")
    }

    // MARK: The sources

    /// The files that may write to a terminal, and how often each does.
    private static let allowed = [
        // A signal handler creates no objects: a literal.
        "Client/gimbal/Terminal/Keyboard.swift": 1,
        // Standard output of collected lines, each printable or not for a terminal.
        "Client/gimbal/Terminal/Terminal.swift": 1,
    ]

    /// The type rejects unprintable text; this keeps the programs from bypassing it.
    @Test func programsWriteTextByTheGateAlone() throws {
        let writers =
            #/
            \b(print|debugPrint|dump|fputs|puts|putchar|printf|fprintf|vprintf|dprintf|perror|fwrite|syslog)\(
            | \b(write|writev|send)\(\s*(STD(OUT|ERR)_FILENO|[12]\b) | \bwriteOut\(.*STD(OUT|ERR)_FILENO
            | exit\(withError
            | FileHandle | \b(stdout|stderr)\b | \bTextOutputStream
            /#
        let sources = Files.root.appendingPathComponent("Sources")
        var found: [String: Int] = [:]
        for case let file as URL in try #require(
            FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        where file.pathExtension == "swift" {
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
                let code = line.firstRange(of: "//").map { line[..<$0.lowerBound] } ?? line
                guard code.contains(writers) else { continue }
                found[String(file.path.dropFirst(sources.path.count + 1)), default: 0] += 1
            }
        }
        #expect(found == Self.allowed)
    }
}
