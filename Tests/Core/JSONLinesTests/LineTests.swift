// Lines from bytes that are split anywhere, and numbers written as bytes.

import Foundation
import TestSupport
import Testing

@testable import JSONLines

/// Feeds bytes in pieces and returns the framer's output as text.
private func lines(_ bytes: [UInt8], cutAt cuts: [Int]) -> [String] {
    let pieces = zip([0] + cuts, cuts + [bytes.count]).map { bytes[$0..<$1] }
    return FramedLine.lines(pieces, LineFramer(longest: 65_536)).map { line in
        "\(line.number):" + (line.bytes.map { String(decoding: $0, as: UTF8.self) } ?? " too long")
    }
}

@Suite struct FramerTests {
    @Test func linesDoNotDependOnHowBytesAreCut() {
        let long = [UInt8](repeating: UInt8(ascii: "x"), count: 65_537)
        let exact = [UInt8](repeating: UInt8(ascii: "y"), count: 65_536)
        let stream =
            Array("a\r\n\n  \nb\r\rc\n".utf8) + long + Array("\r\nd\n".utf8) + exact + Array("\r\n".utf8) + exact
            + Array("\nlast".utf8)
        let whole = lines(stream, cutAt: [])
        #expect(whole.count == 9)
        #expect(whole[0] == "1:a" && whole[1] == "2:" && whole[3] == "4:b\r\rc" && whole[4] == "5: too long")
        #expect(whole[5] == "6:d" && whole[6].utf8.count == 65_538 && whole[8] == "9:last")
        var random = Seeded(3)
        for _ in 0..<60 {
            let count = random.integer(1...200)
            let cuts = (0..<count).map { _ in random.integer(0...stream.count) }.sorted()
            #expect(lines(stream, cutAt: cuts) == whole)
        }
        let short = Array("a\r\n\r\n{}\n\nend".utf8)
        #expect(lines(short, cutAt: Array(1..<short.count)) == lines(short, cutAt: []))
    }
}

@Suite struct WriterTests {
    private func text(_ body: (inout LineWriter) -> Void) -> String {
        var line = LineWriter(capacity: 4)
        body(&line)
        return line.withBytes { bytes in String(decoding: (0..<bytes.count).map { bytes[$0] }, as: UTF8.self) }
    }

    @Test(arguments: [
        (0.0, 6, "0"), (-0.0, 6, "0"), (-0.0000004, 6, "0"), (0.0000005, 6, "0.000001"), (1, 3, "1"), (-1.5, 3, "-1.5"),
        (100, 3, "100"), (0.1, 9, "0.1"), (123456.789, 3, "123456.789"), (1e15, 3, "1000000000000000"),
        (-179.999999999, 9, "-179.999999999"), (1e300, 6, "9000000000000"), (0.05, 6, "0.05"), (10, 6, "10"),
    ])
    func numbersAreFixedDecimals(value: Double, places: Int, expected: String) {
        #expect(text { $0.write(FixedDecimal(value, places: places)) } == expected)
    }

    @Test func numbersAreThoseOfTheCLibrary() {
        var random = Seeded(4)
        for _ in 0..<20_000 {
            let value = random.number(-1000...1000) * pow(10, Double(random.integer(-6...6)))
            let places = random.integer(0...9)
            guard abs(value) * pow(10, Double(places)) < 1e14 else { continue }
            let printed = text { $0.write(FixedDecimal(value, places: places)) }
            let read = Double(printed) ?? .nan
            #expect(abs(read - value) <= 0.51 * pow(10, Double(-places)), "\(value) became \(printed)")
            #expect(!printed.contains("e") && printed != "-0" && !(printed.contains(".") && printed.hasSuffix("0")))
        }
    }

    @Test func stringsAreEscaped() throws {
        let plain = "a\"b\\c\n\u{7f}\u{1}é🗺"
        let line = text { $0.write(string: plain) }
        #expect(try JSON(line).string == plain)
        #expect(line == #""a\"b\\c\u000a\u007f\u0001é🗺""#)
    }
}

@Suite struct TapeTests {
    private func read(_ text: String) throws(JSONError) {
        var tape = JSONTape(names: WordTable(["known"]))
        try tape.read(Array(text.utf8).span)
    }

    @Test func anObjectHasItsOwnShareOfUnknownNames() throws {
        func object(_ count: Int) -> String {
            "{" + (0..<count).map { "\"name\($0)\":1" }.joined(separator: ",") + "}"
        }
        try read("[\(object(256)),\(object(256)),{\"in\":\(object(256))}]")
        #expect(throws: JSONError.self) { try read(object(257)) }
    }
}

@Suite struct NumberTests {
    func read(_ text: String, followedBy rest: String) throws -> Double {
        let (value, end) = try JSONText.number(Array((text + rest).utf8).span, 0)
        #expect(end == text.utf8.count)
        return value
    }

    @Test(arguments: [
        "0", "-0", "7", "1.5", "12345678.9", "0.1234567890123456789", "12345678901234567890123", "1e22", "1e23",
        "-1e-300",
        "5e-324", "1e-400", "9007199254740993e-30", "1.00000000000000000001", "1.7976931348623157e308",
        "1e308", "0.\(String(repeating: "0", count: 400))1", "1e000000000000000000000000000005",
        "1e-0000000000000000000000005",
        "0e999999999999999999999999", "2.2250738585072011e-308", "2.2250738585072014e-308", "4.9406564584124654e-324",
        "2.4703282292062327e-324", "2.4703282292062328e-324", "1.7976931348623158e308", "179769313486231580793e289",
        "\(String(repeating: "7", count: 900))e-900", "0.\(String(repeating: "0", count: 5000))12e5000",
        "1\(String(repeating: "0", count: 5000))1e-5001", "100000000000000000000000000000001e-33",
    ])
    func numberIsTheSameAtTheEndOfATextAndInItsMiddle(_ text: String) throws {
        let expected = try #require(Double(text))
        for rest in ["", " ", ",1]", "}", String(repeating: " ", count: 9)] {
            #expect(try read(text, followedBy: rest).bitPattern == expected.bitPattern, "before \"\(rest)\"")
        }
    }

    /// Returns the sum, as text, of two decimals with equally many digits after the point.
    func sum(_ one: String, _ other: String) -> String {
        var (digits, carry) = ([UInt8](), UInt8(0))
        let length = max(one.utf8.count, other.utf8.count)
        func padded(_ text: String) -> [UInt8] {
            Array(repeating: 0x30, count: length - text.utf8.count) + Array(text.utf8)
        }
        for (a, b) in zip(padded(one), padded(other)).reversed() {
            guard a != UInt8(ascii: ".") else {
                digits.append(a)
                continue
            }
            let digit = a - 0x30 + b - 0x30 + carry
            digits.append(0x30 + digit % 10)
            carry = digit / 10
        }
        return String(decoding: (carry > 0 ? digits + [0x31] : digits).reversed(), as: UTF8.self)
    }

    @Test func numbersAreRoundedAsTheirExactValuesAre() throws {
        var random = Seeded(31)
        for _ in 0..<400 {
            // The exact midpoint of a double and the next one rounds to the even one.
            let value = Double(bitPattern: UInt64(random.integer(2...0x4330_0000_0000_0000)))
            var middle = sum(String(format: "%.1080f", value), String(format: "%.1080f", value.ulp / 2))
            while middle.last == "0" { middle.removeLast() }
            let digits = "\(random.integer(1...999_999_999))\(random.integer(0...999_999_999))7"
            let texts: [String] = [
                middle, "\(middle)1", "\(middle.dropLast())49", "\(middle)e-3", "-9\(middle)e250", digits,
                "\(digits)e\(random.integer(-345...300))", "\(digits).\(digits)", "\(digits)\(digits)\(digits)e-200",
            ]
            for text in texts {
                let expected = try #require(Double(text))
                let found = try read(text, followedBy: ",")
                #expect(found.bitPattern == expected.bitPattern, "\(text)")
            }
        }
    }

    @Test func decimalsAreReadToTheLastBit() throws {
        var random = Seeded(2)
        func digits(_ count: ClosedRange<Int>) -> String {
            (0..<random.integer(count)).map { _ in "\(random.integer(0...9))" }.joined()
        }
        func check(_ text: String) throws {
            let (value, end) = try JSONText.number(Array("\(text)}".utf8).span, 0)
            #expect(value.bitPattern == Double(text)?.bitPattern && end == text.utf8.count, "\(text)")
        }
        for _ in 0..<30_000 {
            let whole = "\(random.integer(1...999_999_999) >> random.integer(0...29))"
            let fraction = digits(0...20)
            try check((random.chance(0.5) ? "-" : "") + whole + (fraction.isEmpty ? "" : ".\(fraction)"))
        }
        for _ in 0..<3_000 {
            let value = Double(bitPattern: random.next())
            guard value.isFinite else { continue }
            for text in ["\(value)"] + ["%.17g", "%.3e", "%.6f"].map({ String(format: $0, value) }) { try check(text) }
        }
        for _ in 0..<20_000 {
            // One in a thousand is so close to the midpoint of two doubles that only the division's remainder decides.
            let whole = digits(0...4)
            try check("\(random.integer(1...9))\(whole).\(digits(16 - whole.count...18 - whole.count))")
            // Exactly at or barely above the midpoint of two doubles.
            let below = random.integer(1 << 52...(1 << 53 - 1))
            try check("\(below).5\(["", "0", "01", "001", "0001"][random.integer(0...4)])")
        }
    }

    @Test func numberBeyondADoubleIsInfiniteWhereverItStands() throws {
        for text in ["1e309", "1e999", "1e99999999999999999999999", "1\(String(repeating: "0", count: 309))"] {
            for rest in ["", " ", ",1]", "}"] {
                #expect(try read(text, followedBy: rest) == .infinity)
                #expect(try read("-" + text, followedBy: rest) == -.infinity)
            }
        }
    }

    @Test func valueThatIsBeyondADoubleIsRefusedWhereverItStands() throws {
        for text in ["1e999", " -1e999", "[1e999]", "[1e999,1]", #"{"a":1e999}"#] {
            #expect(throws: JSONError.self, "\(text)") { try JSONValue(text.utf8) }
        }
        #expect(try JSONValue("1.00000000000000000001".utf8) == .number(1))
    }
}

@Suite struct ValueTests {
    @Test func valuesAreNestedSixtyFourDeepAndNoDeeper() throws {
        func nested(_ depth: Int, _ inner: String) -> [UInt8] {
            Array((String(repeating: "[", count: depth) + inner + String(repeating: "]", count: depth)).utf8)
        }
        #expect(try JSONValue(nested(64, "1")[...]) != .null)
        #expect(throws: JSONError.self) { try JSONValue(nested(65, "1")[...]) }
    }

    @Test func aWriterThatIsClearedForgetsWhatItCouldNotWrite() {
        var line = LineWriter()
        line.write(exact: .infinity)
        let before = line.hasUnwritableNumber
        line.clear()
        let after = line.hasUnwritableNumber
        #expect(before && !after)
    }
}
