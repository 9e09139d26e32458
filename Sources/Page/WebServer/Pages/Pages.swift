// The open pages, by id. Invariant: there are at most as many as the limit says, and each is ended once.

import NIOCore
import Synchronization

final class Pages: Sendable {
    private let state = Mutex(State())
    private let limits: Limits

    private struct State {
        var pages: [String: Page] = [:]
        var recordings = 0
        /// The pages whose recordings are being received or converted.
        var sending: Set<String> = []
    }

    init(_ limits: Limits) { self.limits = limits }

    func add(_ page: Page) throws(HTTPRefusal) {
        // Pages that only watch leave some places to those that feed.
        let most = page.role == .feed ? limits.streams : limits.streams - limits.streams / 64
        let isFull = state.withLock { state in
            guard state.pages.count < most else { return true }
            state.pages[page.id] = page
            return false
        }
        if isFull {
            throw HTTPRefusal(.serviceUnavailable, "\(most) pages are open; close one", retryAfter: 5)
        }
    }

    func remove(_ page: Page) {
        state.withLock { _ = $0.pages.removeValue(forKey: page.id) }
        page.finish()
    }

    /// Returns the page that sent a request.
    func page(_ id: String?) throws(HTTPRefusal) -> Page {
        guard let id else {
            throw HTTPRefusal(.badRequest, "Gimbal-Page is missing: use the id in the first line of the stream")
        }
        guard let page = state.withLock({ $0.pages[id] }), page.role == .feed else {
            throw HTTPRefusal(.conflict, "Gimbal-Page must be the id of a page with an open stream")
        }
        return page
    }

    /// Begins a recording: it is received and converted, one at a time per page, and then played until the daemon has
    /// taken all of it.
    func beginRecording(of page: Page) throws(HTTPRefusal) {
        let (isFull, isFirst) = state.withLock { state in
            guard state.recordings < limits.recordings else { return (true, true) }
            guard state.sending.insert(page.id).inserted else { return (false, false) }
            state.recordings += 1
            return (false, true)
        }
        if isFull {
            throw HTTPRefusal(.serviceUnavailable, "\(limits.recordings) recordings are already playing", retryAfter: 5)
        }
        if !isFirst {
            throw HTTPRefusal(.tooManyRequests, "another recording of this page is being read", retryAfter: 5)
        }
    }

    /// Notes that the page's recording has been read or refused.
    func endSending(of page: Page) { state.withLock { _ = $0.sending.remove(page.id) } }

    func endRecording() { state.withLock { $0.recordings -= 1 } }

    func finishAll() {
        let pages = state.withLock { state in
            defer { state.pages = [:] }
            return state.pages.values.map { $0 }
        }
        for page in pages { page.finish() }
    }
}
