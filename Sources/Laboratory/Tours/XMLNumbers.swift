// Numbers in XML elements and attributes.

extension XMLReader {
    /// Parses a text as a number.
    ///
    /// - Parameters:
    ///   - name: how the error refers to it.
    ///   - line: the line of its element.
    /// - Throws: `TourFileError` if the text is not a number, or is out of range.
    static func number(
        _ text: String, _ name: String, in range: ClosedRange<Double>, line: Int
    ) throws(TourFileError) -> Double {
        // Excludes what `Double` accepts besides decimals: nan, inf, and hexadecimal numbers.
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

    /// Reads the element that was just opened as a number.
    func readNumber(of element: Element, in range: ClosedRange<Double>) throws(TourFileError) -> Double {
        try Self.number(try readText(of: element), "<\(element.name)>", in: range, line: element.line)
    }
}
