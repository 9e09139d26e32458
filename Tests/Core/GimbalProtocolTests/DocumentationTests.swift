// The protocol's prose agrees with the decoder and the schema.

import Foundation
import TestSupport
import Testing

@testable import GimbalProtocol

@Suite struct DocumentationTests {
    /// Returns the lines of all fenced blocks of a kind.
    private func examples(_ kind: String) throws -> [String] {
        try Files.fenced("json \(kind)", in: "Protocols/README.md")
    }

    @Test func theSchemaTakesEveryExample() throws {
        for (kind, direction) in [("client", Schema.Direction.client), ("trace", .client), ("server", .server)] {
            #expect(try Schema.complaints(try examples(kind), from: direction) == "")
        }
    }

    @Test func everyMessageIsInTheProseAndInTheSchema() throws {
        let prose = try Files.text("Protocols/README.md")
        let schema = try JSON(Files.text("Protocols/gimbal.schema.json"))
        for type in ClientRequest.blanks.map(\.type) {
            #expect(
                prose.contains("\"type\":\"\(type)\"") || prose.contains("`\(type)`"), "\(type) is not in the prose")
            #expect(schema["$defs"]?["client.\(type)"] != nil, "\(type) is not in the schema")
        }
        let codes = schema["$defs"]?["server.error"]?["properties"]?["code"]?["enum"]?.array ?? []
        #expect(Set(codes.compactMap(\.string)) == Set(ErrorCode.known.map(\.rawValue)))
    }
}
