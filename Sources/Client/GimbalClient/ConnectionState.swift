// The state of the connections of a `Gimbal`, all taken together: they end one after the other, and each end is noticed
// by its reader. Invariant: one outage is reported once, by the reader that notices it first.

import Synchronization

extension Gimbal {
    /// Whether the daemon can be reached, as far as this side knows.
    public enum ConnectionState: Equatable, Sendable {
        /// There is no connection: nothing was requested yet, or this side has closed it.
        case idle
        /// The daemon answers.
        case connected
        /// A connection ended, or could not be made, for this reason. Sequences of events reconnect by themselves, as
        /// their ``Reconnection`` says; the next request reconnects, too.
        case lost(GimbalConnectionError)
    }

    /// Whether the daemon can be reached now, as far as this side knows.
    public var connectionState: ConnectionState { monitor.state }

    /// The state of the connection now, and then each change of it: connected, lost, connected again.
    ///
    /// It tells of the connection of the requests and of those of all sequences of events. Each call makes a sequence
    /// of its own, which connects to nothing and ends when the `Gimbal` is not used any more. The newest 16 changes wait
    /// for a slow loop.
    public var connectionStates: AsyncStream<ConnectionState> { monitor.states }
}

final class ConnectionMonitor: Sendable {
    /// The most changes that wait for a slow follower.
    private static let mostUnread = 16

    private struct Shared {
        var state = Gimbal.ConnectionState.idle
        var lastID = 0
        /// The last connection that was begun when the last outage was noticed: what those up to it report is out of date.
        var lastOfOutage = 0
        /// Connections that have answered since then, and have not ended.
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

    /// A connection is about to be made; returns what it is known by.
    func begin() -> Int {
        shared.withLock { shared in
            shared.lastID += 1
            return shared.lastID
        }
    }

    /// The daemon has answered on a connection for the first time.
    func answered(_ id: Int) {
        shared.withLock { shared in
            shared.answering.insert(id)
            shared.change(to: .connected)
        }
    }

    /// A connection could not be made, or the daemon ended it.
    func lost(_ id: Int, _ error: GimbalConnectionError) {
        shared.withLock { shared in
            let wasAnswering = shared.answering.remove(id) != nil
            // An attempt that was begun before one that has been answered says nothing new, either.
            let known = max(shared.lastOfOutage, shared.answering.max() ?? 0)
            guard wasAnswering || id > known else { return }
            shared.answering = []
            shared.lastOfOutage = shared.lastID
            if case .lost = shared.state { return }
            shared.change(to: .lost(error))
        }
    }

    /// This side has ended a connection.
    func closed(_ id: Int) {
        shared.withLock { shared in
            let wasAnswering = shared.answering.remove(id) != nil
            if wasAnswering, shared.answering.isEmpty { shared.change(to: .idle) }
        }
    }
}
