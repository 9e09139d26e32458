// A connection to the daemon, in lines. Nothing is read unless a task waits for a line: further output waits in the
// daemon, which delivers it by its own rules. Invariant: no call blocks. Dispatch reports when the socket is ready, and
// a waiting task holds no thread; all connections share one queue, and so one thread, which only wakes tasks.

import Dispatch
import Synchronization
import UnixSocket

final class LineConnection: Sendable {
    /// The most bytes of one read.
    private static let piece = 16 << 10
    private static let queue = DispatchQueue(label: "gimbal connections")

    private let state: Mutex<State>
    /// The path of the daemon's socket.
    let path: String
    private let monitor: ConnectionMonitor
    /// The monitor's id for this connection.
    private let id: Int

    private enum Phase {
        /// No task waits for a line, so the read source is suspended.
        case open
        /// A task waits until there is something to read.
        case waiting(CheckedContinuation<Void, Never>)
        /// This side has ended the connection.
        case closed
    }

    /// The whole state; Dispatch's sources, too, are touched only under the lock.
    private struct State {
        var socket: LineSocket
        var phase = Phase.open
        let readable: any DispatchSourceRead
        /// Set while bytes wait for room to be sent.
        var writable: (any DispatchSourceWrite)?
        var hasAnswered = false

        init(_ descriptor: CInt) {
            socket = LineSocket(descriptor)
            readable = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: LineConnection.queue)
            // The descriptor's number must not be reused before its source is done with it.
            readable.setCancelHandler { System.closeDescriptor(descriptor) }
        }

        /// Ends a wait; returns the waiting task's continuation.
        mutating func endWait() -> CheckedContinuation<Void, Never>? {
            guard case .waiting(let reader) = phase else { return nil }
            phase = .open
            readable.suspend()
            return reader
        }

        /// Closes the open connection; returns the continuation of a task that waited for a line.
        mutating func close() -> CheckedContinuation<Void, Never>? {
            let reader = endWait()
            phase = .closed
            // A suspended source would never run its cancel handler.
            readable.resume()
            readable.cancel()
            writable?.cancel()
            return reader
        }
    }

    /// Connects to the daemon's socket.
    ///
    /// - Parameter monitor: receives the state of the connection.
    init(_ socket: DaemonSocket, monitor: ConnectionMonitor) throws(GimbalConnectionError) {
        self.monitor = monitor
        id = monitor.begin()
        do throws(NoConnection) {
            let (descriptor, path) = try socket.connect()
            self.path = path
            state = Mutex(State(descriptor))
        } catch {
            let error = GimbalConnectionError.unreachable(
                path: error.mainAttempt?.path ?? socket.path, reason: "\(error)")
            monitor.lost(id, error)
            throw error
        }
        state.withLock { state in
            state.readable.setEventHandler { [weak self] in self?.state.withLock { $0.endWait() }?.resume() }
        }
    }

    deinit { close() }

    /// Notes that the daemon has answered. Only the first time counts, and only while the connection is open: lines read
    /// later may be older than its end.
    func noteAnswer() {
        state.withLock { state in
            if case .closed = state.phase { return }
            if !state.hasAnswered { monitor.answered(id) }
            state.hasAnswered = true
        }
    }

    /// Closes the connection unless it is closed already, and wakes a task that waits for a line.
    ///
    /// - Parameter error: why the connection is of no more use; `nil` if it is no longer wanted.
    func close(because error: GimbalConnectionError? = nil) {
        let reader = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if case .closed = state.phase { return nil }
            if let error { monitor.lost(id, error) } else { monitor.closed(id) }
            return state.close()
        }
        reader?.resume()
    }

    // MARK: Reading

    /// Returns the next line without its LF. Only one task at a time may wait.
    ///
    /// - Throws: `GimbalConnectionError`, which is `ended` after the last line, or `CancellationError` when the task is
    ///   cancelled. The former, and a wait that is cancelled, also end the connection.
    func line() async throws -> ArraySlice<UInt8> {
        while true {
            try Task.checkCancellation()
            do {
                if let line = try read() { return line }
            } catch {
                close(because: error)
                throw error
            }
            await untilReadable()
        }
    }

    /// Returns the next line, if it has arrived completely.
    private func read() throws(GimbalConnectionError) -> ArraySlice<UInt8>? {
        try state.withLock { state throws(GimbalConnectionError) in
            while true {
                if let line = try state.socket.nextLine() { return line }
                if case .closed = state.phase { throw .ended }
                switch state.socket.receive(upTo: Self.piece) {
                case .bytes: break
                case .nothing: return nil
                case .end: throw .ended
                }
            }
        }
    }

    private func untilReadable() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isClosed = state.withLock { state in
                    switch state.phase {
                    case .open:
                        state.phase = .waiting(continuation)
                        state.readable.resume()
                        return false
                    case .waiting: preconditionFailure("only one task at a time may wait for a line")
                    case .closed: return true
                    }
                }
                if isClosed { continuation.resume() }
            }
        } onCancel: {
            close()
        }
    }

    // MARK: Sending

    /// Sends bytes, now or as soon as there is room. If the daemon is gone, reading reports it.
    func send(_ bytes: [UInt8]) {
        state.withLock { state in
            state.socket.queue(bytes)
            flush(&state)
        }
    }

    private func becameWritable() { state.withLock { flush(&$0) } }

    private func flush(_ state: inout State) {
        if case .closed = state.phase { return }
        state.socket.send()
        guard state.socket.unsent == 0 else { return waitForRoom(&state) }
        state.writable.take()?.cancel()
    }

    private func waitForRoom(_ state: inout State) {
        guard state.writable == nil else { return }
        // Two sources of one descriptor share one epoll entry, and Dispatch has been seen to lose one while rearming
        // the other.
        guard let duplicate = System.duplicate(state.socket.descriptor) else {
            // The rest would never be sent. Reading reports the end of the connection.
            return System.endConnection(state.socket.descriptor)
        }
        let writable = DispatchSource.makeWriteSource(fileDescriptor: duplicate, queue: Self.queue)
        writable.setCancelHandler { System.closeDescriptor(duplicate) }
        writable.setEventHandler { [weak self] in self?.becameWritable() }
        writable.resume()
        state.writable = writable
    }
}
