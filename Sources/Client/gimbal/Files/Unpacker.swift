// Packed files, recognized by their first bytes and unpacked by installed programs. The output is read piece by piece
// and never kept, however large it is.

import CLinux
import Glibc

/// A program that unpacks a file while it is read.
final class Unpacker {
    private struct Format: Sendable {
        let beginning: [UInt8]
        let program: String
        /// The Debian package of the program.
        let package: String
        var arguments = ["-dc"]
    }

    /// The descriptor to read instead of the file.
    let descriptor: CInt
    private let program: String
    private var process: pid_t?

    private static let formats = [
        Format(beginning: [0x1f, 0x8b], program: "gzip", package: "gzip"),
        Format(beginning: Array("BZh".utf8), program: "bzip2", package: "bzip2"),
        Format(beginning: [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00], program: "xz", package: "xz-utils"),
        Format(beginning: [0x28, 0xb5, 0x2f, 0xfd], program: "zstd", package: "zstd"),
    ]
    private static let longestBeginning = 6

    /// KMZ: a zip file with a KML file in it.
    private static let kmz = Format(
        beginning: [0x50, 0x4b, 0x03, 0x04], program: "unzip", package: "unzip",
        arguments: ["-p", "/dev/stdin", "*.kml"])

    /// Starts the program that unpacks a file; `nil` if the file is not packed. Nothing of the file is consumed.
    ///
    /// - Parameter takesKMZ: whether to unpack the KML file in a zip file, too.
    init?(_ file: CInt, _ name: String, takesKMZ: Bool) throws {
        let first = try Self.first(of: file, name)
        let formats = Self.formats + (takesKMZ ? [Self.kmz] : [])
        guard let format = formats.first(where: { first.starts(with: $0.beginning) }) else { return nil }
        guard let path = Program.find(format.program) else {
            throw Failure(
                .unavailable,
                """
                \(name) must be unpacked by \(format.program), which is not installed \
                (Debian: apt install \(format.package))
                """)
        }
        program = format.program
        let (readable, writable) = try Program.pipe()
        descriptor = readable
        defer { _ = close(writable) }
        process = try Program.start(path, format.arguments, input: file, output: writable, isSilent: true)
    }

    deinit {
        _ = close(descriptor)
        guard let process else { return }
        _ = kill(process, SIGTERM)
        _ = waitpid(process, nil, 0)
    }

    /// Checks, at the end of the output, that the program has succeeded.
    func finish(_ name: String) throws {
        guard let process = process.take() else { return }
        guard try Program.status(of: process) == 0 else {
            throw Failure(.dataError, "\(name) cannot be unpacked completely by \(program): it is damaged or cut off")
        }
    }

    // MARK: The first bytes

    /// Returns the first bytes of a file or a pipe without consuming them.
    private static func first(of file: CInt, _ name: String) throws -> [UInt8] {
        var status = stat()
        guard unsafe fstat(file, &status) == 0 else { return [] }
        switch status.st_mode & S_IFMT {
        case S_IFREG:
            let start = Int(lseek(file, 0, SEEK_CUR))
            return InputFile.bytes(start..<start + longestBeginning, of: file)
        case S_IFIFO: return try firstOfPipe(file)
        default: return []
        }
    }

    private static func firstOfPipe(_ file: CInt) throws -> [UInt8] {
        let (readable, writable) = try Program.pipe()
        defer { for end in [readable, writable] { _ = close(end) } }
        // A pipe may have brought only a part of the bytes that identify the format: up to 50 attempts, 2 ms apart.
        for _ in 0..<50 {
            var waiting = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
            while unsafe poll(&waiting, 1, -1) < 0 {
                try Interrupt.check()
                guard errno == EINTR else { return [] }
            }
            let count = tee(file, writable, longestBeginning, 0)
            guard count > 0 else { return [] }
            var first = [UInt8](repeating: 0, count: count)
            _ = unsafe read(readable, &first, count)
            let isOpen = formats.contains { $0.beginning.count > first.count && $0.beginning.starts(with: first) }
            guard isOpen else { return first }
            usleep(2000)
        }
        return []
    }
}
