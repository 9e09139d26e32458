// Datagrams of several sources with time between them: whatever they contain, the output is well formed, a source has
// the fingers of its last frame, the number of sources with fingers is limited, and silence lifts all of them.

import FuzzSupport
import TouchTraces

/// The fingers on each source's surface, according to the output frames.
private struct Surfaces {
    private var fingers: [String: Int] = [:]
    var isEmpty: Bool { fingers.isEmpty }

    mutating func take(_ frame: TUIOFrame) {
        let ids = Set(frame.fingers.map(\.id))
        check((1...64).contains(frame.source.utf8.count), "a name of \(frame.source.utf8.count) bytes")
        check(frame.source.utf8.allSatisfy { (0x21...0x7e).contains($0) }, "a name that is not printable")
        check(ids.count == frame.fingers.count && ids.count <= 256, "a finger twice, or too many: \(frame)")
        check(ids.allSatisfy { Int32(exactly: $0) != nil }, "a number that is too large: \(frame)")
        check(
            frame.fingers.allSatisfy { (0...1).contains($0.position.x) && (0...1).contains($0.position.y) },
            "a finger beside the surface: \(frame)")
        check(frame.timeMs?.isFinite ?? true, "no time: \(frame)")
        check(!frame.isCancelled || ids.isEmpty, "fingers that are lost: \(frame)")
        check(ids.count > 0 || fingers[frame.source] != nil, "fingers lift that were not there: \(frame)")
        fingers[frame.source] = ids.isEmpty ? nil : ids.count
        check(fingers.count <= TUIODecoder.mostSources, "\(fingers.count) sources")
    }
}

/// A datagram consists of a byte for its source and the bytes it lacks of a multiple of four, one for the preceding
/// delay, one for its length in units of four bytes, and its data.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var (rest, nowMs) = (input(start, count)[...], 0.0)
    var (decoder, surfaces) = (TUIODecoder(), Surfaces())
    while rest.count > 3 {
        let head = Array(rest.prefix(3))
        let datagram = rest.dropFirst(3).prefix(max(4 * Int(head[2]) - Int(head[0] >> 6), 0))
        rest = rest.dropFirst(3 + datagram.count)
        // A quarter of them arrive so late that earlier fingers have expired.
        nowMs += Double(head[1]) * 27
        let isDue = decoder.expiryMs.map { $0 <= nowMs } ?? false
        let gone = decoder.expire(at: nowMs)
        check(isDue == !gone.isEmpty, "\(gone) at \(nowMs)")
        for frame in gone { surfaces.take(frame) }
        let expiryMs = decoder.expiryMs
        let sender = head[0] & 0x3f
        do throws(TUIOError) {
            let frames = try decoder.read(datagram, from: "10.0.0.\(sender / 2)", port: Int(sender & 1), at: nowMs)
            for frame in frames {
                check(!frame.isCancelled, "lost without silence: \(frame)")
                surfaces.take(frame)
            }
        } catch {
            check(decoder.expiryMs == expiryMs, "something was taken of what is not right: \(error)")
        }
        check((decoder.expiryMs == nil) == surfaces.isEmpty, "fingers without an end")
    }
    for frame in decoder.expire(at: nowMs + TUIODecoder.longestSilenceMs) { surfaces.take(frame) }
    check(surfaces.isEmpty && decoder.expiryMs == nil, "fingers stay: \(surfaces)")
    return 0
}
