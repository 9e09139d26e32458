// SVG to other formats, by whichever well-known program is there. It writes to standard output, which is the output file:
// that appears when it is whole, as every other.

import ArgumentParser
import Glibc
import UnixSocket

/// What a picture is written as.
enum PictureFormat: String, CaseIterable {
    case svg, png, pdf

    /// The format that a file's name says: SVG for one that says none, and for standard output.
    ///
    /// - Throws: a usage error for the name of another format.
    init(of name: String?) throws {
        let file = name?.split(separator: "/").last ?? ""
        guard let dot = file.lastIndex(of: "."), dot > file.startIndex else {
            self = .svg
            return
        }
        let ending = file[file.index(after: dot)...].lowercased()
        guard let format = Self(rawValue: ending) else {
            throw ValidationError("A picture is written as .svg, .png or .pdf, and not as .\(ending).")
        }
        self = format
    }
}

/// A program that makes PNG or PDF of SVG.
struct PictureConverter {
    private let command: [String]
    private let format: PictureFormat

    /// Pixels for a unit of the picture: sharp in print at 80 mm, and on a screen of double density.
    private static let density = 3

    /// The programs with their arguments, the best ones first.
    private static func known(_ format: PictureFormat) -> [[String]] {
        let magick = ["-density", "\(96 * density)", "svg:-", "\(format.rawValue):-"]
        let scale = format == .png ? ["--zoom", "\(density)"] : []
        return [
            ["rsvg-convert", "--format", format.rawValue] + scale,
            [
                "inkscape", "--pipe", "--export-type=\(format.rawValue)", "--export-dpi=\(96 * density)",
                "--export-filename=-",
            ],
            ["magick"] + magick, ["convert"] + magick,
        ]
    }

    /// Finds the program.
    init(to format: PictureFormat) throws(Failure) {
        self.format = format
        let folders = (SocketPath.environmentValue("PATH") ?? "").split(separator: ":")
        for words in Self.known(format) {
            for folder in folders {
                let path = "\(folder)/\(words[0])"
                guard unsafe access(path, X_OK) == 0 else { continue }
                command = [path] + words.dropFirst()
                return
            }
        }
        throw Failure(
            .unavailable,
            "a \(format.rawValue.uppercased()) needs rsvg-convert, inkscape or ImageMagick: "
                + "install one (Debian: librsvg2-bin), or name an .svg")
    }

    /// Writes the picture into a file.
    ///
    /// - Throws: `Interrupt`, or a `Failure`.
    func convert(_ svg: [UInt8], into file: OutputFile) throws {
        var ends: [CInt] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw Failure(.ioError, "\(SystemError("pipe"))") }
        // As long as anybody could write, the program would wait for more.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let process: pid_t
        do {
            process = try start(input: ends[0], output: file.descriptor)
        } catch {
            for end in ends { _ = close(end) }
            throw error
        }
        _ = close(ends[0])
        feed(svg, to: ends[1])
        _ = close(ends[1])
        var status: CInt = 0
        while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {
            do {
                try Interrupt.check()
            } catch {
                _ = kill(process, SIGTERM)
                throw error
            }
        }
        guard status == 0 else { throw Failure(.ioError, "\(command[0]) made no \(format.rawValue.uppercased())") }
    }

    private func start(input: CInt, output: CInt) throws(Failure) -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        let copies = unsafe command.map { unsafe strdup($0) } + [nil]
        defer { unsafe copies.forEach { unsafe free($0) } }
        var process: pid_t = 0
        let error = unsafe posix_spawn(&process, command[0], &actions, nil, copies, environ)
        guard error == 0 else { throw Failure(.unavailable, "\(command[0]) cannot be started") }
        return process
    }

    /// Writes all; a program that reads no more says why itself.
    private func feed(_ bytes: [UInt8], to descriptor: CInt) {
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { all in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: all[written...])
                return unsafe Glibc.write(descriptor, rest.baseAddress, rest.count)
            }
            if count > 0 { written += count } else if errno != EINTR || Interrupt.hasCome { return }
        }
    }
}
