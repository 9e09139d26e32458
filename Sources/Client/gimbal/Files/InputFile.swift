// A file, a device or standard input, read in pieces; what is packed is unpacked on the way. A pipe, a terminal or a device
// has no end that one could wait for: a signal is its end, if the command says so, and what has come until then is still
// read.

import Glibc
import TouchTraces
import UnixSocket

final class InputFile {
    /// The file as it was named.
    let name: String
    let descriptor: CInt
    /// The bytes that it has, where that is known.
    let size: Int?
    /// Whether more may come at any time: a pipe, a device, a terminal.
    let isStream: Bool
    private let file: CInt
    private let unpacker: Unpacker?
    /// Bytes that were peeked at and are still to be read.
    private var peeked: [UInt8]?

    private let isEndedBySignals: Bool
    /// When what has come before the signal must have been read.
    private var lastRead: ContinuousClock.Instant?

    private static let pieceSize = 256 << 10
    /// What the others of a pipeline write when the signal ends them is there within this time.
    private static let lateness = Duration.milliseconds(50)

    /// Opens a file; `-` is standard input.
    ///
    /// - Parameters:
    ///   - endsBySignal: whether a signal ends what is no regular file, instead of the command.
    ///   - takesKMZ: whether the KML file of a zip file is meant.
    init(_ name: String, endsBySignal: Bool = false, takesKMZ: Bool = false) throws {
        self.name = name
        file = name == "-" ? STDIN_FILENO : Self.open(name)
        try Interrupt.check()
        guard file >= 0 else { throw Failure(.noInput, "\(SystemError(name))") }
        unpacker = try Unpacker(file, name, takesKMZ: takesKMZ)
        descriptor = unpacker?.descriptor ?? file
        var status = stat()
        let isFile = unsafe fstat(file, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        size = isFile && unpacker == nil ? Int(status.st_size) : nil
        isStream = !isFile
        isEndedBySignals = endsBySignal && isStream
        if isEndedBySignals { Interrupt.endInput() }
    }

    /// Opens the file of an argument by the bytes that were typed: not every name is UTF-8.
    private static func open(_ name: String) -> CInt {
        for index in 1..<max(Int(CommandLine.argc), 1) {
            // Two spellings of a letter are two files.
            guard let argument = unsafe CommandLine.unsafeArgv[index],
                unsafe String(cString: argument).utf8.elementsEqual(name.utf8)
            else { continue }
            return unsafe Glibc.open(argument, O_RDONLY | O_CLOEXEC)
        }
        return unsafe Glibc.open(name, O_RDONLY | O_CLOEXEC)
    }

    deinit { if file > STDERR_FILENO { _ = close(file) } }

    /// Whether nothing comes for as long as this, in milliseconds.
    func isQuiet(for milliseconds: CInt) throws -> Bool {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let count = unsafe poll(&waiting, 1, milliseconds)
        if count < 0 { try Interrupt.check() }
        return count == 0
    }

    /// Whether a name is that of an input device.
    static func isDevice(_ name: String) -> Bool {
        // The writer of a named pipe would notice if this opened it just to look.
        var status = stat()
        guard unsafe stat(name, &status) == 0, status.st_mode & S_IFMT == S_IFCHR else { return false }
        return (try? InputFile(name))?.askDevice() != nil
    }

    /// What the kernel says about it, if it is an input device that tells positions.
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

    /// The next piece, which stays to be read, and what follows as long as more is needed.
    func peek(while needsMore: ([UInt8]) -> Bool = { _ in false }) throws -> [UInt8] {
        var beginning = try read()
        while beginning.count < Self.pieceSize, needsMore(beginning), case let piece = try read(), !piece.isEmpty {
            beginning += piece
        }
        peeked = beginning
        return beginning
    }

    /// Whether there is a file of this name.
    static func isThere(_ name: String) -> Bool { unsafe access(name, F_OK) == 0 }

    /// Whether that is a file that holds bytes, and neither a pipe nor a device.
    static func isRegular(_ name: String) -> Bool {
        var status = stat()
        return unsafe stat(name, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// Reads a piece, waiting for it if need be; an empty one is the end.
    func read() throws -> [UInt8] {
        if let piece = peeked {
            peeked = nil
            return piece
        }
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

    /// Reads what is left, a piece beyond so many bytes at the most.
    func readAll(upTo most: Int = .max) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < most, case let piece = try read(), !piece.isEmpty { bytes += piece }
        return bytes
    }

    /// Waits until there is something to read, or a signal and nothing more; `false` at the signal's end of the input.
    private func waitForInput() throws -> Bool {
        while true {
            if Interrupt.hasCome, lastRead == nil { lastRead = .now + Self.lateness }
            let left = lastRead.map { CInt((max($0 - .now, .zero) / .milliseconds(1)).rounded(.up)) }
            if left == 0 { return false }
            var ready = [
                pollfd(fd: descriptor, events: CShort(POLLIN), revents: 0),
                pollfd(fd: left == nil ? Interrupt.descriptor : -1, events: CShort(POLLIN), revents: 0),
            ]
            if unsafe poll(&ready, nfds_t(ready.count), left ?? -1) > 0, ready[0].revents != 0 { return true }
        }
    }

    /// The last piece of a file whose size is known; reading goes on where it was.
    func lastPiece() -> [UInt8]? { lastBytes(Self.pieceSize) }

    /// All of a file whose size is known, unless it has more bytes than that; reading goes on where it was.
    func contents(upTo most: Int) -> [UInt8]? { size.map { $0 <= most } == true ? lastBytes(most) : nil }

    private func lastBytes(_ count: Int) -> [UInt8]? {
        guard let size else { return nil }
        let start = max(size - count, 0)
        return unsafe [UInt8](unsafeUninitializedCapacity: size - start) { room, count in
            unsafe count = max(pread(descriptor, room.baseAddress, room.count, start), 0)
        }
    }
}

extension InputFile {
    /// A file's name without its folders.
    static func lastPart(of name: String) -> String { name.split(separator: "/").last.map(String.init) ?? name }

    /// What people call a file.
    static func title(of name: String) -> String { name == "-" ? "standard input" : lastPart(of: name) }
}

extension [UInt8] {
    /// The bytes of a text without the mark that some editors put in front; all commands that read traces leave it out.
    var withoutByteOrderMark: [UInt8] { starts(with: [0xef, 0xbb, 0xbf]) ? Array(dropFirst(3)) : self }
}
