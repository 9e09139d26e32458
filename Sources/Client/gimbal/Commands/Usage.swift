// Errors for a command line that the parser rejects. The parser checks values before it checks for unknown options:
// here mistyped words come first, since they cause the rest.

import ArgumentParser
import GimbalClient
import GimbalProtocol

enum Usage {
    /// Checks the word that names the subcommand, and those behind `help`.
    ///
    /// - Throws: a usage error that says which one was probably meant.
    static func checkCommand(_ words: [String]) throws {
        guard let first = words.first else { return }
        if first.hasPrefix("-") { return try checkOption(words) }
        let named = first == "help" ? Array(words.dropFirst().prefix { !$0.hasPrefix("-") }) : [first]
        let names = GimbalCommand.configuration.subcommands.map { $0._commandName } + ["help"]
        guard let unknown = named.first(where: { !names.contains($0) }) else { return }
        let guess = Spelling.closest(to: unknown, among: names).map { " Did you mean '\($0)'?" }
        let hint = unknown.hasSuffix(".ndjson") ? " Did you mean 'replay \(unknown)'?" : " 'gimbal --help' lists them."
        throw ValidationError("There is no command '\(unknown)'.\(guess ?? hint)")
    }

    /// Options stand behind the subcommand.
    private static func checkOption(_ words: [String]) throws {
        let name = String(words[0].prefix { $0 != "=" })
        guard name.hasPrefix("--"), tool.argument(name) == nil else { return }
        let commands = tool.subcommands.filter { $0.argument(name) != nil }
        guard let command = commands.first(where: { words.contains($0.commandName) }) ?? commands.first else { return }
        throw ValidationError("'\(name)' stands behind the command, such as: gimbal \(command.commandName) \(name) …")
    }

    /// What is wrong with the words behind a subcommand, if it is an unknown option or an unexpected argument;
    /// otherwise `nil`.
    static func mistake(in words: [String]) -> String? {
        guard let command = tool.subcommands.first(where: { $0.commandName == words.first }) else { return nil }
        var isValue = false
        for (before, word) in zip(words, words.dropFirst()).prefix(while: { $1 != "--" }) {
            if isValue, !word.hasPrefix("--") {
                isValue = false
                continue
            }
            guard word.hasPrefix("-"), word.count > 1, !NegativeNumbers.isNegative(word) else {
                if before.hasSuffix(","), NegativeNumbers.isNumeric(word) {
                    return "A space follows the comma in '\(before) \(word)'. Did you mean '\(before)\(word)'?"
                }
                if !command.takesArguments { return unexpected(word, command) }
                continue
            }
            let name = word.hasPrefix("--") ? String(word.prefix { $0 != "=" }) : String(word.prefix(2))
            guard let option = command.argument(name) else { return unknown(name, command) }
            isValue = option.kind == "option" && name == word
        }
        return nil
    }

    private static func unknown(_ name: String, _ command: Command) -> String {
        let guess = Spelling.closest(to: name, among: command.options).map { " Did you mean '\($0)'?" }
        return "Unknown option '\(name)'.\(guess ?? "")"
    }

    private static func unexpected(_ word: String, _ command: Command) -> String {
        // What each option would take, the likeliest first.
        let guesses: [(option: String, text: String, isLikely: Bool)] = [
            ("--\(word)", "--\(word)", true),
            ("--no-\(word)", "--no-\(word)", true),
            ("--target", "--target \(word)", (try? LatLng(typed: word)) != nil),
            ("--events", "--events \(word)", (try? EventKindList(typed: word)) != nil),
            ("--output", "-o \(word)", word.contains(".") || word.contains("/")),
            ("--zoom", "--zoom \(word)", (try? Number(typed: word)) != nil),
            ("--camera", "--camera \(word)", CameraName(word) != nil),
        ]
        let guess = guesses.first { $0.isLikely && command.options.contains($0.option) }?.text
        return "Unexpected argument '\(word)'.\(guess.map { " Did you mean '\($0)'?" } ?? "")"
    }

    /// How a subcommand is used, in the lines that follow an error.
    static func synopsis(_ name: String?) -> String {
        let type = GimbalCommand.configuration.subcommands.first { $0._commandName == name } ?? GimbalCommand.self
        let command = name.map { "gimbal \($0)" } ?? "gimbal"
        return "Usage: \(GimbalCommand.usageString(for: type))\n  See '\(command) --help' for more information."
    }

    // MARK: What there is

    /// A command and its arguments, as the parser describes them.
    private struct Command {
        struct Argument {
            let kind: String?
            let names: [String]

            init(_ json: JSONValue) {
                kind = json["kind"]?.string
                names = (json["names"]?.array ?? []).compactMap { name in
                    name["name"]?.string.map { name["kind"]?.string == "short" ? "-\($0)" : "--\($0)" }
                }
            }
        }

        let commandName: String
        let subcommands: [Command]
        private let arguments: [Argument]

        init(_ json: JSONValue?) {
            commandName = json?["commandName"]?.string ?? "gimbal"
            subcommands = (json?["subcommands"]?.array ?? []).map(Command.init)
            arguments = (json?["arguments"]?.array ?? []).map(Argument.init)
        }

        var takesArguments: Bool { arguments.contains { $0.kind == "positional" } }
        /// The long names of its options and flags.
        var options: [String] { arguments.flatMap(\.names).filter { $0.hasPrefix("--") } }

        func argument(_ name: String) -> Argument? { arguments.first { $0.names.contains(name) } }
    }

    /// All that the parser can say: it takes far longer than what a command does, so only who typed something wrong waits for it.
    private static let tool = Command((try? JSONValue(GimbalCommand._dumpHelp().utf8))?["command"])
}
