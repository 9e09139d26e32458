// `hello`, `ping` and `ok` (schema: client.hello, client.ping, server.hello, server.pong, server.ok): which daemon
// answers, and that one does.

import JSONLines

/// The daemon that answers.
public struct DaemonHello: Equatable, Sendable {
    /// The version of the protocol: 1.
    public let version: Int
    /// The program and its version.
    public let server: String
}

extension RequestDecoder {
    /// The version of the protocol that is spoken here.
    static let version = 1
    /// The longest text by which a client tells others of itself, in bytes.
    package static let longestAbout = 8192

    func hello(_ object: Int, _ line: Span<UInt8>) throws(WireError) -> Request.Body {
        try version(object)
        guard let node = child(object, .about) else { return .hello(version: Self.version) }
        let about = tape[node].kind == .string ? text(node, line) : nil
        guard let about, about.utf8.count <= Self.longestAbout else {
            throw .wrong(FieldPath(.about), "must be a string of at most \(Self.longestAbout) bytes")
        }
        return .hello(version: Self.version, about: about)
    }

    func version(_ object: Int) throws(WireError) {
        guard child(object, .version) != nil else { throw .missing(FieldPath(.version), "it is 1") }
        guard try number(object, FieldPath(.version), .version) == Double(Self.version) else {
            throw WireError(.unsupportedVersion, field: "version", "only version 1 is spoken here")
        }
    }
}

extension LineWriter {
    package mutating func ok(_ id: Span<UInt8>) {
        open(.ok, id)
        close()
    }

    package mutating func hello(server: String, _ id: Span<UInt8>) {
        open(.hello, id)
        member("version", UInt64(RequestDecoder.version))
        member("server", server)
        close()
    }

    package mutating func pong(_ id: Span<UInt8>) {
        open(.pong, id)
        close()
    }
}

extension DaemonHello: MessageReadable {
    init(_ json: JSONValue) throws(DecodingError) {
        let members = try json.members()
        version = try members.get("version")
        server = try members.get("server")
    }
}
