// Gimbal's own file format for a tour: a name and the keyframes of the command `tour`. See Protocols/tours.md.

import GimbalProtocol
import JSONLines

enum JSONTour {
    static let type = "gimbal-tour"

    /// Reads a file as one JSON value.
    ///
    /// - Throws: `TourFileError` that names the line.
    static func value(_ bytes: [UInt8]) throws(TourFileError) -> JSONValue {
        let text = bytes.starts(with: [0xef, 0xbb, 0xbf]) ? bytes[3...] : bytes[...]
        do throws(JSONError) {
            return try JSONValue(text)
        } catch {
            // Converts the column, which counts from the beginning of the text, to a line.
            let parts = error.message.split(separator: ": ", maxSplits: 1)
            guard parts.count == 2, parts[0].hasPrefix("column "), let column = Int(parts[0].dropFirst(7)) else {
                throw TourFileError(error.message)
            }
            let line = text.prefix(column - 1).count { $0 == 0x0a } + 1
            throw TourFileError(line: line, String(parts[1]))
        }
    }

    /// Whether a JSON text is a tour, even if other things are wrong with it.
    static func recognizes(_ bytes: [UInt8]) -> Bool {
        bytes.prefix(1 << 16).split(separator: UInt8(ascii: "\"")).contains { $0.elementsEqual(type.utf8) }
    }

    /// Reads a tour. Unknown members are skipped, as in a request.
    ///
    /// - Throws: `TourFileError` for anything that the command `tour` would be rejected for.
    static func read(_ bytes: [UInt8]) throws(TourFileError) -> NamedTour {
        guard let object = try value(bytes).object, object["type"] == .string(type) else {
            throw TourFileError("type must be \"\(type)\"")
        }
        guard object["version"] == .number(version) else {
            throw TourFileError("version must be \(Int(version)): this program reads no other")
        }
        if let name = object["name"], name.string == nil { throw TourFileError("name must be a string") }
        let request = JSONObject(
            [("type", .string("tour"))] + (object["keyframes"].map { [("keyframes", $0)] } ?? []))
        let line = JSONValue.object(request).bytes
        guard line.count <= RequestDecoder.longestLine else {
            throw TourFileError(
                "the keyframes are longer than the \(RequestDecoder.longestLine) bytes of a request: write fewer decimals"
            )
        }
        do throws(Rejection) {
            if case .tour(let keyframes)? = try RequestDecoder.requests(of: line.span).first?.body {
                return NamedTour(name: object["name"]?.string, keyframes)
            }
        } catch {
            throw TourFileError(error.error.message)
        }
        throw TourFileError("keyframes must be as in the command tour")
    }

    fileprivate static let version = 1.0
}

extension NamedTour {
    /// Returns the tour in Gimbal's own format, with one keyframe per line.
    ///
    /// - Throws: `EncodingError` if a number is not finite.
    package func json() throws -> [UInt8] {
        let request = try JSONValue(ClientRequest.tour(keyframes).line())
        var head: JSONObject = ["type": .string(JSONTour.type), "version": .number(JSONTour.version)]
        if let name { head["name"] = .string(name) }
        let lines = (request["keyframes"]?.array ?? []).map { "  " + String(decoding: $0.bytes, as: UTF8.self) }
        let text = String(decoding: JSONValue.object(head).bytes.dropLast(), as: UTF8.self)
        return Array((text + ",\"keyframes\":[\n" + lines.joined(separator: ",\n") + "\n]}\n").utf8)
    }
}
