// `node`, the payload of `$state`: who a node is, and whether it is there.

import GimbalProtocol
import Service

/// The `$state` of a node.
package struct NodeState: Equatable, Sendable {
    package enum Word: String, Sendable {
        /// Bridge and daemon are there.
        case ready
        /// The bridge has ended, or has no daemon.
        case disconnected
        /// The bridge died or was cut off. The broker publishes this as its will.
        case lost
    }

    package var word: Word
    package var node: String
    /// Identifies the process.
    package var instance: String
    /// Counts the processes that have been this node, as far as the broker knows.
    package var generation: Int
    package var version = ""
    package var cameras: [String] = []
    /// How often the state is published again while the node is there, in milliseconds.
    package var interval: Double?
    /// The clock of its machine; `nil` if unknown, or if the node has ended.
    package var clock: ClockQuality?
    package var reason: String?

    /// Whether its process is no longer the node.
    var isOver: Bool { word == .lost || word == .disconnected && interval == nil }

    /// The most bytes of a state: it names all cameras of the node, at most 65,536, of 64 letters each.
    static let longest = 5 << 20

    /// The default interval of a node.
    package static let usualInterval = 30_000.0
    /// The least interval that a mirror goes by.
    static let leastInterval = 10_000.0
    /// A node that is silent for this many intervals counts as lost.
    static let mostSilentIntervals = 2.5

    package init(
        _ word: Word, node: String, instance: String, generation: Int, version: String, cameras: [String] = [],
        interval: Double? = nil, clock: ClockQuality? = nil, reason: String? = nil
    ) {
        (self.word, self.node, self.instance, self.generation) = (word, node, instance, generation)
        (self.version, self.cameras, self.interval) = (version, cameras, interval)
        (self.clock, self.reason) = (clock, reason)
    }
}

extension NodeState {
    package var payload: [UInt8] {
        var object: JSONObject = [
            "type": .string("node"), "state": .string(word.rawValue), "node": .string(node),
            "instance": .string(instance), "generation": .number(Double(generation)), "version": .string(version),
        ]
        if word != .lost { object["cameras"] = .array(cameras.map { .string($0) }) }
        if let interval { object["intervalMs"] = .number(interval) }
        if let clock { object["clock"] = clock.json }
        if let reason { object["reason"] = .string(reason) }
        return JSONValue.object(object).bytes
    }

    package init?(_ payload: [UInt8]) {
        guard let members = members(of: payload, "node", longest: Self.longest),
            let word = (members["state"]?.string).flatMap(Word.init(rawValue:)),
            let instance = members["instance"]?.string, let generation = members["generation"]?.generation
        else { return nil }
        self.init(
            word, node: members["node"]?.string ?? "", instance: instance, generation: generation,
            version: members["version"]?.string ?? "",
            cameras: (members["cameras"]?.array ?? []).compactMap(\.string), interval: members["intervalMs"]?.number,
            clock: (members["clock"]?.object).flatMap(ClockQuality.init), reason: members["reason"]?.string)
    }
}
