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

    /// The sections that only the man page has. `manual.awk` knows their headings.
    private static let sections = """
        Signals:
          SIGTERM, SIGINT  Shut down cleanly: accept no more input, keep sending pending output to clients that read
              it, for at most two seconds, and save the cameras. A second signal ends the daemon at once.
          SIGUSR2  Restart in place: the same process keeps its options, clients and cameras, and runs the program
              that is now installed at the path it was started from. Movements continue. The --config file is read
              again; if it is invalid, the daemon logs the problem and continues without restarting.
          SIGHUP  No effect.

        Environment:
          RUNTIME_DIRECTORY, XDG_RUNTIME_DIR  Where the socket is created if neither an option nor the service
              manager specifies it.
          STATE_DIRECTORY  Where the cameras are saved without --state-dir; the first if it lists several directories.
          LISTEN_FDS, LISTEN_PID, LISTEN_FDNAMES  Sockets passed by the service manager. One named "watch" is for
              clients that may only subscribe and query.
          NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID  Where to report to the service manager that the daemon is ready,
              reloading, alive or stopping, and how often.
          JOURNAL_STREAM  If it is set, log lines begin with their priority instead of the program's name. If it also
              refers to standard error, they become journal entries with the fields CAMERA, CLIENT, CLIENT_UID,
              CLIENT_PID and MESSAGE_ID.

        Files:
          /run/gimbal/gimbal.sock  The socket of the system daemon, created by gimbald.socket.
          /run/gimbal/watch.sock  Its watch socket, if gimbald-watch.socket is enabled.
          $XDG_RUNTIME_DIR/gimbal.sock  The socket of a user's daemon.
          /tmp/gimbal-UID/gimbal.sock  The same if there is no such directory. /tmp/gimbal-UID must belong to the user.
          SOCKET.lock  Locked while the daemon that created SOCKET runs.
          /var/lib/gimbal/cameras.ndjson  The cameras of the system daemon. A user's daemon saves them in
              ~/.local/state/gimbal, or in ~/.config/gimbal with systemd before version 254; any other daemon in
              --state-dir.
          cameras.ndjson.new  The same while it is being written. It replaces cameras.ndjson once it is on disk.
          cameras.ndjson.damaged  A state file that could not be read. The daemon moves it out of the way, replacing
              an older one, and starts without cameras.
          /etc/gimbal/traces  The traces that the system daemon can play by itself: uncompressed traces that move the
              camera, no recordings and no links. Others are skipped, and the log says why. A user's daemon reads
              ~/.config/gimbal/traces, any other daemon --trace-dir. They are read at startup and by a restart in place.
          /etc/gimbal/gimbald.conf  The settings of the system daemon. A user's daemon reads
              ~/.config/gimbal/gimbald.conf, any other daemon the --config file.

        State:
        The state file is text. Its first line identifies the format and says whether the daemon shut down cleanly. Two
        lines follow for each camera: the header of a trace that begins where the camera is, and the subscription that
        resumes after its last event. The last line has the number of cameras and a checksum, so a file that was edited
        by hand or truncated is detected as damaged.

        The file is written within seconds of a change, and at shutdown. It is always complete: to back it up, copy it
        while the daemon runs. A copy from a time when the daemon was stopped says that nothing has happened since. Do
        not put it in place of a later state: subscriptions that resume would get events of two different histories, and
        no notice. To restore a backup:

          systemctl stop gimbald.socket gimbald.service
          install -o gimbal -g gimbal -m 600 BACKUP /var/lib/gimbal/cameras.ndjson
          systemctl start gimbald.socket

        Cameras from a backup, or from before a crash, are where they were saved. Subscriptions that resume then begin
        with the current state, since events in between may be lost.

        Service:
        systemctl reload gimbald sends SIGUSR2 and returns when the daemon is ready again. It starts a newly installed
        program and applies changed settings, except for the sockets to listen on, their modes and their groups.
        systemctl restart gimbald applies those, too, and changed units. Neither drops a client or an event. Settings
        are options and limits by name, in /etc/gimbal/gimbald.conf:

          allow-group = video
          cameras = 1000

        Lines that begin with # are comments. A repeatable option may appear on several lines. Modes and groups are
        those of sockets that the daemon makes itself. The sockets of the units have SocketMode= and SocketGroup=; set
        them with systemctl edit gimbald.socket.

        With an invalid option the daemon does not start. systemctl status shows the reason, and clients receive it as
        an error. The service manager does not start the daemon again by itself, but the next client does.

        MemoryMax= limits the memory of the daemon; set it with systemctl edit gimbald. Beyond it the system kills the
        daemon, and the service manager starts it a second later with the cameras as last saved. Choose more than the
        limits add up to at worst: about 1.5 MiB per connection, 2 MiB per camera, 5 MiB more for a camera with all its
        gestures and surfaces, 8 MiB more for one that is recorded, and twice all-replay-bytes for replays. Or set lower
        limits with --limit.

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
        let discussion = "\(about.joinedLines)\n\n\(notes)\nLimits:\n\(limitLines)\n\n\(sections)"
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
