// The text of all cameras, kept from one save to the next: only changed cameras are written again, a slice at a time,
// so that no turn takes long. Each camera's text is from one moment, but not all from the same one.

import GimbalProtocol

/// The cameras of a hub as text, to be brought up to date by ``Hub/beginSaving(_:)`` and ``Hub/continueSaving(_:atMost:)``.
public struct SavedText {
    /// The lines of cameras, by their names. They can be put together elsewhere, which takes as long as they are many.
    public struct Cameras: Sendable {
        fileprivate var lines: [String: [UInt8]] = [:]

        /// The state as ``SavedState`` reads it.
        public func bytes(isLast: Bool) -> [UInt8] {
            SavedText.bytes(lines.sorted { $0.key < $1.key }.map(\.value), isLast: isLast)
        }
    }

    public private(set) var cameras = Cameras()
    /// Whether it is another than when this was last set.
    public var hasChanged = true
    /// The names still to check.
    private var rest: ArraySlice<String> = []

    public init() {}

    mutating func begin(_ names: [String]) { rest = rest.isEmpty ? names[...] : rest + names }

    /// Brings cameras up to date; says whether that was all.
    ///
    /// - Parameter lines: a camera's lines; `nil` if it is not to be saved.
    mutating func update(atMost count: Int, _ lines: (String) -> [UInt8]?) -> Bool {
        for name in rest.prefix(count) {
            let new = lines(name)
            guard new != cameras.lines[name] else { continue }
            cameras.lines[name] = new
            hasChanged = true
        }
        rest = rest.dropFirst(count)
        return rest.isEmpty
    }

    // MARK: Bytes

    /// The state of cameras whose lines are these.
    static func bytes(_ cameras: [[UInt8]], isLast: Bool) -> [UInt8] {
        var line = LineWriter()
        line.writeHeading(isLast: isLast)
        var bytes = line.bytes
        bytes.reserveCapacity(cameras.reduce(1024) { $0 + $1.count })
        for camera in cameras { bytes += camera }
        line.clear()
        line.writeEnding(count: cameras.count, checksum: checksum(bytes.span))
        return bytes + line.bytes
    }

    /// FNV-1a of 64 bits: it is to tell accidents, not malice.
    static func checksum(_ bytes: Span<UInt8>) -> UInt64 {
        var sum: UInt64 = 0xcbf2_9ce4_8422_2325
        for index in bytes.indices { sum = (sum ^ UInt64(bytes[index])) &* 0x100_0000_01b3 }
        return sum
    }
}
