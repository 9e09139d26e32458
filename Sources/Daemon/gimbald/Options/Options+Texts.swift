// The texts about the options: help for people, JSON for swift-argument-parser's manual generator in that parser's own
// format, and completions for shells. All come from the table, so none can say more or less than another.

import GimbalProtocol

/// A shell that completes a command line.
enum Shell: String, CaseIterable {
    case bash, zsh, fish
}

extension Options.Only {
    var text: String {
        switch self {
        case .help: Options.help
        case .version: "gimbald \(gimbalVersion)\n"
        case .toolInfo: Options.toolInfo
        case .settings: Options.settingsText
        case .check(let path): Options.problems(in: path)
        case .completions(.bash): Options.bashCompletions
        case .completions(.zsh): Options.zshCompletions
        case .completions(.fish): Options.fishCompletions
        }
    }
}

extension Options {
    private static let abstract = "Owns map cameras and applies touch gestures to them."

    private static let about = """
        Accepts gestures and commands on a Unix socket, one JSON object per line, and
        reports to subscribers what the cameras do. SIGTERM and SIGINT shut it down
        cleanly; SIGUSR2 restarts it in place, as the program that is installed now,
        without dropping a client.
        """

    private static let notes = """
        Exit status:
          0    stopped by a signal; --check-config found no problems
          1    --check-config found problems
          64   usage error
          69   another daemon uses the socket or the state directory
          71   operating system error
          73   the socket cannot be created
          74   the final state of the cameras cannot be saved

        Examples:
          gimbald --socket /tmp/map.sock
          gimbald --socket /tmp/map.sock --watch-socket /tmp/watch.sock --allow-group video
          gimbald --check-config /etc/gimbal/gimbald.conf
          systemctl enable --now gimbald.socket

        """

    /// The options that the help lists.
    private static let told = table.filter { !$0.help.isEmpty }

    private static let limitLines = limits.map { helpLines($0.name, $0.help) }.joined(separator: "\n")

    /// Returns two columns: what to type, and what it does.
    fileprivate static func helpLines(_ title: String, _ help: String) -> String {
        let column = 31
        let gap = String(repeating: " ", count: max(column - 2 - title.count, 1))
        let indent = "\n" + String(repeating: " ", count: column)
        return "  " + title + gap + help.split(separator: "\n").joined(separator: indent)
    }

    // MARK: Help

    private static let help = """
        Usage: gimbald [options]

        \(abstract)

        \(about)

        Options:
        \(told.map(\.helpLines).joined(separator: "\n"))

        Limits, set with --limit NAME=N:
        \(limitLines)

        \(notes)
        See gimbald(8) for signals, files, the environment and the service.

        """

    // MARK: Man page

    /// The options as JSON, in swift-argument-parser's form ToolInfoV0.
    private static var toolInfo: String {
        let discussion = "\(about.joinedLines)\n\n\(notes)\nLimits:\n\(limitLines)"
        let command: JSONObject = [
            "commandName": .string("gimbald"), "abstract": .string(abstract), "discussion": .string(discussion),
            "arguments": .array(told.map(\.info)),
        ]
        let info: JSONObject = ["serializationVersion": .number(0), "command": .object(command)]
        return String(decoding: JSONValue.object(info).bytes, as: UTF8.self) + "\n"
    }

    // MARK: Completions

    private static var bashCompletions: String {
        let values = told.compactMap { option -> String? in
            guard let value = option.value else { return nil }
            let reply =
                switch value {
                case .path: #"compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$2")"#
                case .words(_, let words):
                    (words[0].hasSuffix("=") ? "compopt -o nospace; " : "")
                        + "mapfile -t COMPREPLY < <(compgen -W '\(words.joined(separator: " "))' -- \"$2\")"
                case .text: ":"
                }
            return "        \(option.names.joined(separator: "|"))) \(reply) ;;"
        }
        let names = told.flatMap(\.names).joined(separator: " ")
        return """
            # bash completions of gimbald
            _gimbald() {
                COMPREPLY=()
                case $3 in
            \(values.joined(separator: "\n"))
                    *) mapfile -t COMPREPLY < <(compgen -W '\(names)' -- "$2") ;;
                esac
            }
            complete -F _gimbald gimbald

            """
    }

    private static var zshCompletions: String {
        let specifications = told.map { option in
            let others = option.names.count > 1 ? "(\(option.names.joined(separator: " ")))" : ""
            let help = "[\(option.brief)]"
            let value =
                switch option.value {
                case nil: ""
                case .path(let name): ":\(name):_files"
                case .words(let name, let words): ":\(name):(\(words.joined(separator: " ")))"
                case .text(let name): ":\(name): "
                }
            return option.names.map { name in
                "    '\(others)\(name)\(option.value == nil ? "" : "=")\(help)\(value)'"
            }
            .joined(separator: " \\\n")
        }
        return "#compdef gimbald\n_arguments \\\n\(specifications.joined(separator: " \\\n"))\n"
    }

    private static var fishCompletions: String {
        let lines = told.map { option in
            let names = option.names.map { $0.hasPrefix("--") ? "-l \($0.dropFirst(2))" : "-s \($0.dropFirst())" }
            let value =
                switch option.value {
                case nil: ""
                case .path: " -r -F"
                case .words(_, let words): " -x -a '\(words.joined(separator: " "))'"
                case .text: " -x"
                }
            return "complete -c gimbald \(names.joined(separator: " "))\(value) -d '\(option.brief)'\n"
        }
        return "complete -c gimbald -f\n" + lines.joined()
    }
}

extension Option {
    /// The option's lines in the help.
    fileprivate var helpLines: String {
        Options.helpLines(names.joined(separator: ", ") + (value.map { " \($0.name)" } ?? ""), help)
    }

    /// The help without its default.
    fileprivate var brief: String { help.joinedLines.split(separator: " (").first.map(String.init) ?? "" }

    /// An object of the form ArgumentInfoV0.
    fileprivate var info: JSONValue {
        let names = names.map { name -> JSONValue in
            let kind = name.hasPrefix("--") ? "long" : "short"
            return .object(["kind": .string(kind), "name": .string(String(name.drop { $0 == "-" }))])
        }
        var info: JSONObject = [
            "kind": .string(value == nil ? "flag" : "option"), "shouldDisplay": .bool(true), "isOptional": .bool(true),
            "parsingStrategy": .string("default"), "isRepeating": .bool(isRepeating), "names": .array(names),
            "preferredName": names[names.count - 1],
        ]
        info["valueName"] = value.map { JSONValue.string($0.name) }
        info["abstract"] = .string(help.joinedLines)
        return .object(info)
    }
}

extension String {
    /// The text as one line.
    fileprivate var joinedLines: String { split(separator: "\n").joined(separator: " ") }
}
