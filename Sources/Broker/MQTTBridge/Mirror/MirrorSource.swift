// What a mirror knows of the camera it follows. Messages may come from any publisher, in any order, and repeatedly.
// Invariant: an older message never replaces a newer one.

import GimbalProtocol

/// The newest known state of the followed camera, whichever process was the node.
struct MirrorSource {
    private var newest: (status: CameraStatus, stamp: Stamp)?
    private var newestSettings: (settings: CameraSetup, stamp: Stamp)?
    private var node = Node.unreachable
    /// How long a node may be silent before it counts as lost, in milliseconds.
    private var longestSilence = NodeState.usualInterval * NodeState.mostSilentIntervals

    /// What is known of the node.
    private enum Node {
        /// The broker cannot be reached.
        case unreachable
        /// It has published its state, or still may. If it stays silent until the given time, it counts as lost.
        case heard(NodeState?, lostAt: Double?)
        /// It has been silent for too long: its will may have been lost with its broker.
        case silent(NodeState?)

        var state: NodeState? {
            switch self {
            case .heard(let state, _), .silent(let state): state
            case .unreachable: nil
            }
        }
    }

    /// What a message means for a mirror.
    enum Meaning: Equatable { case news, nothing, doubt }

    var status: CameraStatus? { newest?.status }
    var settings: CameraSetup? { newestSettings?.settings }

    /// When the node counts as lost, if it stays silent.
    var silenceDeadline: Double? { if case .heard(_, let end) = node { end } else { nil } }

    /// Whether the camera moves, as far as is known; never if its node is gone.
    var isMoving: Bool {
        guard case .heard(let state, _) = node, let newest, newest.status.isMoving else { return false }
        guard let state else { return true }
        return state.word == .ready && state.instance == newest.stamp.instance
    }

    mutating func connected(at now: Double) { node = .heard(nil, lostAt: now + longestSilence) }

    mutating func disconnected() { node = .unreachable }

    mutating func saw(_ state: NodeState, at now: Double) {
        // What a node says may be wrong: each silence is logged.
        let interval = max(state.interval ?? NodeState.usualInterval, NodeState.leastInterval)
        longestSilence = interval * NodeState.mostSilentIntervals
        node = .heard(state, lostAt: state.word == .ready ? now + longestSilence : nil)
    }

    /// - Returns: whether the node counts as lost from now on.
    mutating func noteSilence(at now: Double) -> Bool {
        guard case .heard(let state, let end?) = node, end <= now else { return false }
        node = .silent(state)
        return true
    }

    mutating func removed() { newest = nil }

    mutating func settingsRemoved() { newestSettings = nil }

    mutating func saw(_ status: CameraStatus, _ stamp: Stamp, isRetained: Bool, at now: Double) -> Meaning {
        if !isRetained { node = .heard(node.state, lostAt: now + longestSilence) }
        let meaning = meaning(of: stamp, after: newest?.stamp, isRetained)
        if meaning == .news { newest = (status, stamp) }
        return meaning
    }

    mutating func saw(_ settings: CameraSetup, _ stamp: Stamp, isRetained: Bool) -> Meaning {
        let meaning = meaning(of: stamp, after: newestSettings?.stamp, isRetained)
        if meaning == .news { newestSettings = (settings, stamp) }
        return meaning
    }

    private func meaning(of told: Stamp, after known: Stamp?, _ isRetained: Bool) -> Meaning {
        guard let known else { return .news }
        if told.instance == known.instance { return told.number > known.number ? .news : .nothing }
        let isOfOwner = node.state?.word == .ready && node.state?.instance == told.instance
        if isRetained || isOfOwner || told.generation > known.generation { return .news }
        // The broker's retained message decides which one is right.
        return .doubt
    }
}
