// `hello` (schema: client.hello, server.hello): identifies the daemon.

/// The daemon's answer to `hello`.
public struct DaemonHello: Equatable, Sendable {
    /// The version of the protocol: 1.
    public package(set) var version: Int
    /// The program and its version.
    public package(set) var server: String
}

extension MemberVisitor where Self: ~Copyable {
    /// Visits the version of the protocol that a client speaks.
    mutating func version(_ version: inout Int) throws(Failure) {
        var number = Double(version)
        try member(.version, &number, .number(), hint: "it must be \(RequestDecoder.version)")
        try check(number == Double(RequestDecoder.version)) { path in
            let message = "only version \(RequestDecoder.version) is supported"
            return GimbalError(.unsupportedVersion, field: "\(path / .version)", message)
        }
        version = Int(exactly: number) ?? version
    }
}

extension DaemonHello: Described {
    package static let blank = DaemonHello(server: "")

    package init(server: String) { (version, self.server) = (RequestDecoder.version, server) }

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try visitor.member(.version, &version, .count)
        try visitor.member(.server, &server, .text())
    }
}
