// Decodes a line into its requests, or the one error that answers it. Nothing here applies a line or keeps state that
// would change the meaning of a later line. It does not allocate in the steady state.

import Gestures
import MapCamera

/// Why a line was rejected, and what could be read of it.
package struct Rejection: Error {
    package let error: GimbalError
    /// The index of the invalid object in an array; `nil` if the line as a whole is invalid.
    package let index: Int?
    /// The ids of the line's objects, as far as they could be read.
    package let ids: [ByteRange?]
    /// Whether the line was meant to begin a trace. The lines after it must not be treated as live input.
    package let isHeader: Bool

    package init(error: GimbalError, index: Int? = nil, ids: [ByteRange?] = [], isHeader: Bool) {
        self.error = index.flatMap { ids.count > 1 ? error.of(object: $0, in: "the array") : nil } ?? error
        self.index = index
        self.ids = ids
        self.isHeader = isHeader
    }
}

/// Decodes lines.
@safe package struct RequestDecoder: ~Copyable {
    /// The default length limit of a line in bytes, without its LF and the CR before it.
    package static let longestLine = 65536
    /// The default limit of objects in an array.
    package static let largestBatch = 64
    package static let longestID = 256
    /// The maximum length of a gesture's or surface's label, and of an epoch, in bytes.
    static let longestLabel = 64
    /// The maximum length of a marker's label, in bytes.
    package static let longestMarker = 256
    /// The maximum length of the text by which a client describes itself, in bytes.
    package static let longestAbout = 8192
    /// The maximum number of fingers on one surface.
    package static let mostFingers = 256
    /// The supported version of the protocol.
    static let version = 1

    var tape = JSONTape(names: Field.ofRequests)
    /// The last camera name: repeating a long name costs no new string.
    var lastName = ""
    // Sound: it is set at the start of each call that reads a line, and used only within that call.
    var bytes = unsafe UnsafeBufferPointer<UInt8>(start: nil, count: 0)
    /// The object being read, and its path in the request.
    var (object, path) = (0, FieldPath())

    private let longestLine: Int
    private let largestBatch: Int

    package init(longestLine: Int = Self.longestLine, largestBatch: Int = Self.largestBatch) {
        (self.longestLine, self.largestBatch) = (longestLine, largestBatch)
    }

    /// Decodes a single line without its LF. For many lines, one decoder saves allocations.
    package static func requests(of line: Span<UInt8>) throws(Rejection) -> [Request] {
        var decoder = RequestDecoder()
        return try decoder.decode(line)
    }

    /// Decodes a line without its LF.
    ///
    /// - Returns: the line's request, or the requests of its array.
    package mutating func decode(_ line: Span<UInt8>) throws(Rejection) -> [Request] {
        var requests: [Request] = []
        try decode(line, into: &requests)
        return requests
    }

    /// Decodes a line without its LF, reusing the array of an earlier line to save an allocation.
    ///
    /// - Parameter requests: receives the line's request, or those of its array; meaningless after an error.
    package mutating func decode(_ line: Span<UInt8>, into requests: inout [Request]) throws(Rejection) {
        var gesture = GestureLine()
        if gesture.read(line), take(gesture, line, into: &requests) { return }
        try decodeAny(line, into: &requests)
    }

    /// Converts a line read by ``GestureLine``; `false` if it needs the general decoder.
    package mutating func take(
        _ report: borrowing GestureLine, _ line: Span<UInt8>, into requests: inout [Request]
    ) -> Bool {
        let id = report.id.count > 0 ? report.id : nil
        var request = Request(id: id, timeMs: report.gesture.event.time, body: .gesture(report.gesture))
        if report.camera.count > 0 {
            begin(line)
            request.camera = cameraName(report.camera, isEscaped: false)
            if request.camera == nil { return false }
        }
        while !requests.isEmpty { requests.removeLast() }
        requests.append(request)
        return true
    }

    /// Sets the line that is being read.
    @inline(__always)
    private mutating func begin(_ line: Span<UInt8>) { unsafe bytes = line.withUnsafeBufferPointer { unsafe $0 } }

    /// Decodes any line, without its LF. All errors are detected here.
    package mutating func decodeAny(_ line: Span<UInt8>, into requests: inout [Request]) throws(Rejection) {
        while !requests.isEmpty { requests.removeLast() }
        begin(line)
        do {
            try tape.read(line)
        } catch {
            throw Rejection(error: GimbalError(error), isHeader: looksLikeHeader(line))
        }
        switch tape[0].kind {
        case .object:
            do {
                requests.append(try request(0, isBatch: false))
            } catch {
                throw rejection(error, of: nil)
            }
        case .array: try batch(into: &requests)
        default: throw rejection(Self.notALine, of: nil)
        }
    }

    /// Returns the rejection of an overlong line, of which only the beginning is needed.
    package func rejectTooLong(_ beginning: Span<UInt8>) -> Rejection {
        let error = GimbalError(.lineTooLong, "a line may have at most \(longestLine) bytes")
        return Rejection(error: error, isHeader: looksLikeHeader(beginning))
    }

    private static let notALine = GimbalError(.invalidValue, "a line must be an object or an array of objects")

    private mutating func batch(into requests: inout [Request]) throws(Rejection) {
        let count = tape.count(of: 0)
        if count == 0 { throw rejection(GimbalError(.invalidValue, "an array must have at least one object"), of: nil) }
        if count > largestBatch {
            let error = GimbalError(.limitReached, "an array may have at most \(largestBatch) objects")
            throw rejection(error, of: nil)
        }
        var object = 1
        for index in 0..<count {
            do {
                requests.append(try request(object, isBatch: true))
            } catch {
                throw rejection(error, of: index)
            }
            object = Int(tape[object].next)
        }
    }

    private func rejection(_ error: GimbalError, of index: Int?) -> Rejection {
        var ids: [ByteRange?] = []
        var isHeader = false
        let isBatch = tape[0].kind == .array
        var object = isBatch ? 1 : 0
        let end = isBatch ? Int(tape[0].next) : tape[0].kind == .object ? 1 : 0
        while object < end {
            // The id is for the answer, whatever else is wrong.
            ids.append(child(object, .id).flatMap { try? id($0) })
            isHeader = isHeader || self.isHeader(object)
            object = Int(tape[object].next)
        }
        return Rejection(error: error, index: index, ids: ids, isHeader: isHeader)
    }

    private static let types = WordTable(ClientRequest.blanks.map(\.type))

    private func isHeader(_ object: Int) -> Bool {
        guard let node = child(object, .type), let type = word(node, of: Self.types),
            case .trace = ClientRequest.blanks[type]
        else { return false }
        return true
    }

    /// Whether an invalid or truncated line was meant to be a header: wherever it is broken, it has `"type":"trace"`.
    private func looksLikeHeader(_ line: Span<UInt8>) -> Bool {
        let wanted = Array("\"type\":\"trace\"".utf8)
        var matched = 0
        for index in 0..<line.count {
            let byte = line[index]
            if byte == wanted[matched] {
                matched += 1
                if matched == wanted.count { return true }
            } else if !(byte == 0x20 || byte == 0x09) || !(6...7).contains(matched) {
                // There may be space around the colon. A mismatching quote may begin a new match.
                matched = byte == wanted[0] ? 1 : 0
            }
        }
        return false
    }

    // MARK: One request

    private mutating func request(_ object: Int, isBatch: Bool) throws(GimbalError) -> Request {
        guard tape[object].kind == .object else { throw Self.notALine }
        (self.object, path) = (object, FieldPath())
        guard let typeNode = child(object, .type) else {
            throw .missing(FieldPath(.type), "every object needs one, such as \"pan\"")
        }
        guard tape[typeNode].kind == .string else { throw .wrong(FieldPath(.type), "must be a string") }
        guard let type = word(typeNode, of: Self.types) else {
            let given = text(typeNode).prefix(40)
            throw GimbalError(.unknownType, field: "type", "unknown type \"\(given)\"")
        }
        let id = try child(object, .id).map { node throws(GimbalError) in try self.id(node) }
        var request = Request(id: id, body: ClientRequest.blanks[type])
        switch request.body {
        case .subscribe where namesAllCameras:
            // Its work grows with the number of cameras, and an array is applied in one go.
            if isBatch {
                throw .wrong(
                    FieldPath(.camera), "must not be \"*\" in an array: subscribe to all cameras on a line of its own")
            }
            request.body = .subscribeAll()
        case .unsubscribe where namesAllCameras: request.body = .unsubscribeAll
        default:
            request.camera = try cameraName()
            if isBatch && request.body.standsAlone {
                let type = request.body.type
                throw .wrong(
                    FieldPath(.type), "must not be \"\(type)\" in an array: send it on a line of its own")
            }
            try member(.timeMs, &request.timeMs, .time)
            try member(.create, &request.creates, .flag, default: true)
        }
        try request.body.describe(&self, at: request.timeMs)
        return request
    }
}
