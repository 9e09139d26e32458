// The file of settings: --NAME VALUE on the command line is NAME = VALUE there, by the same table.

import Glibc
import UnixSocket

extension Options {
    /// The settings file of the system's daemon.
    static let settingsFile = "/etc/gimbal/gimbald.conf"
    private static let longestFile = 1 << 20

    /// Applies the settings of a file.
    ///
    /// - Parameter isNeeded: whether a missing file is a problem.
    /// - Returns: the problems, in the order of the lines.
    mutating func takeSettings(from path: String, isNeeded: Bool = false) -> [String] {
        let text: String
        do throws(SystemError) {
            let file = try ReadFile(path, in: AT_FDCWD, atMost: Self.longestFile, followsLinks: true)
            guard let file else { return isNeeded ? ["there is no \(path)"] : [] }
            text = String(decoding: try file.read(from: 0, file.size), as: UTF8.self)
        } catch {
            return ["\(error)"]
        }
        var problems: [String] = []
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map(\.trimmed)
        for (index, line) in lines.enumerated() where !line.isEmpty && !line.hasPrefix("#") {
            do throws(UsageError) { try takeSetting(line) } catch {
                let message = error.message.hasPrefix("--") ? error.message.dropFirst(2) : error.message[...]
                problems.append("\(path):\(index + 1): \(message)")
            }
        }
        return problems
    }

    private mutating func takeSetting(_ line: String) throws(UsageError) {
        let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(\.trimmed)
        guard parts.count == 2 else { throw UsageError(message: "\"\(line)\" must be NAME = VALUE") }
        guard let option = Self.option("--" + parts[0], in: Self.settings) else {
            throw UsageError(
                message: "unknown setting \"\(parts[0])\": it must be an option or a limit that gimbald --help lists")
        }
        try option.apply(&self, parts[1])
    }

    /// Returns the problems of a settings file, one per line.
    static func problems(in path: String) -> String {
        var options = Options()
        var problems = options.takeSettings(from: path, isNeeded: true)
        do throws(UsageError) { try options.check() } catch { problems.append("\(path): \(error.message)") }
        return problems.map { $0 + "\n" }.joined()
    }

    /// A file that sets nothing, and shows what can be set.
    static var settingsText: String {
        func entry(_ name: String, _ value: String, _ help: String) -> String {
            "\n# " + help.split(separator: "\n").joined(separator: "\n# ") + "\n#\(name) = \(value)\n"
        }
        let options = settings.filter { !$0.names.contains("--limit") }.map { option in
            entry(String(option.names[0].dropFirst(2)), option.value?.name ?? "", option.help)
        }
        return """
            # Settings of gimbald: its options and limits by name, see gimbald(8). Lines that begin with # are comments.
            # A repeatable option may appear on several lines.
            #
            # `gimbald --check-config` checks this file. `systemctl reload gimbald` applies it and drops no client, except
            # for the sockets to listen on, their modes and their groups: `systemctl restart gimbald` applies those, and
            # drops no client either. Modes and groups are those of sockets that gimbald makes itself. The sockets of the
            # units have SocketMode= and SocketGroup= (`systemctl edit gimbald.socket`).

            """ + options.joined() + limits.map { entry($0.name, "\($0.standard)", $0.help) }.joined()
    }
}

extension StringProtocol {
    /// The text without surrounding whitespace.
    fileprivate var trimmed: String {
        String(String(drop(while: \.isWhitespace).reversed()).drop(while: \.isWhitespace).reversed())
    }
}
