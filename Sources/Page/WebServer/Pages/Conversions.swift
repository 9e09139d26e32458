// Recordings become traces on a thread of their own, one at a time, in the order in which they came: what serves requests never
// waits for it. Invariant: a page hears how many come before its recording and how far that is, and gets its turn.

import Dispatch
import Synchronization

final class Conversions: Sendable {
    /// Makes a trace of a recording's bytes for a camera, and tells how far it is, from 0 to 1.
    typealias Converter =
        @Sendable ([UInt8], String, (Double) throws(HTTPRefusal) -> Void) throws(HTTPRefusal) -> [UInt8]

    private let convert: Converter
    private let thread = DispatchQueue(label: "recordings")
    /// Whose recordings have not been read yet, in their order; the first one is being read.
    private let queue = Mutex<[(page: Page, camera: String)]>([])

    init(_ convert: @escaping Converter) { self.convert = convert }

    /// The trace of a page's recording, once its turn has come.
    func trace(of bytes: [UInt8], camera: String, for page: Page) async throws(HTTPRefusal) -> [UInt8] {
        let result: Result<[UInt8], HTTPRefusal> = await withCheckedContinuation { done in
            queue.withLock { queue in
                queue.append((page, camera))
                if queue.count > 1 { page.tell(ofRecordingFor: camera, ahead: queue.count - 1, progress: 0) }
                thread.async {
                    let result = self.read(bytes, camera, page)
                    self.endTurn()
                    done.resume(returning: result)
                }
            }
        }
        return try result.get()
    }

    private func read(_ bytes: [UInt8], _ camera: String, _ page: Page) -> Result<[UInt8], HTTPRefusal> {
        var told = 0.0
        return Result { () throws(HTTPRefusal) in
            try convert(bytes, camera) { progress throws(HTTPRefusal) in
                guard !page.isOver else { throw Page.gone }
                guard progress >= told + 0.1 else { return }
                told = progress
                page.tell(ofRecordingFor: camera, ahead: 0, progress: progress)
            }
        }
    }

    private func endTurn() {
        queue.withLock { queue in
            queue.removeFirst()
            for (ahead, (page, camera)) in queue.enumerated() {
                page.tell(ofRecordingFor: camera, ahead: ahead, progress: 0)
            }
        }
    }
}
