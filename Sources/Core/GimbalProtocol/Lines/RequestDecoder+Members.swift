// Members of an object on the tape, by field and kind of value. `nil` is a member that is left out; what is there but wrong
// is an error that says what would be right.

import JSONLines
import MapCamera

extension RequestDecoder {
    /// The node of an object's member.
    @inline(__always)
    func child(_ object: Int, _ field: Field) -> Int? { tape.child(of: object, name: field.rawValue) }

    func object(_ object: Int, _ path: FieldPath, _ field: Field) throws(WireError) -> Int? {
        guard let node = child(object, field) else { return nil }
        guard tape[node].kind == .object else { throw .wrong(path, "must be an object") }
        return node
    }

    func requiredObject(_ object: Int, _ path: FieldPath, _ field: Field) throws(WireError) -> Int {
        guard let node = try self.object(object, path, field) else { throw .missing(path, "an object belongs there") }
        return node
    }

    func number(
        _ object: Int, _ path: FieldPath, _ field: Field,
        in range: ClosedRange<Double> = -Double.greatestFiniteMagnitude...Double.greatestFiniteMagnitude
    ) throws(WireError) -> Double? {
        guard let node = child(object, field) else { return nil }
        guard tape[node].kind == .number, range.contains(tape[node].number) else {
            throw .wrong(path, Self.wanted(range))
        }
        return tape[node].number
    }

    static func wanted(_ range: ClosedRange<Double>) -> String {
        if range.upperBound == .greatestFiniteMagnitude { return "must be a finite number" }
        return "must be a number from \(plain(range.lowerBound)) to \(plain(range.upperBound))"
    }

    package static func plain(_ number: Double) -> String { Int64(exactly: number).map { "\($0)" } ?? "\(number)" }

    func requiredNumber(
        _ object: Int, _ path: FieldPath, _ field: Field,
        in range: ClosedRange<Double> = -Double.greatestFiniteMagnitude...Double.greatestFiniteMagnitude
    ) throws(WireError) -> Double {
        guard let number = try number(object, path, field, in: range) else {
            throw .missing(path, "a number belongs there")
        }
        return number
    }

    func flag(_ object: Int, _ parent: FieldPath?, _ field: Field) throws(WireError) -> Bool? {
        guard let node = child(object, field) else { return nil }
        switch tape[node].kind {
        case .true: return true
        case .false: return false
        default: throw .wrong(parent.map { $0 / field } ?? FieldPath(field), "must be true or false")
        }
    }

    /// What a string's word stands for.
    @inline(__always)
    func word<Value>(_ node: Int, _ words: Words<Value>, _ line: Span<UInt8>) -> Value? {
        number(of: node, in: words.table, line).map { words[$0] }
    }

    private func number(of node: Int, in table: WordTable, _ line: Span<UInt8>) -> Int? {
        let slice = tape[node].text
        guard tape[node].isEscaped else {
            return table.quoted(in: line, at: Int(slice.start) - 1)?.index
                ?? table.index(of: line, Int(slice.start), Int(slice.end))
        }
        let plain = JSONText.unescape(line, slice)
        return table.index(of: plain.span, 0, plain.count)
    }

    func word<Value>(
        _ object: Int, _ field: Field, _ words: Words<Value>, _ line: Span<UInt8>
    ) throws(WireError) -> Value? {
        guard let node = child(object, field) else { return nil }
        guard tape[node].kind == .string, let value = word(node, words, line) else {
            throw .wrong(FieldPath(field), "must be \(words.alternatives)")
        }
        return value
    }

    func requiredWord<Value>(
        _ object: Int, _ field: Field, _ words: Words<Value>, _ line: Span<UInt8>
    ) throws(WireError) -> Value {
        guard let value = try word(object, field, words, line) else {
            throw .missing(FieldPath(field), "it is \(words.alternatives)")
        }
        return value
    }

    func text(_ node: Int, _ line: Span<UInt8>) -> String {
        text(tape[node].text, isEscaped: tape[node].isEscaped, line)
    }

    private func text(_ slice: ByteRange, isEscaped: Bool, _ line: Span<UInt8>) -> String {
        if isEscaped { return JSONText.text(line, slice) }
        return unsafe line.extracting(slice.range).withUnsafeBufferPointer {
            unsafe String(decoding: $0, as: UTF8.self)
        }
    }

    /// An integer written as one, no larger than a double holds exactly.
    func integer(_ node: Int, _ line: Span<UInt8>) -> Int64? {
        let slice = tape[node].text
        guard tape[node].kind == .number, slice.count <= 17 else { return nil }
        for index in slice.range {
            let byte = line[index]
            guard byte == UInt8(ascii: "-") || (0x30...0x39).contains(byte) else { return nil }
        }
        let value = tape[node].number
        return abs(value) < 0x1p53 ? Int64(value) : nil
    }

    func id(_ node: Int, _ line: Span<UInt8>) throws(WireError) -> ByteRange {
        let slice = tape[node].text
        if tape[node].kind == .string, slice.count <= Self.longestID {
            return ByteRange(Int(slice.start) - 1, Int(slice.end) + 1)
        }
        if integer(node, line) != nil { return slice }
        throw .wrong(FieldPath(.id), "must be an integer, or a string of at most \(Self.longestID) bytes")
    }

    mutating func cameraName(_ object: Int, _ line: Span<UInt8>) throws(WireError) -> String? {
        guard let node = child(object, .camera) else { return nil }
        guard tape[node].kind == .string,
            let name = cameraName(tape[node].text, isEscaped: tape[node].isEscaped, line)
        else {
            throw .wrong(
                FieldPath(.camera), "must be 1 to \(Request.longestCameraName) characters of A-Z a-z 0-9 . _ -")
        }
        return name
    }

    /// The camera's name that stands in a string; `nil` if it is none.
    mutating func cameraName(_ slice: ByteRange, isEscaped: Bool, _ line: Span<UInt8>) -> String? {
        if !isLastName(slice, line) {
            let name = text(slice, isEscaped: isEscaped, line)
            guard Request.isCameraName(name.utf8) else { return nil }
            lastName = name
        }
        return lastName
    }

    /// Whether `camera` is `"*"`.
    func namesAllCameras(_ object: Int, _ line: Span<UInt8>) -> Bool {
        // With escapes it has six bytes.
        guard let node = child(object, .camera), tape[node].kind == .string, tape[node].text.count <= 6 else {
            return false
        }
        return text(node, line) == Request.allCameras
    }

    func isLastName(_ slice: ByteRange, _ line: Span<UInt8>) -> Bool {
        guard slice.count == lastName.utf8.count, slice.count > 0 else { return false }
        return zip(slice.range, lastName.utf8).allSatisfy { line[$0] == $1 }
    }
}

/// Where a field stands in its request, for error messages.
struct FieldPath: CustomStringConvertible, Sendable {
    private var fields: (Field?, Field?, Field?, Field?)

    init(_ field: Field) { fields = (field, nil, nil, nil) }

    static func / (path: FieldPath, field: Field) -> FieldPath {
        var path = path
        if path.fields.1 == nil {
            path.fields.1 = field
        } else if path.fields.2 == nil {
            path.fields.2 = field
        } else {
            path.fields.3 = field
        }
        return path
    }

    var description: String {
        [fields.0, fields.1, fields.2, fields.3].compactMap { $0?.name }.joined(separator: ".")
    }
}
