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
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        process.arguments = [script, schema, direction.rawValue]
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let writer = Thread {
            input.fileHandleForWriting.write(Data((lines.joined(separator: "\n") + "\n").utf8))
            try? input.fileHandleForWriting.close()
        }
        writer.start()
        let answer = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return process.terminationStatus == 0 ? "" : answer
    }
}
