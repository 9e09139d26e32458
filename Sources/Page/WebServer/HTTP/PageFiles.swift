// The page's files, which are compiled into the program: it can be moved, and reads none.

import NIOCore
import WebFiles

struct PageFile: Sendable {
    let type: String
    let bytes: ByteBuffer

    /// All files, by request path.
    static let all: [String: PageFile] = {
        var files: [String: PageFile] = [:]
        for index in 0..<web_file_count() {
            let file = unsafe web_file_at(index)
            guard let path = unsafe file.path, let type = unsafe file.type, let bytes = unsafe file.bytes else {
                continue
            }
            let all = unsafe UnsafeRawBufferPointer(start: bytes, count: file.count)
            unsafe files[String(cString: path)] = unsafe PageFile(
                type: String(cString: type), bytes: ByteBuffer(bytes: all))
        }
        if let earth = files.removeValue(forKey: "/earth.bin") { files.merge(tiles(of: earth)) { $1 } }
        return files
    }()

    /// Returns the tiles of land, which pages request one by one, from the file with all of them; see `make-world.py`.
    private static func tiles(of earth: PageFile) -> [String: PageFile] {
        var bytes = earth.bytes
        var files: [String: PageFile] = [:]
        let paths = [4, 16].flatMap { count in
            (0..<count).flatMap { y in (0..<count).map { x in "/earth/\(count)/\(x)/\(y)" } }
        }
        let lengths = paths.compactMap { _ in bytes.readInteger(endianness: .little, as: UInt32.self) }
        for (path, length) in zip(paths, lengths) {
            guard let tile = bytes.readSlice(length: Int(length)) else { break }
            files[path] = PageFile(type: earth.type, bytes: tile)
        }
        return files
    }
}
