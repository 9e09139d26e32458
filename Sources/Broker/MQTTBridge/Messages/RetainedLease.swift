// The retained message with a camera's lease (Protocols/mqtt.md, "Who has leased it").

import GimbalProtocol
import JSONLines

/// The lease of a node's camera.
struct RetainedLease {
    var lease: CameraLease

    /// Returns the payload with this lease.
    func payload(_ stamp: Stamp) -> [UInt8] {
        var line = LineWriter(capacity: 512)
        line.write("{\"type\":\"camera-lease\"")
        line.isRounded = true
        line.members(of: lease)
        line.stamp(stamp)
        line.write("}")
        return line.bytes
    }
}
