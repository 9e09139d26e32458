// SVG to PNG, by whichever well-known program is there.

import Glibc
import UnixSocket

/// A program that makes PNG of SVG.
struct Rasterizer {
    private let path: String
    private let arguments: (_ output: String) -> [String]

    /// Pixels for a unit of the picture: sharp in print at 80 mm, and on a screen of double density.
    private static let density = 3

    private static let known: [(name: String, arguments: @Sendable (String) -> [String])] = [
        ("rsvg-convert", { ["--zoom", "\(density)", "--output", $0] }),
        ("inkscape", { ["--pipe", "--export-type=png", "--export-dpi=\(96 * density)", "--export-filename=\($0)"] }),
        ("magick", { ["-density", "\(96 * density)", "svg:-", "png:\($0)"] }),
        ("convert", { ["-density", "\(96 * density)", "svg:-", "png:\($0)"] }),
    ]

    /// Finds the program.
    init() throws(Failure) {
        let folders = (SocketPath.environmentValue("PATH") ?? "").split(separator: ":")
        for (name, arguments) in Self.known {
            for folder in folders {
                let path = "\(folder)/\(name)"
                guard unsafe access(path, X_OK) == 0 else { continue }
                self.path = path
                self.arguments = arguments
                return
            }
        }
        throw Failure(
            .unavailable,
            "a PNG needs rsvg-convert, inkscape or ImageMagick: install one (Debian: librsvg2-bin), or name an .svg")
    }

    /// Makes the PNG.
    ///
    /// - Throws: `Interrupt`, or a `Failure`.
    func write(_ svg: [UInt8], to output: String) throws {
        // A name that begins with a dash is no option of the program.
        let name = output.hasPrefix("-") ? "./\(output)" : output
        var ends: [CInt] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw Failure(.ioError, "\(SystemError("pipe"))") }
        let process = try start([path] + arguments(name), ends)
        _ = close(ends[0])
        feed(svg, to: ends[1])
        _ = close(ends[1])
        var status: CInt = 0
        while unsafe waitpid(process, &status, 0) < 0, errno == EINTR { try Interrupt.check() }
        guard status == 0 else { throw Failure(.ioError, "\(path) did not write \(output)") }
    }

    private func start(_ words: [String], _ ends: [CInt]) throws(Failure) -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO)
        // As long as anybody could write, the program would wait for more.
        for end in ends { unsafe posix_spawn_file_actions_addclose(&actions, end) }
        let copies = unsafe words.map { unsafe strdup($0) } + [nil]
        defer { unsafe copies.forEach { unsafe free($0) } }
        var process: pid_t = 0
        let error = unsafe posix_spawn(&process, path, &actions, nil, copies, environ)
        guard error == 0 else { throw Failure(.unavailable, "\(path) cannot be started") }
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
            if count > 0 { written += count } else if errno != EINTR { return }
        }
    }
}
