// What a mirror knows of the camera that it follows, whoever tells it, in whatever order, and however often.
// Invariant: what an older message says never stands in the place of what a newer one has said.

import GimbalProtocol

/// What is known of the camera that is followed: which of the messages about it is the newest, whoever was the node.
struct MirrorSource {
    private var newest: (status: CameraStatus, stamp: Stamp)?
    private var newestSettings: (settings: CameraSettings, stamp: Stamp)?
    private var state: NodeState?
    /// As long as a node may say nothing before it is taken for lost, in milliseconds.
    private var longestSilence = NodeState.usualInterval * NodeState.mostSilentIntervals
    /// When the node is taken for lost, if it says nothing more.
    private(set) var silenceDeadline: Double?
    private var isSilent = false
    /// Whether the broker can be reached.
    private var isConnected = false

    /// What a message means for who follows.
    enum Meaning: Equatable { case news, nothing, doubt }

    var status: CameraStatus? { newest?.status }
    var settings: CameraSettings? { newestSettings?.settings }

    /// Whether the camera moves, as far as anybody can know: not where its node is gone.
    var isMoving: Bool {
        guard isConnected, !isSilent, let newest, newest.status.isMoving else { return false }
        guard let state else { return true }
        return state.word == .ready && state.instance == newest.stamp.instance
    }

    mutating func connected(at now: Double) {
        (isConnected, state) = (true, nil)
        heard(at: now)
    }

    mutating func disconnected() { (isConnected, silenceDeadline) = (false, nil) }

    mutating func saw(_ state: NodeState, at now: Double) {
        self.state = state
        longestSilence = (state.interval ?? NodeState.usualInterval) * NodeState.mostSilentIntervals
        heard(at: now)
        if state.word != .ready { silenceDeadline = nil }
    }

    /// The node has said something, or the broker begins to tell what it keeps of it.
    private mutating func heard(at now: Double) { (isSilent, silenceDeadline) = (false, now + longestSilence) }

    /// Takes a node for lost that has said nothing for long: nobody may be left to publish its will.
    ///
    /// - Returns: whether that is new.
    mutating func noteSilence(at now: Double) -> Bool {
        guard let end = silenceDeadline, end <= now else { return false }
        (isSilent, silenceDeadline) = (true, nil)
        return true
    }

    mutating func removed() { newest = nil }

    mutating func settingsRemoved() { newestSettings = nil }

    mutating func saw(_ status: CameraStatus, _ stamp: Stamp, isRetained: Bool, at now: Double) -> Meaning {
        if !isRetained { heard(at: now) }
        let meaning = meaning(of: stamp, after: newest?.stamp, isRetained)
        if meaning == .news { newest = (status, stamp) }
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
