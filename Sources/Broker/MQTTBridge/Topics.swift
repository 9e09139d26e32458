// The topics of a node and what is in them, as Protocols/mqtt.md has it. A node's topics lie below `gimbal/NODE/`.

import GimbalProtocol

/// What kind of lines a topic takes: the broker's access control goes by it.
package enum Inlet: String, CaseIterable, Sendable {
    /// Reports of gestures.
    case gesture
    /// Fingers on a surface.
    case touch
    /// Commands and settings.
    case set
    /// Questions.
    case get
    /// Events that a client has missed.
    case since
}

extension ClientRequest {
    /// The topic that a request of this type comes by; `nil` if none takes it.
    package var inlet: Inlet? {
        switch family {
        case .gesture: .gesture
        case .touch: .touch
        case .command: .set
        case .query: .get
        case .connection: nil
        }
    }

    /// The topic that requests of a `type` come by; `nil` if none takes them.
    static func inlet(of type: String) -> Inlet? { inlets[type] ?? nil }

    private static let inlets = Dictionary(uniqueKeysWithValues: blanks.map { ($0.type, $0.inlet) })
}

/// The topics of a node.
package struct NodeTopics: Sendable {
    package let node: String
    private let prefix: String

    package init(_ node: String) { (self.node, prefix) = (node, "gimbal/\(node)/") }

    /// Whether a text may be a node's name: 1 to 64 of `A-Z a-z 0-9 . _ -`, as that of a camera.
    package static func isName(_ text: some StringProtocol) -> Bool { Request.isCameraName(text.utf8) }

    static func isName(_ text: ArraySlice<UInt8>) -> Bool { Request.isCameraName(text) }

    package var state: String { prefix + "$state" }
    package var claim: String { prefix + "$claim" }
    package func camera(_ name: String) -> String { prefix + name + "/camera" }
    package func settings(_ name: String) -> String { prefix + name + "/settings" }
    package func lease(_ name: String) -> String { prefix + name + "/lease" }
    package func event(_ name: String) -> String { prefix + name + "/event" }
    package func missed(_ name: String) -> String { prefix + name + "/missed" }
    package func error(_ name: String) -> String { prefix + name + "/error" }
    package func inlet(_ inlet: Inlet, of name: String) -> String { prefix + name + "/" + inlet.rawValue }

    /// The filters for the retained messages of all cameras.
    var retainedFilters: [String] { [camera("+"), settings("+"), lease("+")] }
    /// The filters for lines.
    var inlets: [String] { Inlet.allCases.map { inlet($0, of: "+") + "/#" } }

    /// The camera of a topic that has what the broker has kept of it.
    func camera(ofRetained topic: String) -> String? {
        guard let parts = parts(of: topic), parts.count == 2, ["camera", "settings", "lease"].contains(parts[1]) else {
            return nil
        }
        return parts[0]
    }

    /// What a topic that takes lines says: the camera, the kind of lines, and whose they are. The camera's name, and what
    /// is behind the kind, are as they came.
    func incoming(_ topic: String) -> (camera: String, inlet: Inlet, feed: String?)? {
        guard let parts = parts(of: topic), parts.count >= 2, let inlet = Inlet(rawValue: parts[1]) else {
            return nil
        }
        return (parts[0], inlet, parts.count > 2 ? parts[2...].joined(separator: "/") : nil)
    }

    /// The levels of a topic behind the node's, by bytes, as MQTT has it: a mark that combines with a `/` is a level's first.
    private func parts(of topic: String) -> [String]? {
        guard topic.utf8.starts(with: prefix.utf8) else { return nil }
        let levels = topic.utf8.dropFirst(prefix.utf8.count).split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return levels.map { String(decoding: $0, as: UTF8.self) }
    }
}

/// Whether replies may go to a topic that a publisher asks for. The bridge may publish what publishers may not: below
/// `gimbal/` replies are only told where no client takes them for anything else.
func isResponseTopic(_ topic: String) -> Bool {
    let bytes = topic.utf8
    return 1...1024 ~= bytes.count && !bytes.contains(UInt8(ascii: "+")) && !bytes.contains(UInt8(ascii: "#"))
        && !bytes.starts(with: "$".utf8)
        && (!bytes.starts(with: "gimbal/".utf8) || bytes.starts(with: "gimbal/reply/".utf8))
}
