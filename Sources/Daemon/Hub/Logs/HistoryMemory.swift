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

/// Bytes of a ``HistoryMemory``.
@safe public struct HistoryRegion {
    /// Where the next process finds them.
    public let offset: UInt64
    /// Where they are in this process.
    public let bytes: UnsafeMutableRawBufferPointer

    public init(offset: UInt64, bytes: UnsafeMutableRawBufferPointer) {
        self.offset = offset
        unsafe self.bytes = bytes
    }
}

/// The bytes of a ring, in shared memory or not.
@safe struct RingMemory {
    let start: UnsafeMutableRawPointer
    let count: Int
    let region: HistoryRegion?

    init(_ count: Int, in memory: (any HistoryMemory)?) {
        if let region = memory?.allocate(count), let start = unsafe region.bytes.baseAddress {
            unsafe (self.start, self.count, self.region) = (start, region.bytes.count, region)
        } else {
            unsafe (start, self.count, region) = (.allocate(byteCount: count, alignment: 1), count, nil)
        }
    }

    /// Takes over what the previous process left; `nil` if it is missing.
    init?(at offset: UInt64, count: Int, in memory: (any HistoryMemory)?) {
        guard count > 0, let region = memory?.adopt(at: offset, count: count),
            let start = unsafe region.bytes.baseAddress
        else { return nil }
        unsafe (self.start, self.count, self.region) = (start, region.bytes.count, region)
    }

    func free(in memory: (any HistoryMemory)?) {
        if let region { memory?.free(region) } else { unsafe start.deallocate() }
    }
}
