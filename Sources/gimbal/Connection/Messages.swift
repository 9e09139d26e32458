// What the daemon says, as far as the program looks into it. A line is passed on as it came; only what is shown to people
// or decides something is decoded.

import GimbalClient

/// A line from the daemon.
struct Message {
    let bytes: ArraySlice<UInt8>
    /// Its `type`; empty for what is no message.
    let type: String

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        type = Self.leadingType(bytes) ?? Self.decode(Typed.self, bytes)?.type ?? ""
    }

    /// A line from a daemon, which other programs may be taken for.
    ///
    /// - Throws: a `Failure` if it is no message.
    init(fromDaemon bytes: ArraySlice<UInt8>) throws(Failure) {
        self.init(bytes)
        guard !type.isEmpty else { throw Failure(.unavailable, "\(GimbalConnectionError.unexpected(bytes))") }
    }

    /// The type of a line that begins with it, as the daemon's lines do: thousands of them are only looked at.
    private static func leadingType(_ bytes: ArraySlice<UInt8>) -> String? {
        guard bytes.starts(with: opening) else { return nil }
        let rest = bytes.dropFirst(opening.count)
        guard let end = rest.firstIndex(of: UInt8(ascii: "\"")) else { return nil }
        return String(decoding: rest[..<end], as: UTF8.self)
    }

    private static let opening = Array(#"{"type":""#.utf8)

    private struct Typed: Decodable {
        var type: String
    }

    func decode<Body: Decodable>(_ body: Body.Type) -> Body? { Self.decode(body, bytes) }

    private static func decode<Body: Decodable>(_ body: Body.Type, _ bytes: ArraySlice<UInt8>) -> Body? {
        try? JSONLine.decode(body, bytes)
    }

    /// The line without what differs from run to run of one trace: the epoch of a `reset`, its last member.
    var withoutEpoch: ArraySlice<UInt8> {
        guard type == "reset", let epoch = decode(CameraReset.self)?.epoch else { return bytes }
        let ending = Array(#","epoch":"\#(epoch)"}"#.utf8)
        guard bytes.suffix(ending.count).elementsEqual(ending) else { return bytes }
        return bytes.dropLast(ending.count) + [UInt8(ascii: "}")]
    }

    /// Whether it tells a movement of a camera.
    var isEvent: Bool { EventKind(rawValue: type) != nil || type == "reset" }
}

// MARK: As people read it

extension Lagged {
    var text: String { "\(counted(missed, "event")) of camera \(camera) missed" }
}
