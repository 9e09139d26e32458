// Short-lived files that no other user can read, with unpredictable names.

import Glibc
import UnixSocket

package enum TemporaryFile {
    /// Makes an empty file that only this user may read and write, and that programs started by this one do not get.
    ///
    /// - Returns: its path and an open descriptor; the caller removes and closes them.
    /// - Throws: the system's error for the folder.
    package static func make(
        in folder: String, named name: String, ending: String
    ) throws(SystemError) -> (path: String, descriptor: CInt) {
        // mkstemps(3) replaces the six letters X by a unique text.
        var template = Array("\(folder)/\(name)-\(String(repeating: "X", count: 6))\(ending)".utf8CString)
        let descriptor = unsafe mkstemps(&template, CInt(ending.utf8.count))
        guard descriptor >= 0, fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else { throw SystemError(folder) }
        return (String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self), descriptor)
    }
}
