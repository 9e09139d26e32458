// What a client may do here. The transport that brings it decides; the hub does not ask why.
// Invariant: this is the only place that says which requests change something.

import GimbalProtocol

/// What a client may do.
public enum Role: Equatable, Sendable {
    /// Feeds and commands cameras, watches and asks.
    case everything
    /// Watches and asks, and changes nothing; the reason goes into the answer to what it may not.
    case watchOnly(because: String)

    /// What a request is answered that this role does not allow; `nil` if it does.
    func objection(to request: ClientRequest) -> WireError? {
        guard case .watchOnly(let reason) = self, request.changesSomething else { return nil }
        return WireError(.denied, field: "type", "this connection may only subscribe and ask: \(reason)")
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
