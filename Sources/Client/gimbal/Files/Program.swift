// Other installed programs: found in the PATH, and started with files for their input and output.

import CLinux
import Glibc
import UnixSocket

enum Program {
    /// Returns the path of an installed program; a name with a slash is a path already.
    static func find(_ name: String) -> String? {
        if name.contains("/") { return name }
        let folders = (SocketPath.environmentValue("PATH") ?? "").split(separator: ":")
        return folders.lazy.map { "\($0)/\(name)" }.first { unsafe access($0, X_OK) == 0 }
    }

    /// Returns the two ends of a pipe that no other program inherits, for reading and for writing.
    static func pipe() throws(Failure) -> (readable: CInt, writable: CInt) {
        var ends: [CInt] = [-1, -1]
        guard unsafe pipe2(&ends, O_CLOEXEC) == 0 else { throw Failure(.ioError, "\(SystemError("pipe"))") }
        return (ends[0], ends[1])
    }

    /// Starts a program, which does not outlive this one, however this one ends.
    ///
    /// - Parameters:
    ///   - input: `nil` for none.
    ///   - output: `nil` for none.
    ///   - isSilent: whether to hide its standard error.
    static func start(
        _ path: String, _ arguments: [String], input: CInt?, output: CInt? = STDOUT_FILENO, isSilent: Bool = false
    ) throws(Failure) -> pid_t {
        let nothing = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { _ = close(nothing) }
        let copies = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
        defer { unsafe copies.forEach { unsafe free($0) } }
        let process = unsafe start_program(
            path, copies, environ, input ?? nothing, output ?? nothing, isSilent ? nothing : STDERR_FILENO)
        guard process >= 0 else { throw Failure(.unavailable, "\(SystemError("\(path) cannot be started"))") }
        return process
    }

    /// Runs a program that reads bytes from its standard input; returns its status as a shell counts it.
    static func run(_ path: String, _ arguments: [String], reading bytes: [UInt8], output: CInt) throws -> CInt {
        // Unlike a pipe, a file keeps nothing waiting if the program stops reading.
        let input = unsafe memfd_create("gimbal-input", MFD_CLOEXEC)
        guard input >= 0 else { throw Failure(.ioError, "\(SystemError("memfd_create"))") }
        defer { _ = close(input) }
        var rest = bytes[...]
        try writeOut(&rest, to: input, named: "memory")
        _ = lseek(input, 0, SEEK_SET)
        return try status(of: start(path, arguments, input: input, output: output))
    }

    /// Waits for a program's end, and terminates it on an interrupt; returns its status as a shell counts it.
    static func status(of process: pid_t) throws(Interrupt) -> CInt {
        do {
            try waitForEnd(of: process)
        } catch {
            _ = kill(process, SIGTERM)
            throw error
        }
        var status: CInt = 0
        while unsafe waitpid(process, &status, 0) < 0 { guard errno == EINTR else { return -1 } }
        let signal = status & 0x7f
        return signal == 0 ? status >> 8 & 0xff : 128 + signal
    }

    /// Waits until a program has ended or a signal comes: both make a descriptor readable, so that neither is missed.
    private static func waitForEnd(of process: pid_t) throws(Interrupt) {
        let descriptor = pidfd_open(process, 0)
        // Where a sandbox forbids it, a signal may go unnoticed until it ends this process.
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var ready = [descriptor, Interrupt.descriptor].map { pollfd(fd: $0, events: CShort(POLLIN), revents: 0) }
        while unsafe poll(&ready, nfds_t(ready.count), -1) < 0, errno == EINTR {}
        try Interrupt.check()
    }
}
