// A simulated client: it sends in small pieces, reads more or less eagerly, and checks the hub's promises to a client:
// each request is answered once and in order, and each subscription follows the grammar, without an unreported gap.

import Hub
import TestSupport

struct SimulatedClient {
    /// How it reads.
    enum Appetite { case hungry, picky, stalled, broken }
    /// Whether it sends; data sent before the end is still delivered.
    enum Speech { case open, ending, ended }

    let peer: HubPeer
    var appetite = Appetite.hungry
    var speech = Speech.open
    /// Whether it is feeding a trace, as far as it knows.
    var isReplaying = false
    var traceTime = 0.0
    /// The camera of the latest trace that it has sent.
    var traceCamera: String?
    private(set) var streams: [String: SimulatedStream] = [:]
    /// The ids that have not been answered yet.
    private(set) var asked: [String] = []
    /// The ids of requests that wait for a camera's rest; their answers may come at any time.
    private var waiting: Set<String> = []
    /// For each unanswered request for all cameras, the positions that it resumes from.
    private var resumed: [[String: String]] = []
    /// How cameras are subscribed to that this client has not requested by name.
    private var following: (delivery: String, read: [String: String])?
    /// Data still to be sent, in small pieces and as long as the hub reads.
    private var outbox: [UInt8] = []
    private var ids = 0

    /// Whether it has sent all that it will, and has been answered.
    var isServed: Bool { outbox.isEmpty && speech != .ending && asked.isEmpty || appetite == .broken }

    init(_ peer: HubPeer) { self.peer = peer }

    /// Creates a client that was connected before and remembers what it read.
    init(_ peer: HubPeer, after earlier: SimulatedClient) {
        self.peer = peer
        streams = earlier.streams
    }

    // MARK: Sending

    mutating func newID() -> String {
        ids += 1
        return "q\(ids)"
    }

    /// Queues a line. Each of its ids is answered, in this order.
    mutating func say(_ line: String, ids: [String] = []) {
        guard speech == .open else { return }
        asked += ids
        outbox += Array((line + "\n").utf8)
    }

    /// Queues a request that waits for the rest of a camera.
    mutating func wait(for camera: String, _ members: String) {
        guard speech == .open else { return }
        ids += 1
        waiting.insert("w\(ids)")
        say(#"{"type":"await-idle","id":"w\#(ids)","camera":"\#(camera)"\#(members)}"#)
    }

    /// Queues a subscription to all cameras, or to all from where they were read up to.
    mutating func followAll(since isResuming: Bool, _ delivery: String) {
        guard speech == .open else { return }
        var read: [String: String] = [:]
        var points: [String] = []
        for (name, stream) in streams.sorted(by: { $0.key < $1.key }) where isResuming {
            guard let epoch = stream.epoch, let next = stream.next else { continue }
            read[name] = "since \(Int(next) - 1) \(epoch)"
            points.append(#"{"camera":"\#(name)","seq":\#(Int(next) - 1),"epoch":"\#(epoch)"}"#)
        }
        resumed.append(read)
        let since = isResuming ? #","since":[\#(points.joined(separator: ","))]"# : ""
        let id = "all \(delivery)"
        say(#"{"type":"subscribe","camera":"*","id":"\#(id)","delivery":"\#(delivery)"\#(since)}"#, ids: [id])
    }

    /// Sends queued data, possibly in small pieces or without ending the turn.
    mutating func send(_ random: inout Seeded, _ host: HubHost) {
        while !outbox.isEmpty, peer.isReading, !peer.isOver {
            let most = min(outbox.count, 65_536)
            let count = random.chance(0.8) ? most : random.integer(1...most)
            peer.put(Array(outbox.prefix(count)))
            outbox.removeFirst(count)
            if random.chance(0.7) { host.turn() }
        }
        if speech == .ending, outbox.isEmpty {
            speech = .ended
            peer.halfClose()
        }
    }

    // MARK: Receiving

    /// Handles a line; returns what is wrong with it.
    mutating func take(_ json: JSON) -> String? {
        let type = json["type"]?.string
        if type == "trace-ended" || type == "error" && ["busy", "leased"].contains(json["code"]?.string) {
            isReplaying = false
        }
        // What it had sent after a trace that another client ended is discarded.
        if type == "trace-ended", json["cut"] != nil { asked = [] }
        if let id = json["id"]?.string, waiting.remove(id) != nil {
            return type == "at-rest" || type == "error" ? nil : "no answer to who waits"
        }
        if let id = json["id"]?.string {
            guard id == asked.first else { return "no answer to \(asked.first ?? "anything")" }
            asked.removeFirst()
            take(json, for: id)
        }
        guard let camera = json["camera"]?.string, type != "camera", type != "lease",
            type != "replay" || json["id"] == nil
        else {
            return nil
        }
        if type == "subscribed" { return begin(camera, json) }
        if type == "removed", streams[camera] == nil, following?.read.removeValue(forKey: camera) != nil { return nil }
        guard streams[camera] != nil else { return "nobody asked for it" }
        if type == "removed" {
            streams[camera] = nil
            return nil
        }
        return streams[camera]?.take(json)
    }

    /// Handles the beginning of a subscription to a camera that was not requested by name.
    private mutating func begin(_ camera: String, _ json: JSON) -> String? {
        guard json["id"] == nil, camera != "*" else { return nil }
        guard let following else { return "nobody asked for it" }
        let words = following.read[camera].map { $0.split(separator: " ").map(String.init) }
        // For a camera made later the subscription begins there.
        self.following?.read[camera] = nil
        streams[camera] = SimulatedStream(json, words ?? [following.delivery], isEvery: following.delivery == "every")
        return nil
    }

    /// Handles an answer; its id encodes the request.
    private mutating func take(_ answer: JSON, for id: String) {
        let words = id.split(separator: " ").map(String.init)
        switch answer["type"]?.string {
        case _ where words[0] == "all":
            let read = resumed.removeFirst()
            guard answer["type"]?.string == "subscribed" else { break }
            (streams, following) = ([:], (words[1], read))
        case "ok" where words[0] == "unsubscribe" && words[1] == "*": (streams, following) = ([:], nil)
        case "subscribed": if let camera = answer["camera"]?.string { streams[camera] = SimulatedStream(answer, words) }
        case "ok" where words[0] == "unsubscribe": streams[words[1]] = nil
        default: break
        }
    }
}

/// A subscription from its client's point of view.
struct SimulatedStream {
    private let isEvery: Bool
    /// `nil` if only some kinds were requested: then there is no grammar.
    private var checker: StreamChecker?
    private(set) var epoch: String?
    /// The next seq with `every`, otherwise its lower bound; `nil` if unknown.
    private(set) var next: Double?
    /// Whether no event has come since the camera was reset.
    private var isAnew = false

    /// Begins a subscription with its answer and the words that requested it: `every`, `latest`, `chosen`, or `since`
    /// with seq and epoch.
    init(_ subscribed: JSON, _ words: [String], isEvery: Bool? = nil) {
        epoch = subscribed["epoch"]?.string
        self.isEvery = isEvery ?? (words[0] == "every" || words[0] == "since")
        checker = words[0] == "chosen" ? nil : StreamChecker(isEvery: self.isEvery)
        if words[0] == "since" {
            // In another epoch everything was missed.
            next = words[2] == epoch ? Double(words[1]).map { $0 + 1 } : 1
        } else {
            next = subscribed["seq"]?.number.map { $0 + 1 }
            _ = checker?.take(subscribed)
        }
    }

    /// Handles a line; returns what is wrong with it.
    mutating func take(_ line: JSON) -> String? {
        switch line["type"]?.string {
        case "gesture", "touch", "replay", "marker", "lease-taken", "lease-ended", "clock": return nil
        case "lagged":
            guard let seq = line["seq"]?.number, let missed = line["missed"]?.number else { return "no seq" }
            // Directly after a reset the missed events are counted over both epochs.
            if let next, isEvery, !isAnew, next + missed != seq + 1 { return "missed \(missed) after \(next - 1)" }
            (epoch, next) = (line["epoch"]?.string, isEvery ? seq + 1 : nil)
        case "reset": (epoch, next, isAnew) = (line["epoch"]?.string, (line["seq"]?.number ?? 0) + 1, true)
        default:
            guard let seq = line["seq"]?.number else { return "no seq" }
            if let next, isEvery ? seq != next : seq < next { return "seq \(seq), and not \(next)" }
            (next, isAnew) = (seq + 1, false)
        }
        return checker?.take(line)
    }
}
