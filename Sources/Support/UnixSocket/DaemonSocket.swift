// Connects to a daemon's socket in the file system, trying several paths in order.

import Synchronization

public enum UnixSocket {
    /// Connects to a path.
    ///
    /// - Parameters:
    ///   - blocks: whether calls on the descriptor block.
    ///   - timeout: how long to wait for a daemon with a full queue, in milliseconds; `nil` is for ever. With a
    ///     non-blocking descriptor, connecting never waits.
    /// - Throws: `EAGAIN` after the timeout; `EPERM` if the path is in this user's folder below /tmp, but others made
    ///   that folder or may enter it.
    public static func connect(_ path: String, blocks: Bool = true, timeout: Int? = nil) throws(SystemError) -> CInt {
        try SocketPath.checkFolder(of: path)
        let descriptor = try System.makeStreamSocket(blocks: blocks)
        do throws(SystemError) {
            try System.join(descriptor, to: path, timeout: timeout)
        } catch {
            System.closeDescriptor(descriptor)
            throw error
        }
        return descriptor
    }

    /// Connects to the first of several paths with a daemon that admits this process.
    ///
    /// - Returns: the descriptor and the path to which it is connected.
    /// - Throws: `NoConnection` if there is no such path, or if a daemon does not answer in time.
    public static func connect(
        toFirstOf paths: [String], blocks: Bool = true, timeout: Int? = nil
    ) throws(NoConnection) -> (descriptor: CInt, path: String) {
        var attempts: [NoConnection.Attempt] = []
        for path in paths {
            do {
                return (try connect(path, blocks: blocks, timeout: timeout), path)
            } catch {
                attempts.append(NoConnection.Attempt(path: path, error: error))
                guard error.meansAnotherPlace else { break }
            }
        }
        throw NoConnection(attempts: attempts)
    }
}

/// The failed attempts to connect, one for each path that was tried.
public struct NoConnection: Error, Sendable, CustomStringConvertible {
    public struct Attempt: Sendable {
        public let path: String
        public let error: SystemError
    }

    public let attempts: [Attempt]

    /// The most informative attempt: the last one at which there was a file, otherwise the first.
    public var mainAttempt: Attempt? { attempts.last { !$0.error.meansNoFile } ?? attempts.first }

    public var description: String { mainAttempt.map { "\($0.error)" } ?? "there is no daemon" }
}

/// The location of the daemon, for a client with several connections. They all go to one daemon; they move to another
/// path only after several failed attempts, so that a daemon that restarts keeps its clients.
public final class DaemonSocket: Sendable {
    private struct Last {
        let path: String
        /// How many attempts have failed since.
        var misses = 0
    }

    private let candidates: [String]
    /// Where a daemon was last reached.
    private let last = Mutex<Last?>(nil)
    private static let mostMisses = 5

    /// - Parameter candidates: the paths to try, at least one; see ``SocketPath/candidates(_:environment:)``.
    public init(candidates: [String]) { self.candidates = candidates }

    /// The path where a daemon was last reached; before that, the first candidate.
    public var path: String { last.withLock { $0?.path } ?? candidates[0] }

    /// Connects; the descriptor is non-blocking.
    ///
    /// - Throws: `NoConnection` if no daemon admits this process.
    public func connect() throws(NoConnection) -> (descriptor: CInt, path: String) {
        // One attempt at a time, so that two first connections go to the same daemon.
        try last.withLock { last throws(NoConnection) in
            do throws(NoConnection) {
                let connected = try UnixSocket.connect(toFirstOf: paths(last), blocks: false)
                last = Last(path: connected.path)
                return connected
            } catch {
                last?.misses += 1
                throw error
            }
        }
    }

    private func paths(_ last: Last?) -> [String] {
        guard let last else { return candidates }
        if last.misses < Self.mostMisses { return [last.path] }
        return [last.path] + candidates.filter { $0 != last.path }
    }
}
