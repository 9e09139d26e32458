// A connection on which one request is answered before the next is sent. An error of the daemon's ends the program.

import GimbalClient

final class Conversation {
    private let connection: DaemonConnection
    private let camera: CameraName?
    private let output = Output()
    private let isForPeople: Bool
    /// What has been said and not been looked at.
    private var heard: [Message] = []
    private var hasEnded = false

    /// Connects, to speak about one camera.
    convenience init(_ options: CameraOptions) throws(Failure) {
        try self.init(options.socket, json: options.json, camera: options.camera)
    }

    /// - Parameter json: whether people, too, get the daemon's lines.
    init(_ socket: SocketOptions, json: Bool = false, camera: CameraName? = nil) throws(Failure) {
        connection = try DaemonConnection(socket)
        self.camera = camera
        isForPeople = output.isTerminal && !json
    }

    // MARK: Asking

    /// Sends a request and waits for its answer; what is said before it is not kept.
    ///
    /// - Parameter take: takes the answer; `nil` for what is none.
    private func ask<Answer>(_ request: ClientRequest, _ take: (Message, ServerMessage) -> Answer?) throws -> Answer {
        connection.queue(try request.line(camera: camera?.text))
        while true {
            let message = try next()
            if let answer = take(message, try message.meaning()) { return answer }
        }
    }

    /// Sends a request that is obeyed, and waits until it is.
    ///
    /// - Parameter answer: the type of an answer that says no more than that.
    func command(_ request: ClientRequest, answer: String = "ok") throws {
        connection.queue(try request.line(camera: camera?.text, id: "command"))
        while try next().type != answer {}
    }

    /// The camera's state.
    func state() throws -> CameraState { try ask(.getCamera) { $1.state } }

    /// What the daemon says next.
    ///
    /// - Throws: a `Failure` when it is an error, or when the daemon goes.
    private func next() throws -> Message {
        while heard.isEmpty {
            guard !hasEnded else { throw Failure.daemonWentAway }
            hasEnded = try connection.turn { heard.append(try Message(fromDaemon: $0)) }.end != nil
        }
        let message = heard.removeFirst()
        if let error = message.error { throw Failure(error) }
        return message
    }

    // MARK: Moving

    /// Has the camera go somewhere, at once or over a time, and says where it is then.
    func go(_ update: CameraUpdate, _ animation: AnimationOptions? = nil) throws {
        if let animation {
            let duration = animation.duration?.value ?? AnimationOptions.usualDuration
            let request = ClientRequest.animate(update, durationMs: duration, easing: animation.easing ?? .default)
            guard !animation.noWait else { return try command(request) }
            try commandAndRest(request)
        } else {
            try command(.move(update))
        }
        try showPosition()
    }

    /// Sends a command, and waits until the camera rests; nobody else's request comes between the two.
    private func commandAndRest(_ request: ClientRequest) throws {
        // Whatever the kinds, a subscriber is told that a trace has taken the camera.
        try command(.subscribe(kinds: []), answer: "subscribed")
        connection.queue(
            try ClientRequest.line(frame: [request, .awaitIdle()], camera: camera?.text, ids: ["command", "rest"]))
        var message: Message
        repeat {
            message = try next()
            if message.type == "reset" { throw Failure(.busy, "a trace has taken the camera") }
        } while message.type != "at-rest"
    }

    // MARK: Showing

    /// Prints where the camera is.
    func showPosition() throws { try showState { [$0.position.text] } }

    /// Prints the camera's state, or what a person wants of it.
    func showState(_ rows: (CameraState) -> [String]) throws { try show(.getCamera) { $0.state.map(rows) } }

    /// Asks, and prints the answer: rows for people, the line as it is for programs.
    ///
    /// - Parameter rows: makes rows of the answer; `nil` for what is none.
    func show(_ request: ClientRequest, _ rows: (ServerMessage) -> [String]?) throws {
        let (message, rows) = try ask(request) { message, meaning in rows(meaning).map { (message, $0) } }
        if isForPeople {
            for row in rows { output.add(row) }
        } else {
            output.add(message.bytes)
        }
        try output.flush()
    }
}

extension Message {
    /// The error that it is, if it is one.
    var error: GimbalError? { type == "error" ? decode(GimbalError.self) : nil }

    /// What it says.
    fileprivate func meaning() throws(Failure) -> ServerMessage {
        guard let meaning = decode(ServerMessage.self) else {
            throw Failure(.unavailable, "the daemon's answer cannot be read")
        }
        return meaning
    }
}

extension ServerMessage {
    fileprivate var state: CameraState? {
        if case .camera(let state) = self { state } else { nil }
    }
}
