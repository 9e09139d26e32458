// Numbers and bytes in a row, for what one process hands to the next: eight bytes a number, the lowest first, and bytes
// with their count in front. Nothing in the row says what it is: both ends agree on the order, and on a version of it.

package struct ByteWriter {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package mutating func put(_ number: UInt64) {
        for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(shift))) }
    }

    /// A number that is not negative.
    package mutating func put(_ number: Int) { put(UInt64(number)) }

    package mutating func put(_ number: Double) { put(number.bitPattern) }

    package mutating func put(_ flag: Bool) { put(flag ? 1 : 0 as UInt64) }

    package mutating func put(_ number: Double?) {
        put(number != nil)
        if let number { put(number) }
    }

    package mutating func put(_ more: some Collection<UInt8>) {
        put(more.count)
        bytes.append(contentsOf: more)
    }
}

package struct ByteReader {
    /// The row is shorter than what is asked of it, or holds what cannot stand there.
    package struct Damage: Error {
        package init() {}
    }

    private let row: [UInt8]
    private var position = 0

    package init(_ bytes: [UInt8]) { row = bytes }

    package var isAtEnd: Bool { position == row.count }

    package mutating func number() throws(Damage) -> UInt64 {
        guard row.count - position >= 8 else { throw Damage() }
        var number: UInt64 = 0
        for index in 0..<8 { number |= UInt64(row[position + index]) << UInt64(8 * index) }
        position += 8
        return number
    }

    package mutating func integer() throws(Damage) -> Int {
        guard let integer = Int(exactly: try number()) else { throw Damage() }
        return integer
    }

    package mutating func double() throws(Damage) -> Double { Double(bitPattern: try number()) }

    package mutating func flag() throws(Damage) -> Bool { try number() != 0 }

    package mutating func optionalDouble() throws(Damage) -> Double? { try flag() ? try double() : nil }

    package mutating func bytes() throws(Damage) -> [UInt8] {
        let count = try integer()
        guard count <= row.count - position else { throw Damage() }
        defer { position += count }
        return Array(row[position..<(position + count)])
    }
}
