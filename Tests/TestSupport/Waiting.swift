// Waiting for what tells nobody when it becomes so: a counter of the daemon's, a file, a process's memory. What does tell is
// waited for itself: a line (`SocketClient.receive(until:)`), a log (`DaemonProcess.logs(_:)`), a text on a terminal
// (`PseudoTerminal.wait(for:)`), the end of a process.

import Foundation

/// Something did not become so within a minute.
public struct WaitTimeout: Error, CustomStringConvertible {
    public let description: String
}

/// The limit ends only what would wait for ever: it is far beyond what a slow machine takes.
private let (looks, pauseMs) = (12_000, 5)

/// Looks again and again until something is so.
///
/// - Parameters:
///   - what: what is waited for, told by the error if it never is so.
public func waitUntil(_ what: @autoclosure () -> String, _ isSo: () throws -> Bool) throws {
    for _ in 0..<looks {
        if try isSo() { return }
        usleep(UInt32(pauseMs * 1000))
    }
    throw WaitTimeout(description: "timed out waiting until \(what())")
}

/// Looks again and again until something is so, from a task.
public func waitUntil(_ what: @autoclosure () -> String, _ isSo: () async throws -> Bool) async throws {
    for _ in 0..<looks {
        if try await isSo() { return }
        try await Task.sleep(for: .milliseconds(pauseMs))
    }
    throw WaitTimeout(description: "timed out waiting until \(what())")
}
