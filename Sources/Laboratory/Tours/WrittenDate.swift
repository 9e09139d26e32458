// Dates with times in the notation of ISO 8601 and XML Schema.

enum WrittenDate {
    /// Parses a text such as `2026-05-01T10:00:00Z`, `2026-05-01T10:00:00.25+02:00` or, without a zone,
    /// `2026-05-01T10:00:00`, as milliseconds since the beginning of 1970.
    ///
    /// - Throws: `TourFileError` if it is no such text.
    static func milliseconds(_ text: String, line: Int?) throws(TourFileError) -> Double {
        guard let milliseconds = milliseconds(text) else {
            throw TourFileError(line: line, "a time must be written as 2026-05-01T10:00:00Z")
        }
        return milliseconds
    }

    private static func milliseconds(_ text: String) -> Double? {
        var rest = text.utf8.filter { $0 > 0x20 }[...]
        func digits(_ count: Int, _ range: ClosedRange<Int>) -> Int? {
            let word = rest.prefix(count)
            guard word.count == count, word.allSatisfy(Self.isDigit) else { return nil }
            rest = rest.dropFirst(count)
            let number = word.reduce(0) { 10 * $0 + Int($1 - 0x30) }
            return range.contains(number) ? number : nil
        }
        func skip(_ characters: String) -> Bool {
            guard let first = rest.first, characters.utf8.contains(first) else { return false }
            rest = rest.dropFirst()
            return true
        }
        guard let year = digits(4, 1...9999), skip("-"), let month = digits(2, 1...12), skip("-"),
            let day = digits(2, 1...31), skip("Tt"), let hour = digits(2, 0...24), skip(":"),
            let minute = digits(2, 0...59), skip(":"), let second = digits(2, 0...60)
        else { return nil }
        var milliseconds = Double(((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second) * 1000
        if skip(".,") {
            let fraction = rest.prefix(while: Self.isDigit)
            guard (1...12).contains(fraction.count) else { return nil }
            rest = rest.dropFirst(fraction.count)
            milliseconds += fraction.reduce((0.0, 100.0)) { ($0.0 + Double($1 - 0x30) * $0.1, $0.1 / 10) }.0
        }
        if rest.isEmpty || skip("Zz") { return rest.isEmpty ? milliseconds : nil }
        let sign = rest.first == UInt8(ascii: "-") ? -1.0 : 1
        guard skip("+-"), let hours = digits(2, 0...14) else { return nil }
        _ = skip(":")
        guard let minutes = digits(2, 0...59), rest.isEmpty else { return nil }
        return milliseconds - sign * Double(hours * 60 + minutes) * 60_000
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    /// Returns the days from 1970-01-01 to a day of the Gregorian calendar, in eras of 400 years that begin in March.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = (year / 400, year % 400)
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
