// The folder of the traces that the daemon can play by itself. It is read when a process starts, and never written.

import GimbalProtocol
import Glibc
import Hub
import Service
import UnixSocket

enum TraceFolder {
    /// The largest file, the total size and the number of files that are read: they are read before clients are served.
    private static let (longest, longestOfAll, most) = (4 << 20, 16 << 20, 256)
    /// The most lines and frames of all traces, since reading plays each trace once.
    private static let mostSteps = 2_000_000

    /// Returns the traces in a folder; invalid ones are skipped and logged. If there is no folder, there are none.
    static func traces(in path: String, _ log: Log, mostSteps: Int = mostSteps) -> [StoredTrace] {
        guard let folder = unsafe opendir(path) else {
            log(errno == ENOENT ? .info : .warning, "no trace can be played by name: \(SystemError("open \(path)"))")
            return []
        }
        defer { _ = unsafe closedir(folder) }
        var (traces, size, steps) = ([StoredTrace](), 0, 0)
        let limits = "the limits are \(most) traces, \(longestOfAll) bytes, and \(mostSteps) lines and frames"
        for name in unsafe names(in: folder) {
            func leaveOut(_ why: String) { log(.warning, .traceLeftOut, "the trace \(name) is skipped: \(why)") }
            guard StoredTrace.isName(name) else {
                leaveOut("a name must be 1 to 64 characters of A-Z a-z 0-9 . _ -")
                continue
            }
            do throws(SystemError) {
                guard let file = try unsafe ReadFile(name, in: dirfd(folder), atMost: longest) else { continue }
                guard traces.count < most, size + file.size <= longestOfAll, steps < mostSteps else {
                    leaveOut(limits)
                    continue
                }
                size += file.size
                let bytes = try file.read(from: 0, file.size)
                do throws(StoredTrace.Problem) {
                    let trace = try StoredTrace(name, bytes)
                    // The steps of a trace are known once it has been played. They count even if it is left out: the
                    // start of the daemon takes that long.
                    steps += trace.steps
                    if steps <= mostSteps { traces.append(trace) } else { leaveOut(limits) }
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

    /// Returns the names of the folder's files, sorted, except those that begin with a dot.
    private static func names(in folder: OpaquePointer) -> [String] {
        var names: [String] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }
}
