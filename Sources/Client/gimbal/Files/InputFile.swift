// A file, a device or standard input, read in pieces; packed files are unpacked on the way. A pipe, a terminal or a
// device has no certain end: a signal ends it, if the command says so, and what has arrived until then is still read.

import Glibc
import TouchTraces
import UnixSocket

final class InputFile {
    /// The file's name as it was given.
    let name: String
    let descriptor: CInt
    /// The size in bytes, if it is known.
    let size: Int?
    /// Whether more may come at any time: a pipe, a device, a terminal.
    let isStream: Bool
    private let file: CInt
    private let unpacker: Unpacker?
    /// Bytes that were peeked at, and are still to be read.
    private var peeked: [UInt8]?

    private let isEndedBySignals: Bool
    /// The deadline for reading what arrived before the signal.
    private var lastRead: TimeLimit?

    private static let pieceSize = 256 << 10
    /// The time within which the other programs of a pipeline write their last output after the signal.
    private static let latenessMs = 50.0

    /// Opens a file; `-` is standard input.
    ///
    /// - Parameters:
    ///   - endsBySignal: whether a signal ends the input instead of the command, unless it is a regular file.
    ///   - takesKMZ: whether to read the KML file in a zip file.
    init(_ name: String, endsBySignal: Bool = false, takesKMZ: Bool = false) throws {
        self.name = name
        file = name == "-" ? STDIN_FILENO : Self.open(name)
        try Interrupt.check()
        guard file >= 0 else { throw Failure(.noInput, "\(SystemError(name))") }
        var status = stat()
        let isFile = unsafe fstat(file, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        // Unpacking KMZ begins at the end of the file, which a pipe cannot provide first.
        unpacker = try Unpacker(file, name, takesKMZ: takesKMZ && isFile)
        descriptor = unpacker?.descriptor ?? file
        size = isFile && unpacker == nil ? Int(status.st_size) : nil
        isStream = !isFile
        isEndedBySignals = endsBySignal && isStream
        if isEndedBySignals { Interrupt.endInput() }
    }

    /// Opens the file of an argument by the bytes that were typed: not every name is UTF-8.
    private static func open(_ name: String) -> CInt {
        for index in 1..<max(Int(CommandLine.argc), 1) {
            // Compare bytes, since two spellings of a letter name two files.
            guard let argument = unsafe CommandLine.unsafeArgv[index],
                unsafe String(cString: argument).utf8.elementsEqual(name.utf8)
            else { continue }
            return unsafe Glibc.open(argument, O_RDONLY | O_CLOEXEC)
        }
        return unsafe Glibc.open(name, O_RDONLY | O_CLOEXEC)
    }

    deinit { if file > STDERR_FILENO { _ = close(file) } }

    /// Waits for `milliseconds` at most, and returns whether nothing has arrived.
    func isQuiet(for milliseconds: CInt) throws -> Bool {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let count = unsafe poll(&waiting, 1, milliseconds)
        if count < 0 { try Interrupt.check() }
        return count == 0
    }

    /// Returns whether a name is that of an input device.
    static func isDevice(_ name: String) -> Bool {
        // Do not open a named pipe to look at it: its writer would notice.
        var status = stat()
        guard unsafe stat(name, &status) == 0, status.st_mode & S_IFMT == S_IFCHR else { return false }
        return (try? InputFile(name))?.askDevice() != nil
    }

    /// Returns the kernel's description of an input device that reports positions; `nil` for any other file.
    func askDevice() -> DeviceDescription? {
        var status = stat()
        guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFCHR else { return nil }
        return DeviceDescription { request, room in
            unsafe room.withUnsafeMutableBytes { room in
                guard let start = room.baseAddress else { return false }
                return unsafe ioctl(file, request, start) >= 0
            }
        }
    }

    /// Returns the next piece without consuming it, and more pieces for as long as they are needed.
    func peek(while needsMore: ([UInt8]) -> Bool = { _ in false }) throws -> [UInt8] {
        var beginning = try read()
        while beginning.count < Self.pieceSize, needsMore(beginning), case let piece = try read(), !piece.isEmpty {
            beginning += piece
        }
        peeked = beginning
        return beginning
    }

    /// Returns whether there is a file of this name.
    static func isThere(_ name: String) -> Bool { unsafe access(name, F_OK) == 0 }

    /// Returns whether there is a regular file of this name, neither a pipe nor a device.
    static func isRegular(_ name: String) -> Bool {
        var status = stat()
        return unsafe stat(name, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// Reads a piece, waiting for it if necessary; an empty one is the end.
    func read() throws -> [UInt8] {
        if let piece = peeked.take() { return piece }
        while true {
            try Interrupt.check()
            if isEndedBySignals, try !waitForInput() { return [] }
            var hasFailed = false
            let piece = unsafe [UInt8](unsafeUninitializedCapacity: Self.pieceSize) { room, count in
                let result = unsafe Glibc.read(descriptor, room.baseAddress, room.count)
                hasFailed = result < 0
                count = max(result, 0)
            }
            guard hasFailed else {
                if piece.isEmpty { try unpacker?.finish(name) }
                return piece
            }
            let error = SystemError(name)
            try Interrupt.check()
            if error.code != EINTR { throw Failure(.noInput, "\(error)") }
        }
    }

    /// Reads the rest, but stops with the piece that reaches `most` bytes.
    func readAll(upTo most: Int = .max) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < most, case let piece = try read(), !piece.isEmpty { bytes += piece }
        return bytes
    }

    /// Waits until there is something to read; returns `false` if a signal has ended the input and nothing is left.
    private func waitForInput() throws -> Bool {
        while true {
            if Interrupt.last != nil, lastRead == nil { lastRead = TimeLimit(milliseconds: Self.latenessMs) }
            let left = lastRead.map { CInt($0.left) }
            if left == 0 { return false }
            var ready = [
                pollfd(fd: descriptor, events: CShort(POLLIN), revents: 0),
                pollfd(fd: left == nil ? Interrupt.descriptor : -1, events: CShort(POLLIN), revents: 0),
            ]
            if unsafe poll(&ready, nfds_t(ready.count), left ?? -1) > 0, ready[0].revents != 0 { return true }
        }
    }

    /// Returns the last bytes of a file whose size is known, at most `most`; reading continues where it was.
    func lastBytes(_ most: Int) -> [UInt8]? { size.map { Self.bytes(max($0 - most, 0)..<$0, of: descriptor) } }

    /// Returns a range of a file's bytes, or as many of them as it has.
    static func bytes(_ range: Range<Int>, of file: CInt) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: range.count) { room, count in
            unsafe count = max(pread(file, room.baseAddress, room.count, range.lowerBound), 0)
        }
    }
}

extension InputFile {
    /// Returns a file's name without its folders.
    static func lastPart(of name: String) -> String { name.split(separator: "/").last.map(String.init) ?? name }

    /// Returns the name of a file as people see it.
    static func title(of name: String) -> String { name == "-" ? "standard input" : lastPart(of: name) }
}

extension [UInt8] {
    /// The bytes of a text without the byte order mark of some editors; all commands that read traces skip it.
    var withoutByteOrderMark: [UInt8] { starts(with: [0xef, 0xbb, 0xbf]) ? Array(dropFirst(3)) : self }
}
