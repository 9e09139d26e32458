// MCAP (https://mcap.dev/spec), the container of recordings that Foxglove and others read: schemas, channels and timed
// messages in uncompressed chunks, followed by a summary for seeking. Invariant: the bytes depend only on the calls:
// ids count from 1 in the order of the calls, and no dictionary determines an order.

/// Writes an MCAP file, piece by piece.
package struct MCAPWriter {
    private enum Opcode: UInt8 {
        case header = 1, footer, schema, channel, message, chunk, messageIndex, chunkIndex
        case statistics = 0x0b
        case summaryOffset = 0x0e, dataEnd
    }

    /// A channel, and its messages.
    private struct Channel {
        let record: [UInt8]
        var messages: UInt64 = 0
        /// The time and the offset of each message in the current chunk.
        var index: [UInt8] = []
    }

    private static let magic: [UInt8] = [0x89, 0x4d, 0x43, 0x41, 0x50, 0x30, 0x0d, 0x0a]
    /// A chunk ends with the message that makes it this long, in bytes.
    private static let chunkSize = 1 << 20

    private var schemas: [[UInt8]] = []
    private var channels: [Channel] = []
    private var chunkIndexes: [[UInt8]] = []
    /// The records of the current chunk, and the times of its messages.
    private var chunk: [UInt8] = []
    private var chunkTimes: ClosedRange<UInt64>?
    private var times: ClosedRange<UInt64>?
    /// The bytes that have been written but not yet taken.
    private var output: [UInt8] = []
    /// The number of bytes written, and the checksum of the current section.
    private var offset = 0
    private var checksum = CRC32()

    /// Creates a file without messages.
    ///
    /// - Parameter library: the writer that the file names.
    package init(library: String) {
        write(Self.magic)
        write(Self.record(.header, .text(""), .text(library)))
    }

    /// Adds a JSON Schema.
    ///
    /// - Returns: its id, for channels.
    package mutating func addSchema(_ name: String, _ schema: [UInt8]) -> UInt16 {
        let id = UInt16(schemas.count + 1)
        schemas.append(Self.record(.schema, .number(id), .text(name), .text("jsonschema"), .list(schema)))
        chunk += schemas[schemas.count - 1]
        return id
    }

    /// Adds a channel of messages in JSON.
    ///
    /// - Returns: its id, for messages.
    package mutating func addChannel(_ topic: String, schema: UInt16) -> UInt16 {
        let id = UInt16(channels.count + 1)
        let record = Self.record(.channel, .number(id), .number(schema), .text(topic), .text("json"), .list([]))
        channels.append(Channel(record: record))
        chunk += record
        return id
    }

    /// Adds a message.
    ///
    /// - Parameters:
    ///   - channel: an id that ``addChannel(_:schema:)`` returned.
    ///   - timeNs: nanoseconds of the recording's clock; not before the previous message.
    package mutating func add(_ message: [UInt8], to channel: UInt16, at timeNs: UInt64) {
        let index = Int(channel) - 1
        channels[index].index += .number(timeNs) + .number(UInt64(chunk.count))
        channels[index].messages += 1
        let sequence = UInt32(truncatingIfNeeded: channels[index].messages)
        chunk += Self.record(
            .message, .number(channel), .number(sequence), .number(timeNs), .number(timeNs), message)
        chunkTimes = (chunkTimes?.lowerBound ?? timeNs)...timeNs
        times = (times?.lowerBound ?? timeNs)...timeNs
        if chunk.count >= Self.chunkSize { endChunk() }
    }

    /// Ends the file. Nothing can be added afterwards.
    package mutating func finish() {
        endChunk()
        write(Self.record(.dataEnd, .number(checksum.value)))
        checksum = CRC32()
        let start = offset
        let groups: [(Opcode, [[UInt8]])] = [
            (.schema, schemas), (.channel, channels.map(\.record)), (.statistics, [statistics]),
            (.chunkIndex, chunkIndexes),
        ]
        var offsets: [UInt8] = []
        for (opcode, records) in groups where !records.isEmpty {
            let groupStart = offset
            records.forEach { write($0) }
            offsets += Self.record(
                .summaryOffset, [opcode.rawValue], .number(UInt64(groupStart)), .number(UInt64(offset - groupStart)))
        }
        let offsetsStart = offset
        write(offsets)
        // The last four bytes are the checksum of everything from the beginning of the summary up to them.
        let footer = Self.record(
            .footer, .number(UInt64(start)), .number(UInt64(offsetsStart)), .number(UInt32(0)))
        write(footer.dropLast(4))
        write([UInt8].number(checksum.value))
        write(Self.magic)
    }

    /// Returns the bytes written since the last call.
    package mutating func take() -> [UInt8] {
        defer { output = [] }
        return output
    }

    // MARK: Parts

    private mutating func endChunk() {
        guard !chunk.isEmpty else { return }
        let (start, size) = (offset, UInt64(chunk.count))
        let (first, last) = (chunkTimes?.lowerBound ?? 0, chunkTimes?.upperBound ?? 0)
        var sum = CRC32()
        sum.add(chunk)
        write(
            Self.record(
                .chunk, .number(first), .number(last), .number(size), .number(sum.value), .text(""), .number(size),
                chunk))
        let end = offset
        var indexes: [UInt8] = []
        for id in channels.indices where !channels[id].index.isEmpty {
            indexes += .number(UInt16(id + 1)) + .number(UInt64(offset))
            write(Self.record(.messageIndex, .number(UInt16(id + 1)), .list(channels[id].index)))
            channels[id].index = []
        }
        chunkIndexes.append(
            Self.record(
                .chunkIndex, .number(first), .number(last), .number(UInt64(start)), .number(UInt64(end - start)),
                .list(indexes), .number(UInt64(offset - end)), .text(""), .number(size), .number(size)))
        (chunk, chunkTimes) = ([], nil)
    }

    private var statistics: [UInt8] {
        let counts = channels.enumerated().flatMap { [UInt8].number(UInt16($0 + 1)) + [UInt8].number($1.messages) }
        return Self.record(
            .statistics, .number(channels.reduce(UInt64(0)) { $0 + $1.messages }), .number(UInt16(schemas.count)),
            .number(UInt32(channels.count)), .number(UInt32(0)), .number(UInt32(0)),
            .number(UInt32(chunkIndexes.count)), .number(times?.lowerBound ?? 0), .number(times?.upperBound ?? 0),
            .list(counts))
    }

    private mutating func write(_ bytes: some Collection<UInt8>) {
        checksum.add(bytes)
        output += bytes
        offset += bytes.count
    }

    // MARK: Bytes

    private static func record(_ opcode: Opcode, _ fields: [UInt8]...) -> [UInt8] {
        let content: [UInt8] = fields.reduce(into: []) { $0 += $1 }
        return [opcode.rawValue] + .number(UInt64(content.count)) + content
    }
}

/// The fields of a record.
extension [UInt8] {
    /// Returns a number in all of its bytes, the lowest first.
    fileprivate static func number(_ number: some FixedWidthInteger) -> [UInt8] {
        stride(from: 0, to: number.bitWidth, by: 8).map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    /// Returns bytes, preceded by their number.
    fileprivate static func list(_ bytes: [UInt8]) -> [UInt8] { number(UInt32(bytes.count)) + bytes }

    fileprivate static func text(_ text: String) -> [UInt8] { list(Array(text.utf8)) }
}

/// The CRC-32 of IEEE 802.3, which zlib also uses.
struct CRC32 {
    private var state: UInt32 = .max

    /// The checksum of the bytes added so far.
    var value: UInt32 { ~state }

    /// The remainder of each single byte.
    private static let table: [UInt32] = (0..<256).map { (byte: UInt32) -> UInt32 in
        var sum = byte
        for _ in 0..<8 { sum = sum & 1 == 0 ? sum >> 1 : (sum >> 1) ^ 0xedb8_8320 }
        return sum
    }

    mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { state = Self.table[Int(UInt8(truncatingIfNeeded: state) ^ byte)] ^ (state >> 8) }
    }
}
