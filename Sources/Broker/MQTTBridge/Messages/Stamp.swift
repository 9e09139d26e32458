// The end of every retained payload of a camera: who published it, and its number. It shows which of two payloads is
// newer, without a clock.

import GimbalProtocol

/// Which of several messages about a thing is the newest, from any sender.
package struct Stamp: Equatable, Sendable {
    package var node: String
    /// The process that was the node.
    package var instance: String
    package var generation: Int
    /// Counts what one instance has told.
    package var number: Int
}

/// Stamps what a node tells.
final class StampSource {
    private let node: String
    private let claim: NodeClaim
    private var lastNumber = 0

    init(_ node: String, _ claim: NodeClaim) { (self.node, self.claim) = (node, claim) }

    /// The stamp of the next message.
    func next() -> Stamp {
        lastNumber += 1
        return Stamp(node: node, instance: claim.instance, generation: claim.generation, number: lastNumber)
    }
}

extension LineWriter {
    /// Writes the last members of a payload.
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

/// The members of a payload that is a message of a type.
///
/// - Parameter longest: the most bytes of such a message: no more are looked at.
func members(
    of payload: [UInt8], _ type: String, longest: Int = RequestDecoder.longestLine
) -> JSONObject? {
    guard payload.count <= longest, let members = (try? JSONValue(payload))?.object, members["type"] == .string(type)
    else { return nil }
    return members
}

extension JSONValue {
    /// A number that counts: an integer from 0 to 2^53−1.
    var integer: Int? {
        guard let number, 0...9_007_199_254_740_991 ~= number, number == number.rounded() else { return nil }
        return Int(number)
    }

    /// A generation of a node. More processes than that have never been one: there is always room for the next.
    var generation: Int? { integer.flatMap { $0 < 1 << 32 ? $0 : nil } }
}
