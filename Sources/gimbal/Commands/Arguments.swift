// Words of the command line that several subcommands share. What is not right ends with a usage error before a
// connection is made.

import ArgumentParser
import GimbalClient
import UnixSocket

struct SocketOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The daemon's socket.", valueName: "path"), completion: .file(extensions: ["sock"]))
    var socket: String?

    var path: String { SocketPath.forClient(socket) }

    /// What starts a daemon at this path.
    var daemonCommand: String { path == SocketPath.standard() ? "gimbald" : "gimbald --socket \(path)" }
}

/// What the subcommands about one camera have in common.
struct CameraOptions: ParsableArguments {
    @OptionGroup var socket: SocketOptions

    @Option(
        name: .customLong("camera"),
        help: ArgumentHelp("The camera (default: \(CameraName.main.text)).", valueName: "name"))
    var namedCamera: CameraName?

    @Flag(help: "Print the daemon's line, on a terminal too.")
    var json = false

    var camera: CameraName { namedCamera ?? .main }
}

/// A camera's name: 1 to 64 of `A-Z a-z 0-9 . _ -`.
struct CameraName: ExpressibleByArgument, Equatable {
    let text: String

    static let main = CameraName(unchecked: "main")

    init?(argument: String) {
        let argument = NegativeNumbers.unshielded(argument)
        let isRight = argument.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard isRight, (1...64).contains(argument.utf8.count) else { return nil }
        text = argument
    }

    private init(unchecked text: String) { self.text = text }

    var defaultValueDescription: String { text }
}

/// How fast a trace plays: 1 is as it was recorded, infinite as fast as possible.
struct Speed: ExpressibleByArgument {
    let factor: Double

    static let recorded = Speed(factor: 1)

    init?(argument: String) {
        if argument == "max" {
            factor = .infinity
        } else {
            guard let factor = Double(argument), factor > 0, factor.isFinite else { return nil }
            self.factor = factor
        }
    }

    init(factor: Double) { self.factor = factor }

    var json: JSONValue { factor == .infinity ? .string("max") : .number(factor) }
}

/// Kinds of events, with commas between them.
struct EventKinds: ExpressibleByArgument {
    let kinds: [EventKind]

    init?(argument: String) {
        let words = argument.split(separator: ",", omittingEmptySubsequences: false)
        let kinds = words.compactMap { EventKind(rawValue: String($0)) }
        guard kinds.count == words.count else { return nil }
        self.kinds = kinds
    }

    static var allValueStrings: [String] { EventKind.allCases.map(\.rawValue) }
    static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }
}
