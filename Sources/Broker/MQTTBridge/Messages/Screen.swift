// `screen`, what a node publishes every ten seconds of a camera that mirrors another one with a play-out: whether it
// keeps in step. With `--skew`, the node of the other camera tells it its daemon's clients, and so the page.

import GimbalProtocol
import Service

/// A camera that follows another one, and how well it keeps in step.
struct Screen: Described, Equatable {
    var node: String
    var camera: String
    var follows: FollowedCamera
    /// How long before its time the last of ten seconds' positions arrived, in milliseconds; negative if it came too
    /// late. `nil` if none arrived.
    var leadMs: Double?
    /// How many of them came too late.
    var late: Int
    /// How good its machine's clock is; `nil` if unknown. An unsynchronized clock has no error.
    var synchronized: Bool?
    var errorMs: Double?

    static let blank = Screen(node: "", camera: "", follows: .blank, late: 0)

    var isPossible: Bool { NodeTopics.isName(node) && NodeTopics.isName(camera) }

    mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try visitor.member(.node, &node, .text())
        try visitor.member(.camera, &camera, .text())
        try visitor.object(.follows, &follows)
        try visitor.member(.leadMs, &leadMs, .time)
        try visitor.member(.late, &late, .count)
        try visitor.member(.synchronized, &synchronized, .flag)
        try visitor.member(.errorMs, &errorMs, .time)
    }
}

extension Screen {
    var payload: [UInt8] { Self.line("screen") { $0.members(of: self) } }

    /// Reads a payload; `nil` if it is no screen, or another one than its topic says.
    init?(_ delivery: Publication) {
        guard let members = members(of: delivery.payload, "screen"), let told = try? Self(.object(members)),
            delivery.topic == NodeTopics(told.node).screen(told.camera)
        else { return nil }
        self = told
    }

    fileprivate static func line(_ type: StaticString, _ members: (inout LineWriter) -> Void) -> [UInt8] {
        var line = LineWriter(capacity: 512)
        line.isRounded = true
        line.write("{\"type\":\"")
        line.write(type)
        line.write("\"")
        members(&line)
        line.write("}")
        return line.bytes
    }
}

/// The screens that follow a node's cameras.
struct Screens {
    /// How often each is published, and after how long a silent one is forgotten, in milliseconds.
    static let interval = 10_000.0
    private static let longestSilence = 25_000.0
    private static let most = 64
    /// The most bytes that a client may say of itself.
    private static let longest = 8192

    private var heard: [String: (screen: Screen, at: Double)] = [:]
    /// When to tell the daemon's other clients, or to forget those that are silent.
    private(set) var deadline: Double?

    mutating func note(_ screen: Screen, at now: Double) {
        let name = "\(screen.node)/\(screen.camera)"
        guard heard.count < Self.most || heard[name] != nil else { return }
        heard[name] = (screen, now)
        deadline = .earliest(deadline, now + 1000)
    }

    /// Returns what to tell the daemon's other clients if that is due; with `isAnew`, a daemon that has heard nothing.
    mutating func takeAbout(at now: Double, isAnew: Bool = false) -> String? {
        guard isAnew || deadline.map({ $0 <= now }) == true else { return nil }
        heard = heard.filter { $0.value.at > now - Self.longestSilence }
        deadline = heard.values.map(\.at).min().map { $0 + Self.longestSilence }
        var screens = heard.sorted { $0.key < $1.key }.map(\.value.screen)
        while true {
            let line = Screen.line("screens") { $0.list(.screens, &screens) }
            if line.count <= Self.longest { return String(decoding: line, as: UTF8.self) }
            screens.removeLast()
        }
    }
}
