// A file that is read. It may be what another user has put there: no link is followed unless the administrator named the file,
// and no pipe waited for.

import Glibc
import UnixSocket

struct ReadFile: ~Copyable {
    private let descriptor: CInt
    private let name: String
    /// Bytes.
    let size: Int

    /// Opens a file of a folder; `nil` if there is none.
    ///
    /// - Throws: also for what is no file, and for one that has more than so many bytes.
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
            throw SystemError("\(name) is no file of at most \(longest) bytes", code: EINVAL)
        }
        (descriptor, self.name, size) = (file, name, Int(status.st_size))
    }

    deinit { _ = Glibc.close(descriptor) }

    /// Reads so many bytes, or less where the file ends.
    func read(from start: Int, _ count: Int) throws(SystemError) -> [UInt8] {
        var failure: SystemError?
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
            while done < count {
                let rest = unsafe UnsafeMutableRawBufferPointer(
                    rebasing: UnsafeMutableRawBufferPointer(buffer)[done...])
                let more = unsafe pread(descriptor, rest.baseAddress, rest.count, start + done)
                if more < 0, errno == EINTR { continue }
                if more < 0 { failure = SystemError("read \(name)") }
                guard more > 0 else { return }
                done += more
            }
        }
        if let failure { throw failure }
        return bytes
    }
}
