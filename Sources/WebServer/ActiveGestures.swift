// Which gestures move a camera, as the lines of a recording tell: reports of gestures, and fingers, of which the recognizer
// makes the same gestures here as it does in the daemon.

import Gestures
import GimbalProtocol
import Touches

struct ActiveGestures {
    private struct Key: Hashable {
        let feed: Int
        let kind: GestureKind
        let label: GestureKey.Label
    }

    private var active: Set<Key> = []
    private var surfaces = TouchSurfaces(limit: 64)
    private var decoder = RequestDecoderBox()

    /// As many gestures are told apart; the daemon has no more of a camera.
    private static let most = 256

    /// Their kinds, in the order that one frame reports them in.
    var kinds: [String] { GestureKind.allCases.filter { kind in active.contains { $0.kind == kind } }.map(\.type) }

    /// Follows a line of a recording.
    ///
    /// - Returns: whether it is about more than gestures and fingers: settings, a command, or a new beginning.
    mutating func follow(_ line: String) -> Bool {
        var isMore = false
        for request in decoder.requests(line) {
            switch request.body {
            case .gesture(let gesture): follow(gesture.event, feed: 0, label: gesture.label)
            case .touch(let fingers): follow(fingers, timeMs: request.timeMs ?? 0)
            case .trace:
                self = ActiveGestures()
                isMore = true
            case .command(.move), .command(.animate), .command(.stop):
                // A command cancels what is active; fingers that stay begin anew with their next report.
                active = []
            default: isMore = true
            }
        }
        return isMore
    }

    private mutating func follow(_ fingers: Request.Fingers, timeMs: Double) {
        let key = SurfaceKey(feed: 0, label: fingers.surface)
        let outcome = surfaces.handle(
            fingers.touches, of: key, at: fingers.surfaceTimeMs ?? timeMs, isCancelled: fingers.isCancelled,
            tellsAngles: fingers.tellsAngles)
        guard let outcome else { return }
        for event in outcome.events { follow(event, feed: outcome.surface.gestureFeed, label: .none) }
    }

    private mutating func follow(_ event: GestureEvent, feed: Int, label: GestureKey.Label) {
        guard !event.kind.isTap else { return }
        let key = Key(feed: feed, kind: event.kind, label: label)
        switch event.phase {
        case .began, .changed: if active.count < Self.most { active.insert(key) }
        case .ended, .cancelled: active.remove(key)
        }
    }
}

/// A decoder cannot be copied; this one is made anew with a copy.
private final class RequestDecoderBox {
    private var decoder = RequestDecoder()

    func requests(_ line: String) -> [Request] {
        (try? decoder.decode(Array(line.utf8).span)) ?? []
    }
}
