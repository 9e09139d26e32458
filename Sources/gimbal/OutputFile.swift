// Where a subcommand writes what it makes: a file, or standard output.

import Glibc
import UnixSocket

/// A file that is made when the first bytes come: what ends before leaves no empty file behind.
final class OutputFile {
    private let name: String?
    private var descriptor: CInt = -1

    /// - Parameter name: the file; `nil` and `-` are standard output.
    init(_ name: String?) { self.name = name == "-" ? nil : name }

    deinit { if descriptor > STDERR_FILENO { _ = close(descriptor) } }

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
        descriptor = unsafe Glibc.open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        if descriptor < 0 { throw Failure(.ioError, "\(SystemError(name))") }
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
