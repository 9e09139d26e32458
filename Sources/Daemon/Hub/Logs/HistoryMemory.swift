// Where long histories can be kept so that the next process goes on with them as they are, without a copy.
// The hub does not know what kind of memory that is; without any, histories are kept as everything else is.

/// Memory that the next process has, too.
public protocol HistoryMemory: AnyObject {
    /// Bytes for a history; `nil` if there are none to be had, or it is too short to be worth it.
    func allocate(_ count: Int) -> HistoryRegion?
    /// Takes over bytes that the process before has left at an offset; `nil` if there are none.
    func adopt(at offset: UInt64, count: Int) -> HistoryRegion?
    /// Gives back what ``allocate(_:)`` or ``adopt(at:count:)`` gave.
    func free(_ region: HistoryRegion)
}

/// Bytes of a ``HistoryMemory``.
@safe public struct HistoryRegion {
    /// Where they are for the next process.
    public let offset: UInt64
    /// Where they are for this one.
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

    /// What the process before left; `nil` if it is not there.
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
