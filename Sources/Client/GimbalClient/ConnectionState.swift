// The joint state of a `Gimbal`'s connections. They end one after the other, and each reader notices the end of its
// own. Invariant: one outage is reported once, by the reader that notices it first.

import Synchronization

extension Gimbal {
    /// Whether the daemon can be reached, as far as the client knows.
    public enum ConnectionState: Equatable, Sendable {
        /// There is no connection: nothing has been requested yet, or the client has closed it.
        case idle
        /// The daemon answers.
        case connected
        /// A connection ended, or could not be made, for this reason. Sequences of events reconnect as their
        /// ``Reconnection`` says; the next request reconnects, too.
        case lost(GimbalConnectionError)
    }

    /// Whether the daemon can be reached now, as far as the client knows.
    public var connectionState: ConnectionState { monitor.state }

    /// The state of the connection now, and then each change of it: connected, lost, connected again.
    ///
    /// It covers the connection of the requests and those of all sequences of events. Each call returns a new sequence,
    /// which makes no connection and ends when the `Gimbal` is released. The newest 16 changes wait for a slow loop.
    public var connectionStates: AsyncStream<ConnectionState> { monitor.states }
}

final class ConnectionMonitor: Sendable {
    /// The most changes that wait for a slow follower.
    private static let mostUnread = 16

    private struct Shared {
        var state = Gimbal.ConnectionState.idle
        var lastID = 0
        /// The last connection begun when the last outage was noticed: reports of connections up to it are stale.
        var lastOfOutage = 0
        /// Connections that have answered since the last outage, and have not ended.
        var answering = Set<Int>()
        var followers: [Int: AsyncStream<Gimbal.ConnectionState>.Continuation] = [:]

        mutating func change(to new: Gimbal.ConnectionState) {
            guard new != state else { return }
            state = new
            for follower in followers.values { follower.yield(new) }
        }
    }

    private let shared = Mutex(Shared())

    deinit {
        for follower in shared.withLock({ $0.followers.values.map { $0 } }) { follower.finish() }
    }

    // MARK: Followers

    var state: Gimbal.ConnectionState { shared.withLock { $0.state } }

    var states: AsyncStream<Gimbal.ConnectionState> {
        AsyncStream(bufferingPolicy: .bufferingNewest(Self.mostUnread)) { follower in
            let id = shared.withLock { shared in
                shared.lastID += 1
                shared.followers[shared.lastID] = follower
                follower.yield(shared.state)
                return shared.lastID
            }
            follower.onTermination = { [weak self] _ in
                self?.shared.withLock { _ = $0.followers.removeValue(forKey: id) }
            }
        }
    }

    // MARK: Connections

    /// Registers a connection that is about to be made; returns its id.
    func begin() -> Int {
        shared.withLock { shared in
            shared.lastID += 1
            return shared.lastID
        }
    }

    /// Notes that the daemon has answered on a connection for the first time.
    func answered(_ id: Int) {
        shared.withLock { shared in
            shared.answering.insert(id)
            shared.change(to: .connected)
        }
    }

    /// Notes that a connection could not be made, or that the daemon ended it.
    func lost(_ id: Int, _ error: GimbalConnectionError) {
        shared.withLock { shared in
            let wasAnswering = shared.answering.remove(id) != nil
            // An attempt that was begun before an answered one is no news, either.
            let known = max(shared.lastOfOutage, shared.answering.max() ?? 0)
            guard wasAnswering || id > known else { return }
            shared.answering = []
            shared.lastOfOutage = shared.lastID
            if case .lost = shared.state { return }
            shared.change(to: .lost(error))
        }
    }

    /// Notes that this side has ended a connection.
    func closed(_ id: Int) {
        shared.withLock { shared in
            let wasAnswering = shared.answering.remove(id) != nil
            if wasAnswering, shared.answering.isEmpty { shared.change(to: .idle) }
        }
    }
}
