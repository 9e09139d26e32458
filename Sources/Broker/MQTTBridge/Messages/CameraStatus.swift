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
}

extension CameraStatus {
    /// Whether the camera moves, or a motion has begun.
    package var isOnItsWay: Bool { isMoving || motion != nil }

    /// Returns the payload with this state.
    package func payload(_ stamp: Stamp) -> [UInt8] {
        var line = LineWriter(capacity: 512)
        line.write("{\"type\":\"camera-state\",\"camera\":")
        line.write(string: camera)
        line.write(",\"epoch\":")
        line.write(string: epoch)
        line.write(",\"seq\":")
        line.write(UInt64(max(seq, 0)))
        if let timeMs {
            line.write(",\"timeMs\":")
            line.write(FixedDecimal(timeMs, places: 3))
        }
        if let wallTime {
            line.write(",\"wallTime\":")
            line.write(wallTime)
        }
        line.write(",\"moving\":")
        line.write(isOnItsWay)
        if let reason {
            line.write(",\"reason\":")
            line.write(string: reason.rawValue)
        }
        line.write(",\"position\":")
        line.write(PrintedPosition(position))
        if let motion {
            line.write(",\"motion\":")
            line.write(motion)
        }
        line.follows(follows)
        line.stamp(stamp)
        line.write("}")
        return line.bytes
    }

    /// Reads a payload; `nil` if it is invalid, or has values that no camera can have.
    package static func read(_ payload: [UInt8]) -> (status: CameraStatus, stamp: Stamp)? {
        guard let members = members(of: payload, "camera-state"), let stamp = Stamp(members),
            let camera = members["camera"]?.string,
            let epoch = members["epoch"]?.string, FollowedCamera.isEpoch(epoch),
            let follows = FollowedCamera.chain(members["follows"]),
            let seq = members["seq"]?.integer, let isMoving = members["moving"]?.bool,
            let position = members["position"].flatMap({ try? CameraPosition($0) }), position.isOfAMirror
        else { return nil }
        let motion = members["motion"].flatMap { try? MotionStart($0) }
        guard (motion == nil) == (members["motion"] == nil) else { return nil }
        let status = CameraStatus(
            camera: camera, epoch: epoch, seq: seq, timeMs: members["timeMs"]?.number,
            wallTime: members["wallTime"].flatMap(WallTime.init),
            reason: (members["reason"]?.string).flatMap(MoveReason.init(rawValue:)), isMoving: isMoving,
            position: position, motion: motion, follows: follows)
        return (status, stamp)
    }
}

extension CameraPosition {
    /// Whether a camera that is sent here ends up exactly here, to the last digit.
    fileprivate var isOfAMirror: Bool {
        -LatLng.latitudeLimit...LatLng.latitudeLimit ~= target.latitude && -180..<180 ~= target.longitude
            && ZoomRange.limits ~= zoom
            && 0..<360 ~= bearing && 0...90 ~= viewingAngle
    }
}
