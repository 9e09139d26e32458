// Gimbal's own form of a tour in a file: the keyframes of the command `tour`, behind a name. Protocols/tours.md has it.

import GimbalProtocol
import JSONLines

enum JSONTour {
    static let type = "gimbal-tour"

    /// Reads a file as one value of JSON.
    ///
    /// - Throws: `TourFileError` that names the line.
    static func value(_ bytes: [UInt8]) throws(TourFileError) -> JSONValue {
        let text = bytes.starts(with: [0xef, 0xbb, 0xbf]) ? bytes[3...] : bytes[...]
        do throws(JSONError) {
            return try JSONValue(text)
        } catch {
            // A column of the whole text becomes its line.
            let parts = error.message.split(separator: ": ", maxSplits: 1)
            guard parts.count == 2, parts[0].hasPrefix("column "), let column = Int(parts[0].dropFirst(7)) else {
                throw TourFileError(error.message)
            }
            let line = text.prefix(column - 1).count { $0 == 0x0a } + 1
            throw TourFileError(line: line, String(parts[1]))
        }
    }

    /// Whether a text of JSON is a tour, whatever else is wrong with it.
    static func recognizes(_ bytes: [UInt8]) -> Bool {
        bytes.prefix(1 << 16).split(separator: UInt8(ascii: "\"")).contains { $0.elementsEqual(type.utf8) }
    }

    static func read(_ bytes: [UInt8]) throws(TourFileError) -> NamedTour { throw TourFileError("TODO") }
}
