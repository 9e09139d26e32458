// Observers of a simulation that do not take part in it. They check promises that no single client can see: two clients
// with equal subscriptions are sent the same bytes, an error changes nothing, a camera is where its last event said,
// and it never leaves its constraints.

import Hub
import JSONLines
import TestSupport

/// Two clients that make the same subscription at the same moment. One reads at once, the other bit by bit.
struct SubscriberPair {
    private let prompt: HubPeer
    private let slow: HubPeer
    /// Lines that the prompt client has read and the slow one has not.
    private var unmatched: [String] = []
    /// The camera's seq and position, as the prompt client knows them.
    private(set) var last: (seq: JSON?, position: JSON?)
    /// A fault, unless it turns out that the slow client has missed something.
    private var doubt: String?
    /// Whether one of them has missed something or the camera is gone: afterwards they differ.
    private(set) var isSpent = false

    init(_ host: HubHost, camera: String, events: String) {
        (prompt, slow) = (host.connect(), host.connect(role: .watchOnly(because: "it is slow")))
        for peer in [prompt, slow] {
            peer.put(#"{"type":"subscribe","camera":"\#(camera)","events":[\#(events)]}"#)
        }
    }

    func leave() {
        prompt.close()
        slow.close()
    }

    /// Reads what has arrived; returns what is wrong with it.
    mutating func look(_ random: inout Seeded) -> String? {
        for line in prompt.lines() {
            unmatched.append(line)
            guard let json = take(line) else { continue }
            last = (json["seq"], json["position"])
        }
        if random.chance(0.5) { slow.makeRoom(random.integer(0...3000)) }
        var matched = 0
        for line in slow.lines() {
            _ = take(line)
            guard !isSpent else { break }
            if let doubt { return doubt }
            if matched < unmatched.count, line == unmatched[matched] {
                matched += 1
            } else {
                doubt = "a pair is told \(matched < unmatched.count ? unmatched[matched] : "nothing") and \(line)"
                // A reset among the missed events comes before the message about the gap.
                guard line.hasPrefix(#"{"type":"reset""#) else { return doubt }
            }
        }
        unmatched.removeFirst(matched)
        prompt.compact()
        slow.compact()
        isSpent = isSpent || prompt.isOver || slow.isOver
        return nil
    }

    /// Notes a line; returns the message if it reports the camera's state.
    private mutating func take(_ line: String) -> JSON? {
        guard let json = try? JSON(JSONValue(line.utf8)), let type = json["type"]?.string, type != "gesture"
        else { return nil }
        isSpent = isSpent || ["lagged", "removed", "error"].contains(type)
        return json
    }
}

/// A client that follows a camera's input and is never slow.
struct Recorder {
    private let camera: String
    private var peer: HubPeer
    /// Its recording, if it makes one.
    private(set) var tape: TraceTape?
    private var limits: PositionLimits?

    init(_ host: HubHost, camera: String, tape: TraceTape?) {
        (self.camera, self.tape) = (camera, tape)
        peer = host.connect()
        begin()
    }

    /// Subscribes in the middle of whatever happens.
    func begin() {
        let kinds = #"["gesture","move-started","camera-changed","idle"]"#
        peer.put(#"{"type":"subscribe","camera":"\#(camera)","events":\#(kinds)}"#)
    }

    /// Connects to another hub.
    mutating func comeBack(_ host: HubHost) {
        peer = host.connect()
        begin()
    }

    func leave() { peer.close() }

    /// Reads what has arrived; returns what is wrong with it.
    mutating func look() -> String? {
        for line in peer.lines() {
            if let complaint = take(line) { return "recorder: \(complaint): \(line)" }
        }
        peer.compact()
        return nil
    }

    private mutating func take(_ line: String) -> String? {
        guard let json = try? JSON(JSONValue(line.utf8)) else { return "no JSON" }
        if let complaint = try? tape?.take(line) { return complaint }
        switch json["type"]?.string {
        case "removed", "lagged":
            limits = nil
            begin()
        case "subscribed", "reset": limits = nil
        case "gesture": for request in json["line"]?.array ?? [json["line"] ?? .null] { take(request: request) }
        case "camera-changed", "idle":
            if let position = json["position"], limits?.contains(position) == false { return "it is outside" }
        default: break
        }
        return nil
    }

    private mutating func take(request: JSON) {
        if request["type"]?.string == "trace" { limits = PositionLimits() }
        limits?.take(request)
    }
}

/// The limits of a camera's position: a model that knows only the settings.
struct PositionLimits {
    private var zoom = (min: 2.0, max: 21.0)
    private var bounds: (south: Double, west: Double, north: Double, east: Double)?
    /// Half of the last printed digit of a coordinate, and of a zoom.
    private static let (fineness, coarseness) = (0.6e-9, 0.6e-6)

    /// Applies a request, or the settings that a camera reports.
    mutating func take(_ settings: JSON) {
        zoom.min = settings["minZoom"]?.number ?? zoom.min
        zoom.max = settings["maxZoom"]?.number ?? zoom.max
        guard let box = settings["bounds"] ?? settings["targetBounds"], settings["update"] == nil else { return }
        let (southWest, northEast) = (box["southWest"], box["northEast"])
        bounds = nil
        if let south = southWest?["latitude"]?.number, let west = southWest?["longitude"]?.number,
            let north = northEast?["latitude"]?.number, let east = northEast?["longitude"]?.number
        {
            bounds = (south, west, north, east)
        }
    }

    func contains(_ position: JSON) -> Bool {
        guard let latitude = position["target"]?["latitude"]?.number,
            let longitude = position["target"]?["longitude"]?.number, let level = position["zoom"]?.number
        else { return false }
        guard level > zoom.min - Self.coarseness, level < zoom.max + Self.coarseness else { return false }
        guard let bounds else { return true }
        guard latitude > bounds.south - Self.fineness, latitude < bounds.north + Self.fineness else { return false }
        // East may be 180, which is printed as -180.
        return [longitude, longitude + 360].contains { longitude in
            let (west, east) = (bounds.west - Self.fineness, bounds.east + Self.fineness)
            return bounds.west <= bounds.east
                ? longitude > west && longitude < east : longitude > west || longitude < east
        }
    }
}

/// Queries the hub's state in a turn in which nothing else happens.
struct Inspector {
    private let peer: HubPeer

    init(_ host: HubHost) { peer = host.connect() }

    /// Sends a line that would change a camera but is rejected; returns what is wrong with the camera before or after.
    ///
    /// - Parameter last: the camera's seq and position, if known.
    func inspect(_ camera: String, _ host: HubHost, rejected: String, last: (seq: JSON?, position: JSON?)?) -> String? {
        let question = #"{"type":"get-camera","camera":"\#(camera)"}"#
        peer.send(Array("\(question)\n\(rejected)\n\(question)\n".utf8))
        let answers = peer.lines()
        peer.compact()
        guard let before = answers.first, let state = try? JSON(JSONValue(before.utf8)), answers.count >= 3 else {
            return "no answer, but \(answers)"
        }
        // The limit of cameras may be reached.
        guard state["type"]?.string == "camera" else { return nil }
        if answers.last != before { return "\(before) became \(answers.last ?? "") by \(rejected)" }
        if let last, last.seq != state["seq"] || last.position != state["position"] {
            return "\(before), and the last event said \(last)"
        }
        var limits = PositionLimits()
        limits.take(state)
        return state["position"].map(limits.contains) == true ? nil : "outside: \(before)"
    }

    /// Returns the daemon's counters.
    func stats() -> JSON? {
        peer.send(#"{"type":"stats"}"#)
        defer { peer.compact() }
        return peer.lines().last.flatMap { try? JSON($0) }
    }
}
