// Files for a short while, which no other user can read, and whose names cannot be guessed beforehand.

import Glibc
import UnixSocket

package enum TemporaryFile {
    /// Makes an empty file that only this user may read and write, and that no program gets which this one starts.
    ///
    /// - Returns: its path and an open descriptor; both are the caller's to remove and to close.
    /// - Throws: what the system says of the folder.
    package static func make(
        in folder: String, named name: String, ending: String
    ) throws(SystemError) -> (path: String, descriptor: CInt) {
        // What is unique takes the place of six letters X.
        var template = Array("\(folder)/\(name)-\(String(repeating: "X", count: 6))\(ending)".utf8CString)
        let descriptor = unsafe mkstemps(&template, CInt(ending.utf8.count))
        guard descriptor >= 0, fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else { throw SystemError(folder) }
        return (String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self), descriptor)
    }
}
