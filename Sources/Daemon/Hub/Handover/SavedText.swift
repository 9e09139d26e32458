// The text of all cameras, kept from one save to the next: only changed cameras are written again, in slices, so that
// no turn takes long. Each camera's text is from one moment, but not all texts are from the same one.

import GimbalProtocol

/// The cameras of the hub whose ``Hub/savedText`` it is, updated by ``begin()`` and ``Hub/continueSaving(atMost:)``.
public final class SavedText {
    /// The lines of cameras, by name. They can be joined on another thread, which takes the longer the more there are.
    public struct Cameras: Sendable {
        fileprivate var lines: [String: [UInt8]] = [:]

        /// Returns the state as ``SavedState`` reads it.
        public func bytes(isLast: Bool) -> [UInt8] {
            SavedText.bytes(lines.sorted { $0.key < $1.key }.map(\.value), isLast: isLast)
        }
    }

    public private(set) var cameras = Cameras()
    /// Whether the text has changed since this was last reset.
    public var hasChanged = true
    /// The names of cameras that may have changed since ``begin()``, or were removed.
    private var unsaved: Set<String> = []
    /// The names still to check.
    private var rest: ArraySlice<String> = []

    public init() {}

    /// Whether something may have changed since ``begin()``.
    public var hasUnsaved: Bool { !unsaved.isEmpty }

    /// Notes a camera that may have changed. One that is made and removed between two saves leaves no trace.
    func note(_ name: String, isRemoved: Bool) {
        if isRemoved, cameras.lines[name] == nil { unsaved.remove(name) } else { unsaved.insert(name) }
    }

    /// Begins an update. Cameras that change from now on are updated the next time.
    public func begin() {
        rest += unsaved.sorted()
        unsaved = []
    }

    /// Updates up to `count` cameras; returns whether none are left.
    ///
    /// - Parameter lines: returns a camera's lines; `nil` if it is not to be saved.
    func update(atMost count: Int, _ lines: (String) -> [UInt8]?) -> Bool {
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

    /// Returns the state of cameras with these lines.
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

    /// Returns the 64-bit FNV-1a hash, which detects accidents, not malice.
    static func checksum(_ bytes: Span<UInt8>) -> UInt64 {
        var sum: UInt64 = 0xcbf2_9ce4_8422_2325
        for index in bytes.indices { sum = (sum ^ UInt64(bytes[index])) &* 0x100_0000_01b3 }
        return sum
    }
}
