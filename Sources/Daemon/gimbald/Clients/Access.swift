// Who may do what: the only place that turns users, groups and sockets into a role, which is all that the hub knows.
// The decision depends on values alone; users are identified by number.

import Glibc
import Hub
import Service
import UnixSocket

/// The socket on which a client connected.
enum SocketKind: Int, CaseIterable, Codable {
    case main
    /// For clients that may only watch.
    case watch

    /// Creates the kind of a socket that the service manager passes under a name; any other name is the main socket's.
    /// (systemd.socket(5): `FileDescriptorName=`)
    init(descriptorName name: String) { self = name == "watch" ? .watch : .main }

    /// The purpose of the socket, as part of a log message.
    var purpose: String {
        switch self {
        case .main: ""
        case .watch: "for watchers "
        }
    }

    /// The socket's path if neither an option nor the service manager names one; `nil` for no such socket.
    var standardPath: String? {
        switch self {
        case .main: SocketPath.standard()
        case .watch: nil
        }
    }
}

/// The users and groups that may feed and command cameras.
struct Access {
    /// The users who may feed; if this and `groups` are empty, all may.
    var users: Set<uid_t> = []
    var groups: Set<gid_t> = []

    /// The user that the daemon runs as.
    var ownUser = geteuid()

    /// The role of all clients of the watch socket; they share its memory.
    private static let watcher = Role.watchOnly(because: "it uses the watch socket; gimbald's other socket allows more")

    private var isOpen: Bool { users.isEmpty && groups.isEmpty }

    /// Whether no option restricts a user: root, and the user who could end the daemon anyway.
    func isTrusted(_ user: uid_t) -> Bool { user == 0 || user == ownUser }

    func role(of client: PeerCredentials, by socketKind: SocketKind) -> Role {
        switch socketKind {
        case .watch:
            return Self.watcher
        case .main:
            let isNamed = users.contains(client.user) || !groups.isDisjoint(with: client.groups)
            if isOpen || isNamed || isTrusted(client.user) { return .everything }
            return .watchOnly(because: "gimbald's --allow-user and --allow-group do not name user \(client.user)")
        }
    }
}

/// The number of connections, over all sockets.
struct ConnectionCounts {
    private(set) var all = 0
    /// The number of connections that may only watch.
    private(set) var watching = 0
    private var users: [uid_t: Int] = [:]

    mutating func add(_ user: uid_t, _ role: Role) {
        all += 1
        users[user, default: 0] += 1
        if role != .everything { watching += 1 }
    }

    mutating func remove(_ user: uid_t, _ role: Role) {
        all -= 1
        users[user] = users[user, default: 1] > 1 ? users[user, default: 1] - 1 : nil
        if role != .everything { watching -= 1 }
    }

    /// Returns why one more is refused; `nil` if it is not. Room is kept for clients that may feed, and for root.
    ///
    /// - Parameter isTrusted: whether the user is root or the daemon's own.
    func objection(to user: uid_t, _ role: Role, isTrusted: Bool, _ limits: Limits) -> String? {
        if all >= limits.connections { return Self.thereAre(all, "") }
        if role != .everything, watching >= limits.watchingConnections {
            return Self.thereAre(watching, " that may only watch")
        }
        if isTrusted { return nil }
        let own = users[user] ?? 0
        if own >= limits.connectionsPerUser { return "user \(user) has \(counted(own, "connection"))" }
        guard all >= limits.untrustedConnections else { return nil }
        return Self.thereAre(all, "; the rest are reserved for root")
    }

    private static func thereAre(_ connections: Int, _ what: String) -> String {
        "there \(connections == 1 ? "is" : "are") \(counted(connections, "connection"))\(what)"
    }
}
