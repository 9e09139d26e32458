// Validates lines against Protocols/gimbal.schema.json with python3-jsonschema, the reference for draft 2020-12.

import Foundation

public enum Schema {
    public enum Direction: String {
        case client, server
    }

    /// Returns the lines that the schema rejects, with reasons.
    public static func complaints(_ lines: [String], from direction: Direction) throws -> String {
        let script = Files.root.appendingPathComponent("Tests/TestSupport/check-schema.py").path
        let schema = Files.root.appendingPathComponent("Protocols/gimbal.schema.json").path
        let (status, output, errors) = try DaemonProcess.run(
            URL(fileURLWithPath: "/usr/bin/python3"), [script, schema, direction.rawValue],
            input: Array((lines.joined(separator: "\n") + "\n").utf8))
        return status == 0 ? "" : output + errors
    }
}
