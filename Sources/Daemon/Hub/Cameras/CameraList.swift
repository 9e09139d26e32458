// A list of cameras that something is still to be done for. Each camera stores which lists it is in, so that no search
// is needed. Invariant: a camera is in each list at most once.

struct CameraList {
    enum Purpose: UInt8 {
        case animating = 1
        case changed = 2
        case recorded = 4
        case idling = 8
        case presenting = 16
    }

    /// The lists that a camera is in. It is stored in the camera, and only lists change it.
    struct Membership {
        fileprivate var bits: UInt8 = 0
    }

    private let bit: UInt8
    private(set) var cameras: [HostedCamera] = []

    init(_ purpose: Purpose) { bit = purpose.rawValue }

    var isEmpty: Bool { cameras.isEmpty }

    /// Inserts a camera; returns `false` if it is in the list already.
    @discardableResult
    mutating func insert(_ camera: HostedCamera) -> Bool {
        guard camera.lists.bits & bit == 0 else { return false }
        camera.lists.bits |= bit
        cameras.append(camera)
        return true
    }

    mutating func removeAll(where shouldRemove: (HostedCamera) -> Bool) {
        let bit = bit
        cameras.removeAll { camera in
            guard shouldRemove(camera) else { return false }
            camera.lists.bits &= ~bit
            return true
        }
    }

    /// Removes all cameras; the list keeps its memory.
    mutating func removeAll() {
        while let camera = cameras.popLast() { camera.lists.bits &= ~bit }
    }
}
