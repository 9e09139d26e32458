// Arguments that several subcommands share. An invalid one is a usage error before a connection is made.

import ArgumentParser
import GimbalProtocol
import UnixSocket

struct SocketOptions: ParsableArguments {
    @Option("The daemon's socket.", "path", completion: .file(extensions: ["sock"]))
    var socket: String?

    @Option(
        "Give up after this time, such as 500ms, 5s or 2m (default: 5s for an answer, no limit for a movement or a lease).",
        "time")
    var timeout: Milliseconds?

    /// The socket paths at which the daemon may be.
    var candidates: [String] { SocketPath.candidates(socket) }

    /// The command that starts a daemon at the first of these paths.
    var daemonCommand: String {
        let first = candidates.first ?? SocketPath.standard()
        return first == SocketPath.standard() ? "gimbald" : "gimbald --socket \(first)"
    }

    func validate() throws { try timeout?.checkRange("--timeout") }
}

/// Options of the subcommands that print the daemon's answers.
struct AnswerOptions: ParsableArguments {
    @OptionGroup var socket: SocketOptions

    @Flag(help: "Print the daemon's lines of JSON, even on a terminal.")
    var json = false
}

/// Options of the subcommands about one camera.
struct CameraOptions: ParsableArguments {
    @OptionGroup var answers: AnswerOptions

    @Option("The camera (default: \(CameraName.main.text)).", "name", completion: .cameras)
    var camera: CameraName?
}

/// Options of the subcommands that query a camera. (They do not contain `CameraOptions`: a debug build of the parser
/// checks a group again for each level above it, and took 0.16 s instead of 0.05 s to start.)
struct QuestionOptions: ParsableArguments {
    @OptionGroup var answers: AnswerOptions

    @Option("The camera (default: \(CameraName.main.text)).", "name", completion: .cameras)
    var camera: CameraName?

    @Flag(help: "If a camera is only shown: create the one that --camera names, instead of failing.")
    var create = false
}

extension CommandConfiguration {
    /// Describes a subcommand: in one sentence, and at length.
    ///
    /// - Parameter name: the name, if it does not follow from that of the type.
    init(_ abstract: String, name: String? = nil, _ discussion: String) {
        self.init(commandName: name, abstract: abstract, discussion: discussion)
    }
}

/// A camera's name: 1 to 64 of `A-Z a-z 0-9 . _ -`.
struct CameraName: Equatable, TypedArgument {
    let text: String

    static let main = CameraName(unchecked: "main")

    init(typed argument: String) throws {
        guard let name = Self(NegativeNumbers.unshielded(argument)) else {
            throw ValidationError("write 1 to 64 of the characters A-Z a-z 0-9 . _ -, such as left.")
        }
        self = name
    }

    init?(_ text: String) {
        guard Request.isCameraName(text.utf8) else { return nil }
        self.text = text
    }

    private init(unchecked text: String) { self.text = text }

    /// Rejects a second `--camera`: the parser would take the last, but a person who types two means both.
    static func checkOnlyOne(_ words: [String]) throws {
        let count = words.prefix { $0 != "--" }.count { $0 == "--camera" || $0.hasPrefix("--camera=") }
        guard count > 1 else { return }
        throw ValidationError(
            "--camera is given \(count) times, but this command takes one; \"gimbal watch\" takes several.")
    }
}

extension CompletionKind {
    /// The names of the daemon's cameras.
    static var cameras: CompletionKind {
        .custom { words, _, _ in
            let socket = words.firstIndex(of: "--socket").flatMap { $0 + 1 < words.count ? words[$0 + 1] : nil }
            // A shell waits for this while a person types.
            guard var options = try? SocketOptions.parse(["--timeout", "500ms"]) else { return [] }
            options.socket = socket
            let names = (try? Conversation(options).cameraNames()) ?? []
            // A shell may interpret special characters in a completion, so only valid names are offered.
            return names.filter { CameraName($0) != nil }
        }
    }
}

/// The speed at which a trace plays: 1 is as recorded, infinity as fast as possible.
struct Speed: TypedArgument {
    let factor: Double

    /// Reads a factor such as `2` or `0.5x`, or `max`.
    init(typed text: String) throws {
        guard let factor = text == "max" ? Double.infinity : Self.factor(typed: text) else {
            throw ValidationError("write a factor above 0, such as 2, 0.5 or 2x; or max, as fast as possible.")
        }
        self.factor = factor
    }

    /// Reads a factor by which times are scaled, such as `2` or `0.5x`.
    init(typedFactor text: String) throws {
        guard let factor = Self.factor(typed: text) else {
            throw ValidationError("write a factor above 0, such as 2, 0.5 or 2x.")
        }
        self.factor = factor
    }

    private static func factor(typed text: String) -> Double? {
        let digits = ["x", "X", "×"].contains { text.hasSuffix($0) } ? String(text.dropLast()) : text
        return Double(digits).flatMap { $0 > 0 && $0.isFinite ? $0 : nil }
    }

    var json: JSONValue { factor == .infinity ? .string("max") : .number(factor) }
}

/// Event kinds, separated by commas.
struct EventKindList: TypedArgument {
    let kinds: [EventKind]

    static let words = EventKind.allCases.map(\.rawValue)

    init(typed text: String) throws {
        let words = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        kinds = try words.map { word in
            if let kind = EventKind(rawValue: word) { return kind }
            let guess = Spelling.closest(to: word, among: Self.words).map { " Did you mean \($0)?" } ?? ""
            throw ValidationError("write one or more of \(listed(Self.words, "and")), separated by commas.\(guess)")
        }
    }
}
