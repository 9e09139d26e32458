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

extension FollowedCamera {
    fileprivate init?(_ value: JSONValue) {
        guard let members = value.object, let node = members["node"]?.string, let camera = members["camera"]?.string,
            NodeTopics.isName(node), NodeTopics.isName(camera)
        else { return nil }
        let epoch = members["epoch"]?.string
        if let epoch, !Self.isEpoch(epoch) { return nil }
        self.init(node: node, camera: camera, epoch: epoch)
    }

    /// Whether a text may be an epoch, which is passed on to other readers.
    static func isEpoch(_ text: String) -> Bool { text.utf8.count <= 64 }

    /// Reads the chain of a payload, up to the limit; `nil` if it is invalid.
    static func chain(_ value: JSONValue?) -> [FollowedCamera]? {
        guard let value else { return [] }
        guard let array = value.array else { return nil }
        var chain: [FollowedCamera] = []
        for value in array.prefix(most) {
            guard let link = FollowedCamera(value) else { return nil }
            chain.append(link)
        }
        return chain
    }
}

// MARK: Between processes of one daemon

/// What a mirror tells its daemon's other clients in its `hello`, for a node in another process to publish.
struct MirroredCamera {
    let name: String
    let follows: [FollowedCamera]

    init(_ name: String, follows: [FollowedCamera]) { (self.name, self.follows) = (name, follows) }

    /// Reads what a client says of itself; `nil` if it is no mirror.
    init?(_ about: String) {
        guard let members = members(of: Array(about.utf8), "mirror"), let name = members["camera"]?.string,
            let follows = FollowedCamera.chain(members["follows"])
        else { return nil }
        self.init(name, follows: follows)
    }

    var about: String {
        var line = LineWriter(capacity: 512)
        line.write("{\"type\":\"mirror\",\"camera\":")
        line.write(string: name)
        line.follows(follows)
        line.write("}")
        return String(decoding: line.bytes, as: UTF8.self)
    }
}

extension LineWriter {
    /// Writes the member with the chain, unless it is empty.
    mutating func follows(_ chain: [FollowedCamera]) {
        guard !chain.isEmpty else { return }
        write(",\"follows\":[")
        for (index, link) in chain.prefix(FollowedCamera.most).enumerated() {
            write(index == 0 ? "{\"node\":" : ",{\"node\":")
            write(string: link.node)
            write(",\"camera\":")
            write(string: link.camera)
            if let epoch = link.epoch {
                write(",\"epoch\":")
                write(string: epoch)
            }
            write("}")
        }
        write("]")
    }
}
