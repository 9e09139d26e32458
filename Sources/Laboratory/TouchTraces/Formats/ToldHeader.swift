// Finds a trace's header in a recording exported from it, in a place that other tools ignore: a comment in evemu's
// format, or the member `trace` in JSON. So such a recording reads as the same trace, without options.

import GimbalProtocol
import JSONLines
import MapCamera

/// The header of a trace, found in a recording.
package struct ToldHeader: Equatable, Sendable {
    /// The prefix of a comment that contains it.
    package static let comment: StaticString = "# Gimbal: "

    /// All its members, as in the first line of the trace.
    package let members: JSONObject
    /// The screen, in points.
    package let viewport: Viewport

    /// Reads a header; `nil` if it is missing or invalid.
    package init?(_ json: JSONValue?) {
        guard let members = json?.object, let bytes = json?.bytes, bytes.count <= RequestDecoder.longestLine else {
            return nil
        }
        guard let requests = try? RequestDecoder.requests(of: bytes.span), requests.count == 1,
            case .trace(let header) = requests[0].body
        else { return nil }
        (self.members, viewport) = (members, header.viewport)
    }

    /// Reads a comment; `nil` if it contains no header.
    init?(comment line: Span<UInt8>) {
        guard Scan.begins(line, with: Self.comment) else { return nil }
        self.init(try? JSONValue(reading: line.extracting(Self.comment.utf8CodeUnitCount...)))
    }

    /// Returns this header with some members of another one.
    func taking(_ names: [String], from other: [UInt8]) -> JSONValue {
        var members = members
        let others = (try? JSONValue(other))?.object
        for name in names { members[name] = others?[name] }
        return .object(members)
    }
}
