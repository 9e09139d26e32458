// Polling for changes without a notification: a counter of the daemon, a file, a process's memory. Anything else is
// waited for directly: a line (`SocketClient.receive(until:)`), a log (`DaemonProcess.logs(_:)`), a text on a terminal
// (`PseudoTerminal.wait(for:)`), the end of a process.

import Foundation

/// A condition that did not become true within a minute.
public struct WaitTimeout: Error, CustomStringConvertible {
    public let description: String
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
    throw WaitTimeout(description: "timed out waiting until \(what())")
}

/// Polls until a condition is true, from a task.
public func waitUntil(_ what: @autoclosure () -> String, _ isSo: () async throws -> Bool) async throws {
    for _ in 0..<looks {
        if try await isSo() { return }
        try await Task.sleep(for: .milliseconds(pauseMs))
    }
    throw WaitTimeout(description: "timed out waiting until \(what())")
}
