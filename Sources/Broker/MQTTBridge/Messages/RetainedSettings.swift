// `camera-settings`, the retained settings of a node's camera: all that the daemon's `camera` has after the position,
// with the same digits.

import GimbalProtocol

/// The settings of a node's camera.
package struct RetainedSettings: Equatable, Sendable {
    package var camera: String
    package var settings: CameraSetup
}

extension RetainedSettings: Described {
    package static let blank = RetainedSettings(camera: "", settings: .blank)

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try visitor.member(.camera, &camera, .text())
        try settings.describe(&visitor)
    }

    /// Returns the payload with these settings.
    package func payload(_ stamp: Stamp) -> [UInt8] { stamp.payload("camera-settings", self) }

    /// Reads a payload; `nil` if it is invalid, or has settings that no camera can have.
    package static func read(_ payload: [UInt8]) -> (told: RetainedSettings, stamp: Stamp)? {
        Stamp.read(payload, "camera-settings").map { (told: $0, stamp: $1) }
    }
}
