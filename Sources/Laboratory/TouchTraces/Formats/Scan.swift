// Reads the elements of lines from bytes, without allocating. Each function moves an index past what it read; if it
// read nothing, the index is unspecified.

enum Scan {
    @inline(__always)
    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// Skips spaces and tabs.
    @inline(__always)
    static func space(_ line: Span<UInt8>, _ index: inout Int) {
        while index < line.count, isSpace(line[index]) { index += 1 }
    }

    /// Returns whether only spaces and tabs follow.
    @inline(__always)
    static func isAtEnd(_ line: Span<UInt8>, _ index: Int) -> Bool {
        var index = index
        space(line, &index)
        return index == line.count
    }

    /// Returns the end of a line without its carriage returns; on Windows, old versions of adb add one to each.
    @inline(__always)
    static func endWithoutReturns(_ line: Span<UInt8>) -> Int {
        var end = line.count
        while end > 0, line[end - 1] == 0x0d { end -= 1 }
        return end
    }

    /// Skips one byte, if it is the given one.
    @inline(__always)
    static func byte(_ byte: UInt8, _ line: Span<UInt8>, _ index: inout Int) -> Bool {
        guard index < line.count, line[index] == byte else { return false }
        index += 1
        return true
    }

    /// Skips a word, if it is here.
    @inline(__always)
    static func word(_ word: StaticString, _ line: Span<UInt8>, _ index: inout Int) -> Bool {
        let count = word.utf8CodeUnitCount
        guard index + count <= line.count else { return false }
        for offset in 0..<count {
            let expected = unsafe word.utf8Start[offset]
            if line[index + offset] != expected { return false }
        }
        index += count
        return true
    }

    /// Returns whether the line begins with a word, after optional spaces.
    static func begins(_ line: Span<UInt8>, with start: StaticString) -> Bool {
        var index = 0
        space(line, &index)
        return word(start, line, &index)
    }

    /// Skips to just after the next occurrence of a word.
    static func find(_ wanted: StaticString, _ line: Span<UInt8>, _ index: inout Int) -> Bool {
        while index < line.count {
            var after = index
            if word(wanted, line, &after) {
                index = after
                return true
            }
            index += 1
        }
        return false
    }

    // MARK: Numbers

    /// Reads a decimal integer of at most 18 digits. Leading zeros are ignored: 0013 is thirteen.
    @inline(__always)
    static func decimal(_ line: Span<UInt8>, _ index: inout Int) -> Int? {
        let isNegative = byte(UInt8(ascii: "-"), line, &index)
        guard let value = digits(line, &index, atMost: 18) else { return nil }
        return isNegative ? -value : value
    }

    @inline(__always)
    private static func digits(_ line: Span<UInt8>, _ index: inout Int, atMost most: Int) -> Int? {
        let start = index
        var value = 0
        while index < line.count {
            let digit = line[index] &- 0x30
            guard digit <= 9 else { break }
            value = value &* 10 &+ Int(digit)
            index += 1
        }
        return index > start && index - start <= most ? value : nil
    }

    /// Reads a hexadecimal number of at most eight digits.
    @inline(__always)
    static func hex(_ line: Span<UInt8>, _ index: inout Int) -> Int? {
        let start = index
        var value = 0
        while index < line.count {
            let byte = line[index]
            let digit = byte &- 0x30
            if digit <= 9 {
                value = value &<< 4 | Int(digit)
            } else {
                let letter = (byte | 0x20) &- UInt8(ascii: "a")
                guard letter <= 5 else { break }
                value = value &<< 4 | Int(letter + 10)
            }
            index += 1
        }
        return index > start && index - start <= 8 ? value : nil
    }

    /// Reads seconds (at most twelve digits) with a fraction, as microseconds; further digits are cut off.
    @inline(__always)
    static func time(_ line: Span<UInt8>, _ index: inout Int) -> Int? {
        guard let seconds = digits(line, &index, atMost: 12), byte(UInt8(ascii: "."), line, &index) else { return nil }
        var microseconds = 0
        var unit = 100_000
        let start = index
        while index < line.count {
            let digit = line[index] &- 0x30
            guard digit <= 9 else { break }
            microseconds &+= Int(digit) &* unit
            unit /= 10
            index += 1
        }
        return index > start ? seconds * 1_000_000 + microseconds : nil
    }

    /// Reads a decimal number with or without a fraction, after optional spaces.
    static func real(_ line: Span<UInt8>, _ index: inout Int) -> Double? {
        space(line, &index)
        let isNegative = byte(UInt8(ascii: "-"), line, &index)
        guard let whole = digits(line, &index, atMost: 9) else { return nil }
        var value = Double(whole)
        if byte(UInt8(ascii: "."), line, &index) {
            let start = index
            guard let fraction = digits(line, &index, atMost: 9) else { return nil }
            var size = 1.0
            for _ in start..<index { size *= 10 }
            value += Double(fraction) / size
        }
        return isNegative ? -value : value
    }

    // MARK: Text

    /// Returns a name: the text between enclosing double quotes, or without them the rest of the line.
    static func name(_ line: Span<UInt8>, from start: Int) -> String {
        var start = start
        space(line, &start)
        var end = line.count
        while end > start, isSpace(line[end - 1]) { end -= 1 }
        if end - start >= 2, line[start] == UInt8(ascii: "\""), line[end - 1] == UInt8(ascii: "\"") {
            start += 1
            end -= 1
        }
        return text(line, start..<end)
    }

    /// Returns bytes as text.
    static func text(_ line: Span<UInt8>, _ range: Range<Int>) -> String {
        String(decoding: range.map { line[$0] }, as: UTF8.self)
    }

    /// Returns the beginning of a line for display: shortened, and without control characters.
    static func excerpt(_ line: Span<UInt8>) -> String {
        let most = 60
        let shown = text(line, 0..<min(line.count, most)).unicodeScalars.map { scalar in
            scalar.properties.generalCategory == .control ? "·" : String(scalar)
        }
        return shown.joined() + (line.count > most ? "…" : "")
    }
}
