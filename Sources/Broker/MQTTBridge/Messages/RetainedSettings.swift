// `camera-settings`, the retained settings of a node's camera: all that the daemon's `camera` has after the position,
// with the same digits.

import GimbalProtocol

/// The settings of a node's camera.
package struct RetainedSettings: Equatable, Sendable {
    package var camera: String
    package var settings: CameraSetup
}

extension RetainedSettings: RetainedMessage {
    package static let payloadType = "camera-settings"
    package static let blank = RetainedSettings(camera: "", settings: .blank)

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try visitor.member(.camera, &camera, .text())
        try settings.describe(&visitor)
    }
}
