// What the helpers share: their error, waiting for input, and polling for changes without a notification: a counter of
// the daemon, a file, a process's memory. Anything else is waited for directly: a line (`SocketClient.receive(until:)`),
// a log (`DaemonProcess.logs(_:)`), a text on a terminal (`PseudoTerminal.wait(for:)`), the end of a process.

import Foundation

/// What a test cannot go on without did not happen.
public struct TestFailure: Error, CustomStringConvertible {
    public let description: String
}

/// Returns whether a descriptor can be read.
///
/// - Parameter milliseconds: how long to wait at most: a minute is far longer than it takes on a slow machine; -1 is
///   without a limit.
public func isReadable(_ descriptor: CInt, within milliseconds: CInt = 60_000) -> Bool {
    var status = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&status, 1, milliseconds) > 0
}

/// The limit only ends endless waits: it is far beyond what a slow machine takes.
private let (looks, pauseMs) = (12_000, 5)

/// Polls until a condition is true.
///
/// - Parameters:
///   - what: the condition in words, for the error if it never becomes true.
public func waitUntil(_ what: @autoclosure () -> String, _ isSo: () throws -> Bool) throws {
    for _ in 0..<looks {
        if try isSo() { return }
        usleep(UInt32(pauseMs * 1000))
    }
    throw TestFailure(description: "timed out waiting until \(what())")
}

/// Polls until a condition is true, from a task.
public func waitUntil(_ what: @autoclosure () -> String, _ isSo: () async throws -> Bool) async throws {
    for _ in 0..<looks {
        if try await isSo() { return }
        try await Task.sleep(for: .milliseconds(pauseMs))
    }
    throw TestFailure(description: "timed out waiting until \(what())")
}
