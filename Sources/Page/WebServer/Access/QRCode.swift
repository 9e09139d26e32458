// A link as a QR code (ISO/IEC 18004), for a phone's camera: bytes, versions 1 to 10, error correction M. No library of the
// package index that is kept up does this without a graphics framework.
// Invariant: `modules` is a whole code, without its quiet zone, which the drawing code adds.

package struct QRCode: Sendable {
    /// Modules of a side.
    package private(set) var size: Int
    /// Rows from the top; `true` is dark.
    package private(set) var modules: [[Bool]]
    private var isFixed: [[Bool]]

    /// What a version can hold: blocks of two lengths, one longer by 1 than the other, and bytes of correction for each.
    private struct Version {
        let correction: Int
        let blocks: [(count: Int, data: Int)]
        let alignments: [Int]

        var dataBytes: Int { blocks.reduce(0) { $0 + $1.count * $1.data } }
    }

    /// Versions 1 to 10 with error correction M. (ISO/IEC 18004, tables 9 and E.1)
    private static let versions = [
        Version(correction: 10, blocks: [(1, 16)], alignments: []),
        Version(correction: 16, blocks: [(1, 28)], alignments: [6, 18]),
        Version(correction: 26, blocks: [(1, 44)], alignments: [6, 22]),
        Version(correction: 18, blocks: [(2, 32)], alignments: [6, 26]),
        Version(correction: 24, blocks: [(2, 43)], alignments: [6, 30]),
        Version(correction: 16, blocks: [(4, 27)], alignments: [6, 34]),
        Version(correction: 18, blocks: [(4, 31)], alignments: [6, 22, 38]),
        Version(correction: 22, blocks: [(2, 38), (2, 39)], alignments: [6, 24, 42]),
        Version(correction: 22, blocks: [(3, 36), (2, 37)], alignments: [6, 26, 46]),
        Version(correction: 26, blocks: [(4, 43), (1, 44)], alignments: [6, 28, 50]),
    ]

    /// The code of a text; `nil` if it is longer than version 10 holds: 213 bytes.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        let number = Self.versions.indices.first { index in
            bytes.count + (index < 9 ? 2 : 3) <= Self.versions[index].dataBytes
        }
        guard let number else { return nil }
        let version = Self.versions[number]
        size = 21 + 4 * number
        modules = Array(repeating: Array(repeating: false, count: size), count: size)
        isFixed = modules
        drawFixed(version, number: number + 1)
        draw(Self.codewords(bytes, version, countBits: number < 9 ? 8 : 16))
        // Of the eight masks the one that is easiest to read.
        let masked = (0..<8).map { mask in
            var code = self
            code.apply(mask)
            return (penalty: code.penalty, code: code)
        }
        if let best = masked.min(by: { $0.penalty < $1.penalty }) { self = best.code }
    }

    /// Rows of `0` and `1`.
    package var rows: [String] { modules.map { row in String(row.map { $0 ? "1" : "0" }) } }

    /// The code for a terminal, two rows of modules in a line of characters: dark on light, whatever the terminal's colours.
    package var terminalText: String {
        let quiet = 2
        func isDark(_ x: Int, _ y: Int) -> Bool {
            (0..<size).contains(x) && (0..<size).contains(y) && modules[y][x]
        }
        return stride(from: -quiet, to: size + quiet, by: 2).map { y in
            let line = (-quiet..<size + quiet).map { x -> Character in
                switch (isDark(x, y), isDark(x, y + 1)) {
                case (false, false): "█"
                case (false, true): "▀"
                case (true, false): "▄"
                case (true, true): " "
                }
            }
            return "\u{1b}[97;40m" + String(line) + "\u{1b}[0m\n"
        }.joined()
    }

    // MARK: Bytes

    /// The text with its correction, in the order in which the code has it.
    private static func codewords(_ bytes: [UInt8], _ version: Version, countBits: Int) -> [UInt8] {
        var bits: [Bool] = []
        func add(_ value: Int, _ count: Int) {
            for bit in (0..<count).reversed() { bits.append(value >> bit & 1 == 1) }
        }
        add(0b0100, 4)
        add(bytes.count, countBits)
        for byte in bytes { add(Int(byte), 8) }
        let room = version.dataBytes * 8
        add(0, min(4, room - bits.count))
        add(0, (8 - bits.count % 8) % 8)
        var data = stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start..<start + 8].reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) }
        }
        for pad in 0..<version.dataBytes - data.count { data.append(pad % 2 == 0 ? 0xec : 0x11) }

        var blocks: [[UInt8]] = []
        for (count, length) in version.blocks {
            for _ in 0..<count {
                blocks.append(Array(data.prefix(length)))
                data.removeFirst(length)
            }
        }
        let divisor = GaloisField.divisor(degree: version.correction)
        let corrections = blocks.map { GaloisField.remainder($0, divisor) }
        let longest = blocks.map(\.count).max() ?? 0
        return (0..<longest).flatMap { index in blocks.compactMap { $0.indices.contains(index) ? $0[index] : nil } }
            + (0..<version.correction).flatMap { index in corrections.map { $0[index] } }
    }

    // MARK: Modules

    private mutating func fix(_ x: Int, _ y: Int, _ isDark: Bool) {
        guard (0..<size).contains(x), (0..<size).contains(y) else { return }
        modules[y][x] = isDark
        isFixed[y][x] = true
    }

    private mutating func drawFixed(_ version: Version, number: Int) {
        for index in 0..<size {
            fix(6, index, index % 2 == 0)
            fix(index, 6, index % 2 == 0)
        }
        for (x, y) in [(3, 3), (size - 4, 3), (3, size - 4)] { drawFinder(x, y) }
        let last = version.alignments.count - 1
        for (i, x) in version.alignments.enumerated() {
            for (j, y) in version.alignments.enumerated() {
                let isFinder = (i == 0 && j == 0) || (i == 0 && j == last) || (i == last && j == 0)
                if !isFinder { drawAlignment(x, y) }
            }
        }
        drawFormat(mask: 0)
        if number >= 7 { drawVersion(number) }
    }

    private mutating func drawFinder(_ centerX: Int, _ centerY: Int) {
        for y in -4...4 {
            for x in -4...4 {
                let ring = max(abs(x), abs(y))
                fix(centerX + x, centerY + y, ring != 2 && ring != 4)
            }
        }
    }

    private mutating func drawAlignment(_ centerX: Int, _ centerY: Int) {
        for y in -2...2 {
            for x in -2...2 { fix(centerX + x, centerY + y, max(abs(x), abs(y)) != 1) }
        }
    }

    /// The level of correction, M, and the mask: 5 bits and 10 of correction, twice.
    private mutating func drawFormat(mask: Int) {
        var remainder = mask
        for _ in 0..<10 { remainder = remainder << 1 ^ (remainder >> 9) * 0x537 }
        let bits = (mask << 10 | remainder) ^ 0x5412
        func bit(_ index: Int) -> Bool { bits >> index & 1 == 1 }
        for index in 0...5 { fix(8, index, bit(index)) }
        fix(8, 7, bit(6))
        fix(8, 8, bit(7))
        fix(7, 8, bit(8))
        for index in 9..<15 { fix(14 - index, 8, bit(index)) }
        for index in 0..<8 { fix(size - 1 - index, 8, bit(index)) }
        for index in 8..<15 { fix(8, size - 15 + index, bit(index)) }
        fix(8, size - 8, true)
    }

    private mutating func drawVersion(_ number: Int) {
        var remainder = number
        for _ in 0..<12 { remainder = remainder << 1 ^ (remainder >> 11) * 0x1f25 }
        let bits = number << 12 | remainder
        for index in 0..<18 {
            let isDark = bits >> index & 1 == 1
            let (a, b) = (size - 11 + index % 3, index / 3)
            fix(a, b, isDark)
            fix(b, a, isDark)
        }
    }

    /// The bytes, from the bottom right, up and down in columns of two.
    private mutating func draw(_ codewords: [UInt8]) {
        var index = 0
        var right = size - 1
        while right >= 1 {
            if right == 6 { right = 5 }
            for step in 0..<size {
                let isUpward = (right + 1) & 2 == 0
                let y = isUpward ? size - 1 - step : step
                for x in [right, right - 1] where !isFixed[y][x] && index < codewords.count * 8 {
                    modules[y][x] = codewords[index / 8] >> (7 - index % 8) & 1 == 1
                    index += 1
                }
            }
            right -= 2
        }
    }

    private mutating func apply(_ mask: Int) {
        for y in 0..<size {
            for x in 0..<size where !isFixed[y][x] {
                let isInverted =
                    switch mask {
                    case 0: (x + y) % 2 == 0
                    case 1: y % 2 == 0
                    case 2: x % 3 == 0
                    case 3: (x + y) % 3 == 0
                    case 4: (x / 3 + y / 2) % 2 == 0
                    case 5: x * y % 2 + x * y % 3 == 0
                    case 6: (x * y % 2 + x * y % 3) % 2 == 0
                    default: ((x + y) % 2 + x * y % 3) % 2 == 0
                    }
                if isInverted { modules[y][x].toggle() }
            }
        }
        drawFormat(mask: mask)
    }

    /// How hard the code is to read: the four rules of ISO/IEC 18004, 7.8.3.
    private var penalty: Int {
        let lines = modules + (0..<size).map { x in modules.map { $0[x] } }
        var points = 0
        for line in lines {
            var run = 0
            for index in 0..<size {
                run = index > 0 && line[index] == line[index - 1] ? run + 1 : 1
                points += run == 5 ? 3 : run > 5 ? 1 : 0
            }
            for start in 0..<max(size - 10, 0) {
                let piece = Array(line[start..<start + 11])
                if piece == Self.finderLike || piece == Self.finderLike.reversed() { points += 40 }
            }
        }
        for y in 0..<size - 1 {
            for x in 0..<size - 1 {
                let dark = [modules[y][x], modules[y][x + 1], modules[y + 1][x], modules[y + 1][x + 1]]
                if dark.allSatisfy({ $0 == dark[0] }) { points += 3 }
            }
        }
        let dark = modules.reduce(0) { $0 + $1.count { $0 } }
        return points + abs(dark * 20 - size * size * 10) / (size * size) * 10
    }

    private static let finderLike = [true, false, true, true, true, false, true, false, false, false, false]
}

/// Arithmetic modulo x⁸+x⁴+x³+x²+1, which Reed and Solomon's correction is made of.
private enum GaloisField {
    static func product(_ a: UInt8, _ b: UInt8) -> UInt8 {
        var result = 0
        for bit in (0..<8).reversed() {
            result = result << 1 ^ (result >> 7) * 0x11d
            if b >> bit & 1 == 1 { result ^= Int(a) }
        }
        return UInt8(result)
    }

    /// The coefficients of (x − 1)(x − 2)…(x − 2^(degree − 1)), except the first.
    static func divisor(degree: Int) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: degree - 1) + [1]
        var root: UInt8 = 1
        for _ in 0..<degree {
            for index in 0..<degree {
                result[index] = product(result[index], root)
                if index + 1 < degree { result[index] ^= result[index + 1] }
            }
            root = product(root, 2)
        }
        return result
    }

    static func remainder(_ data: [UInt8], _ divisor: [UInt8]) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: divisor.count)
        for byte in data {
            let factor = byte ^ result.removeFirst()
            result.append(0)
            for index in divisor.indices { result[index] ^= product(divisor[index], factor) }
        }
        return result
    }
}
