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
        for (name, arguments) in Self.known {
            guard let path = Program.find(name) else { continue }
            self.path = path
            self.arguments = arguments
            return
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
        let (readable, writable) = try Program.pipe()
        let process = try Program.start(path, arguments(name), input: readable)
        _ = close(readable)
        feed(svg, to: writable)
        // As long as anybody could write, the program would wait for more.
        _ = close(writable)
        guard try Program.wait(for: process) else { throw Failure(.ioError, "\(path) did not write \(output)") }
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
