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
    private static let abstract = "Owns map cameras, and moves them as gestures say."

    private static let about = """
        Takes gestures and commands on a Unix socket, one JSON object per line, and tells subscribers
        what the cameras do. SIGTERM and SIGINT end it in order; SIGUSR2 restarts it in place, as the program
        that is installed now, without dropping a client.
        """

    private static let notes = """
        Exit status:
          0    it was asked to end; nothing is wrong with the file that --check-config names
          1    something is
          64   wrong usage
          69   another daemon has the socket, or keeps its state in the folder
          71   the system refused what it needs
          73   the socket cannot be made
          74   what the cameras came to in the end cannot be saved

        Examples:
          gimbald --socket /tmp/map.sock
          gimbald --socket /tmp/map.sock --watch-socket /tmp/watch.sock --allow-group video
          gimbald --check-config /etc/gimbal/gimbald.conf
          systemctl enable --now gimbald.socket

        """

    /// The sections that only the man page has. `manual.awk` knows their headings.
    private static let sections = """
        Signals:
          SIGTERM, SIGINT  It ends in order: it takes nothing more, sends what was emitted to who reads, for two
              seconds at most, and saves the cameras. A second one ends it at once.
          SIGUSR2  It restarts in place: the same process with the same options, clients and cameras, as the
              program that is now installed where it was started from. What moves, moves on there. The file of
              --config is read anew; if something is wrong with it, the daemon says so in the log and goes on.
          SIGHUP  Nothing.

        Environment:
          RUNTIME_DIRECTORY, XDG_RUNTIME_DIR  Where the socket is made if neither an option nor the service
              manager says.
          STATE_DIRECTORY  Where the cameras are kept without --state-dir; of several folders the first.
          LISTEN_FDS, LISTEN_PID, LISTEN_FDNAMES  Sockets that the service manager passes. One that is named
              "watch" is for clients that may only subscribe and ask.
          NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID  Where the service manager is told that the daemon is ready,
              reloading, alive or ending, and how often.
          JOURNAL_STREAM  Where it is standard error, log lines are the journal's entries, with the fields
              CAMERA, CLIENT, CLIENT_UID, CLIENT_PID and MESSAGE_ID; else they begin with their priority.

        Files:
          /run/gimbal/gimbal.sock  The socket of the system's daemon; gimbald.socket makes it.
          /run/gimbal/watch.sock  Its socket for watching, where gimbald-watch.socket is enabled.
          $XDG_RUNTIME_DIR/gimbal.sock  The socket of a user's daemon.
          /tmp/gimbal-UID/gimbal.sock  The same where there is no such folder. The folder must be the user's own.
          SOCKET.lock  Locked as long as the daemon lives that made SOCKET.
          /var/lib/gimbal/cameras.ndjson  The cameras of the system's daemon. A user's are in
              ~/.local/state/gimbal, or in ~/.config/gimbal with a systemd before 254; others' where --state-dir
              says.
          cameras.ndjson.new  The same while it is written. It replaces cameras.ndjson when it is on the disk.
          cameras.ndjson.damaged  A file that could not be read. It is moved out of the way, in the place of an
              older one, and the daemon begins without cameras.
          /etc/gimbal/traces  The traces that the system's daemon can play by itself, each a file that "gimbal run" plays; a
              user's are in ~/.config/gimbal/traces, others' where --trace-dir says. They are read when the daemon starts,
              and by a restart in place.
          /etc/gimbal/gimbald.conf  The settings of the system's daemon; a user's are in ~/.config/gimbal/gimbald.conf,
              others' where --config says.

        State:
        The state file is text. Its first line says what it is and whether the daemon ended in order; two lines for
        each camera follow, the header of a trace that begins where the camera is, and the subscription that goes on
        from its last event; the last line has their number and a checksum. A file that was changed by hand, or cut,
        is therefore damaged.

        It is written within seconds of a change, and when the daemon ends. The file is always whole: to back it up,
        copy it at any time. To restore it:

          systemctl stop gimbald.socket gimbald.service
          install -o gimbal -g gimbal -m 600 BACKUP /var/lib/gimbal/cameras.ndjson
          systemctl start gimbald.socket

        Cameras from a backup, or from before a crash, are where they were; what subscribers ask for from then on
        begins with what is, since events in between may be lost.

        Service:
        systemctl reload gimbald is SIGUSR2, and returns when the daemon is ready again: it starts a program that
        was installed, and applies changed settings, but for where it listens. systemctl restart gimbald does so too, and
        applies changed units. Neither drops a client or an event. Settings are options and limits by their names, in /etc/gimbal/gimbald.conf:

          allow-group = video
          cameras = 1000

        A line that begins with # says nothing. An option that is repeatable may stand on several lines.

        With a wrong option the daemon does not start: systemctl status says why, and so does the error that clients
        are answered. It is not started again by itself, but by the next client.

        MemoryMax= in the same place limits what it may use of memory. Beyond it the system kills the daemon, and the
        service manager starts it a second later with the cameras as they were last saved: choose more than its
        limits come to at worst, some 1.5 MiB for a connection, 2 MiB for a camera, 5 MiB more for one with all its
        gestures and surfaces, and 8 MiB more for one that is recorded, and twice all-replay-bytes for what is
        replayed, or set lower limits by --limit.

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

        Limits, by --limit NAME=N:
        \(limitLines)

        \(notes)
        man gimbald tells of signals, files, the environment and the service.

        """

    // MARK: Man page

    /// The options as JSON, in swift-argument-parser's form ToolInfoV0.
    private static var toolInfo: String {
        var json = LineWriter()
        json.write(#"{"serializationVersion":0,"command":{"commandName":"gimbald","abstract":"#)
        json.write(string: abstract)
        json.write(#","discussion":"#)
        json.write(string: "\(about.joinedLines)\n\n\(notes)\nLimits:\n\(limitLines)\n\n\(sections)")
        json.write(#","arguments":["#)
        for (index, option) in told.enumerated() {
            if index > 0 { json.write(",") }
            option.writeInfo(to: &json)
        }
        json.write("]}}\n")
        return json.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
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

    /// Writes an object of the form ArgumentInfoV0.
    fileprivate func writeInfo(to json: inout LineWriter) {
        json.write(value == nil ? #"{"kind":"flag""# : #"{"kind":"option""#)
        json.write(#","shouldDisplay":true,"isOptional":true,"parsingStrategy":"default""#)
        json.write(isRepeating ? #","isRepeating":true"# : #","isRepeating":false"#)
        json.write(#","names":["#)
        for (index, name) in names.enumerated() {
            if index > 0 { json.write(",") }
            Self.writeName(name, to: &json)
        }
        json.write(#"],"preferredName":"#)
        Self.writeName(names[names.count - 1], to: &json)
        if let value {
            json.write(#","valueName":"#)
            json.write(string: value.name)
        }
        json.write(#","abstract":"#)
        json.write(string: help.joinedLines)
        json.write("}")
    }

    private static func writeName(_ name: String, to json: inout LineWriter) {
        json.write(name.hasPrefix("--") ? #"{"kind":"long","name":"# : #"{"kind":"short","name":"#)
        json.write(string: String(name.drop { $0 == "-" }))
        json.write("}")
    }
}

extension String {
    /// The text as one line.
    fileprivate var joinedLines: String { split(separator: "\n").joined(separator: " ") }
}
