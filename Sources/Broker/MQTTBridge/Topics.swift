// The topics of a node and what they carry; see Protocols/mqtt.md. All are below `gimbal/NODE/`.

import GimbalProtocol
import Service

/// The kind of lines that a topic takes; the broker's access control is by kind.
package enum Inlet: String, CaseIterable, Sendable {
    /// Gestures.
    case gesture
    /// Fingers on a surface.
    case touch
    /// Commands and settings.
    case set
    /// Queries.
    case get
    /// Requests for missed events.
    case since
}

extension ClientRequest {
    /// The topic kind that takes a request of this type; `nil` if none does.
    package var inlet: Inlet? {
        switch family {
        case .gesture: .gesture
        case .touch: .touch
        case .command: .set
        case .query: .get
        case .steering, .connection: nil
        }
    }

    /// Returns the topic kind that takes requests of a `type`; `nil` if none does.
    static func inlet(of type: String) -> Inlet? { inlets[type] ?? nil }

    private static let inlets = Dictionary(uniqueKeysWithValues: blanks.map { ($0.type, $0.inlet) })
}

/// The topics of a node.
package struct NodeTopics: Sendable {
    package let node: String
    private let prefix: String

    package init(_ node: String) { (self.node, prefix) = (node, "gimbal/\(node)/") }

    /// Returns whether a text may be a node's name: 1 to 64 of `A-Z a-z 0-9 . _ -`, as for a camera.
    package static func isName(_ text: some StringProtocol) -> Bool { Request.isCameraName(text.utf8) }

    package var state: String { prefix + "$state" }
    package var claim: String { prefix + "$claim" }
    package func camera(_ name: String) -> String { prefix + name + "/camera" }
    package func settings(_ name: String) -> String { prefix + name + "/settings" }
    package func lease(_ name: String) -> String { prefix + name + "/lease" }
    /// How well a camera keeps in step, and the filter for those of all nodes.
    func screen(_ name: String) -> String { prefix + name + Screen.topicEnd }
    static let screens = "gimbal/+/+" + Screen.topicEnd
    package func event(_ name: String) -> String { prefix + name + "/event" }
    package func missed(_ name: String) -> String { prefix + name + "/missed" }
    package func error(_ name: String) -> String { prefix + name + "/error" }
    package func inlet(_ inlet: Inlet, of name: String) -> String { prefix + name + "/" + inlet.rawValue }

    /// The filters for the retained messages of all cameras.
    var retainedFilters: [String] { [camera("+"), settings("+"), lease("+")] }
    /// The filters for lines.
    var inlets: [String] { Inlet.allCases.map { inlet($0, of: "+") + "/#" } }

    /// Returns the camera of a topic for its retained messages.
    func camera(ofRetained topic: String) -> String? {
        guard let parts = parts(of: topic), parts.count == 2, ["camera", "settings", "lease"].contains(parts[1]) else {
            return nil
        }
        return parts[0]
    }

    /// Returns the camera, the kind of lines, and the publisher's name from a topic that takes lines. Camera and
    /// publisher are not checked.
    func incoming(_ topic: String) -> (camera: String, inlet: Inlet, feed: String?)? {
        guard let parts = parts(of: topic), parts.count >= 2, let inlet = Inlet(rawValue: parts[1]) else {
            return nil
        }
        return (parts[0], inlet, parts.count > 2 ? parts[2...].joined(separator: "/") : nil)
    }

    /// Returns the levels after the node's, split as bytes, as MQTT does: a `/` before a combining mark separates, too.
    private func parts(of topic: String) -> [String]? {
        guard topic.utf8.starts(with: prefix.utf8) else { return nil }
        let levels = topic.utf8.dropFirst(prefix.utf8.count).split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return levels.map { String(decoding: $0, as: UTF8.self) }
    }
}

/// Returns whether replies may go to the topic that a publisher asks for. The bridge may publish where publishers may
/// not, so below `gimbal/` only `gimbal/reply/` is allowed, which no client takes for anything else. A broker may end
/// the connection for a topic of too many levels, as mosquitto does for more than 200.
func isResponseTopic(_ topic: String) -> Bool {
    let bytes = topic.utf8
    return 1...1024 ~= bytes.count && bytes.count { $0 == UInt8(ascii: "/") } < 100
        && !bytes.contains(UInt8(ascii: "+")) && !bytes.contains(UInt8(ascii: "#"))
        && !bytes.starts(with: "$".utf8)
        && (!bytes.starts(with: "gimbal/".utf8) || bytes.starts(with: "gimbal/reply/".utf8))
}
