// What the player's keys do, as a pure function of the key and of what is known of the replay.

import GimbalProtocol

/// What a key asks for.
enum PlayerAction {
    /// A request to the daemon.
    case steer(ClientRequest)
    /// A marker in what is being recorded.
    case mark
    case showKeys
    case end
    /// It cannot be done: why, in a few words.
    case refuse(String)

    static let shortSeekMs = 5000.0
    static let longSeekMs = 60_000.0
    /// Keys go no slower or faster than this, except to the highest speed.
    private static let (slowest, fastest) = (1.0 / 64, 64.0)
    /// Going back from a marker means the one before it, even if the replay has gone on a little since.
    private static let graceMs = 1000.0

    /// - Parameter isPaused: whether the replay stands still, or will once it has found its place.
    init?(_ key: Key, _ face: PlayerFace, isPaused: Bool) {
        switch key {
        case .character(" "): self = .steer(isPaused ? .resumeReplay : .pauseReplay)
        case .character("."): self = .steer(.stepReplay())
        case .left: self = .steer(.seekReplay(.offset(-Self.shortSeekMs)))
        case .right: self = .steer(.seekReplay(.offset(Self.shortSeekMs)))
        case .shiftLeft: self = .steer(.seekReplay(.offset(-Self.longSeekMs)))
        case .shiftRight: self = .steer(.seekReplay(.offset(Self.longSeekMs)))
        case .up: self = .steer(.setReplaySpeed(face.speed < Self.fastest ? face.speed * 2 : .infinity))
        case .down where !face.speed.isFinite: self = .steer(.setReplaySpeed(Self.fastest))
        case .down: self = .steer(.setReplaySpeed(face.speed / 2 >= Self.slowest ? face.speed / 2 : face.speed))
        case .character("["):
            let grace = isPaused || !face.speed.isFinite ? Self.least : Self.graceMs * min(face.speed, 1)
            let marker = face.markers.last { $0 < face.timeMs - grace }
            self = marker.map { .steer(.seekReplay(.time($0))) } ?? .refuse("no marker before")
        case .character("]"):
            let marker = face.markers.first { $0 > face.timeMs + Self.least }
            self = marker.map { .steer(.seekReplay(.time($0))) } ?? .refuse("no marker after")
        case .character(let digit) where digit.isASCII && digit.isWholeNumber:
            guard let tenths = digit.wholeNumberValue, let durationMs = face.durationMs else {
                self = .refuse("its length is not known")
                return
            }
            self = .steer(.seekReplay(.time(durationMs * Double(tenths) / 10)))
        case .character("m"): self = .mark
        case .character("?"): self = .showKeys
        case .character("q"): self = .end
        case .character: return nil
        }
    }

    /// Times have three decimals.
    private static let least = 0.001
}
