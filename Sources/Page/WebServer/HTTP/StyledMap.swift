// A map in the user's own style: MapLibre GL JS, which the user provides, too, draws the chosen camera with it.
// Invariant: the page's policy allows exactly these origins, and the server itself asks no other server.

import Glibc
import NIOCore

package struct StyledMap: Sendable {
    /// The style's URL, HTTP or HTTPS.
    package let style: String
    /// The origins of the style and all that it names.
    package let origins: [Origin]
    let engine: PageFile

    /// The most bytes of an engine's file.
    private static let mostBytes = 16 << 20

    /// Reads the engine's file.
    ///
    /// - Parameters:
    ///   - style: the style's URL; see ``origin(of:)``.
    ///   - engine: the path of `maplibre-gl.js`.
    ///   - others: origins of its sources, glyphs and sprites, besides the style's own.
    /// - Throws: ``StartError`` if there is no such style or file.
    package init(style: String, engine path: String, others: [Origin]) throws(StartError) {
        guard let own = Self.origin(of: style) else {
            throw .ofOptions("\(style) is not the URL of a style")
        }
        self.style = style
        origins = [own] + others.filter { $0 != own }
        self.engine = PageFile(
            type: "text/javascript; charset=utf-8", bytes: ByteBuffer(bytes: try Self.contents(path)))
    }

    /// Returns the origin of a style's URL; `nil` if it is no HTTP or HTTPS URL.
    package static func origin(of style: String) -> Origin? {
        let parts = style.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count > 2, ["http:", "https:"].contains(parts[0].lowercased()), parts[1].isEmpty else { return nil }
        let authority = parts[2].prefix { $0 != "?" && $0 != "#" }
        return Origin("\(parts[0])//\(authority)")
    }

    private static func contents(_ path: String) throws(StartError) -> [UInt8] {
        func error(_ what: String) -> StartError { .ofOptions("the map engine \(path) \(what)") }
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw error("cannot be read: \(unsafe String(cString: strerror(errno)))") }
        defer { _ = close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = unsafe read(descriptor, &piece, piece.count)
            guard count >= 0 else { throw error("cannot be read: \(unsafe String(cString: strerror(errno)))") }
            if count == 0 { break }
            bytes += piece[..<count]
            guard bytes.count <= mostBytes else { throw error("is larger than \(mostBytes >> 20) MiB") }
        }
        guard !bytes.isEmpty else { throw error("is empty") }
        return bytes
    }
}
