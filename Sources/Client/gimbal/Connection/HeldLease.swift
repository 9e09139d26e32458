// The leases that `gimbal lease` holds for its command: passed in the environment, joined to move a camera.

import GimbalProtocol
import Glibc
import UnixSocket

struct HeldLease {
    let camera: String
    let number: Int

    static let variable = "GIMBAL_LEASE"

    /// The leases in this process's environment.
    static var all: [HeldLease] {
        (SocketPath.environmentValue(variable) ?? "").split(separator: ",").compactMap { told in
            let parts = told.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, let number = Int(parts[1]), Request.isCameraName(parts[0].utf8) else { return nil }
            return HeldLease(camera: String(parts[0]), number: number)
        }
    }

    /// Passes a lease on to the programs that this one starts, in addition to those that it was passed itself.
    static func tell(_ lease: CameraLease) {
        let all = all.filter { $0.camera != lease.camera } + [HeldLease(camera: lease.camera, number: lease.lease)]
        unsafe setenv(variable, all.map { "\($0.camera):\($0.number)" }.joined(separator: ","), 1)
    }
}
