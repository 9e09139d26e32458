// What a service manager passes to a process that it starts: descriptors, and numbers in variables. (sd_listen_fds(3))

import Glibc
import UnixSocket

/// Environment variables by which a service manager informs one process alone.
package struct ManagerVariables {
    private let log: Log

    package init(_ log: Log) { self.log = log }

    package subscript(name: String) -> String? { SocketPath.environmentValue(name) }

    /// Returns a variable that must be a decimal number; `nil`, with a warning in the log, if it is not, or out of
    /// range.
    package func number<Number: FixedWidthInteger>(_ name: String, _ range: ClosedRange<Number>) -> Number? {
        guard let text = self[name] else { return nil }
        let isDecimal = !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
        if isDecimal, let number = Number(text), range.contains(number) { return number }
        log(.warning, "\(name)=\(text) is ignored: it must be a decimal number, at least \(range.lowerBound)")
        return nil
    }

    /// Whether a variable names this process, by its number.
    package func namesThisProcess(_ name: String) -> Bool { number(name, 1...CInt.max) == getpid() }

    /// Removes variables from the environment: they are not meant for programs that this one starts.
    package func remove(_ names: [String]) { for name in names { unsafe unsetenv(name) } }

    /// Returns the passed descriptors, each with the name that its unit gives it, or an empty one; programs that this
    /// one starts do not inherit them. Then removes the variables that describe them.
    package func takeDescriptors() -> [(name: String, descriptor: CInt)] {
        defer { remove(["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"]) }
        let first: CInt = 3  // SD_LISTEN_FDS_START
        guard self["LISTEN_PID"] != nil, namesThisProcess("LISTEN_PID") else { return [] }
        let count = number("LISTEN_FDS", 0...(CInt.max - first)) ?? 0
        let names = (self["LISTEN_FDNAMES"] ?? "").split(separator: ":", omittingEmptySubsequences: false)
        var passed: [(name: String, descriptor: CInt)] = []
        for index in 0..<Int(count) {
            let descriptor = first + CInt(index)
            guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else {
                log(.warning, "LISTEN_FDS=\(count), but descriptor \(descriptor) is not open")
                break
            }
            passed.append((index < names.count ? String(names[index]) : "", descriptor))
        }
        return passed
    }
}
