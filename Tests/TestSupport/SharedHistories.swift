// Memory that hubs of one process hand over to each other, as processes do: the next finds each region at its offset.

import Hub

/// The memory that outlives a hub.
public final class SharedHistories {
    fileprivate var pieces: [UInt64: UnsafeMutableRawBufferPointer] = [:]
    private var offsets: UInt64 = 0
    /// The hub memory that owns the pieces now.
    private weak var owner: HubMemory?

    public init() {}

    deinit { for piece in pieces.values { piece.deallocate() } }

    /// The number of pieces, and of their bytes.
    public var count: Int { pieces.count }
    public var bytes: Int { pieces.values.reduce(0) { $0 + $1.count } }

    /// Returns memory for the next hub. From now on the previous hub frees nothing that it gives back, and what it still
    /// writes, when its peers are disconnected, goes nowhere: a process writes nothing after its handover.
    func next() -> HubMemory {
        if let owner {
            owner.left = Array(pieces.values)
            pieces = pieces.mapValues { piece in
                let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: piece.count, alignment: 1)
                copy.copyMemory(from: UnsafeRawBufferPointer(piece))
                return copy
            }
        }
        let next = HubMemory(self)
        owner = next
        return next
    }

    /// Returns the offset of new memory.
    fileprivate func allocate(_ count: Int) -> UInt64 {
        offsets += 1
        pieces[offsets] = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
        return offsets
    }

    fileprivate func free(_ offset: UInt64) { pieces.removeValue(forKey: offset)?.deallocate() }
}

/// One hub's part of the shared memory.
final class HubMemory: HistoryMemory {
    private let shared: SharedHistories
    private var offsets: Set<UInt64> = []
    /// The pieces that it had when the next hub got copies of them.
    fileprivate var left: [UnsafeMutableRawBufferPointer]?

    fileprivate init(_ shared: SharedHistories) { self.shared = shared }

    deinit { for piece in left ?? [] { piece.deallocate() } }

    func allocate(_ count: Int) -> HistoryRegion? { adopt(at: shared.allocate(count), count: count) }

    func adopt(at offset: UInt64, count: Int) -> HistoryRegion? {
        guard let piece = shared.pieces[offset], count <= piece.count, let start = piece.baseAddress,
            offsets.insert(offset).inserted
        else { return nil }
        return HistoryRegion(start, count: piece.count, offset: offset)
    }

    func free(_ region: HistoryRegion) {
        guard left == nil, let offset = region.offset, offsets.remove(offset) != nil else { return }
        shared.free(offset)
    }

    /// Frees what the previous hub has left and this one has not adopted.
    func reclaimUnusedSpace() {
        for offset in shared.pieces.keys where !offsets.contains(offset) { shared.free(offset) }
    }
}
