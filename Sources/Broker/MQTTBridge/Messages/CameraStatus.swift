// `camera-state`, the retained state of a node's camera. Invariant: time and position keep the digits that the daemon
// sent, since rounding a rounded number again does not change it.

import GimbalProtocol
import MapCamera

/// The state of a node's camera.
package struct CameraStatus: Equatable, Sendable {
    package var camera: String
    package var epoch: String
    /// The number of the camera's last event.
    package var seq: Int
    /// Time and reason of that event, if it has them.
    package var timeMs: Double?
    /// The same time on the node's wall clock.
    package var wallTime: WallTime?
    package var reason: MoveReason?
    package var isMoving: Bool
    package var position: CameraPosition
    /// What moves the camera by itself, if the node publishes motions.
    package var motion: MotionStart?
    /// The camera that this one should follow, the one that it follows, and so on; empty if it follows none.
    package var follows: [FollowedCamera] = []

    /// Whether the camera moves, or a motion has begun.
    package var isOnItsWay: Bool { isMoving || motion != nil }
}

extension CameraStatus: RetainedMessage {
    package static let payloadType = "camera-state"
    package static let blank = CameraStatus(camera: "", epoch: "", seq: 0, isMoving: false, position: .blank)

    package var isPossible: Bool {
        FollowedCamera.isEpoch(epoch) && seq.isCount && position.isInRange
    }

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        var (moves, word) = (isOnItsWay, reason?.rawValue)
        try visitor.member(.camera, &camera, .text())
        try visitor.member(.epoch, &epoch, .text())
        try visitor.member(.seq, &seq, .seq)
        try visitor.member(.timeMs, &timeMs, .time)
        try visitor.member(.wallTime, &wallTime, .wallTime)
        try visitor.member(.moving, &moves, .flag)
        // A reason that this version does not know is none.
        try visitor.member(.reason, &word, .text())
        try visitor.object(.position, &position)
        try visitor.object(.motion, &motion)
        try FollowedCamera.describe(&visitor, &follows)
        (isMoving, reason) = (moves, word.flatMap(MoveReason.init(rawValue:)))
    }
}

extension CameraPosition {
    /// Whether its numbers are in the ranges of cameras' positions. Does not check the ceiling of the viewing angle.
    fileprivate var isInRange: Bool {
        -LatLng.latitudeLimit...LatLng.latitudeLimit ~= target.latitude && -180..<180 ~= target.longitude
            && ZoomRange.limits ~= zoom
            && 0..<360 ~= bearing && 0...90 ~= viewingAngle
    }
}
