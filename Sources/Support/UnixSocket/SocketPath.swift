// The path of the daemon's socket. Daemon and client search in the same order.

/// The path of a daemon's socket in the file system.
public enum SocketPath {
    /// Returns the path to use if no option names one: in `$RUNTIME_DIRECTORY` (a system service), in
    /// `$XDG_RUNTIME_DIR` (a user's session), or in the user's own folder below /tmp.
    public static func standard(environment: (String) -> String? = environmentValue) -> String {
        if let folder = environment("RUNTIME_DIRECTORY")?.split(separator: ":").first {
            return "\(folder)/gimbal.sock"
        }
        if let folder = environment("XDG_RUNTIME_DIR"), !folder.isEmpty { return "\(folder)/gimbal.sock" }
        return "\(privateFolder)/gimbal.sock"
    }

    /// A folder that only this user may enter.
    static var privateFolder: String { "/tmp/gimbal-\(System.user)" }

    /// The system daemon's sockets: one for the users that it admits, and one where every user may watch.
    static let system = ["/run/gimbal/gimbal.sock", "/run/gimbal/watch.sock"]

    /// Returns where a client looks for a daemon, in this order: an option's path alone, else that of `$GIMBAL_SOCKET`
    /// alone; else gimbal.sock in `$RUNTIME_DIRECTORY`, in `$XDG_RUNTIME_DIR` and in the user's folder below /tmp, then
    /// the system's sockets.
    public static func candidates(
        _ option: String?, environment: (String) -> String? = environmentValue
    ) -> [String] {
        if let option { return [option] }
        if let path = environment("GIMBAL_SOCKET"), !path.isEmpty { return [path] }
        let folders =
            [environment("RUNTIME_DIRECTORY")?.split(separator: ":").first.map(String.init)]
            + [environment("XDG_RUNTIME_DIR"), privateFolder]
        let own = folders.compactMap { $0.flatMap { $0.isEmpty ? nil : "\($0)/gimbal.sock" } }
        return (own + system).reduce(into: []) { paths, path in if !paths.contains(path) { paths.append(path) } }
    }

    public static func environmentValue(_ name: String) -> String? { System.environmentValue(name) }

    /// Makes the private folder if the path is in it, and checks that only this user can enter it.
    package static func prepareFolder(of path: String) throws(SystemError) {
        guard path.hasPrefix(privateFolder + "/") else { return }
        try System.makePrivateFolder(privateFolder)
        try System.checkIsPrivate(privateFolder)
    }

    /// Checks, before a client connects to a path in the private folder, that only this user can enter that. Any user
    /// may make a folder of that name in /tmp, with a daemon of their own in it.
    static func checkFolder(of path: String) throws(SystemError) {
        guard path.hasPrefix(privateFolder + "/") else { return }
        do throws(SystemError) {
            try System.checkIsPrivate(privateFolder)
        } catch  where error.meansNoFile {
            throw SystemError("connect \(path)", code: error.code)
        }
    }
}
