// The real daemon in a separate process, on a socket in its own folder.

import Foundation
import UnixSocket

/// A running `gimbald`.
public final class DaemonProcess {
    private let folder = Folder()
    public let socket: String
    /// The socket on which clients may only watch, if it listens there.
    public let watchSocket: String
    public let process = Process()
    private let errors = Pipe()
    private var logged = ""

    /// The folder that contains the built programs, including this test program.
    public static let products: URL = {
        let folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        let daemon = folder.appendingPathComponent("gimbald").path
        precondition(FileManager.default.fileExists(atPath: daemon), "\(daemon) is not built")
        return folder
    }()

    public static let gimbal = products.appendingPathComponent("gimbal")
    public static let gimbald = products.appendingPathComponent("gimbald")

    /// Starts a daemon and waits until it reports that it is ready: then it listens on all its sockets.
    ///
    /// - Parameters:
    ///   - watches: whether it listens on a watch socket, too.
    ///   - prelude: shell commands to run first in the daemon's process.
    public init(
        _ arguments: [String] = [], environment: [String: String] = [:], socket: String? = nil, watches: Bool = false,
        prelude: String? = nil
    ) throws {
        self.socket = socket ?? folder.path("gimbal.sock")
        watchSocket = folder.path("watch.sock")
        let sockets = ["--socket", self.socket] + (watches ? ["--watch-socket", watchSocket] : [])
        let command = [Self.gimbald.path] + sockets + arguments
        process.executableURL = URL(fileURLWithPath: prelude == nil ? command[0] : "/bin/sh")
        process.arguments = prelude.map { ["-c", $0 + #"; exec "$0" "$@""#] + command } ?? Array(command.dropFirst())
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardError = errors
        try process.run()
        guard logs(" is ready: ") else { throw TestFailure(description: "not ready, but: \(logged)") }
    }

    deinit {
        if process.isRunning { process.terminate() }
        process.waitUntilExit()
    }

    /// Sends a signal, waits for the end, and returns the exit status, or the negative signal.
    public func end(_ signal: CInt) -> CInt {
        kill(process.processIdentifier, signal)
        process.waitUntilExit()
        return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
    }

    /// Shrinks the pipe of its standard error to a page, the minimum.
    public func narrowLog() {
        let setPipeSize: CInt = 1031  // F_SETPIPE_SZ, a macro that Swift does not see
        _ = fcntl(errors.fileHandleForReading.fileDescriptor, setPipeSize, 4096)
    }

    /// Connects a client that has subscribed and read the answer.
    ///
    /// - Parameter members: further members of its request, such as `,"events":["idle"]`.
    public func subscriber(_ members: String = "") throws -> SocketClient {
        let client = try SocketClient(socket)
        let answer = try client.ask(#"{"type":"subscribe"\#(members)}"#)
        guard answer["type"]?.string == "subscribed" else { throw TestFailure(description: answer.text) }
        return client
    }

    /// Returns the answer to a request over its own connection.
    public func ask(_ request: String) throws -> JSON { try SocketClient(socket).ask(request) }

    /// Returns its standard error after it has ended.
    public func log() -> String {
        logged + String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    }

    /// Waits until its standard error contains a text; `false` if it ends before, or writes nothing for a minute.
    public func logs(_ text: String) -> Bool {
        while !logged.contains(text) {
            guard isReadable(errors.fileHandleForReading.fileDescriptor) else { return false }
            let data = errors.fileHandleForReading.availableData
            if data.isEmpty { return false }
            logged += String(decoding: data, as: UTF8.self)
        }
        return true
    }

    /// Runs a program to its end; a negative status is the signal that killed it.
    public static func run(
        _ program: URL, _ arguments: [String], input: [UInt8] = [], environment: [String: String] = [:]
    ) throws -> (status: CInt, output: String, errors: String) {
        let running = try RunningProgram(arguments, of: program, environment: environment, readsPipe: true)
        let writer = running.input.fileHandleForWriting
        Thread.detachNewThread {
            try? writer.write(contentsOf: Data(input))
            try? writer.close()
        }
        return running.wait()
    }
}

/// A client over a real socket.
public final class SocketClient: ConformancePeer {
    private var descriptor: CInt
    private var waiting: [UInt8] = []
    private var isAtEnd = false

    public init(_ path: String) throws { descriptor = try UnixSocket.connect(path) }

    deinit { if descriptor >= 0 { Glibc.close(descriptor) } }

    /// Returns a client of the socket at a path, once it can be connected to.
    public static func whenListening(_ path: String) throws -> SocketClient {
        var client: SocketClient?
        try waitUntil("somebody listens on \(path)") {
            client = try? SocketClient(path)
            return client != nil
        }
        return try client ?? SocketClient(path)
    }

    public func send(_ bytes: [UInt8]) throws {
        guard StandIn.write(bytes, to: descriptor) else {
            throw TestFailure(description: "send: \(String(cString: strerror(errno)))")
        }
    }

    public func send(_ line: String) throws { try send(Array((line + "\n").utf8)) }

    /// Reads once; returns `false` at the end or if nothing comes.
    private func read() -> Bool {
        guard !isAtEnd, isReadable(descriptor) else { return false }
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else {
            isAtEnd = true
            return false
        }
        waiting += buffer[..<count]
        return true
    }

    public func receive() -> String? {
        while true {
            if let end = waiting.firstIndex(of: 0x0a) {
                defer { waiting.removeFirst(end + 1) }
                return String(decoding: waiting[..<end], as: UTF8.self)
            }
            guard read() else { return nil }
        }
    }

    /// Returns the answer to a request.
    public func ask(_ request: String) throws -> JSON {
        try send(request)
        return try JSON(receive() ?? "null")
    }

    /// Returns whether the daemon answers, and has sent nothing before that.
    public func answersPing() throws -> Bool {
        try send(#"{"type":"ping"}"#)
        return receive() == #"{"type":"pong"}"#
    }

    /// Returns one of the daemon's counters.
    public func counter(_ name: String) throws -> Double? { try ask(#"{"type":"stats"}"#)[name]?.number }

    /// Returns the lines up to and including one of a type.
    public func receive(until type: String) throws -> [String] {
        var lines: [String] = []
        while let line = receive() {
            lines.append(line)
            if try JSON(line)["type"]?.string == type { return lines }
        }
        throw TestFailure(description: "no \(type) came, but \(lines.suffix(3))")
    }

    public func isClosed() -> Bool {
        while read() {}
        return isAtEnd && waiting.isEmpty
    }

    public func halfClose() { shutdown(descriptor, CInt(SHUT_WR)) }

    public func close() {
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }
}
