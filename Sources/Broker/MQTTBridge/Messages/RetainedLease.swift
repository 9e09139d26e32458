// What the broker keeps of a camera's lease (Protocols/mqtt.md, "Who has leased it").

import GimbalProtocol
import JSONLines

/// The lease that a camera of a node has.
struct RetainedLease {
    var lease: CameraLease

    /// The payload that tells it.
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
