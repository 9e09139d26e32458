// A client of a simulation: it sends in shreds, reads with more or less appetite, and holds the hub to what it promises a
// client: each request is answered once and in order, and each subscription is of the grammar, without a gap that was not
// told.

import Hub
import TestSupport

struct SimulatedClient {
    /// How it reads.
    enum Appetite { case hungry, picky, stalled, broken }
    /// Whether it sends: what was said before the end still comes.
    enum Speech { case open, ending, ended }

    let peer: HubPeer
    var appetite = Appetite.hungry
    var speech = Speech.open
    /// Whether it feeds a trace, as far as it knows.
    var isReplaying = false
    var traceTime = 0.0
    /// The camera of the trace that it has sent last.
    var traceCamera: String?
    private(set) var streams: [String: SimulatedStream] = [:]
    /// The ids that have no answer yet.
    private(set) var asked: [String] = []
    /// The ids of requests that wait for a camera's rest: their answers come when they come.
    private var waiting: Set<String> = []
    /// What each request for all cameras that has no answer yet said of those that were read.
    private var resumed: [[String: String]] = []
    /// How a camera is subscribed to of which a line tells that nobody asked by its name.
    private var following: (delivery: String, read: [String: String])?
    /// What is still to be sent: in shreds, and as long as the hub reads.
    private var outbox: [UInt8] = []
    private var ids = 0

    init(_ peer: HubPeer) { self.peer = peer }

    /// A client that was here before, and remembers what it read.
    init(_ peer: HubPeer, after earlier: SimulatedClient) {
        self.peer = peer
        streams = earlier.streams
    }

    // MARK: What it sends

    mutating func newID() -> String {
        ids += 1
        return "q\(ids)"
    }

    /// Has a line to send. Each of its ids is answered, in this order.
    mutating func say(_ line: String, ids: [String] = []) {
        guard speech == .open else { return }
        asked += ids
        outbox += Array((line + "\n").utf8)
    }

    /// Has a request to send that waits for the rest of a camera.
    mutating func wait(for camera: String, _ members: String) {
        guard speech == .open else { return }
        ids += 1
        waiting.insert("w\(ids)")
        say(#"{"type":"await-idle","id":"w\#(ids)","camera":"\#(camera)"\#(members)}"#)
    }

    /// Has a request to send for all cameras, or for all from where they were read up to.
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

    /// Sends what waits, perhaps in shreds, perhaps with the turn's end later.
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

    // MARK: What it is told

    /// Takes a line; says what is wrong with it.
    mutating func take(_ json: JSON) -> String? {
        let type = json["type"]?.string
        if type == "trace-ended" || type == "error" && ["busy", "leased"].contains(json["code"]?.string) {
            isReplaying = false
        }
        // What it had sent behind a trace that another client ended is thrown away.
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

    /// Takes the beginning of a subscription to a camera that nobody asked for by its name.
    private mutating func begin(_ camera: String, _ json: JSON) -> String? {
        guard json["id"] == nil, camera != "*" else { return nil }
        guard let following else { return "nobody asked for it" }
        let words = following.read[camera].map { $0.split(separator: " ").map(String.init) }
        // What is told of a camera that comes later begins there.
        self.following?.read[camera] = nil
        streams[camera] = SimulatedStream(json, words ?? [following.delivery], isEvery: following.delivery == "every")
        return nil
    }

    /// Takes an answer. Its id says what was asked for.
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

/// A subscription, as its client knows it.
struct SimulatedStream {
    private let isEvery: Bool
    /// `nil` where only some kinds were asked for: there is no grammar then.
    private var checker: StreamChecker?
    private(set) var epoch: String?
    /// What the next seq must be with `every`, and what it must not be below otherwise; `nil` where nobody can tell.
    private(set) var next: Double?
    /// No event has come since the camera was set anew.
    private var isAnew = false

    /// The subscription that an answer begins, and the words with which it was asked for: `every`, `latest`, `chosen`, or
    /// `since` with seq and epoch.
    init(_ subscribed: JSON, _ words: [String], isEvery: Bool? = nil) {
        epoch = subscribed["epoch"]?.string
        self.isEvery = isEvery ?? (words[0] == "every" || words[0] == "since")
        checker = words[0] == "chosen" ? nil : StreamChecker(isEvery: self.isEvery)
        if words[0] == "since" {
            // Of another epoch all is missed.
            next = words[2] == epoch ? Double(words[1]).map { $0 + 1 } : 1
        } else {
            next = subscribed["seq"]?.number.map { $0 + 1 }
            _ = checker?.take(subscribed)
        }
    }

    /// Takes a line; says what is wrong with it.
    mutating func take(_ line: JSON) -> String? {
        switch line["type"]?.string {
        case "gesture", "touch", "replay", "marker", "lease-taken", "lease-ended", "clock": return nil
        case "lagged":
            guard let seq = line["seq"]?.number, let missed = line["missed"]?.number else { return "no seq" }
            // Right behind a reset, what was missed is counted over both epochs.
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
