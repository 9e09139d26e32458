// A trace being played into a camera: where it is in its life, its clock, its count.

import GimbalProtocol

final class Replay {
    enum Life {
        /// Lines are handled as their times come. It goes on at `wake` in the hub's time; `nil` while it waits for a line.
        case playing(wake: Double?)
        /// Its end is known, and its gestures are cancelled: what still moves is played to its rest.
        case draining(wake: Double)
        /// Its camera is free.
        case ended
    }

    unowned let camera: HostedCamera
    /// Who sends it; `nil` when that peer is gone.
    private(set) weak var peer: Peer?
    /// The header's id as it was written.
    let id: [UInt8]
    private(set) var life = Life.playing(wake: nil)
    var clock: ReplayClock
    var summary = TraceSummary()

    init(_ header: TraceHeader, of camera: HostedCamera, from peer: Peer, id: [UInt8]) {
        self.camera = camera
        self.peer = peer
        self.id = id
        clock = ReplayClock(speed: header.speed)
    }

    // MARK: Its life

    /// Whether its lines are still to be handled.
    var isPlaying: Bool { if case .playing = life { true } else { false } }

    var isWaitingForLine: Bool { if case .playing(nil) = life { true } else { false } }

    /// When it goes on, in the hub's time; infinite if that depends on others.
    var deadline: Double {
        switch life {
        case .playing(let wake): wake ?? .infinity
        case .draining(let wake): wake
        case .ended: .infinity
        }
    }

    /// It goes on at a time of the hub's.
    func wait(until time: Double) {
        switch life {
        case .playing: life = .playing(wake: time)
        case .draining: life = .draining(wake: time)
        case .ended: break
        }
    }

    /// It has nothing to wait for but its next line, unless its end is known.
    func waitForLine() { if isPlaying { life = .playing(wake: nil) } }

    /// No line is handled any more.
    func drain() { if isPlaying { life = .draining(wake: -.infinity) } }

    func end() { life = .ended }

    /// The peer is gone: what is left is played at once.
    func abandon() {
        peer = nil
        clock.hurry()
    }
}
