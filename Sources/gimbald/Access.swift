// Who may do what: the one place where users, groups and sockets are turned into what the hub knows, a role. It is decided
// by values alone, and users are known by their numbers.

import Glibc
import Hub
import UnixSocket

/// The socket that a client came by.
enum Entrance: UInt64, CaseIterable {
    case main
    /// For who may only watch.
    case watch
}

/// Who may feed and command cameras.
struct Access {
    /// Whom the options name; nobody: everybody may who can connect.
    var users: Set<uid_t> = []
    var groups: Set<gid_t> = []

    /// Whose the daemon is.
    var ownUser = geteuid()

    private var isOpen: Bool { users.isEmpty && groups.isEmpty }

    /// Whether no option takes anything from a user: root, and who could end the daemon as well.
    func isTrusted(_ user: uid_t) -> Bool { user == 0 || user == ownUser }

    func role(of client: PeerCredentials, by entrance: Entrance) -> Role {
        switch entrance {
        case .watch:
            return .watchOnly(because: "it came by the watch socket; gimbald's other socket takes more")
        case .main:
            let isNamed = users.contains(client.user) || !groups.isDisjoint(with: client.groups)
            if isOpen || isNamed || isTrusted(client.user) { return .everything }
            return .watchOnly(because: "gimbald's --allow-user and --allow-group do not name user \(client.user)")
        }
    }
}

/// How many connections each user has, by whichever socket.
struct ConnectionCounts {
    private var counts: [uid_t: Int] = [:]

    subscript(user: uid_t) -> Int { counts[user] ?? 0 }

    mutating func add(_ user: uid_t) { counts[user, default: 0] += 1 }

    mutating func remove(_ user: uid_t) { counts[user] = self[user] > 1 ? self[user] - 1 : nil }
}
