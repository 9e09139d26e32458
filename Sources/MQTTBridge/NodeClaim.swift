// Who may publish as a node: one process at a time. Two that have the same name tell it from each other by their instances,
// whichever of them the broker's memory, or a network that comes back, shows first.
// Invariant: nothing but a claim is published before this process is the node's owner.

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

    private enum Standing: Equatable { case away, claiming(until: Double, isEchoed: Bool), owner, refused }

    /// How long an owner has to answer a claim, in milliseconds, once that has come back to this process.
    static let patience = 2000.0
    /// How long the claim has to come back: whoever may not read it goes on without that.
    static let longestEcho = 10_000.0

    let instance: String
    private(set) var generation = 0
    private var standing = Standing.away

    init(instance: String) { self.instance = instance }

    var isOwner: Bool { standing == .owner }
    var deadline: Double? { if case .claiming(let end, _) = standing { end } else { nil } }

    /// The broker can be reached.
    mutating func connected(at now: Double) -> Step {
        guard standing != .refused else { return .none }
        standing = .claiming(until: now + Self.longestEcho, isEchoed: false)
        return .claim
    }

    mutating func disconnected() { if standing != .refused { standing = .away } }

    mutating func advance(to now: Double) -> Step {
        guard case .claiming(let end, _) = standing, end <= now else { return .none }
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
            return state.instance != instance && !state.isOver && !isRetained ? refuse() : .none
        case .owner:
            // The will of an earlier connection of this process: a server that the network has lost says it late.
            guard state.instance != instance else { return state.word == .lost ? .tellState : .none }
            // The last word of one that was the node before, or what a broker had kept that was out of sight.
            if state.isOver || isRetained {
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

    /// A process wants to be the node.
    mutating func saw(claimOf other: String, at now: Double) -> Step {
        guard other != instance else {
            // What an owner answers comes as soon as this has.
            if case .claiming(_, isEchoed: false) = standing {
                standing = .claiming(until: now + Self.patience, isEchoed: true)
            }
            return .none
        }
        switch standing {
        case .away, .refused: return .none
        case .owner: return .tellState
        // One of two that want it at one time. The other may not have heard this one's claim.
        case .claiming: return instance > other ? .claim : refuse()
        }
    }
}
