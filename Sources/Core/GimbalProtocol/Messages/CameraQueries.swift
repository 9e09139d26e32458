// Queries about a camera and their answers: `get-camera`, `camera-for-bounds`, `project`, `unproject`, `visible-region`
// and `cameras` (schema: client.get-camera, server.camera, and so on).

import Gestures
import MapCamera

/// The complete state of a camera. (The message `camera`, which rounds its numbers.)
@dynamicMemberLookup
public struct CameraState: Equatable, Sendable {
    /// The camera's name.
    public package(set) var camera: String
    /// The number of its last event; 0 before the first.
    public package(set) var seq: Int
    /// The camera's position.
    public package(set) var position: CameraPosition
    /// The camera's settings.
    public package(set) var setup: CameraSetup
    /// The wall-clock time at which the camera has the position, if the request named one.
    public package(set) var wallTime: WallTime?

    package init(
        camera: String, seq: Int, position: CameraPosition, setup: CameraSetup, wallTime: WallTime? = nil
    ) {
        (self.camera, self.seq, self.position, self.setup) = (camera, seq, position, setup)
        self.wallTime = wallTime
    }

    /// One of its settings, such as ``CameraSetup/viewport``.
    public subscript<Setting>(dynamicMember setting: KeyPath<CameraSetup, Setting>) -> Setting {
        setup[keyPath: setting]
    }
}

/// How bounds fit in a camera's viewport.
public struct BoundsFit: Equatable, Sendable {
    /// The fitting position; `nil` if padding and insets leave nothing of the viewport.
    public package(set) var position: CameraPosition?
    /// Whether the bounds would be entirely visible.
    public package(set) var fits: Bool

    package init(position: CameraPosition?, fits: Bool) { (self.position, self.fits) = (position, fits) }
}

extension CameraState: Described {
    package static let blank = CameraState(camera: "", seq: 0, position: .blank, setup: .blank)

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try visitor.member(.camera, &camera, .cameraName)
        try visitor.member(.seq, &seq, .seq)
        try visitor.object(.position, &position)
        try visitor.member(.wallTime, &wallTime, .wallTime)
        try setup.describe(&visitor)
    }
}

extension BoundsFit: Described {
    package static let blank = BoundsFit(position: nil, fits: false)

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try visitor.object(.position, &position, .nullable)
        try visitor.member(.fits, &fits, .flag)
    }
}

extension VisibleRegion: Described {
    package static let blank = VisibleRegion(nearLeft: .blank, nearRight: .blank, farLeft: .blank, farRight: .blank)

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try visitor.object(.nearLeft, &nearLeft)
        try visitor.object(.nearRight, &nearRight)
        try visitor.object(.farLeft, &farLeft)
        try visitor.object(.farRight, &farRight)
    }
}

extension LineWriter {
    /// Answers `cameras`. There may be thousands of names, so they are cached as text.
    ///
    /// - Parameter names: a JSON array.
    package mutating func cameras(_ names: Span<UInt8>, _ id: Span<UInt8>) {
        open(.cameras, id)
        member(.cameras)
        write(names)
        close()
    }
}
