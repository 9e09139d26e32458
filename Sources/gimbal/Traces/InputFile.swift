// A file or standard input, read in pieces.

import Glibc
import UnixSocket

final class InputFile {
    /// The file as it was named.
    let name: String
    let descriptor: CInt
    /// The bytes that it has, where that is known.
    let size: Int?

    private static let pieceSize = 256 << 10

    /// Opens a file; `-` is standard input.
    init(_ name: String) throws(Failure) {
        self.name = name
        descriptor = name == "-" ? STDIN_FILENO : Self.open(name)
        guard descriptor >= 0 else { throw Failure(.noInput, SystemError(name).description) }
        var status = stat()
        let isFile = unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        size = isFile ? Int(status.st_size) : nil
    }

    /// Opens the file of an argument by the bytes that were typed: not every name is UTF-8.
    private static func open(_ name: String) -> CInt {
        for index in 1..<max(Int(CommandLine.argc), 1) {
            guard let argument = unsafe CommandLine.unsafeArgv[index], unsafe String(cString: argument) == name else {
                continue
            }
            return unsafe Glibc.open(argument, O_RDONLY | O_CLOEXEC)
        }
        return unsafe Glibc.open(name, O_RDONLY | O_CLOEXEC)
    }

    deinit { if descriptor != STDIN_FILENO { _ = close(descriptor) } }

    /// Reads a piece, waiting for it if need be; an empty one is the end.
    func read() throws -> [UInt8] {
        while true {
            var hasFailed = false
            let piece = unsafe [UInt8](unsafeUninitializedCapacity: Self.pieceSize) { room, count in
                let result = unsafe Glibc.read(descriptor, room.baseAddress, room.count)
                hasFailed = result < 0
                count = max(result, 0)
            }
            guard hasFailed else { return piece }
            let error = SystemError(name)
            try Interrupt.check()
            if error.code != EINTR { throw Failure(.noInput, "\(error)") }
        }
    }

    /// The last piece of a file whose size is known; reading goes on where it was.
    func lastPiece() -> [UInt8]? {
        guard let size else { return nil }
        let start = max(size - Self.pieceSize, 0)
        return unsafe [UInt8](unsafeUninitializedCapacity: size - start) { room, count in
            unsafe count = max(pread(descriptor, room.baseAddress, room.count, start), 0)
        }
    }
}
