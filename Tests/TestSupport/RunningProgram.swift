// A program that runs beside a test: its standard streams, signals to it, and what it has read and written.

import Foundation

/// A program that runs beside the test.
public final class RunningProgram {
    public let process = Process()
    public let input = Pipe()
    public let output = Pipe()
    private let errors = Pipe()

    /// - Parameter outputBlocks: whether a write to its standard output waits for room.
    public init(
        _ arguments: [String], of program: URL = DaemonProcess.gimbal, environment: [String: String] = [:],
        readsPipe: Bool = false, outputBlocks: Bool = true
    ) throws {
        if !outputBlocks { _ = fcntl(output.fileHandleForWriting.fileDescriptor, F_SETFL, O_NONBLOCK) }
        process.executableURL = program
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = readsPipe ? input : FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = errors
        try process.run()
    }

    /// Writes to its standard input and waits until it has read everything.
    public func write(_ text: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
        try waitUntil("it has read all of it") {
            var unread: CInt = -1
            return ioctl(input.fileHandleForWriting.fileDescriptor, UInt(FIONREAD), &unread) == 0 && unread == 0
        }
    }

    /// Sends a signal and waits for the end; a negative status is the signal that killed the process.
    public func end(_ signal: CInt) -> (status: CInt, output: String, errors: String) {
        kill(process.processIdentifier, signal)
        return wait()
    }

    public func wait() -> (status: CInt, output: String, errors: String) {
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let said = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let status = process.terminationStatus
        return (process.terminationReason == .exit ? status : -status, text, said)
    }

    /// Waits until it waits itself, with its output's pipe full, or has ended.
    public func waitUntilFull() throws {
        try waitUntil("it waits for a reader") {
            var unread: CInt = 0
            _ = ioctl(output.fileHandleForReading.fileDescriptor, UInt(FIONREAD), &unread)
            let state = try? String(contentsOfFile: "/proc/\(process.processIdentifier)/stat", encoding: .utf8)
            return unread > 60_000 && state?.contains(") R ") != true
        }
    }

    /// Whether it has begun to read from its file.
    public func hasRead(_ path: String) -> Bool {
        let folder = "/proc/\(process.processIdentifier)/fd"
        let numbers = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for number in numbers {
            guard (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(number)")) == path,
                let info = try? String(
                    contentsOfFile: "/proc/\(process.processIdentifier)/fdinfo/\(number)", encoding: .utf8)
            else { continue }
            return !info.contains("pos:\t0\n")
        }
        return false
    }
}
