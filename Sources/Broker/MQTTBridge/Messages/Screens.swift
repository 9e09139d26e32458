// `screen`, what a node publishes every ten seconds of a camera that mirrors another one with a play-out: whether it
// keeps in step. With `--skew`, the node of the other camera tells it its daemon's clients, and so the page.

import GimbalProtocol
import Service

extension Screen {
    static let topicEnd = "/screen"

    /// Returns the payload for a screen that follows a camera.
    func payload(following source: FollowedCamera) -> [UInt8] {
        var line = LineWriter(capacity: 512)
        var source: FollowedCamera? = source
        line.isRounded = true
        line.write("{\"type\":\"screen\"")
        line.members(of: self)
        line.object(.follows, &source, blank: .blank, .optional)
        line.write("}")
        return line.bytes
    }

    /// Reads a message of the screen that its topic names, and what it follows; `nil` if it is none.
    static func read(_ delivery: Publication) -> (screen: Screen, source: FollowedCamera)? {
        guard !delivery.isRetained, let members = members(of: delivery.payload, "screen"),
            let screen = try? Screen(.object(members)), let follows = members["follows"],
            let source = try? FollowedCamera(follows), delivery.topic == NodeTopics(screen.node).screen(screen.camera)
        else { return nil }
        return (screen, source)
    }
}

/// The screens that follow a node's cameras.
struct Screens {
    /// How often each is published, after how long it counts as silent, and when it is forgotten, in milliseconds.
    static let interval = 10_000.0
    private static let longestSilence = 25_000.0
    private static let longestMemory = 300_000.0
    /// So one node does not take all places.
    private static let mostOfNode = 8

    private var heard: [String: (screen: Screen, at: Double)] = [:]
    /// When to tell the daemon's other clients.
    private(set) var deadline: Double?

    mutating func note(_ screen: Screen, at now: Double) {
        let name = "\(screen.node)/\(screen.camera)"
        if heard[name] == nil {
            let own = heard.filter { $0.value.screen.node == screen.node }
            let crowd = own.count >= Self.mostOfNode ? own : heard.count >= ScreenList.most ? heard : [:]
            // One that is silent makes room.
            if let oldest = crowd.min(by: { $0.value.at < $1.value.at }) {
                guard isSilent(oldest.value.at, now) else { return }
                heard[oldest.key] = nil
            }
        }
        heard[name] = (screen, now)
        deadline = .earliest(deadline, now + 1000)
    }

    private func isSilent(_ time: Double, _ now: Double) -> Bool { time <= now - Self.longestSilence }

    /// Returns what to tell the daemon's other clients if that is due; with `isAnew`, a daemon that has heard nothing.
    mutating func takeAbout(at now: Double, isAnew: Bool = false) -> String? {
        guard isAnew || deadline.map({ $0 <= now }) == true else { return nil }
        heard = heard.filter { $0.value.at > now - Self.longestMemory }
        deadline = heard.isEmpty ? nil : now + Self.interval
        var list = ScreenList(
            screens: heard.sorted { $0.key < $1.key }.map { _, heard in
                var screen = heard.screen
                screen.silentMs = isSilent(heard.at, now) ? now - heard.at : nil
                return screen
            })
        while list.line.count > RequestDecoder.longestAbout { list.screens.removeLast() }
        return String(decoding: list.line, as: UTF8.self)
    }
}
