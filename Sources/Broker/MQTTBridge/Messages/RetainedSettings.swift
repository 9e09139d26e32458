// `camera-settings`, the retained settings of a node's camera: all that the daemon's `camera` has after the position,
// with the same digits.

import GimbalProtocol

/// The settings of a node's camera.
package struct RetainedSettings: Equatable, Sendable {
    package var camera: String
    package var settings: CameraSetup
}

extension RetainedSettings {
    /// Returns the payload with these settings.
    package func payload(_ stamp: Stamp) -> [UInt8] {
        var line = LineWriter(capacity: 512)
        line.write("{\"type\":\"camera-settings\",\"camera\":")
        line.write(string: camera)
        line.isRounded = true
        line.members(of: settings)
        line.stamp(stamp)
        line.write("}")
        return line.bytes
    }

    /// Reads a payload; `nil` if it is invalid, or has settings that no camera can have.
    package static func read(_ payload: [UInt8]) -> (told: RetainedSettings, stamp: Stamp)? {
        guard let members = members(of: payload, "camera-settings"), let stamp = Stamp(members),
            let camera = members["camera"]?.string, let settings = try? CameraSetup(.object(members))
        else { return nil }
        return (RetainedSettings(camera: camera, settings: settings), stamp)
    }
}
