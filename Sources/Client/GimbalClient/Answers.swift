// The payload of an answer, by its type: the caller says which one it expects, and an answer of another type has none.

extension ServerMessage {
    /// Returns the payload if it has the expected type; a bare acknowledgement's is `Void`.
    package func answer<Answer>(as type: Answer.Type = Answer.self) -> Answer? {
        switch self {
        case .camera(let state): state as? Answer
        case .cameraForBounds(let fit): fit as? Answer
        case .point(let point): point as? Answer
        case .coordinate(let coordinate): coordinate as? Answer
        case .visibleRegion(let region): region as? Answer
        case .cameras(let names): names as? Answer
        case .stats(let stats): stats as? Answer
        case .traces(let traces): traces as? Answer
        case .clients(let page): page as? Answer
        case .atRest(let rest): rest as? Answer
        case .replay(let status): status as? Answer
        case .hello(let hello): hello as? Answer
        case .lease(let lease): lease as? Answer
        case .pong, .ok: () as? Answer
        case .event, .traceEnded, .error, .unknown: nil
        }
    }
}
