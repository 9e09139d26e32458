// Decides which process may publish as a node: one at a time. Processes with the same name tell each other apart by
// instance, whichever of them a retained message or a restored network shows first.
// Invariant: nothing but a claim is published before this process owns the node.

import GimbalProtocol

/// Decides whether this process may publish as a node.
package final class NodeClaim {
    /// What the node is to do.
    enum Step: Equatable {
        case none
        /// Publish the claim of this process.
        case claim
        /// Publish the node's state again.
        case tellState
        /// This process is the node from now on.
        case own
        /// Another process is the node.
        case refuse
    }

    private enum State: Equatable {
        /// The broker cannot be reached.
        case away
        /// The claim was published and has not come back yet: once it has, others have received it, too.
        case claiming(until: Double)
        /// The claim has come back; an owner would answer now.
        case heard(until: Double)
        case owner
        /// Another process is the node.
        case refused
    }

    /// How long an owner has to answer a claim, in milliseconds, once the claim has come back to this process.
    static let answerTime = 2000.0
    /// How long to wait for the claim to come back, in milliseconds: a process may not be allowed to read it.
    static let longestEcho = 10_000.0

    let instance: String
    private(set) var generation = 0
    private var lastNumber = 0
    private var state = State.away

    init(instance: String) { self.instance = instance }

    /// Returns the payload of `claim`, with which a process asks to be a node.
    package static func payload(of instance: String) -> [UInt8] {
        JSONValue.object(["type": .string("claim"), "instance": .string(instance)]).bytes
    }

    /// Returns the instance that claims to be a node; `nil` if a payload is no `claim`.
    package static func instance(in payload: [UInt8]) -> String? { members(of: payload, "claim")?["instance"]?.string }

    var isOwner: Bool { state == .owner }

    /// Returns the stamp of the node's next message.
    func nextStamp(_ node: String) -> Stamp {
        lastNumber += 1
        return Stamp(node: node, instance: instance, generation: generation, number: lastNumber)
    }

    /// When this process becomes the node, if no other one owns the name.
    var deadline: Double? {
        switch state {
        case .claiming(let end), .heard(let end): end
        case .away, .owner, .refused: nil
        }
    }

    /// Begins to claim the name, as the broker can be reached.
    func connected(at now: Double) -> Step {
        guard state != .refused else { return .none }
        state = .claiming(until: now + Self.longestEcho)
        return .claim
    }

    func disconnected() { if state != .refused { state = .away } }

    func advance(to now: Double) -> Step {
        guard let deadline, deadline <= now else { return .none }
        return own(generation + 1)
    }

    private func own(_ generation: Int) -> Step {
        state = .owner
        self.generation = min(generation, Stamp.lastGeneration)
        return .own
    }

    private func refuse() -> Step {
        state = .refused
        return .refuse
    }

    /// Notes a state of the node, retained or new.
    func saw(_ told: NodeState, isRetained: Bool) -> Step {
        switch state {
        case .away, .refused: return .none
        case .claiming, .heard:
            // No other process has been the node since this one was.
            if told.instance == instance, generation > 0 { return own(generation) }
            generation = max(generation, told.generation)
            return told.instance != instance && !told.isOver && !isRetained ? refuse() : .none
        case .owner:
            // The will of this process's earlier connection, published late by a server that was cut off.
            guard told.instance != instance else { return told.word == .lost ? .tellState : .none }
            // An earlier owner's last state, or one retained by a cluster member that could not be reached.
            if told.isOver || isRetained {
                generation = max(generation, min(told.generation + 1, Stamp.lastGeneration))
                return .tellState
            }
            return (generation, instance) < (told.generation, told.instance) ? refuse() : .tellState
        }
    }

    /// Notes a generation of the node from a camera's retained message, as a will has none.
    func saw(generation other: Int) { if deadline != nil { generation = max(generation, other) } }

    /// Handles another process's claim, or this one's own.
    func saw(claimOf other: String, at now: Double) -> Step {
        guard other != instance else {
            if case .claiming = state { state = .heard(until: now + Self.answerTime) }
            return .none
        }
        switch state {
        case .away, .refused: return .none
        case .owner: return .tellState
        // Two processes claim at the same time. The other one may not have received this one's claim.
        case .claiming, .heard: return instance > other ? .claim : refuse()
        }
    }
}
