// The output of a subcommand: a file, or standard output. Invariants: an existing file is replaced only with --force,
// except for reports, pictures of a comparison and MCAP files, which are rewritten each time and never replace an
// input or each other; a file appears when complete or, as a recording, is complete at all times; a terminal gets
// printable text.

import ArgumentParser
import GimbalProtocol
import Glibc
import UnixSocket

/// The options for where output goes, shared by all subcommands that write a file.
struct OutputOptions: ParsableArguments {
    @Option(
        "Write to this file instead of standard output.", "file", name: [.customShort("o"), .long], completion: .file())
    var output: String?

    @Flag(name: [.customShort("f"), .long], help: "Replace the file if it exists.")
    var force = false

    /// The file's name; `nil` for standard output.
    var file: String? { output == "-" ? nil : output }
}

final class OutputFile {
    enum Style {
        /// Written beside its place, and moved there when it is complete.
        case whole
        /// Written in its place, as lines come.
        case growing
        /// Appended to what is there, as lines come.
        case appending
    }

    /// The file's name as it was given; `nil` for standard output.
    private let name: String?
    /// The file itself, to which a symbolic link leads.
    private let path: String
    private let style: Style
    private let replaces: Bool
    /// The file to which a regular file is written until it is complete.
    private var part: UnfinishedFile?
    /// Whether the file did not exist before.
    private var isNew = false
    private var hasBegun = false
    /// Bytes whose writing has failed or was interrupted by a signal; later ones follow them.
    private var unwritten: ArraySlice<UInt8> = []
    /// The beginning of a line for a terminal, where lines are made printable as a whole.
    private var line: [UInt8] = []
    private lazy var isTerminal = isatty(descriptor) == 1
    private static let longestLine = 64 << 10
    private(set) var descriptor: CInt = -1

    /// Opens the file.
    ///
    /// - Throws: a `Failure` if it exists and may not be replaced, or if it cannot be written.
    init(_ options: OutputOptions, _ style: Style = .whole) throws {
        self.style = style
        replaces = options.force
        name = options.file
        path = name.map(Self.resolved) ?? ""
        guard let name else {
            descriptor = STDOUT_FILENO
            return
        }
        var status = stat()
        let isThere = unsafe stat(path, &status) == 0
        if isThere, status.st_mode & S_IFMT != S_IFREG {
            // A device or a pipe is written to, never replaced.
            try open(path, O_WRONLY)
        } else if isThere, !replaces, style != .appending {
            throw Self.isThere(name)
        } else if style != .whole {
            let way = style == .appending ? O_RDWR | O_APPEND : O_WRONLY
            try open(path, way | (isThere ? 0 : O_CREAT | O_EXCL))
            isNew = !isThere
        } else {
            // Random, as what was left behind may have the process's number: in a container it is often the same.
            let part = "\(path).\(String(UInt32.random(in: 0 ... .max), radix: 16)).part"
            try open(part, O_WRONLY | O_CREAT | O_EXCL)
            self.part = UnfinishedFile(part)
            if isThere { _ = fchmod(descriptor, status.st_mode & 0o7777) }
        }
    }

    /// Opens a file, replacing an existing one; `-` is standard output.
    ///
    /// - Parameter others: files that it must not replace.
    /// - Throws: a `Failure` if it is one of them, or cannot be written.
    convenience init(replacing name: String, besides others: [String]) throws {
        if name != "-", let other = others.first(where: { Self.isSame($0, name) }) {
            throw Failure(.cannotCreate, "\(name) is an input or another output, \(other): name another file")
        }
        var options = OutputOptions()
        (options.output, options.force) = (name, true)
        try self.init(options)
    }

    /// Writes a text to a file, replacing an existing one; `-` is standard output.
    ///
    /// - Parameter others: files that it must not replace.
    static func write(_ text: String, to name: String, besides others: [String]) throws {
        try OutputFile(replacing: name, besides: others).finish(Array(text.utf8))
    }

    private static func isSame(_ one: String, _ other: String) -> Bool {
        var (first, second) = (stat(), stat())
        let isThere = unsafe one == "-" ? fstat(STDIN_FILENO, &first) == 0 : stat(one, &first) == 0
        guard isThere, unsafe stat(other, &second) == 0 else { return false }
        return first.st_dev == second.st_dev && first.st_ino == second.st_ino && first.st_mode & S_IFMT == S_IFREG
    }

    deinit {
        if descriptor > STDERR_FILENO { _ = close(descriptor) }
        if isNew, !hasBegun { _ = unsafe unlink(path) }
    }

    /// Returns the target of a symbolic link, so that the link stays.
    private static func resolved(_ name: String) -> String {
        guard let path = unsafe realpath(name, nil) else { return name }
        defer { unsafe free(path) }
        return unsafe String(cString: path)
    }

    /// Returns the place of a file, however its name is spelled; the file may be new.
    static func place(of name: String) -> String {
        guard !InputFile.isThere(name) else { return resolved(name) }
        let file = InputFile.lastPart(of: name)
        let folder = String(name.dropLast(file.count))
        return "\(resolved(folder.isEmpty ? "." : folder))/\(file)"
    }

    private static func isThere(_ name: String) -> Failure {
        Failure(.cannotCreate, "\(name) already exists: --force replaces it")
    }

    private func open(_ path: String, _ flags: CInt) throws {
        repeat {
            descriptor = unsafe Glibc.open(path, flags | O_CLOEXEC, 0o666)
            try Interrupt.check()
        } while descriptor < 0 && errno == EINTR
        if descriptor < 0 { throw Failure(.ioError, "\(SystemError(name ?? path))") }
    }

    /// Returns the beginning and the end of a regular file that is appended to; otherwise, both are empty.
    func existingEdges(upTo most: Int) -> (beginning: [UInt8], end: [UInt8]) {
        var status = stat()
        guard style == .appending, unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return ([], [])
        }
        let size = Int(status.st_size)
        return (
            InputFile.bytes(0..<min(size, most), of: descriptor),
            InputFile.bytes(max(size - most, 0)..<size, of: descriptor)
        )
    }

    /// Writes all of the bytes. After an interrupt that the caller accepts, the next call writes the rest first.
    ///
    /// - Throws: `ClosedOutput`, `Interrupt`, or a `Failure`.
    func write(_ bytes: [UInt8]) throws {
        if isTerminal {
            line += bytes
            let end = line.count > Self.longestLine ? line.count : line.lastIndex(of: 0x0a).map { $0 + 1 } ?? 0
            makePrintable(upTo: end)
        } else {
            unwritten += bytes
        }
        try writeAll()
    }

    private func makePrintable(upTo end: Int) {
        unwritten += PrintableText(lines: String(decoding: line[..<end], as: UTF8.self)).description.utf8
        line.removeFirst(end)
    }

    private func writeAll() throws {
        guard !unwritten.isEmpty else { return }
        // The old contents are dropped only when there is something to replace them.
        if !hasBegun, name != nil, style == .growing { _ = ftruncate(descriptor, 0) }
        hasBegun = true
        let bytes = unwritten
        do {
            try writeOut(&unwritten, to: descriptor, named: name ?? "standard output")
        } catch {
            if style != .whole { takeBackLine(of: bytes) }
            throw error
        }
        unwritten = []
    }

    /// Removes the last line from a regular file if only a part of it was written, as when a disk is full.
    ///
    /// - Parameter bytes: what was to be written.
    private func takeBackLine(of bytes: ArraySlice<UInt8>) {
        let written = bytes[..<unwritten.startIndex]
        let start = written.lastIndex(of: 0x0a).map { $0 + 1 } ?? written.startIndex
        let end = lseek(descriptor, 0, SEEK_CUR) - off_t(written.endIndex - start)
        // Fails for a pipe or a device.
        guard start < written.endIndex, ftruncate(descriptor, end) == 0 else { return }
        _ = lseek(descriptor, end, SEEK_SET)
        unwritten = bytes[start...]
    }

    /// Writes the last bytes, and puts the file in its place.
    func finish(_ last: [UInt8] = []) throws {
        try write(last)
        makePrintable(upTo: line.count)
        try writeAll()
        guard let name else { return }
        let isClosed = close(descriptor) == 0
        descriptor = -1
        guard isClosed else { throw Failure(.ioError, "\(SystemError(name))") }
        guard let part else { return }
        try place(part.name, as: name)
        self.part = nil
    }

    /// Moves the file to its place. Without --force, a file that has appeared there meanwhile is not replaced; file
    /// systems without hard links do not allow this check.
    private func place(_ part: String, as name: String) throws {
        if !replaces {
            if unsafe link(part, path) == 0 { return }
            if errno == EEXIST { throw Self.isThere(name) }
        }
        guard unsafe rename(part, path) == 0 else { throw Failure(.ioError, "\(SystemError(name))") }
    }
}
