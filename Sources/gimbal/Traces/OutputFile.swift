// Where a subcommand writes what it makes: a file, or standard output.

import Glibc
import UnixSocket

/// A file that takes its place when it is whole: what ends before leaves what was there.
final class OutputFile {
    private let name: String?
    /// Where a regular file is written until it is whole.
    private var part: String?
    private var descriptor: CInt = -1

    /// - Parameter name: the file; `nil` and `-` are standard output.
    init(_ name: String?) { self.name = name == "-" ? nil : name }

    deinit {
        if descriptor > STDERR_FILENO { _ = close(descriptor) }
        if let part { _ = unsafe unlink(part) }
    }

    /// Writes all of the bytes.
    ///
    /// - Throws: `ClosedOutput`, `Interrupt`, or a `Failure`.
    func write(_ bytes: [UInt8]) throws {
        guard !bytes.isEmpty else { return }
        if descriptor < 0 { try open() }
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { all in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: all[written...])
                return unsafe Glibc.write(descriptor, rest.baseAddress, rest.count)
            }
            if count >= 0 {
                written += count
            } else {
                try fail()
            }
        }
    }

    private func open() throws {
        guard let name else {
            descriptor = STDOUT_FILENO
            return
        }
        var status = stat()
        let isThere = unsafe stat(name, &status) == 0
        if isThere, status.st_mode & S_IFMT != S_IFREG {
            descriptor = unsafe Glibc.open(name, O_WRONLY | O_CLOEXEC)
        } else {
            let part = "\(name).\(getpid()).part"
            descriptor = unsafe Glibc.open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
            if descriptor >= 0 { self.part = part }
            if descriptor >= 0, isThere { _ = fchmod(descriptor, status.st_mode & 0o7777) }
        }
        if descriptor < 0 { throw Failure(.ioError, "\(SystemError(name))") }
    }

    /// Puts the file in its place. To be called when all has been written.
    func finish() throws {
        guard let name, descriptor >= 0 else { return }
        let isClosed = close(descriptor) == 0
        descriptor = -1
        guard isClosed else { throw Failure(.ioError, "\(SystemError(name))") }
        guard let part else { return }
        guard unsafe rename(part, name) == 0 else { throw Failure(.ioError, "\(SystemError(name))") }
        self.part = nil
    }

    private func fail() throws {
        let error = SystemError(name ?? "standard output")
        try Interrupt.check()
        switch error.code {
        case EINTR: return
        case EPIPE: throw ClosedOutput()
        default: throw Failure(.ioError, "\(error)")
        }
    }
}
