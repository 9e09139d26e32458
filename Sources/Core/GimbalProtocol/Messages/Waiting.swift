// `at-rest` (schema: server.at-rest): the answer to `await-idle`, when the camera rests.

import MapCamera

/// A camera at rest: no gesture is active, and nothing moves it.
public struct CameraRest: Equatable, Sendable {
    /// The camera's name.
    public package(set) var camera: String
    /// The epoch of `seq`; changes when a replay resets the camera. `nil` for a camera that does not exist.
    public package(set) var epoch: String?
    /// The `seq` of the camera's last event; 0 before the first.
    public package(set) var seq: Int
    /// The camera's position.
    public package(set) var position: CameraPosition
}

extension CameraRest: Described {
    package static let blank = CameraRest(camera: "", epoch: nil, seq: 0, position: .blank)

    package init(camera: String, epoch: String?, seq: UInt64, position: CameraPosition) {
        (self.camera, self.epoch, self.seq, self.position) = (camera, epoch, Int(clamping: seq), position)
    }

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try visitor.member(.camera, &camera, .cameraName)
        try visitor.member(.epoch, &epoch, .text())
        try visitor.member(.seq, &seq, .seq)
        try visitor.object(.position, &position)
    }
}
