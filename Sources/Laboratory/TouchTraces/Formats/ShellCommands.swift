// Splits a shell script or a typed line into commands, as far as needed for touches on Android: `adb -s 1234 shell
// 'input tap 5 6; sleep 0.5'`. Nothing is evaluated: no variable, no loop.

/// A command's words, as ranges of its line.
struct ShellCommand {
    private(set) var words: [Range<Int>]

    /// Words in front of a command that runs elsewhere, or as another user.
    private static let prefixes: Set = ["$", ">", "sudo", "su", "-c", "root", "exec", "cmd", "-t", "-T", "-x", "-n"]

    /// Returns the commands of a line.
    static func all(_ line: Span<UInt8>) -> [ShellCommand] {
        var commands: [ShellCommand] = []
        var words: [Range<Int>] = []
        var start: Int?
        func endWord(_ index: Int) {
            if let first = start { words.append(first..<index) }
            start = nil
        }
        func endCommand() {
            if let command = ShellCommand(words, line) { commands.append(command) }
            words = []
        }
        scan: for index in line.indices {
            switch line[index] {
            case UInt8(ascii: "#") where start == nil: break scan
            case UInt8(ascii: ";"), UInt8(ascii: "&"), UInt8(ascii: "|"):
                endWord(index)
                endCommand()
            case 0x20, 0x09, UInt8(ascii: "'"), UInt8(ascii: "\""): endWord(index)
            default: start = start ?? index
            }
        }
        endWord(line.count)
        endCommand()
        return commands
    }

    private init?(_ words: [Range<Int>], _ line: Span<UInt8>) {
        var words = words[...]
        if let first = words.first, ["adb", "adb.exe"].contains(Scan.text(line, first)) {
            guard let shell = words.firstIndex(where: { Scan.text(line, $0) == "shell" }) else { return nil }
            words = words[(shell + 1)...]
        }
        while let first = words.first, Self.prefixes.contains(Scan.text(line, first)) { words.removeFirst() }
        guard !words.isEmpty else { return nil }
        self.words = Array(words)
    }

    /// Returns how long a command sleeps, in microseconds; `nil` if it does not sleep.
    func sleeps(_ line: Span<UInt8>) -> Int? {
        guard words.count == 2 else { return nil }
        let unit: Double
        switch Scan.text(line, words[0]) {
        case "sleep": unit = 1_000_000
        case "usleep": unit = 1
        default: return nil
        }
        var index = words[1].lowerBound
        guard let time = Scan.real(line, &index), time >= 0 else { return nil }
        var factor = 1.0
        switch Scan.text(line, index..<words[1].upperBound) {
        case "", "s": break
        case "m": factor = 60
        case "h": factor = 3600
        default: return nil
        }
        return Int((time * factor * unit).rounded())
    }
}
