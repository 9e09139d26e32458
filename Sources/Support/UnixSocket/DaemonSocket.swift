// Connecting to a daemon's socket in the file system, at the first of several places that has one.

import Synchronization

public enum UnixSocket {
    /// Connects to a path.
    ///
    /// - Parameters:
    ///   - blocks: whether calls with the descriptor wait.
    ///   - timeout: how long to wait for a daemon with a full queue, in milliseconds; `nil` is for ever. A descriptor
    ///     that does not block never waits.
    /// - Throws: `EAGAIN` when that is over; `EPERM` if the path lies in a folder of this user's name below /tmp that
    ///   others made or may enter.
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

    /// Connects to the first of several paths where a daemon lets this process in.
    ///
    /// - Returns: the descriptor, and the path that it is connected to.
    /// - Throws: `NoConnection`, when none does, or when one does not answer in time.
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

/// What was tried in vain at each of the paths that a client looked at.
public struct NoConnection: Error, Sendable, CustomStringConvertible {
    public struct Attempt: Sendable {
        public let path: String
        public let error: SystemError
    }

    public let attempts: [Attempt]

    /// The attempt that tells most: the last one where there was something, otherwise the first.
    public var mainAttempt: Attempt? { attempts.last { !$0.error.meansNoFile } ?? attempts.first }

    public var description: String { mainAttempt.map { "\($0.error)" } ?? "there is no daemon" }
}

/// Where the daemon is, for a client with several connections. They all go to one daemon; only when it has not been there for
/// several attempts do they go to another place, so that a daemon that restarts keeps its clients.
public final class DaemonSocket: Sendable {
    private struct Last {
        let path: String
        /// How many attempts have failed since.
        var misses = 0
    }

    private let candidates: [String]
    /// Where a daemon was reached last.
    private let last = Mutex<Last?>(nil)
    private static let mostMisses = 5

    /// - Parameter candidates: the places to try, at least one; see ``SocketPath/candidates(_:environment:)``.
    public init(candidates: [String]) { self.candidates = candidates }

    /// Where a daemon was reached last; before that, the first place to try.
    public var path: String { last.withLock { $0?.path } ?? candidates[0] }

    /// Connects; the descriptor does not block.
    ///
    /// - Throws: `NoConnection`, when no daemon lets this process in.
    public func connect() throws(NoConnection) -> (descriptor: CInt, path: String) {
        // One at a time: of two first connections both go to the same daemon.
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
