// The file that keeps the cameras while the daemon is not running. It is replaced as a whole: written beside, flushed,
// then renamed. No name in here comes from a client.

import Glibc
import Hub
import UnixSocket

/// The folder of the state, and its only file.
struct StateFile {
    static let name = "cameras.ndjson"
    private static let newName = name + ".new"
    private static let damagedName = name + ".damaged"
    /// Enough for the highest limit of cameras, and a bound for what another user may have put there.
    private static let longest = 256 << 20

    /// The folder's descriptor. Its lock keeps a second daemon away.
    let folder: CInt

    /// Opens a folder for this process alone; makes it if it is missing and its parent exists.
    ///
    /// - Throws: `EADDRINUSE` if another daemon keeps its state there.
    init(folder path: String) throws(SystemError) {
        guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else { throw SystemError("mkdir \(path)") }
        folder = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw SystemError("open \(path)") }
        guard flock(folder, LOCK_EX | LOCK_NB) == 0 else {
            _ = Glibc.close(folder)
            throw SystemError("another daemon keeps its state in \(path)", code: EADDRINUSE)
        }
    }

    func close() { _ = Glibc.close(folder) }

    /// Whether a path still leads to this folder.
    func isAt(_ path: String) -> Bool {
        var (own, named) = (stat(), stat())
        return unsafe fstat(folder, &own) == 0 && stat(path, &named) == 0 && own.st_dev == named.st_dev
            && own.st_ino == named.st_ino
    }

    /// Returns the file's content; `nil` if there is no file.
    func read() throws(SystemError) -> [UInt8]? {
        guard let file = try ReadFile(Self.name, in: folder, atMost: Self.longest) else { return nil }
        let beginning = try file.read(from: 0, min(file.size, SavedState.edge))
        let end = try file.read(from: max(file.size - SavedState.edge, 0), min(file.size, SavedState.edge))
        do {
            try SavedState.checkEdges(beginning.span, end.span, size: file.size)
        } catch {
            throw SystemError("\(Self.name): \(error)", code: EINVAL)
        }
        return try file.read(from: 0, file.size)
    }

    /// Replaces the file's content. This takes as long as the disk does.
    func write(_ bytes: [UInt8]) throws(SystemError) {
        do throws(SystemError) {
            try writeNew(bytes)
            guard unsafe renameat(folder, Self.newName, folder, Self.name) == 0 else {
                throw SystemError("rename \(Self.newName)")
            }
        } catch {
            _ = unsafe unlinkat(folder, Self.newName, 0)
            throw error
        }
        guard fsync(folder) == 0 else { throw SystemError("fsync") }
    }

    private func writeNew(_ bytes: [UInt8]) throws(SystemError) {
        // Removes whatever has the name, so that nothing of another user's is written to: neither a pipe, which would
        // wait for a reader, nor a link to a file elsewhere.
        if unsafe unlinkat(folder, Self.newName, 0) != 0, errno != ENOENT {
            throw SystemError("unlink \(Self.newName)")
        }
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let file = unsafe openat(folder, Self.newName, flags, 0o600)
        guard file >= 0 else { throw SystemError("open \(Self.newName)") }
        defer { _ = Glibc.close(file) }
        try writeFile(file, bytes, at: 0, "write \(Self.newName)")
        guard fsync(file) == 0 else { throw SystemError("fsync \(Self.newName)") }
    }

    /// Renames a rejected file for the administrator to look at; replaces an earlier one.
    ///
    /// - Returns: its new name.
    func setAside() throws(SystemError) -> String {
        guard unsafe renameat(folder, Self.name, folder, Self.damagedName) == 0 else {
            throw SystemError("rename \(Self.name)")
        }
        return Self.damagedName
    }
}
