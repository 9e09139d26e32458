// The cameras by the bytes of their names, so that the one that a line names is found as it stands there: no string is made.
// Open addressing with a power of two of slots. Invariants: no two cameras have one name; at least half of the slots are
// empty; no empty one lies between where a camera's name hashes to and where the camera is.

struct CameraTable {
    private var slots = [HostedCamera?](repeating: nil, count: 16)
    private(set) var count = 0

    /// All cameras, in no order.
    var all: some Sequence<HostedCamera> { slots.lazy.compactMap { $0 } }

    subscript(name: String) -> HostedCamera? { self[name.utf8Span.span] }

    subscript(name: Span<UInt8>) -> HostedCamera? { slots[slot(of: name)] }

    /// Inserts a camera. Precondition: no camera has its name.
    mutating func insert(_ camera: HostedCamera) {
        if 2 * (count + 1) > slots.count { grow() }
        let slot = slot(of: camera.name.utf8Span.span)
        precondition(slots[slot] == nil, "there are two cameras \(camera.name)")
        slots[slot] = camera
        count += 1
    }

    mutating func remove(_ camera: HostedCamera) {
        var empty = slot(of: camera.name.utf8Span.span)
        guard slots[empty] != nil else { return }
        slots[empty] = nil
        count -= 1
        // Those behind it close the gap, unless they lie between where they hash to and it.
        var slot = next(empty)
        while let moving = slots[slot] {
            let distance = (slot - hashedSlot(of: moving.name.utf8Span.span)) & (slots.count - 1)
            if distance >= (slot - empty) & (slots.count - 1) {
                slots[empty] = moving
                slots[slot] = nil
                empty = slot
            }
            slot = next(slot)
        }
    }

    private mutating func grow() {
        let old = slots
        slots = [HostedCamera?](repeating: nil, count: 2 * old.count)
        for case let camera? in old { slots[slot(of: camera.name.utf8Span.span)] = camera }
    }

    /// Where a name's camera is, or would be.
    private func slot(of name: Span<UInt8>) -> Int {
        var slot = hashedSlot(of: name)
        while let camera = slots[slot], !camera.isNamed(name) { slot = next(slot) }
        return slot
    }

    /// Where a name hashes to. Clients choose the names: the hash is one that they cannot guess.
    private func hashedSlot(of name: Span<UInt8>) -> Int {
        var hasher = Hasher()
        unsafe name.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
        return hasher.finalize() & (slots.count - 1)
    }

    private func next(_ slot: Int) -> Int { (slot + 1) & (slots.count - 1) }
}
