// Words, strings, numbers and the tape, each compared with another reader of the same bytes or with a complete list.

import Foundation
import TestSupport
import Testing

@testable import JSONLines

@Suite struct WordTableTests {
    /// 128 different words of one to twenty bytes, so many that their entries collide, and that share most of their
    /// bytes.
    private static let words: [String] = {
        var random = Seeded(7)
        var words: [String] = []
        while words.count < 128 {
            let length = random.integer(1...20)
            let word = String(
                (0..<length).map { _ in random.chance(0.8) ? "a" : random.pick(["b", "c", "d", "e", "f", "g"]) })
            if !words.contains(word) { words.append(word) }
        }
        return words
    }()

    @Test func everyWordIsFoundByItsBytesWhateverStandsAroundIt() {
        let table = WordTable(Self.words)
        #expect(table.count == 128)
        for (index, word) in Self.words.enumerated() {
            for (before, behind) in [("", ""), ("a", "a"), ("aaaaaaaaaaaaaaaaaaaa", "\":1,\"aaaaaaaaaaaaaaaa")] {
                let text = Array((before + word + behind).utf8)
                let (start, end) = (before.utf8.count, before.utf8.count + word.utf8.count)
                #expect(table.index(of: text.span, start, end) == index, "\(word) in \(before)\(word)\(behind)")
            }
        }
    }

    @Test func everyWordOfUpToFifteenBytesIsFoundInItsQuotes() {
        let table = WordTable(Self.words)
        for (index, word) in Self.words.enumerated() {
            for (before, behind) in [
                ("", ""), ("\"a\",", ":1}"), ("aaaaaaaaaaaaaaaaaaaa", ":\"aaaaaaaaaaaaaaaaaaa\"}"),
            ] {
                let text = Array("\(before)\"\(word)\"\(behind)".utf8)
                let found = table.quoted(in: text.span, at: before.utf8.count)
                let isShort = word.utf8.count <= 15
                #expect(found?.index == (isShort ? index : nil), "\(word) before \(behind)")
                #expect(
                    found?.end == (isShort ? before.utf8.count + word.utf8.count + 2 : nil), "\(word) before \(behind)")
            }
        }
    }

    @Test func nothingButTheWordsIsFound() {
        let table = WordTable(Self.words)
        for word in Self.words {
            let others = [
                "\(word)a", "a\(word)", String(word.dropLast()), String(word.dropFirst()), "\(word.dropLast())z",
                "z\(word.dropFirst())",
                "\(word)\0", "",
            ]
            for other in others where !Self.words.contains(other) {
                let bytes = Array(other.utf8)
                #expect(table.index(of: bytes.span, 0, bytes.count) == nil, "\(other)")
                #expect(table.quoted(in: Array("\"\(other)\"".utf8).span, at: 0) == nil, "\(other)")
            }
            // A missing quote before or after the word, and an offset beyond the text.
            #expect(table.quoted(in: Array("'\(word)\"".utf8).span, at: 0) == nil)
            #expect(table.quoted(in: Array("\"\(word)".utf8).span, at: 0) == nil)
            #expect(table.quoted(in: Array("\"\(word)\"".utf8).span, at: 40) == nil)
        }
    }
}

@Suite struct StringTests {
    private func reads(_ bytes: [UInt8]) -> String? {
        guard case .string(let text)? = try? JSONValue([0x22] + bytes + [0x22]) else { return nil }
        return text
    }

    /// The bytes at and next to the ends of each range in the table of well-formed UTF-8.
    private static let seconds: [UInt8] = [0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0]
    private static let others: [UInt8] = [0x7f, 0x80, 0xbf, 0xc0]

    @Test func aStringIsReadIfItsBytesAreUTF8AndOnlyThen() {
        var sequences: [[UInt8]] = (0x80...0xff).map { [$0] }
        for lead in UInt8(0xc0)...0xff {
            for second in Self.seconds {
                sequences.append([lead, second])
                for third in Self.others {
                    sequences.append([lead, second, third])
                    if lead >= 0xed { sequences += Self.others.map { [lead, second, third, $0] } }
                }
            }
        }
        var (read, refused) = (0, 0)
        for bytes in sequences {
            let expected = String(validating: bytes, as: UTF8.self).map { $0.contains("\"") ? nil : $0 } ?? nil
            let found = reads(bytes)
            #expect(found.map { Array($0.utf8) } == expected.map { Array($0.utf8) }, "\(bytes)")
            (read, refused) = found == nil ? (read, refused + 1) : (read + 1, refused)
        }
        #expect(read > 200 && refused > 2000)
    }

    @Test func anEscapedCharacterIsTheOneThatItNames() {
        let units: [UInt16] = [0, 0x22, 0x5c, 0xe9, 0xd7ff, 0xd800, 0xdbff, 0xdc00, 0xdfff, 0xe000, 0xffff]
        func escape(_ unit: UInt16, _ isUpper: Bool) -> String {
            String(format: isUpper ? "\\u%04X" : "\\u%04x", Int(unit))
        }
        for first in units {
            for second in units {
                let expected = String(validating: [first, second], as: UTF16.self)
                for isUpper in [true, false] {
                    let text = escape(first, isUpper) + escape(second, !isUpper)
                    #expect(reads(Array(text.utf8)) == expected, "\(text)")
                }
            }
            let alone = String(validating: [first], as: UTF16.self)
            #expect(reads(Array(escape(first, true).utf8)) == alone)
            #expect(reads(Array("\(escape(first, false))x".utf8)) == alone.map { "\($0)x" })
            #expect(reads(Array("\(escape(first, false))\\n".utf8)) == alone.map { "\($0)\n" })
        }
        for (escape, meant) in [
            ("\\\"", "\""), ("\\\\", "\\"), ("\\/", "/"), ("\\b", "\u{8}"), ("\\f", "\u{c}"), ("\\n", "\n"),
            ("\\r", "\r"), ("\\t", "\t"),
        ] { #expect(reads(Array("a\(escape)z".utf8)) == "a\(meant)z") }
        for wrong in [
            "\\a", "\\U0041", "\\u004", "\\u00g0", "\\u004", "\\u", "\\", "\\x41", "\\u/000", "\\u:000", "\\u@000",
            "\\u`000",
        ] {
            #expect(reads(Array(wrong.utf8)) == nil, "\(wrong)")
        }
    }

    @Test func everyControlCharacterMustBeEscapedWhereverItStands() {
        for byte in UInt8(0)..<0x80 {
            for place in [0, 1, 7, 8, 9, 20] {
                var bytes = [UInt8](repeating: 0x61, count: 21)
                bytes[place] = byte
                let isPlain = byte >= 0x20 && byte != 0x22 && byte != 0x5c
                #expect((reads(bytes) != nil) == isPlain, "\(byte) at \(place)")
            }
        }
    }
}

extension NumberTests {
    @Test func digitsWithASmallPowerOfTenAreRoundedOnce() throws {
        var random = Seeded(11)
        for power in -25...25 {
            for length in 1...19 {
                let digits =
                    String(random.integer(1...9)) + (1..<length).map { _ in String(random.integer(0...9)) }.joined()
                for text in ["\(digits)e\(power)", "\(digits).\(digits)e\(power)", "0.\(digits)e\(power)"] {
                    #expect(try read(text, followedBy: ",").bitPattern == Double(text)?.bitPattern, "\(text)")
                }
            }
        }
    }

    @Test func wholeNumbersBetweenTwoDoublesGoToTheEvenOneAndOthersToTheNearest() throws {
        var random = Seeded(12)
        for _ in 0..<200 {
            let value = Double(sign: .plus, exponent: random.integer(54...1000), significand: random.number(1...2))
            let middle = sum(String(format: "%.0f", value), String(format: "%.0f", value.ulp / 2))
            let zeros = String(repeating: "0", count: 900)
            let texts = [
                middle, sum(middle, "1"), "\(middle).\(zeros)", "\(middle).\(zeros)1", "\(middle)\(zeros)e-900",
                "\(middle)\(zeros)1e-901",
            ]
            for text in texts {
                #expect(try read(text, followedBy: " ").bitPattern == Double(text)?.bitPattern, "\(text)")
            }
        }
    }

    @Test func aCountHasAtMostFifteenDigitsAndNoZeroInFront() {
        func count(_ text: String) -> Int64? { JSONText.count(Array(text.utf8).span, 0)?.value }
        #expect(count("0") == 0 && count("0,") == 0 && count("7") == 7 && count("10}") == 10)
        #expect(count("999999999999999") == 999_999_999_999_999 && count("12.5") == 12)
        for wrong in ["", ",", "-1", "07", "00", "1000000000000000", "0000000000000001"] {
            #expect(count(wrong) == nil, "\(wrong)")
        }
    }
}

/// A JSON value and one way to write it.
private struct Document {
    var text = ""
    private var random: Seeded
    private let names: [String]

    init(seed: UInt64, names: [String]) {
        (random, self.names) = (Seeded(seed), names)
        space()
        value(depth: 0)
        space()
    }

    private mutating func space() {
        if random.chance(0.2) { text += random.pick([" ", "\t", "\r", "  ", " \n"]) }
    }

    private mutating func list(_ brackets: (String, String), _ count: Int, _ item: (inout Document, Int) -> Void) {
        text += brackets.0
        space()
        for index in 0..<count {
            if index > 0 { text += "," }
            space()
            item(&self, index)
            space()
        }
        text += brackets.1
    }

    private mutating func value(depth: Int) {
        switch random.integer(0...(depth < 4 ? 8 : 5)) {
        case 0: text += "null"
        case 1: text += "true"
        case 2: text += "false"
        case 3: text += "\(random.number(-1000...1000))"
        case 4: text += "\(random.integer(-99...99))"
        case 5: string(random.pick(["", "a", "é🗺", "a long text of more than eight bytes"]))
        case 6: list(("[", "]"), random.integer(0...5)) { document, _ in document.value(depth: depth + 1) }
        default:
            let chosen = names.shuffled(using: &random).prefix(random.integer(0...random.integer(1...40)))
            list(("{", "}"), chosen.count) { document, index in
                document.string(chosen[chosen.startIndex + index])
                document.space()
                document.text += ":"
                document.space()
                document.value(depth: depth + 1)
            }
        }
    }

    private mutating func string(_ plain: String) {
        text += "\""
        for scalar in plain.unicodeScalars {
            let isEscaped = random.chance(0.03)
            text +=
                isEscaped ? String(scalar).utf16.map { String(format: "\\u%04x", Int($0)) }.joined() : String(scalar)
        }
        text += "\""
    }
}

@Suite struct WholeTapeTests {
    /// The maximum number of known names, half of which share the last bit, and some unknown ones.
    private static let known = (0..<127).map { "name\($0)" }
    private static let unknown = ["", "name", "name127", "é", "a name of more than sixteen bytes", "n\u{1F5FA}"]

    private func check(_ tape: borrowing JSONTape, _ node: Int, _ value: JSON, _ line: [UInt8]) throws {
        let found = tape[node]
        switch value {
        case .null: #expect(found.kind == .null)
        case .bool(let bool): #expect(found.kind == (bool ? .true : .false))
        case .number(let number): #expect(found.kind == .number && found.number == number)
        case .string(let string):
            #expect(found.kind == .string && JSONText.text(line.span, found.text) == string)
            #expect(found.isEscaped == line[found.text.range].contains(UInt8(ascii: "\\")))
        case .array(let values):
            // In an array that is not a known member's value, only nested values are kept.
            let kept = node == 0 || found.field != JSONTape.unknownName ? values : values.filter { $0.isNested }
            #expect(found.kind == .array && tape.count(of: node) == kept.count)
            var inner = node + 1
            for value in kept {
                #expect(tape[inner].field == JSONTape.unknownName)
                try check(tape, inner, value, line)
                inner = Int(tape[inner].next)
            }
            #expect(inner == Int(found.next))
        case .object(let members):
            #expect(found.kind == .object && tape.count(of: node) == members.count)
            for (number, name) in Self.known.enumerated() {
                let child = tape.child(of: node, name: UInt8(number))
                #expect((child == nil) == (members[name] == nil), "\(name)")
                guard let child, let member = members[name] else { continue }
                #expect(Int(tape[child].field) == number)
                try check(tape, child, member, line)
            }
        }
        if value.isNested { #expect(try JSON(String(decoding: line[found.text.range], as: UTF8.self)) == value) }
    }

    @Test(arguments: 0..<150) func theTapeHoldsWhatALineSays(seed: UInt64) throws {
        let line = Array(Document(seed: seed, names: Self.known + Self.unknown).text.utf8)
        var tape = JSONTape(names: WordTable(Self.known))
        // Data left by an earlier line must not be visible.
        try tape.read(Array(Document(seed: seed + 1000, names: Self.known).text.utf8).span)
        try tape.read(line.span)
        try check(tape, 0, JSON(String(decoding: line, as: UTF8.self)), line)
    }

    @Test func aLineWithOneByteWrongIsReadByBothReadersOrByNeither() {
        var tape = JSONTape(names: WordTable(Self.known))
        var (random, read) = (Seeded(5), 0)
        for seed in 0..<60 {
            let line = Array(Document(seed: UInt64(seed), names: Self.known + Self.unknown).text.utf8)
            for _ in 0..<12 {
                var wrong = line
                let index = random.integer(0...line.count - 1)
                switch random.integer(0...2) {
                case 0: wrong.removeSubrange(index...)
                case 1: wrong.remove(at: index)
                default: wrong[index] = random.pick(Array("{}[],:\"0-.tfn\\ \n\u{1}".utf8))
                }
                let isRead = (try? tape.read(wrong.span)) != nil
                #expect(isRead == ((try? JSONValue(wrong)) != nil), "\(String(decoding: wrong, as: UTF8.self))")
                read += isRead ? 1 : 0
            }
        }
        #expect(30...690 ~= read)
    }

    @Test func aNameThatSharesItsBitIsFoundTwiceOnlyIfItStandsTwice() throws {
        var tape = JSONTape(names: WordTable(Self.known))
        let all = Self.known.map { "\"\($0)\":1" }
        try tape.read(Array("{\(all.joined(separator: ","))}".utf8).span)
        for name in all {
            let twice = Array("{\(all.joined(separator: ",")),\(name)}".utf8)
            #expect(throws: JSONError.self, "\(name)") { try tape.read(twice.span) }
        }
    }

    @Test func aLineHasAtMostSoManyValuesAndSoDeep() throws {
        var tape = JSONTape(names: WordTable(["known"]))
        func list(_ count: Int) -> [UInt8] {
            Array("[\(repeatElement("0", count: count).joined(separator: ","))]".utf8)
        }
        try tape.read(list(4095).span)
        #expect(tape.count(of: 0) == 4095)
        #expect(throws: JSONError.self) { try tape.read(list(4096).span) }
        func nested(_ depth: Int) -> [UInt8] {
            Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
        }
        try tape.read(nested(32).span)
        #expect(throws: JSONError.self) { try tape.read(nested(33).span) }
    }
}

extension JSON {
    fileprivate var isNested: Bool {
        switch self {
        case .array, .object: true
        default: false
        }
    }
}
