// The daemon's connections, and the ended ones that are freed at the end of the turn.
// Invariant: a connection knows its index in the list, so it is never searched for.

import Hub

final class Connections {
    private(set) var all: [Connection] = []
    private(set) var counts = ConnectionCounts()
    private var retired: [Connection] = []
    /// The connections to be read after the others, in order.
    private var late: [Connection] = []

    func append(_ connection: Connection) {
        connection.index = all.count
        all.append(connection)
        counts.add(connection.user, connection.role)
    }

    /// Removes a connection; it is freed by ``releaseRetired()``.
    func retire(_ connection: Connection) {
        retired.append(connection)  // first: the list may hold the last reference
        let last = all.removeLast()
        if last !== connection {
            all[connection.index] = last
            last.index = connection.index
        }
        counts.remove(connection.user, connection.role)
    }

    func releaseRetired() {
        guard !retired.isEmpty else { return }
        for connection in retired { connection.release() }
        retired.removeAll(keepingCapacity: true)
    }

    // MARK: Deferred reading

    /// Defers a connection's read until all others of the turn have been read.
    func deferReading(_ connection: Connection) { late.append(connection) }

    /// Reads a connection that has sent much: one per turn, or a few if there are many, so that a client that sends
    /// little waits only a little. The others keep their places; their unread bytes are still there in the next turn.
    func readDeferred() {
        guard !late.isEmpty else { return }
        let count = 1 + late.count / 16
        for connection in late.prefix(count) { connection.readDeferred() }
        late.removeFirst(count)
    }
}
