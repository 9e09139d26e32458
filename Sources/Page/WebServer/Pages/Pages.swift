// The open pages, by id. Invariant: there are at most as many as the limit says, and each is ended once.

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
        try state.withLock { state throws(HTTPRefusal) in
            guard state.pages.count < most else {
                throw HTTPRefusal(.serviceUnavailable, "\(most) pages are open; close one", retryAfter: 5)
            }
            state.pages[page.id] = page
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
        try state.withLock { state throws(HTTPRefusal) in
            guard state.recordings < limits.recordings else {
                let message = "\(limits.recordings) recordings are already playing"
                throw HTTPRefusal(.serviceUnavailable, message, retryAfter: 5)
            }
            guard state.sending.insert(page.id).inserted else {
                throw HTTPRefusal(.tooManyRequests, "another recording of this page is being read", retryAfter: 5)
            }
            state.recordings += 1
        }
    }

    /// Notes that the page's recording has been read or refused.
    func endSending(of page: Page) { state.withLock { _ = $0.sending.remove(page.id) } }

    func endRecording() { state.withLock { $0.recordings -= 1 } }

    func finishAll() {
        for page in state.withLock({ Array($0.pages.values) }) { page.finish() }
    }
}
