// A subscriber's guarantees: the grammar, seq without gaps, times that never go back, and positions within the
// constraints.

import Foundation

/// Checks the lines of one subscription, one by one.
public struct StreamChecker {
    private enum State {
        case idle, started, moving
        /// Joined or lagged in the middle: any event may come.
        case unknown
    }

    private let isEvery: Bool
    private var state = State.unknown
    private var seq: Double?
    private var time = -Double.infinity
    private var position: JSON?
    public private(set) var events = 0

    public init(isEvery: Bool) { self.isEvery = isEvery }

    /// Checks a line; returns what is wrong with it.
    public mutating func take(_ line: JSON) -> String? {
        switch line["type"]?.string {
        case "subscribed":
            // The line does not tell whether a movement is in progress.
            state = .unknown
            seq = line["seq"]?.number
            position = nil
        case "reset":
            // After a seek the camera may be in the middle of a movement.
            state = line["moving"] == nil ? .idle : .moving
            (seq, position) = (line["seq"]?.number, line["position"])
            time = seq == 0 ? -.infinity : line["timeMs"]?.number ?? 0
        case "lagged":
            (state, seq, position) = (.unknown, nil, nil)
        case "move-started", "camera-changed", "idle":
            events += 1
            return event(line)
        default: break
        }
        return nil
    }

    private mutating func event(_ line: JSON) -> String? {
        guard let number = line["seq"]?.number, let timeMs = line["timeMs"]?.number, let place = line["position"] else {
            return "no event"
        }
        if let seq, isEvery ? number != seq + 1 : number <= seq { return "seq \(number) after \(seq)" }
        seq = number
        if timeMs < time { return "time \(timeMs) after \(time)" }
        time = timeMs
        if let complaint = Self.complaint(place) { return complaint }
        defer { position = place }
        switch (line["type"]?.string, state) {
        case ("move-started", .idle), ("move-started", .moving), ("move-started", .unknown):
            if isEvery, let position, position != place { return "leaves from elsewhere" }
            state = .started
        case ("camera-changed", .started), ("camera-changed", .moving), ("camera-changed", .unknown):
            if isEvery, position == place { return "no change" }
            state = .moving
        case ("idle", .moving), ("idle", .unknown):
            if isEvery, let position, position != place { return "rests elsewhere" }
            state = .idle
        case (let type, let state):
            return "\(type ?? "?") when \(state)"
        }
        return nil
    }

    private static func complaint(_ position: JSON) -> String? {
        guard let latitude = position["target"]?["latitude"]?.number,
            let longitude = position["target"]?["longitude"]?.number, let zoom = position["zoom"]?.number,
            let bearing = position["bearing"]?.number, let angle = position["viewingAngle"]?.number
        else { return "no position" }
        let ceiling =
            zoom <= 10 ? 30 : zoom <= 14 ? 30 + (zoom - 10) * 3.75 : zoom <= 16 ? 45 + (zoom - 14) * 10 : 65
        let isGood =
            abs(latitude) <= 85 && longitude >= -180 && longitude < 180 && zoom >= 2 && zoom <= 21 && bearing >= 0
            && bearing < 360 && angle >= 0 && angle <= ceiling + 2e-5
        return isGood ? nil : "out of range: \(position.text)"
    }
}
