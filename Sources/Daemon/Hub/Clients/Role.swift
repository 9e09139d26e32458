// What a client may do here. The transport that connects it decides; the hub does not ask why.
// Invariant: only this file says which requests change something.

import GimbalProtocol

/// What a client may do. It is stored as one pointer, since every client has a role.
public indirect enum Role: Equatable, Sendable {
    /// Feeds and commands cameras, watches and asks.
    case everything
    /// Watches and asks, and changes nothing; the reason is in the answer to requests that are denied.
    case watchOnly(because: String)

    /// Returns the error for a request that this role does not allow; `nil` if it does.
    func objection(to request: ClientRequest) -> GimbalError? {
        guard case .watchOnly(let reason) = self, request.changesSomething else { return nil }
        return GimbalError(.denied, field: "type", "this connection may only subscribe and query: \(reason)")
    }
}

extension ClientRequest {
    fileprivate var changesSomething: Bool {
        switch self {
        case .present, .trace, .traceEnd, .takeLease, .joinLease, .endLease: true
        default: isOfTraces || steersReplay
        }
    }
}
