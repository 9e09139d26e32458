// The folder of the traces that the daemon can play by itself. It is read when a process starts, and never written.

import GimbalProtocol
import Glibc
import Hub
import Service
import UnixSocket

enum TraceFolder {
    /// The largest file that is read, all of them together, and how many: they are read before clients are served.
    private static let (longest, longestOfAll, most) = (4 << 20, 16 << 20, 256)

    /// The traces in a folder; what cannot be played is left out, and logged. Where there is no folder, there are none.
    static func traces(in path: String, _ log: Log) -> [StoredTrace] {
        guard let folder = unsafe opendir(path) else {
            log(errno == ENOENT ? .debug : .warning, "no trace can be played by name: \(SystemError("open \(path)"))")
            return []
        }
        defer { _ = unsafe closedir(folder) }
        var (traces, size) = ([StoredTrace](), 0)
        for name in unsafe names(in: folder) {
            func leaveOut(_ why: String) { log(.warning, "the trace \(name) is left out: \(why)") }
            do throws(SystemError) {
                guard let file = try unsafe ReadFile(name, in: dirfd(folder), atMost: longest) else { continue }
                guard traces.count < most, size + file.size <= longestOfAll else {
                    leaveOut("\(most) traces of \(longestOfAll) bytes are taken at the most")
                    continue
                }
                size += file.size
                let bytes = try file.read(from: 0, file.size)
                do throws(StoredTrace.Problem) {
                    traces.append(try StoredTrace(name, bytes))
                } catch {
                    leaveOut("line \(error.line): \(error.message)")
                }
            } catch {
                leaveOut("\(error)")
            }
        }
        log(.info, "traces that can be played by name: \(traces.count)")
        return traces
    }

    /// The names of what can be traces, sorted: others, as those that begin with a dot, are passed over.
    private static func names(in folder: OpaquePointer) -> [String] {
        var names: [String] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if StoredTrace.isName(name), !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }
}
