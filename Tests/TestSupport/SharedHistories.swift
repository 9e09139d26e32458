// Memory that hubs of one process pass on to each other, as processes do: what one has left, the next finds at its offset.

import Hub

/// What stays when a hub goes.
public final class SharedHistories {
    fileprivate var pieces: [UInt64: UnsafeMutableRawBufferPointer] = [:]
    private var offsets: UInt64 = 0
    /// Whose the pieces are now.
    private weak var owner: HubMemory?

    public init() {}

    deinit { for piece in pieces.values { piece.deallocate() } }

    /// How many pieces there are, and how many bytes they have.
    public var count: Int { pieces.count }
    public var bytes: Int { pieces.values.reduce(0) { $0 + $1.count } }

    /// Memory for the next hub. What the one before gives back from now on is not its any more.
    func next() -> HubMemory {
        owner?.isOver = true
        let next = HubMemory(self)
        owner = next
        return next
    }

    fileprivate func allocate(_ count: Int) -> HistoryRegion {
        offsets += 1
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
        pieces[offsets] = piece
        return HistoryRegion(offset: offsets, bytes: piece)
    }

    fileprivate func free(_ offset: UInt64) { pieces.removeValue(forKey: offset)?.deallocate() }
}

/// One hub's part of it.
final class HubMemory: HistoryMemory {
    private let shared: SharedHistories
    private var offsets: Set<UInt64> = []
    fileprivate(set) var isOver = false

    fileprivate init(_ shared: SharedHistories) { self.shared = shared }

    func allocate(_ count: Int) -> HistoryRegion? {
        let region = shared.allocate(count)
        offsets.insert(region.offset)
        return region
    }

    func adopt(at offset: UInt64, count: Int) -> HistoryRegion? {
        guard let piece = shared.pieces[offset], count <= piece.count, offsets.insert(offset).inserted else {
            return nil
        }
        return HistoryRegion(offset: offset, bytes: piece)
    }

    func free(_ region: HistoryRegion) {
        guard !isOver, offsets.remove(region.offset) != nil else { return }
        shared.free(region.offset)
    }

    /// Gives back what the hub before has left and this one has not adopted.
    func reclaimUnusedSpace() {
        for offset in shared.pieces.keys where !offsets.contains(offset) { shared.free(offset) }
    }
}
