// What a camera follows according to its bridge's options, what that follows, and so on: the chain at the end of a
// `camera-state`. A mirror whose own camera is in the chain of its source would follow itself.
// Invariant: a chain tells what bridges are asked to do, whether they do it or not. So all bridges of a circle see the
// same circle, and none starts because another has stopped.

import GimbalProtocol

/// A camera of a node that another camera follows.
package struct FollowedCamera: Equatable, Sendable {
    package var node: String
    package var camera: String
    /// Its epoch, as far as its follower knows it: two nodes that publish the same camera have the same epoch.
    package var epoch: String?

    /// The most cameras in a chain. A mirror with a longer one does not follow, since readers would not know all of it.
    package static let most = 32

    package init(node: String, camera: String, epoch: String? = nil) {
        (self.node, self.camera, self.epoch) = (node, camera, epoch)
    }

    var name: String { "\(node)/\(camera)" }

    func isNamed(as other: FollowedCamera) -> Bool { node == other.node && camera == other.camera }

    /// Returns the chain of a camera that follows a source, up to where a camera would repeat.
    static func chain(_ source: FollowedCamera, _ next: [FollowedCamera]) -> [FollowedCamera] {
        var chain = [source]
        for link in next {
            if chain.contains(where: link.isNamed) { break }
            chain.append(link)
        }
        return chain
    }
}

extension FollowedCamera: Described {
    package static let blank = FollowedCamera(node: "", camera: "")

    package var isPossible: Bool {
        NodeTopics.isName(node) && NodeTopics.isName(camera) && epoch.map(Self.isEpoch) ?? true
    }

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try visitor.member(.node, &node, .text())
        try visitor.member(.camera, &camera, .text())
        try visitor.member(.epoch, &epoch, .text())
    }

    /// Shows a visitor the member with a chain, up to the limit; an empty chain is omitted.
    static func describe<V: MemberVisitor & ~Copyable>(
        _ visitor: inout V, _ chain: inout [FollowedCamera]
    ) throws(V.Failure) {
        var links: [FollowedCamera]? = chain.isEmpty ? nil : Array(chain.prefix(most))
        try visitor.list(.follows, &links, .objects, .optional)
        chain = Array((links ?? []).prefix(most))
    }

    /// Whether a text may be an epoch, which is passed on to other readers: ASCII that JSON does not escape, so that a
    /// chain fits into what a client may say of itself.
    static func isEpoch(_ text: String) -> Bool {
        text.utf8.count <= 64 && text.utf8.allSatisfy { 0x20..<0x7f ~= $0 && $0 != 0x22 && $0 != 0x5c }
    }
}

// MARK: Between processes of one daemon

/// What a mirror tells its daemon's other clients in its `hello`, for a node in another process to publish.
struct MirroredCamera: Described {
    var name: String
    var follows: [FollowedCamera]

    static let blank = MirroredCamera("", follows: [])

    init(_ name: String, follows: [FollowedCamera]) { (self.name, self.follows) = (name, follows) }

    /// Reads what a client says of itself; `nil` if it is no mirror.
    init?(_ about: String) {
        guard let members = members(of: Array(about.utf8), "mirror"), let told = try? Self(.object(members))
        else { return nil }
        self = told
    }

    var about: String {
        var line = LineWriter(capacity: 512)
        line.write("{\"type\":\"mirror\"")
        line.members(of: self)
        line.write("}")
        return String(decoding: line.bytes, as: UTF8.self)
    }

    mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try visitor.member(.camera, &name, .text())
        try FollowedCamera.describe(&visitor, &follows)
    }
}
