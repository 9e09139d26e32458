// Prefetches memory that is written to soon. With a thousand cameras, the next one is in no cache of the processor: if
// prefetched, its memory arrives while another camera moves. A line to one of 1,000 cameras costs at most 1.3 times a
// line to the only one: `Tests/Benchmarks/report.py` checks that.

import CPrefetch

enum Prefetch {
    private static let cacheLine = 64

    /// Prefetches the first bytes of an object. It may have fewer: nothing is read.
    @inline(__always)
    static func object(_ object: AnyObject, bytes: Int) {
        unsafe memory(Unmanaged.passUnretained(object).toOpaque(), bytes: bytes)
    }

    /// Prefetches the first bytes of an array.
    @inline(__always)
    static func start(of bytes: [UInt8]) {
        unsafe bytes.withUnsafeBytes { bytes in
            if let start = bytes.baseAddress { unsafe memory(start, bytes: 1) }
        }
    }

    @inline(__always)
    static func memory(_ start: UnsafeRawPointer, bytes: Int) {
        for offset in stride(from: 0, to: bytes, by: cacheLine) { unsafe prefetch_for_writing(start + offset) }
    }
}
