// Converts recordings to traces on a thread of its own, one at a time, in order of arrival: threads that serve requests
// never wait for it. Invariant: a page learns how many are ahead of its recording, and its progress, and gets its turn.

import Dispatch
import Synchronization

final class Conversions: Sendable {
    /// Converts a recording to a trace for a camera, and reports its progress, from 0 to 1.
    typealias Converter =
        @Sendable ([UInt8], String, (Double) throws(HTTPRefusal) -> Void) throws(HTTPRefusal) -> [UInt8]

    private let convert: Converter
    private let thread = DispatchQueue(label: "recordings")
    /// The pages whose recordings are not read yet, in order; the first one is being read.
    private let queue = Mutex<[(page: Page, camera: String)]>([])

    init(_ convert: @escaping Converter) { self.convert = convert }

    /// Returns the trace of a page's recording, once its turn has come.
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
