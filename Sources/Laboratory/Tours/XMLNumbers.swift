// Numbers in XML elements and attributes.

extension XMLReader {
    /// The number that a text is.
    ///
    /// - Parameters:
    ///   - name: what the error calls it.
    ///   - line: the line of its element.
    /// - Throws: `TourFileError` if it is none, or outside of the range.
    static func number(
        _ text: String, _ name: String, in range: ClosedRange<Double>, line: Int
    ) throws(TourFileError) -> Double {
        // What `Double` reads beside decimals (nan, inf, hexadecimal numbers) is none here.
        let word = text.utf8.drop { $0 <= 0x20 }
        let digits = word[..<(word.lastIndex { $0 > 0x20 }.map { word.index(after: $0) } ?? word.startIndex)]
        if digits.count <= 64, digits.allSatisfy("0123456789.+-eE".utf8.contains),
            let number = Double(Substring(digits)), range.contains(number)
        {
            return number
        }
        func written(_ number: Double) -> String {
            number.magnitude < 1e15 && number == number.rounded() ? "\(Int(number))" : "\(number)"
        }
        throw TourFileError(
            line: line, "\(name) must be a number from \(written(range.lowerBound)) to \(written(range.upperBound))")
    }

    /// Reads the element that has just been opened as a number.
    mutating func readNumber(of element: Element, in range: ClosedRange<Double>) throws(TourFileError) -> Double {
        try Self.number(try readText(of: element), "<\(element.name)>", in: range, line: element.line)
    }
}
