// A recording that was exported from a trace tells that trace's header, in a place that other tools ignore: a comment of
// evemu, or the member `trace` of JSON. So it is read without options as what it was.

import GimbalProtocol
import JSONLines
import MapCamera

/// The header of a trace, as a recording tells it.
package struct ToldHeader: Equatable, Sendable {
    /// What stands in front of it in a comment.
    package static let comment: StaticString = "# Gimbal: "

    /// All of it, as in the first line of the trace.
    package let members: JSONObject
    /// The screen, in points.
    package let viewport: Viewport

    /// A header; `nil` if it is none, or not right.
    package init?(_ json: JSONValue?) {
        guard let members = json?.object, let bytes = json?.bytes, bytes.count <= RequestDecoder.longestLine else {
            return nil
        }
        var decoder = RequestDecoder()
        guard let requests = try? decoder.decode(bytes.span), requests.count == 1,
            case .trace(let header) = requests[0].body
        else { return nil }
        (self.members, viewport) = (members, header.viewport)
    }

    /// Reads a comment; `nil` if it tells none.
    init?(comment line: Span<UInt8>) {
        guard Scan.begins(line, with: Self.comment) else { return nil }
        self.init(try? JSONValue(reading: line.extracting(Self.comment.utf8CodeUnitCount...)))
    }

    /// The same header with members of another one.
    func taking(_ names: [String], from other: [UInt8]) -> JSONValue {
        var members = members
        let others = (try? JSONValue(other))?.object
        for name in names { members[name] = others?[name] }
        return .object(members)
    }
}
