// The memory file that one process leaves to the next. Long histories are always in it, and are not copied; everything
// else is written behind them at a handover, in the layout of `Handover`.
//
// The file begins with three words of eight bytes, little-endian: a mark, the offset of the handover, and its length.
// The handover and the histories begin at multiples of 64 KiB behind that, whatever the machine's page size.

import Glibc
import Hub
import UnixSocket

@safe final class HandoverFile: HistoryMemory {
    /// The bytes "gimbal1" and a line feed.
    private static let mark: UInt64 = 0x0a31_6c61_626d_6967
    private static let headerSize = 24
    private static let step: UInt64 = 64 << 10

    let descriptor: CInt
    /// The end of the histories.
    private var end = step
    /// The length of each history, by its offset.
    private var regions: [UInt64: Int] = [:]

    init() throws(SystemError) {
        descriptor = unsafe memfd_create("gimbal-state", CUnsignedInt(MFD_CLOEXEC))
        guard descriptor >= 0 else { throw SystemError("memfd_create") }
    }

    private init(_ descriptor: CInt, size: UInt64) {
        self.descriptor = descriptor
        end = max(Self.roundedUp(size), Self.step)
    }

    private static func roundedUp(_ count: UInt64) -> UInt64 { (count + step - 1) / step * step }

    // MARK: Histories

    func allocate(_ count: Int) -> HistoryRegion? {
        // Shorter histories are copied faster than mapped.
        guard count >= Self.step else { return nil }
        let size = Self.roundedUp(UInt64(count))
        guard ftruncate(descriptor, off_t(end + size)) == 0, let region = map(end, Int(size)) else { return nil }
        end += size
        return region
    }

    func adopt(at offset: UInt64, count: Int) -> HistoryRegion? {
        guard offset >= Self.step, offset.isMultiple(of: Self.step), offset <= end, UInt64(count) <= end - offset,
            regions[offset] == nil
        else { return nil }
        return map(offset, Int(Self.roundedUp(UInt64(count))))
    }

    private func map(_ offset: UInt64, _ size: Int) -> HistoryRegion? {
        let start = unsafe mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, off_t(offset))
        guard let start = unsafe start, unsafe start != MAP_FAILED else { return nil }
        regions[offset] = size
        return unsafe HistoryRegion(start, count: size, offset: offset)
    }

    func free(_ region: HistoryRegion) {
        guard let offset = region.offset, let size = regions.removeValue(forKey: offset) else { return }
        _ = unsafe munmap(region.start, region.count)
        punch(offset..<(offset + UInt64(size)))
    }

    /// Returns memory to the system; the file keeps its length.
    private func punch(_ range: Range<UInt64>) {
        let mode: CInt = 0x02 | 0x01  // FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE
        guard !range.isEmpty else { return }
        _ = fallocate(descriptor, mode, off_t(range.lowerBound), off_t(range.count))
    }

    /// Frees everything except histories in use: the old handover, and histories that have not been adopted.
    func reclaimUnusedSpace() {
        var start: UInt64 = 0
        for (offset, size) in regions.sorted(by: { $0.key < $1.key }) {
            punch(start..<offset)
            start = offset + UInt64(size)
        }
        end = max(start, Self.step)
        _ = ftruncate(descriptor, off_t(end))
        if start == 0 { punch(0..<end) }
    }

    // MARK: Handing over

    /// Writes a handover behind the histories.
    func leave(_ handover: [UInt8]) throws(SystemError) {
        try writeFile(descriptor, handover, at: Int(end), "write to memory")
        var header: [UInt8] = []
        for word in [Self.mark, end, UInt64(handover.count)] {
            unsafe withUnsafeBytes(of: word.littleEndian) { unsafe header.append(contentsOf: $0) }
        }
        try writeFile(descriptor, header, at: 0, "write to memory")
    }

    // MARK: Taking over

    /// Reads what the process before left; `nil`, with the descriptor still open, if it is not a handover file.
    static func open(_ descriptor: CInt) -> (file: HandoverFile, bytes: [UInt8])? {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            let header = try? readFile(descriptor, from: 0, headerSize, "read memory")
        else { return nil }
        let words = unsafe header.withUnsafeBytes { header in
            (0..<(header.count / 8)).map { index in
                unsafe UInt64(littleEndian: header.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self))
            }
        }
        let size = UInt64(status.st_size)
        guard words.count == 3, words[0] == mark, words[1] <= size, words[2] <= size - words[1],
            let bytes = try? readFile(descriptor, from: Int(words[1]), Int(words[2]), "read memory"),
            bytes.count == Int(words[2])
        else { return nil }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return (HandoverFile(descriptor, size: size), bytes)
    }
}
