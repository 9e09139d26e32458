// Decodes the part of Open Sound Control 1.0 that TUIO needs: a datagram to messages. Invariant: anything malformed is
// an error, and nothing is read past the end of the datagram.

/// An Open Sound Control message.
struct OSCMessage: Equatable {
    enum Argument: Equatable {
        case integer(Int)
        case number(Double)
        case text(String)
        /// Units of 2^-32 s since 1900; 1 means "immediately".
        case time(UInt64)
        /// A value that TUIO does not use.
        case other
    }

    let address: String
    let arguments: [Argument]

    /// The maximum nesting depth of bundles.
    private static let deepest = 8

    /// Returns the messages of a datagram, with those of its bundles in order.
    ///
    /// - Throws: ``TUIOError`` if the datagram is neither a message nor a bundle.
    static func all(_ datagram: ArraySlice<UInt8>, depth: Int = 0) throws(TUIOError) -> [OSCMessage] {
        var reader = OSCReader(rest: datagram)
        guard datagram.first == UInt8(ascii: "#") else { return [try reader.message()] }
        guard try reader.text() == "#bundle", depth < deepest else { throw TUIOError(message: "an invalid OSC bundle") }
        _ = try reader.take(8)
        var messages: [OSCMessage] = []
        while !reader.rest.isEmpty {
            let size = try reader.integer(4)
            guard size > 0, size % 4 == 0 else { throw TUIOError(message: "an OSC bundle with an invalid length") }
            messages += try all(try reader.take(size), depth: depth + 1)
        }
        return messages
    }
}

/// The error for a malformed datagram.
package struct TUIOError: Error, Equatable {
    /// What is wrong with it, as part of a sentence.
    package let message: String
}

private struct OSCReader {
    var rest: ArraySlice<UInt8>

    mutating func message() throws(TUIOError) -> OSCMessage {
        let address = try text()
        guard address.hasPrefix("/") else { throw TUIOError(message: "something other than an OSC message") }
        let tags = try text()
        guard tags.hasPrefix(",") else { throw TUIOError(message: "an OSC message without type tags") }
        var arguments: [OSCMessage.Argument] = []
        for tag in tags.utf8.dropFirst() { arguments.append(try argument(tag)) }
        guard rest.isEmpty else { throw TUIOError(message: "an OSC message with data after its arguments") }
        return OSCMessage(address: address, arguments: arguments)
    }

    private mutating func argument(_ tag: UInt8) throws(TUIOError) -> OSCMessage.Argument {
        switch tag {
        case UInt8(ascii: "i"): return .integer(try integer(4))
        case UInt8(ascii: "h"): return .integer(try integer(8))
        case UInt8(ascii: "f"): return .number(Double(Float(bitPattern: UInt32(truncatingIfNeeded: try integer(4)))))
        case UInt8(ascii: "d"): return .number(Double(bitPattern: UInt64(bitPattern: Int64(try integer(8)))))
        case UInt8(ascii: "s"), UInt8(ascii: "S"): return .text(try text())
        case UInt8(ascii: "t"): return .time(UInt64(bitPattern: Int64(try integer(8))))
        case UInt8(ascii: "T"), UInt8(ascii: "F"), UInt8(ascii: "N"), UInt8(ascii: "I"): return .other
        case UInt8(ascii: "["), UInt8(ascii: "]"): return .other
        case UInt8(ascii: "b"):
            let size = try integer(4)
            guard size >= 0, size <= rest.count else { throw TUIOError(message: "an OSC message that is cut off") }
            _ = try take((size + 3) / 4 * 4)
            return .other
        case UInt8(ascii: "c"), UInt8(ascii: "r"), UInt8(ascii: "m"):
            _ = try take(4)
            return .other
        default: throw TUIOError(message: "an OSC message with an unknown type tag")
        }
    }

    /// Reads text up to its NUL, and the padding to a multiple of four bytes.
    mutating func text() throws(TUIOError) -> String {
        guard let end = rest.firstIndex(of: 0) else { throw TUIOError(message: "an OSC string without an end") }
        let text = String(decoding: rest[..<end], as: UTF8.self)
        _ = try take((end - rest.startIndex) / 4 * 4 + 4)
        return text
    }

    /// Reads a signed big-endian integer.
    mutating func integer(_ size: Int) throws(TUIOError) -> Int {
        let bits = try take(size).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return size == 4 ? Int(Int32(truncatingIfNeeded: bits)) : Int(truncatingIfNeeded: bits)
    }

    mutating func take(_ count: Int) throws(TUIOError) -> ArraySlice<UInt8> {
        guard count <= rest.count else { throw TUIOError(message: "an OSC message that is cut off") }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }
}
