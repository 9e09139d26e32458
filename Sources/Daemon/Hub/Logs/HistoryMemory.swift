// Memory for long histories, which the next process takes over as they are, without a copy. The hub does not know what
// kind of memory that is; without any, histories are handed over like everything else.

/// Memory that the next process can take over.
public protocol HistoryMemory: AnyObject {
    /// Allocates bytes for a history; `nil` if none are available, or the history is too short to be worth it.
    func allocate(_ count: Int) -> HistoryRegion?
    /// Takes over bytes that the previous process left at an offset; `nil` if there are none.
    func adopt(at offset: UInt64, count: Int) -> HistoryRegion?
    /// Frees what ``allocate(_:)`` or ``adopt(at:count:)`` returned.
    func free(_ region: HistoryRegion)
}

/// The bytes of a history.
@safe public struct HistoryRegion {
    /// Where they are in this process, and how many.
    public let start: UnsafeMutableRawPointer
    public let count: Int
    /// Where the next process finds them; `nil` if they are this process's alone.
    public let offset: UInt64?

    public init(_ start: UnsafeMutableRawPointer, count: Int, offset: UInt64?) {
        unsafe (self.start, self.count, self.offset) = (start, count, offset)
    }

    /// Allocates bytes, in shared memory if possible.
    init(_ count: Int, in memory: (any HistoryMemory)?) {
        self =
            unsafe memory?.allocate(count)
            ?? HistoryRegion(.allocate(byteCount: count, alignment: 1), count: count, offset: nil)
    }

    func free(in memory: (any HistoryMemory)?) {
        if offset != nil { memory?.free(self) } else { unsafe start.deallocate() }
    }
}
