// The walk through JSON agrees with Foundation, as far as it looks.

import Foundation
import TestSupport
import Testing

@testable import TouchTraces

/// Whether the walk takes a text as a whole.
private func isJSON(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    var cursor = JSONCursor()
    return cursor.value(bytes.span) && cursor.isAtEnd(bytes.span)
}

private func number(_ text: String) -> Double? {
    let bytes = Array(text.utf8)
    var cursor = JSONCursor()
    let value = cursor.number(bytes.span)
    return cursor.isAtEnd(bytes.span) ? value : nil
}

@Suite struct JSONCursorTests {
    @Test(arguments: [
        "", " ", "{", "}", "[", "]", "{\"a\":1,}", "{\"a\" 1}", "{a:1}", "{'a':1}", "[1 2]", "[1,]", "[,1]", "01", "1.",
        ".5",
        "+1", "1e", "1e+-1", "1e+", "-", "NaN", "Infinity", "0x1", "tru", "nul", "\"", "\"\\", "\"\\\"", "\"\u{1}\"",
        "{}{}",
        "1 x", "{\"a\":}", "[[]", "{\"a\":{}", String(repeating: "[", count: 100_000),
    ])
    func isRejected(_ text: String) { #expect(!isJSON(text), "\(text.prefix(20))") }

    @Test(arguments: [
        "{}", "[]", " [ ] ", "{ \"a\" : [ 1 , -2.5e3 , true , false , null , \"\\\"\\\\\\u00e9é\" ] , \"b\" : { } }\t",
        "0", "-0",
        "1E5", String(repeating: "[", count: 31) + String(repeating: "]", count: 31),
    ])
    func isTaken(_ text: String) { #expect(isJSON(text)) }

    @Test func numbersAreFoundations() {
        var random = Seeded(5)
        for _ in 0..<20_000 {
            let value = random.number(-1000...1000) * pow(10, Double(random.integer(-300...300)))
            for text in [
                "\(value)", String(format: "%.\(random.integer(0...20))f", value),
                "\(Int(random.number(-1e15...1e15)))",
            ] {
                let expected = Double(text) ?? .nan
                let read = number(text) ?? .nan
                // Digits beyond the eighteenth are cut off.
                #expect(abs(read - expected) <= abs(expected) * 1e-15 + 1e-300, "\(text) became \(read)")
            }
        }
        #expect(number("1e999") == .infinity && number("1e-999") == 0 && number("0e999999999999999999") == 0)
        #expect(number("123456789012345678901234567890") == 123456789012345678e12)
        #expect(number("0.000000000000000000000000000123") == 1.23e-28)
    }

    @Test func mutatedLinesAreTakenWhereFoundationTakesThem() {
        let line =
            #"{"type":"touchmove","timeStamp":1.5e3,"touches":[{"identifier":0,"clientX":-1,"clientY":20.25}],"x":[true,null]}"#
        for seed in 0..<4000 as Range<UInt64> {
            var random = Seeded(seed)
            var bytes = Array(line.utf8)
            for _ in 0..<random.integer(1...3) {
                let index = random.integer(0...(bytes.count - 1))
                switch random.integer(0...2) {
                case 0: bytes[index] = Array(" ,:{}[]\"0e-.a".utf8)[random.integer(0...12)]
                case 1: bytes.remove(at: index)
                default: bytes.insert(Array(" ,:{}[]\"0e-.a".utf8)[random.integer(0...12)], at: index)
                }
            }
            let text = String(decoding: bytes, as: UTF8.self)
            let isFoundations =
                (try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)) != nil
            // Foundation forgives a comma behind the last member.
            let dense = text.replacing(" ", with: "")
            if isFoundations, dense.contains(",}") || dense.contains(",]") { continue }
            #expect(isJSON(text) == isFoundations, "seed \(seed): \(text)")
        }
    }
}
