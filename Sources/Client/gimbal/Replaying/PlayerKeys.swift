// What the player's keys do, as a pure function of the key and the known state of the replay.

import GimbalProtocol

/// The action of a key.
enum PlayerAction {
    /// A request to the daemon.
    case steer(ClientRequest)
    /// Sets a marker in what is being recorded.
    case mark
    case showKeys
    case end
    /// Does nothing, for this reason.
    case refuse(String)

    static let shortSeekMs = 5000.0
    static let longSeekMs = 60_000.0
    /// The range of speeds that keys can set, besides the highest speed.
    private static let (slowest, fastest) = (1.0 / 64, 64.0)
    /// How long after passing a marker going back still means the one before it, in milliseconds.
    private static let graceMs = 1000.0

    /// - Parameter isPaused: whether the replay is paused, or will be at the end of its seek.
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
                self = .refuse("the length is unknown")
                return
            }
            self = .steer(.seekReplay(.time(durationMs * Double(tenths) / 10)))
        case .character("m"): self = .mark
        case .character("?"): self = .showKeys
        case .character("q"): self = .end
        case .character: return nil
        }
    }

    /// The resolution of times, which have three decimals.
    private static let least = 0.001
}
