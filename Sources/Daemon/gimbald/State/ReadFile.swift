// A file opened for reading. Another user may have put it there, so links are followed only if the administrator named
// the file, and pipes do not block.

import Glibc
import UnixSocket

struct ReadFile: ~Copyable {
    private let descriptor: CInt
    private let name: String
    /// The size in bytes.
    let size: Int

    /// Opens a file in a folder; `nil` if there is none.
    ///
    /// - Throws: also if it is not a regular file, or is longer than `longest` bytes.
    init?(
        _ name: String, in folder: CInt, atMost longest: Int, followsLinks: Bool = false
    ) throws(SystemError) {
        let links = followsLinks ? 0 : O_NOFOLLOW
        let file = unsafe openat(folder, name, O_RDONLY | links | O_NONBLOCK | O_CLOEXEC)
        if file < 0, errno == ENOENT { return nil }
        guard file >= 0 else { throw SystemError("open \(name)") }
        var status = stat()
        guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= longest else {
            _ = Glibc.close(file)
            throw SystemError("\(name) is not a file of at most \(longest) bytes", code: EINVAL)
        }
        (descriptor, self.name, size) = (file, name, Int(status.st_size))
    }

    deinit { _ = Glibc.close(descriptor) }

    /// Reads `count` bytes, or fewer at the end of the file.
    func read(from start: Int, _ count: Int) throws(SystemError) -> [UInt8] {
        try readFile(descriptor, from: start, count, "read \(name)")
    }
}

/// Reads `count` bytes of a file from an offset on, or fewer at its end.
///
/// - Parameter call: what an error says has failed, such as "read cameras.ndjson".
func readFile(_ descriptor: CInt, from start: Int, _ count: Int, _ call: String) throws(SystemError) -> [UInt8] {
    var failure: SystemError?
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
        while done < count {
            let rest = unsafe UnsafeMutableRawBufferPointer(
                rebasing: UnsafeMutableRawBufferPointer(buffer)[done...])
            let more = unsafe pread(descriptor, rest.baseAddress, rest.count, start + done)
            if more < 0, errno == EINTR { continue }
            if more < 0 { failure = SystemError(call) }
            guard more > 0 else { return }
            done += more
        }
    }
    if let failure { throw failure }
    return bytes
}

/// Writes bytes to a file from an offset on.
///
/// - Parameter call: what an error says has failed.
func writeFile(_ descriptor: CInt, _ bytes: [UInt8], at start: Int, _ call: String) throws(SystemError) {
    var done = 0
    while done < bytes.count {
        let more = unsafe bytes[done...].withUnsafeBytes {
            unsafe pwrite(descriptor, $0.baseAddress, $0.count, start + done)
        }
        if more < 0, errno == EINTR { continue }
        guard more > 0 else { throw SystemError(call) }
        done += more
    }
}
