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

/// Stamps a node's messages.
final class StampSource {
    private let node: String
    private let claim: NodeClaim
    private var lastNumber = 0

    init(_ node: String, _ claim: NodeClaim) { (self.node, self.claim) = (node, claim) }

    /// Returns the stamp of the next message.
    func next() -> Stamp {
        lastNumber += 1
        return Stamp(node: node, instance: claim.instance, generation: claim.generation, number: lastNumber)
    }
}

extension LineWriter {
    /// Writes the stamp, the last members of a payload.
    mutating func stamp(_ stamp: Stamp) {
        write(",\"node\":")
        write(string: stamp.node)
        write(",\"instance\":")
        write(string: stamp.instance)
        write(",\"generation\":")
        write(UInt64(stamp.generation))
        write(",\"number\":")
        write(UInt64(stamp.number))
    }
}

extension Stamp {
    init?(_ members: JSONObject) {
        guard let instance = members["instance"]?.string, let generation = members["generation"]?.generation,
            let number = members["number"]?.integer
        else { return nil }
        self.init(
            node: members["node"]?.string ?? "", instance: instance, generation: generation, number: number)
    }
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

    /// This value as a node's generation, below 2^32: no node has had that many, so there is always room for one more.
    var generation: Int? { integer.flatMap { $0 < 1 << 32 ? $0 : nil } }
}
