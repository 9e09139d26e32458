// Times as people write them in options and statements.

/// A duration or a time of a trace: a number of milliseconds, a number with its unit, or clock notation such as `1:05`.
package enum WrittenTime {
    /// How times are written.
    package static let note = "800 or 800ms, 1.5s, 2m, 1h, 1:05 or 1:02:03.5; a number alone is milliseconds."

    private static let units: [(name: String, milliseconds: Double)] = [
        ("ms", 1), ("min", 60_000), ("s", 1000), ("m", 60_000), ("h", 3_600_000),
    ]

    /// Parses a time such as `800`, `800ms`, `1.5s`, `2m`, `1h`, `1:05` or `1:02:03.5` as milliseconds, else `nil`.
    package static func milliseconds(_ text: String) -> Double? {
        if text.contains(":") { return clock(text) }
        let unit = units.first { text.hasSuffix($0.name) }
        guard let number = Double(text.dropLast(unit?.name.count ?? 0)) else { return nil }
        let milliseconds = number * (unit?.milliseconds ?? 1)
        return milliseconds.isFinite ? milliseconds : nil
    }

    /// Reads a time with colons. Only its first part may be 60 or more, and only its last one may have decimals.
    private static func clock(_ text: String) -> Double? {
        let isNegative = text.hasPrefix("-")
        let digits = isNegative || text.hasPrefix("+") ? text.dropFirst() : text[...]
        let parts = digits.split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count) else { return nil }
        var seconds = 0.0
        for (index, part) in parts.enumerated() {
            let isLast = index == parts.count - 1
            guard part.first?.isNumber == true, part.last?.isNumber == true, part.count <= 12,
                let number = Double(part),
                part.utf8.allSatisfy((isLast ? "0123456789." : "0123456789").utf8.contains),
                index == 0 || number < 60
            else { return nil }
            seconds = seconds * 60 + number
        }
        return (isNegative ? -seconds : seconds) * 1000
    }
}
