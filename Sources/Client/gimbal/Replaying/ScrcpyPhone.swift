// A phone whose `uinput` adb may not use, touched by scrcpy's server: adb copies the server to the phone, starts it,
// and forwards a port of this machine to it. The server ends when its connection does, and removes itself.

import Glibc
import TouchScripts
import UnixSocket

struct ScrcpyPhone {
    /// adb, and the arguments that select the phone.
    let adb: (program: String, words: [String])
    /// The server's file, and its version, without which it does not start.
    let server: String
    let version: String

    private static let remote = "/data/local/tmp/gimbal-scrcpy-server.jar"
    /// How long the server may take to start, in milliseconds.
    private static let patienceMs = 10_000.0
    /// The time between attempts to reach the server, in milliseconds.
    private static let intervalMs = 100
    /// How long the server may take to read the last messages after ^C, in milliseconds.
    private static let lastPatienceMs: CInt = 250

    /// Performs fingers, each at its time.
    ///
    /// - Throws: a `Failure`; or an `Interrupt`, after lifting the fingers that are down.
    func perform(_ export: TouchExport) throws {
        let (width, height) = try screen()
        _ = try ask("push", server, Self.remote)
        let number = String(UInt32.random(in: 0x1000_0000...0x7fff_ffff), radix: 16)
        let forwarded = try ask("forward", "tcp:0", "localabstract:scrcpy_\(number)")
        guard let port = forwarded.split(whereSeparator: \.isWhitespace).last.flatMap({ UInt16($0) }) else {
            throw Failure(.unavailable, "adb does not name the port that it forwards")
        }
        defer { _ = try? ask("forward", "--remove", "tcp:\(port)") }
        let command = [
            "shell", "CLASSPATH=\(Self.remote)", "app_process", "/", "com.genymobile.scrcpy.Server", version,
            "scid=\(number)", "tunnel_forward=true", "video=false", "audio=false", "clipboard_autosync=false",
            "send_device_meta=false",
        ]
        let process = try start(command, output: STDERR_FILENO)
        // The server runs until its connection ends.
        defer { _ = try? Program.status(of: process) }
        let connection = try connect(to: port, of: process)
        defer { _ = close(connection) }
        try send(export.scrcpyMessages(width: width, height: height), to: connection)
    }

    private func send(_ steps: [ScrcpyMessages], to connection: CInt) throws {
        let start = ContinuousClock.now
        var lifts: ArraySlice<UInt8> = []
        do {
            for step in steps {
                let left = step.timeMs - (ContinuousClock.now - start) / .milliseconds(1)
                try Interrupt.wait(milliseconds: Int(max(left, 0).rounded(.up)))
                var bytes = step.bytes[...]
                lifts = step.lifts[...]
                try writeOut(&bytes, to: connection, named: "scrcpy's server")
            }
        } catch let interrupt as Interrupt {
            _ = unsafe lifts.withUnsafeBytes { unsafe write(connection, $0.baseAddress, $0.count) }
            // The server reads the lifts before it closes the connection; then adb and the server may be ended.
            _ = shutdown(connection, CInt(SHUT_WR))
            var ready = pollfd(fd: connection, events: CShort(POLLIN), revents: 0)
            _ = unsafe poll(&ready, 1, Self.lastPatienceMs)
            throw interrupt
        } catch is ClosedOutput {
            throw Failure(.unavailable, "scrcpy's server ended before the last finger lifted")
        }
    }

    // MARK: adb

    /// Starts an adb command without input, since it would read this program's.
    private func start(_ words: [String], output: CInt) throws -> pid_t {
        try Program.start(adb.program, adb.words + words, input: nil, output: output)
    }

    /// Returns the output of an adb command; adb reports errors itself.
    private func ask(_ words: String...) throws -> String {
        let ends = try Program.pipe()
        defer { _ = close(ends.readable) }
        let process: pid_t
        do {
            defer { _ = close(ends.writable) }
            process = try start(words, output: ends.writable)
        }
        var text: [UInt8] = []
        var room = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe read(ends.readable, &room, room.count)
            guard count > 0 else { break }
            text += room[..<count]
        }
        guard try Program.status(of: process) == 0 else { throw Failure(.unavailable, "adb \(words[0]) failed") }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the size of the screen in its current orientation, in pixels.
    private func screen() throws -> (width: Int, height: Int) {
        // The output contains "init=1080x2400 420dpi cur=1080x2400 app=…".
        let words = try ask("shell", "dumpsys", "window", "displays").split(whereSeparator: \.isWhitespace)
        let sides = words.first { $0.hasPrefix("cur=") }?.dropFirst(4).split(separator: "x").compactMap { Int($0) }
        guard let sides, sides.count == 2 else {
            throw Failure(.unavailable, "the phone does not report the size of its screen")
        }
        return (sides[0], sides[1])
    }

    // MARK: The server

    /// Connects to the server and waits for its first byte: adb accepts connections before the server does.
    private func connect(to port: UInt16, of process: pid_t) throws -> CInt {
        let limit = TimeLimit(milliseconds: Self.patienceMs)
        while waitpid(process, nil, WNOHANG) == 0 {
            if let connection = try attempt(port, limit) { return connection }
            if limit.left == 0 { _ = kill(process, SIGTERM) }
            try Interrupt.wait(milliseconds: Self.intervalMs)
        }
        throw Failure(.unavailable, "scrcpy's server does not start: is its version \(version)?")
    }

    private func attempt(_ port: UInt16, _ limit: TimeLimit) throws -> CInt? {
        let connection = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard connection >= 0 else { throw Failure(.ioError, "\(SystemError("socket"))") }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian  // 127.0.0.1
        let isConnected = unsafe withUnsafeBytes(of: &address) { bytes in
            unsafe Glibc.connect(
                connection, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count)) == 0
        }
        var ready = pollfd(fd: connection, events: CShort(POLLIN), revents: 0)
        var byte: UInt8 = 0
        if isConnected, unsafe poll(&ready, 1, CInt(limit.left)) == 1, unsafe read(connection, &byte, 1) == 1 {
            return connection
        }
        _ = close(connection)
        try Interrupt.check()
        return nil
    }
}
