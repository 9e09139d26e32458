// The end of every retained payload of a camera: who published it, and its number. It shows which of two payloads is
// newer, without a clock.

import GimbalProtocol

/// Shows which of several messages about the same camera is the newest, from any sender.
package struct Stamp: Equatable, Sendable {
    package var node: String
    /// The process that was the node.
    package var instance: String
    package var generation: Int
    /// Counts the messages of one instance.
    package var number: Int
}

extension Stamp: Described {
    package static let blank = Stamp(node: "", instance: "", generation: 0, number: 0)

    /// The greatest generation: no node has had that many, so only a forged message contains it.
    static let lastGeneration = (1 << 32) - 1

    package var isPossible: Bool { 0...Self.lastGeneration ~= generation && number.isCount }

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try visitor.member(.node, &node, .text(), default: "")
        try visitor.member(.instance, &instance, .text())
        try visitor.member(.generation, &generation, .count)
        try visitor.member(.number, &number, .count)
    }
}

/// A message that the broker retains of a camera.
package protocol RetainedMessage: Described {
    static var payloadType: String { get }
}

extension CameraLease: RetainedMessage { package static let payloadType = "camera-lease" }

extension RetainedMessage {
    /// Returns the payload with this message, rounded like the daemon's, and a stamp.
    package func payload(_ stamp: Stamp) -> [UInt8] {
        var line = LineWriter(capacity: 512)
        line.isRounded = true
        line.write("{\"type\":")
        line.write(string: Self.payloadType)
        line.members(of: self)
        line.members(of: stamp)
        line.write("}")
        return line.bytes
    }

    /// Reads a payload; `nil` if it is another message, or has values that it cannot have.
    package static func read(_ payload: [UInt8]) -> (message: Self, stamp: Stamp)? {
        guard let members = members(of: payload, payloadType), let message = try? Self(.object(members)),
            let stamp = try? Stamp(.object(members))
        else { return nil }
        return (message, stamp)
    }
}

extension Int {
    /// Whether it is from 0 to 2^53−1.
    var isCount: Bool { 0..<1 << 53 ~= self }
}

/// Returns the members of a payload that is a message of a type; `nil` if it is not.
///
/// - Parameter longest: the most bytes of such a message; a longer one is not parsed.
func members(
    of payload: [UInt8], _ type: String, longest: Int = RequestDecoder.longestLine
) -> JSONObject? {
    guard payload.count <= longest, let members = (try? JSONValue(payload))?.object, members["type"] == .string(type)
    else { return nil }
    return members
}

extension JSONValue {
    /// This value as a count: an integer from 0 to 2^53−1.
    var integer: Int? {
        guard let number, 0...9_007_199_254_740_991 ~= number, number == number.rounded() else { return nil }
        return Int(number)
    }

    /// This value as a node's generation.
    var generation: Int? { integer.flatMap { $0 <= Stamp.lastGeneration ? $0 : nil } }
}
