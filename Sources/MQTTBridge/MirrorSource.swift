// What a mirror knows of the camera that it follows, whoever tells it, in whatever order, and however often.
// Invariant: what an older message says never stands in the place of what a newer one has said.

import GimbalProtocol

/// What is known of the camera that is followed: which of the messages about it is the newest, whoever was the node.
struct MirrorSource {
    private var newest: (standing: CameraStanding, stamp: Stamp)?
    private var newestSettings: (settings: CameraSettings, stamp: Stamp)?
    private var state: NodeState?
    /// Whether the broker can be reached.
    private var isConnected = false

    /// What a message means for who follows.
    enum Meaning: Equatable { case news, nothing, doubt }

    var standing: CameraStanding? { newest?.standing }
    var settings: CameraSettings? { newestSettings?.settings }

    /// Whether the camera moves, as far as anybody can know: not where its node is gone.
    var isMoving: Bool {
        guard isConnected, let newest, newest.standing.isMoving else { return false }
        guard let state else { return true }
        return state.word == .ready && state.instance == newest.stamp.instance
    }

    mutating func connected() {
        isConnected = true
        state = nil
    }

    mutating func disconnected() { isConnected = false }

    mutating func saw(_ state: NodeState) { self.state = state }

    mutating func removed() { newest = nil }

    mutating func settingsRemoved() { newestSettings = nil }

    mutating func saw(_ standing: CameraStanding, _ stamp: Stamp, isRetained: Bool) -> Meaning {
        let meaning = meaning(of: stamp, after: newest?.stamp, isRetained)
        if meaning == .news { newest = (standing, stamp) }
        return meaning
    }

    mutating func saw(_ settings: CameraSettings, _ stamp: Stamp, isRetained: Bool) -> Meaning {
        let meaning = meaning(of: stamp, after: newestSettings?.stamp, isRetained)
        if meaning == .news { newestSettings = (settings, stamp) }
        return meaning
    }

    private func meaning(of told: Stamp, after known: Stamp?, _ isRetained: Bool) -> Meaning {
        guard let known else { return .news }
        if told.instance == known.instance { return told.number > known.number ? .news : .nothing }
        let isOfOwner = state?.word == .ready && state?.instance == told.instance
        if isRetained || isOfOwner || told.generation > known.generation { return .news }
        // What the broker has kept says which of them is right.
        return .doubt
    }
}
