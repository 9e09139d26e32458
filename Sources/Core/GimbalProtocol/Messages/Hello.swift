// `hello` (schema: client.hello, server.hello): which daemon answers.

import JSONLines

/// The daemon that answers.
public struct DaemonHello: Equatable, Sendable {
    /// The version of the protocol: 1.
    public package(set) var version: Int
    /// The program and its version.
    public package(set) var server: String
}

extension DaemonHello: Described {
    package static let blank = DaemonHello(server: "")

    package init(server: String) { (version, self.server) = (RequestDecoder.version, server) }

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try visitor.member(.version, &version, VersionRule())
        try visitor.member(.server, &server, .text())
    }
}
