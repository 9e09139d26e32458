// Errors for a command line that the parser rejects. The parser checks values before it checks for unknown options;
// here mistyped words come first, since they cause the other errors.

import ArgumentParser
import GimbalClient

enum Usage {
    /// Checks the name of the subcommand, and the names after `help`.
    ///
    /// - Throws: a usage error that suggests the name that was probably meant.
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

    /// Replaces `--from 48.86,2.29`, an old form of `--from-target 48.86,2.29`, for the commands that take the latter.
    static func withoutOldWords(_ words: [String]) -> [String] {
        guard words.contains(where: { $0 == "--from" || $0.hasPrefix("--from=") }), let command = command(words.first),
            Words(of: command).options["--from-target"] != nil
        else { return words }
        let end = words.firstIndex(of: "--") ?? words.count
        return words.indices.map { index in
            let word = words[index]
            let isPlace = word == "--from" ? index + 1 < end && words[index + 1].contains(",") : word.contains(",")
            return index < end && isPlace && (word == "--from" || word.hasPrefix("--from="))
                ? "--from-target" + word.dropFirst("--from".count) : word
        }
    }

    /// Rejects an option before the subcommand if it belongs after one.
    private static func checkOption(_ words: [String]) throws {
        let name = String(words[0].prefix { $0 != "=" })
        guard name.hasPrefix("--"), Words(of: GimbalCommand.self).options[name] == nil else { return }
        let commands = GimbalCommand.configuration.subcommands.filter { Words(of: $0).options[name] != nil }
            .map { $0._commandName }
        guard let command = commands.first(where: words.contains) ?? commands.first else { return }
        throw ValidationError("'\(name)' belongs after the command, as in: gimbal \(command) \(name) …")
    }

    /// Returns what is wrong with the words after a subcommand if one is an unknown option or an unexpected argument;
    /// otherwise `nil`.
    static func mistake(in words: [String]) -> String? {
        guard let command = command(words.first).map(Words.init) else { return nil }
        // The latest option, and what its value is called; empty if the next word is not its value.
        var option = (name: "", value: "")
        for index in words.indices.dropFirst().prefix(while: { words[$0] != "--" }) {
            let (before, word) = (words[index - 1], words[index])
            if before == option.name, !option.value.isEmpty, !word.hasPrefix("--") { continue }
            guard word.hasPrefix("-"), word.count > 1, !NegativeNumbers.isNegative(word) else {
                if let mistake = misplaced(word, behind: before, option) { return mistake }
                if !command.takesArguments { return unexpected(word, command) }
                if let value = command.options["--\(word)"], !value.isEmpty, !InputFile.isThere(word) {
                    let isBehindValue = index > 1 && words[index - 2] == option.name && !option.value.isEmpty
                    let typed = index + 1 < words.count ? words[index + 1] : "<\(value)>"
                    let sentence = (isBehindValue ? "\(option.name) \(before) " : "") + "--\(word) \(typed)"
                    return "Unexpected argument '\(word)': write '\(sentence)'."
                }
                continue
            }
            let name = word.hasPrefix("--") ? String(word.prefix { $0 != "=" }) : String(word.prefix(2))
            guard let value = command.options[name] else { return unknown(name, command) }
            option = (name, name == word ? value : "")
        }
        return nil
    }

    /// Returns an error for a number that belongs to the word before it: places and points contain no spaces.
    private static func misplaced(_ word: String, behind before: String, _ option: (name: String, value: String))
        -> String?
    {
        guard NegativeNumbers.isNumeric(word), NegativeNumbers.isNumeric(before) else { return nil }
        if before.hasSuffix(",") {
            return "A space follows the comma in '\(before) \(word)'. Did you mean '\(before)\(word)'?"
        }
        guard option.value.contains(","), !before.contains(",") else { return nil }
        return "A comma is missing in '\(option.name) \(before) \(word)': write '\(option.name) \(before),\(word)'."
    }

    private static func unknown(_ name: String, _ command: Words) -> String {
        let guess = Spelling.closest(to: name, among: command.longNames).map { " Did you mean '\($0)'?" }
        return "Unknown option '\(name)'.\(guess ?? "")"
    }

    private static func unexpected(_ word: String, _ command: Words) -> String {
        // Options that the word may have been meant for, the likeliest first.
        let guesses: [(option: String, text: String, isLikely: Bool)] = [
            ("--\(word)", "--\(word)", true),
            ("--no-\(word)", "--no-\(word)", true),
            ("--target", "--target \(word)", (try? LatLng(typed: word)) != nil),
            ("--events", "--events \(word)", (try? EventKindList(typed: word)) != nil),
            ("--output", "-o \(word)", word.contains(".") || word.contains("/")),
            ("--zoom", "--zoom \(word)", (try? Number(typed: word)) != nil),
            ("--camera", "--camera \(word)", CameraName(word) != nil),
        ]
        let guess = guesses.first { $0.isLikely && command.options[$0.option] != nil }?.text
        return "Unexpected argument '\(word)'.\(guess.map { " Did you mean '\($0)'?" } ?? "")"
    }

    /// Returns the usage of a subcommand, or of the program if that is none, as the lines that follow an error.
    static func synopsis(_ name: String?) -> String {
        let command = command(name)
        let usage = GimbalCommand.usageString(for: command ?? GimbalCommand.self)
        let words = command.map { "gimbal \($0._commandName)" } ?? "gimbal"
        return "Usage: \(usage)\n  See '\(words) --help' for more information."
    }

    // MARK: Options

    /// What a command takes, according to its help.
    private struct Words {
        /// The names of its options and flags, each with the name of its value; empty for a flag.
        private(set) var options: [String: String] = [:]
        let takesArguments: Bool
        var longNames: [String] { options.keys.filter { $0.hasPrefix("--") }.sorted() }

        init(of command: any ParsableCommand.Type) {
            let help = GimbalCommand.helpMessage(for: command, columns: 1000)
            takesArguments = help.contains("\nARGUMENTS:\n")
            // Such as "  -o, --output <file>     Write to …", "  --tuio [<port>]  …" and "  --zoom/--no-zoom  …".
            for line in help.split(separator: "\n").drop(while: { $0 != "OPTIONS:" }) where line.hasPrefix("  -") {
                let words = line.dropFirst(2).split(separator: "  ")[0].filter { !"[]".contains($0) }
                let title = words.split(separator: " <")
                for name in title[0].split(whereSeparator: ", /".contains) {
                    options[String(name)] = title.count > 1 ? String(title[1].dropLast()) : ""
                }
            }
        }
    }

    private static func command(_ name: String?) -> (any ParsableCommand.Type)? {
        GimbalCommand.configuration.subcommands.first { $0._commandName == name }
    }
}
