// `gimbal send`: sends lines unchanged, and prints the daemon's answers.

import ArgumentParser
import GimbalProtocol
import Traces

struct Send: ParsableCommand {
    static let configuration = CommandConfiguration(
        "Send lines, and print what comes back.",
        """
        Sends its arguments or, if there are none, the lines of standard input, and ends when all are answered. A \
        request without \"id\" is answered only by data or an error. After a \"subscribe\", it runs until ^C. The \
        status is 1 if any answer is an error.

        Examples:
          gimbal send '{"type":"cameras"}'
          gimbal send '{"type":"animate","update":{"kind":"zoom-to","zoom":9}}'
          gimbal send '{"type":"subscribe"}' '{"type":"stop"}'
          gimbal send < commands.ndjson
        """)

    @OptionGroup var socket: SocketOptions

    @Argument(help: "The lines to send (default: standard input).")
    var lines: [String] = []

    func validate() throws {
        for line in lines where !line.hasPrefix("{") && !line.hasPrefix("[") && InputFile.isThere(line) {
            throw ValidationError(
                "'\(line)' is a file, not a line: 'gimbal send <\(line)' sends its lines, 'gimbal replay \(line)' plays a trace."
            )
        }
    }

    func run() throws {
        let session = try SendSession(self)
        do {
            try session.run()
        } catch let interrupt as Interrupt where session.isSubscribed {
            interrupt.accept()
        }
        if session.hasErrors { throw ExitCode(.rejected) }
    }
}

private final class SendSession {
    private let connection: DaemonConnection
    private let output = Output()
    /// The number of lines sent before the first.
    private let linesBefore: Int
    /// The source of the lines; `nil` when there are no more.
    private var input: InputFile?
    /// Whether something of it has been sent.
    private var hasBegun = false
    private(set) var hasErrors = false
    /// The cameras that were subscribed to, except those that were removed.
    private var followed: Set<String> = []
    private var hasUnsubscribed = false
    /// Whether a trace has begun that has not ended itself.
    private var isInTrace = false
    private var lines = LineSplitter()
    private var decoder = RequestDecoder()
    private var isAnswered = false
    private static let endMark: RequestID = "gimbal-send-end"
    var isSubscribed: Bool { !followed.isEmpty }

    init(_ options: Send) throws {
        connection = try DaemonConnection(options.socket, isStrict: false)
        linesBefore = try connection.joinLeases()
        if options.lines.isEmpty {
            input = try InputFile("-")
        } else {
            for line in options.lines { queue(Array((line + "\n").utf8)) }
            try finishSending()
        }
    }

    /// Sends the lines, and prints until the daemon has answered everything.
    func run() throws {
        while true {
            let turn = try connection.turn(source: connection.wantsMore ? input?.descriptor : nil, handle)
            try output.flush()
            if turn.end != nil { break }
            if turn.isSourceReady { try sendMore() }
        }
        // A refused trace ends the connection before all lines are sent; its error has said why.
        let isCutOff = isSubscribed && !hasUnsubscribed
        if !isAnswered || isCutOff, !hasErrors { throw Failure.daemonWentAway }
    }

    private func queue(_ piece: [UInt8]) {
        lines.read(piece[...], note)
        connection.queue(piece)
    }

    /// Looks for a request that ends a subscription, as without an id it is not answered; and for traces.
    private func note(_ line: LineSplitter.Line) {
        guard !line.isTooLong, let requests = try? decoder.decode(line.text.span) else { return }
        for request in requests {
            switch request.body {
            case .unsubscribe, .unsubscribeAll: hasUnsubscribed = true
            case .trace: isInTrace = true
            case .traceEnd: isInTrace = false
            default: break
            }
        }
    }

    private func sendMore() throws {
        guard var piece = try input?.read(), !piece.isEmpty else {
            input = nil
            return try finishSending()
        }
        if !hasBegun { piece = piece.withoutByteOrderMark }
        hasBegun = true
        queue(piece)
    }

    /// Sends a ping behind the last line, which may lack its line feed, and behind the end of a trace: the pong tells
    /// that all is answered.
    private func finishSending() throws {
        lines.finish(note)
        let ending = isInTrace ? Request.traceEndLine : []
        connection.queue([0x0a] + ending + (try ClientRequest.ping.line(id: Self.endMark)))
        connection.finishSending()
    }

    private func handle(_ message: ReceivedLine) {
        switch message.type {
        case .error: hasErrors = true
        case .pong where message.id == Self.endMark:
            isAnswered = true
            return
        case .subscribed, .removed:
            guard let camera = message.event?.camera else { break }
            if message.type == .removed { followed.remove(camera) } else { followed.insert(camera) }
        // Another client has ended the trace: what was sent behind it is not answered.
        case .traceEnded: isAnswered = isAnswered || message.traceEnded?.cut == true
        default: break
        }
        output.add(numbered(message))
    }

    /// Returns a message; the line that an error names is counted among those of the user.
    private func numbered(_ message: ReceivedLine) -> ArraySlice<UInt8> {
        guard linesBefore > 0, let line = message.error?.line, line > linesBefore else { return message.bytes }
        let text = String(decoding: message.bytes, as: UTF8.self)
        // No string in a line contains unescaped quotes.
        return Array(text.replacing("\"line\":\(line)", with: "\"line\":\(line - linesBefore)").utf8)[...]
    }
}
