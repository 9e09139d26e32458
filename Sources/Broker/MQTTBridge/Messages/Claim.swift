// `claim`, with which a process asks to be a node.

import GimbalProtocol

package struct Claim: Equatable, Sendable {
    /// Identifies the process.
    package var instance: String

    package var payload: [UInt8] {
        JSONValue.object(["type": .string("claim"), "instance": .string(instance)]).bytes
    }

    package init(instance: String) { self.instance = instance }

    package init?(_ payload: [UInt8]) {
        guard let instance = members(of: payload, "claim")?["instance"]?.string else { return nil }
        self.init(instance: instance)
    }
}
