// What `$state` and `$claim` say, and who may publish as a node: one process at a time. Two that have the same name tell it
// from each other by their instances, whichever of them the broker's memory, or a network that comes back, shows first.
// Invariant: nothing but a claim is published before this process is the node's owner.

import GimbalProtocol

/// The `$state` of a node.
package struct NodeState: Equatable, Sendable {
    package enum Word: String, Sendable {
        /// Bridge and daemon are there.
        case ready
        /// The bridge has ended, or has no daemon.
        case disconnected
        /// The bridge was cut off, or died: its will, which the broker publishes.
        case lost
    }

    package var word: Word
    package var node: String
    /// Which process it is.
    package var instance: String
    /// Counts the processes that have been this node, as far as the broker knows.
    package var generation: Int
    package var version = ""
    package var cameras: [String] = []
    package var reason: String?

    package var payload: [UInt8] {
        var object: JSONObject = [
            "type": .string("node"), "state": .string(word.rawValue), "node": .string(node),
            "instance": .string(instance), "generation": .number(Double(generation)), "version": .string(version),
        ]
        if word != .lost { object["cameras"] = .array(cameras.map { .string($0) }) }
        if let reason { object["reason"] = .string(reason) }
        return JSONValue.object(object).bytes
    }

    package init?(_ payload: [UInt8]) {
        guard let json = try? JSONValue(payload), let word = (json["state"]?.string).flatMap(Word.init(rawValue:)),
            let instance = json["instance"]?.string, let generation = json["generation"]?.integer
        else { return nil }
        (self.word, self.instance, self.generation) = (word, instance, generation)
        node = json["node"]?.string ?? ""
        version = json["version"]?.string ?? ""
        cameras = (json["cameras"]?.array ?? []).compactMap(\.string)
        reason = json["reason"]?.string
    }

    package init(
        _ word: Word, node: String, instance: String, generation: Int, version: String, cameras: [String] = [],
        reason: String? = nil
    ) {
        (self.word, self.node, self.instance, self.generation) = (word, node, instance, generation)
        (self.version, self.cameras, self.reason) = (version, cameras, reason)
    }
}

extension JSONValue {
    /// A number that counts: an integer from 0 to 2^53−1.
    var integer: Int? {
        guard let number, 0...9_007_199_254_740_991 ~= number, number == number.rounded() else { return nil }
        return Int(number)
    }
}

/// Who may publish as a node.
struct NodeClaim {
    /// What is to be done.
    enum Step: Equatable {
        case none
        /// Say that this process wants to be the node.
        case claim
        /// Say again what the node's state is.
        case tellState
        /// This process is the node from now on.
        case own
        /// Another is.
        case refuse
    }

    private enum Standing: Equatable { case away, claiming(until: Double), owner, refused }

    /// As long as an owner has to answer a claim, in milliseconds.
    static let patience = 2000.0

    let instance: String
    private(set) var generation = 0
    private var standing = Standing.away

    init(instance: String) { self.instance = instance }

    var isOwner: Bool { standing == .owner }
    var deadline: Double? { if case .claiming(let end) = standing { end } else { nil } }

    /// The broker can be reached.
    mutating func connected(at now: Double) -> Step {
        guard standing != .refused else { return .none }
        standing = .claiming(until: now + Self.patience)
        return .claim
    }

    mutating func disconnected() { if standing != .refused { standing = .away } }

    mutating func advance(to now: Double) -> Step {
        guard case .claiming(let end) = standing, end <= now else { return .none }
        return own(generation + 1)
    }

    private mutating func own(_ generation: Int) -> Step {
        standing = .owner
        self.generation = generation
        return .own
    }

    private mutating func refuse() -> Step {
        standing = .refused
        return .refuse
    }

    /// The node's state, as the broker has kept it or as somebody tells it now.
    mutating func saw(_ state: NodeState, isRetained: Bool) -> Step {
        switch standing {
        case .away, .refused: return .none
        case .claiming:
            // Nobody has been the node since this process was.
            if state.instance == instance, generation > 0 { return own(generation) }
            generation = max(generation, state.generation)
            return state.instance != instance && state.word != .lost && !isRetained ? refuse() : .none
        case .owner:
            guard state.instance != instance else { return .none }
            // The will of one that was the node before, or what a broker had kept that was out of sight.
            if state.word != .ready || isRetained {
                generation = max(generation, state.generation + 1)
                return .tellState
            }
            return (generation, instance) < (state.generation, state.instance) ? refuse() : .tellState
        }
    }

    /// A generation of the node, as the broker has kept it with a camera: a will does not tell it.
    mutating func saw(generation other: Int) {
        if case .claiming = standing { generation = max(generation, other) }
    }

    /// Another process wants to be the node.
    mutating func saw(claimOf other: String) -> Step {
        guard other != instance else { return .none }
        switch standing {
        case .away, .refused: return .none
        case .owner: return .tellState
        // One of two that want it at one time. The other may not have heard this one's claim.
        case .claiming: return instance > other ? .claim : refuse()
        }
    }
}
