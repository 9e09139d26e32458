// The files that the page is made of, which lie in the program itself: it can be moved, and reads none.

import NIOCore
import WebFiles

struct PageFile: Sendable {
    let type: String
    let bytes: ByteBuffer

    /// All of them, by request path.
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
        return files
    }()
}
