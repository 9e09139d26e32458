// A client's identity, as the kernel noted it at connection: later changes, such as another user, do not count. Also
// the names of users and groups, from the system's databases.

import Glibc
import UnixSocket

/// The user and the groups of the process that connected.
package struct PeerCredentials: Equatable, Sendable {
    package let user: uid_t
    /// The process that connected; 0 if it is in another namespace.
    package let process: pid_t
    /// All of its groups, including supplementary ones.
    package let groups: Set<gid_t>

    package init(user: uid_t, groups: Set<gid_t>, process: pid_t = 0) {
        (self.user, self.groups, self.process) = (user, groups, process)
    }

    /// Reads the credentials of a connected socket. (unix(7): `SO_PEERCRED`; socket(7): `SO_PEERGROUPS`.)
    ///
    /// - Parameter groups: whether supplementary groups are wanted; omitting them saves a system call.
    package init(of descriptor: CInt, groups wantsGroups: Bool = true) throws(SystemError) {
        // struct ucred of <sys/socket.h>, which Swift does not import: process, user, group.
        let client = try Self.option(SO_PEERCRED, of: descriptor, count: 3)
        guard client.count == 3 else { throw SystemError("SO_PEERCRED", code: EINVAL) }
        process = pid_t(bitPattern: client[0])
        user = client[1]
        groups = Set(wantsGroups ? try Self.option(SO_PEERGROUPS, of: descriptor, count: 32) : []).union([client[2]])
    }

    /// Reads 32-bit numbers; reads all of them even if there are more than `count`.
    private static func option(_ name: CInt, of descriptor: CInt, count: Int) throws(SystemError) -> [UInt32] {
        var numbers = [UInt32](repeating: 0, count: count)
        var length = socklen_t(4 * count)
        guard unsafe getsockopt(descriptor, SOL_SOCKET, name, &numbers, &length) == 0 else {
            if errno == ERANGE, Int(length) > 4 * count {
                return try option(name, of: descriptor, count: Int(length) / 4)
            }
            throw SystemError("getsockopt \(name)")
        }
        return Array(numbers.prefix(Int(length) / 4))
    }
}

/// Names of users and groups.
package enum Account {
    /// Returns the number of a user given by name or by number; `nil` if there is no such name.
    package static func user(_ text: String) -> uid_t? {
        if let entry = unsafe getpwnam(text) { return unsafe entry.pointee.pw_uid }
        return number(text)
    }

    /// Returns the name of a user; `nil` if it has none.
    package static func name(ofUser user: uid_t) -> String? {
        unsafe getpwuid(user).map { unsafe String(cString: $0.pointee.pw_name) }
    }

    /// Returns the number of a group, likewise.
    package static func group(_ text: String) -> gid_t? {
        if let entry = unsafe getgrnam(text) { return unsafe entry.pointee.gr_gid }
        return number(text)
    }

    /// The highest number stands for no user. (chown(2))
    private static func number(_ text: String) -> UInt32? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return UInt32(text).flatMap { $0 == .max ? nil : $0 }
    }
}
