// Converts SVG to other formats by whichever well-known program is installed. It writes to standard output, which is
// the output file: like every other, that appears when it is complete.

import ArgumentParser

/// The file format of a picture.
enum PictureFormat: String, CaseIterable {
    case svg, png, pdf

    /// Chooses the format by a file's name: SVG for a name without an extension, and for standard output.
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
            throw ValidationError("A picture is written as .svg, .png or .pdf, not as .\(ending).")
        }
        self = format
    }
}

/// A program that converts SVG to PNG or PDF.
struct PictureConverter {
    private let command: [String]
    private let format: PictureFormat

    /// Pixels per unit of the picture: sharp in print at 80 mm, and on a screen of double density.
    private static let density = 3

    /// Returns the known programs with their arguments, the best ones first.
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

    /// Finds an installed program.
    init(to format: PictureFormat) throws(Failure) {
        self.format = format
        for words in Self.known(format) {
            guard let path = Program.find(words[0]) else { continue }
            command = [path] + words.dropFirst()
            return
        }
        throw Failure(
            .unavailable,
            """
            a \(format.rawValue.uppercased()) needs rsvg-convert, inkscape or ImageMagick: \
            install one (Debian: librsvg2-bin), or name an .svg
            """)
    }

    /// Converts a picture into a file.
    ///
    /// - Throws: `Interrupt`, or a `Failure`.
    func convert(_ svg: [UInt8], into file: OutputFile) throws {
        let arguments = Array(command.dropFirst())
        guard try Program.run(command[0], arguments, reading: svg, output: file.descriptor) == 0 else {
            throw Failure(.ioError, "\(command[0]) made no \(format.rawValue.uppercased())")
        }
    }
}
