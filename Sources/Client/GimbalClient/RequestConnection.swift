// Requests over one connection, and their answers. Each line has a ticket, which is part of its requests' ids.
// Invariant: a waiting task is resumed exactly once: with the answers, or with an error.

import Synchronization
import UnixSocket

final class RequestConnection: Sendable {
    /// More than the requests in a line, since each takes more than a byte.
    private static let idsOfLine = RequestDecoder.longestLine
    /// The most lines that may wait for their answers.
    static let mostWaiting = 1024

    private let connection: LineConnection
    private let shared = Mutex(Shared())

    /// A line that was sent, and its answers so far.
    private struct Waiter {
        /// The waiting task; `nil` if it was cancelled.
        var continuation: CheckedContinuation<[ServerMessage], any Error>?
        /// The line's number, counted from 1 on this connection, as errors do.
        let line: Int
        var answers: [ServerMessage?]
        /// Gives up after the line's time limit, if it has one.
        let timer: Task<Void, Never>?
    }

    private struct Shared {
        var lastTicket = 0
        var lastLine = 0
        var waiters: [Int: Waiter] = [:]
        /// Why no more requests can be sent.
        var failure: (any Error)?
    }

    init(_ socket: DaemonSocket, monitor: ConnectionMonitor) throws(GimbalConnectionError) {
        connection = try LineConnection(socket, monitor: monitor)
        // The task ends with the connection, and the connection with this object.
        Task { [connection, weak self] in
            do {
                while true {
                    let line = try await connection.line()
                    try self?.handle(line)
                    connection.noteAnswer()
                }
            } catch {
                connection.close(because: error as? GimbalConnectionError)
                self?.fail(error)
            }
        }
    }

    deinit { connection.close() }

    /// Whether requests can still be sent.
    var isAlive: Bool { shared.withLock { $0.failure == nil } }

    /// Ends the connection, and fails all waiting requests.
    func close() {
        fail(GimbalConnectionError.ended)
        connection.close()
    }

    // MARK: Asking

    /// Sends requests in one line, and waits for their answers, which are in the same order.
    ///
    /// - Parameters:
    ///   - limit: how long to wait; `nil` is for ever.
    ///   - creates: whether a single request makes the camera if it does not exist.
    func answers(
        to requests: [ClientRequest], camera: String?, within limit: Duration? = nil, creates: Bool = true
    ) async throws -> [ServerMessage] {
        let ticket = shared.withLock { shared in
            shared.lastTicket += 1
            return shared.lastTicket
        }
        let line = try line(of: requests, ticket, camera, creates)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                do {
                    // Sends under the lock, so that lines are counted in the order in which they are sent.
                    try shared.withLock { shared in
                        try Task.checkCancellation()
                        if let failure = shared.failure { throw failure }
                        guard shared.waiters.count < Self.mostWaiting else {
                            throw GimbalConnectionError.tooManyRequests
                        }
                        shared.lastLine += 1
                        shared.waiters[ticket] = Waiter(
                            continuation: continuation, line: shared.lastLine,
                            answers: Array(repeating: nil, count: requests.count),
                            timer: limit.map { timer(ticket, $0) })
                        connection.send(line)
                    }
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        } onCancel: {
            giveUp(ticket, CancellationError())
        }
    }

    /// Encodes requests as a line, with ids of a ticket that no other line has.
    private func line(
        of requests: [ClientRequest], _ ticket: Int, _ camera: String?, _ creates: Bool
    ) throws -> [UInt8] {
        let ids = requests.indices.map { RequestID.number(ticket * Self.idsOfLine + $0) }
        let line =
            requests.count == 1
            ? try requests[0].line(camera: camera, id: ids[0], creates: creates)
            : try ClientRequest.line(batch: requests, camera: camera, ids: ids)
        guard line.count <= RequestDecoder.longestLine + 1 else { throw GimbalConnectionError.requestTooLong }
        return line
    }

    /// Stops waiting for a line's answers. Later ones are ignored.
    private func giveUp(_ ticket: Int, _ error: any Error) {
        let continuation = shared.withLock { shared in
            shared.waiters[ticket]?.timer?.cancel()
            return shared.waiters[ticket]?.continuation.take()
        }
        continuation?.resume(throwing: error)
    }

    private func timer(_ ticket: Int, _ limit: Duration) -> Task<Void, Never> {
        Task { [weak self] in
            guard (try? await Task.sleep(for: limit)) != nil else { return }
            self?.giveUp(ticket, GimbalConnectionError.noAnswer(within: limit))
        }
    }

    // MARK: Answers

    private func handle(_ bytes: ArraySlice<UInt8>) throws {
        let line = try ServerLine(fromDaemon: bytes)
        switch (line.id, line.message) {
        case (.number(let id)?, let message):
            guard note(message, ticket: id / Self.idsOfLine, index: id % Self.idsOfLine) else {
                throw GimbalConnectionError.unexpected(bytes)
            }
        case (_, .error(let error)) where error.isOfConnection:
            // The daemon refuses the connection itself.
            throw error
        case (_, .error(let error)):
            // The daemon did not read the line as far as its id.
            let ticket = shared.withLock { $0.waiters.first { $0.value.line == error.line }?.key }
            guard let ticket else { throw GimbalConnectionError.unexpected(bytes) }
            finish(ticket, .failure(error))
        case (nil, .unknown):
            // A newer daemon may send messages to all clients.
            break
        default:
            // The request behind this answer would wait for ever.
            throw GimbalConnectionError.unexpected(bytes)
        }
    }

    /// Notes an answer, and finishes the line if it was the last one; `false` if no request has this id.
    private func note(_ message: ServerMessage, ticket: Int, index: Int) -> Bool {
        let (isExpected, answers) = shared.withLock { shared -> (Bool, [ServerMessage]?) in
            guard let waiter = shared.waiters[ticket], waiter.answers.indices.contains(index),
                waiter.answers[index] == nil
            else { return (false, nil) }
            shared.waiters[ticket]?.answers[index] = message
            let answers = shared.waiters[ticket]?.answers.compactMap { $0 } ?? []
            return (true, answers.count == waiter.answers.count ? answers : nil)
        }
        if let answers { finish(ticket, .success(answers)) }
        return isExpected
    }

    private func finish(_ ticket: Int, _ result: Result<[ServerMessage], any Error>) {
        let waiter = shared.withLock { $0.waiters.removeValue(forKey: ticket) }
        waiter?.timer?.cancel()
        waiter?.continuation?.resume(with: result)
    }

    private func fail(_ error: any Error) {
        let waiters = shared.withLock { shared in
            shared.failure = shared.failure ?? error
            defer { shared.waiters = [:] }
            return Array(shared.waiters.values)
        }
        for waiter in waiters {
            waiter.timer?.cancel()
            waiter.continuation?.resume(throwing: error)
        }
    }
}
