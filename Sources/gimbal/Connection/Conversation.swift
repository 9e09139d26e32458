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
        while let message = try next() {
            if let answer = take(message, try message.meaning()) { return answer }
        }
        throw Failure.daemonWentAway
    }

    /// Sends a request that is obeyed, and waits until it is.
    ///
    /// - Parameter answer: the type of an answer that says no more than that.
    func command(_ request: ClientRequest, answer: String = "ok") throws {
        connection.queue(try request.line(camera: camera?.text, id: "command"))
        while let message = try next(), message.type != answer {}
    }

    /// The camera's state.
    func state() throws -> CameraState { try ask(.getCamera) { $1.state } }

    /// What the daemon says next; `nil` when nothing comes in time.
    ///
    /// - Throws: a `Failure` when it is an error, or when the daemon goes.
    private func next(before deadline: ContinuousClock.Instant? = nil) throws -> Message? {
        while heard.isEmpty {
            guard !hasEnded else { throw Failure.daemonWentAway }
            let left = deadline.map { max($0 - .now, .zero) / .milliseconds(1) }
            let turn = try connection.turn(timeout: left.map { Int($0.rounded(.up)) }) { heard.append(Message($0)) }
            hasEnded = turn.end != nil
            if heard.isEmpty, left == 0 { return nil }
        }
        let message = heard.removeFirst()
        if let error = message.error { throw Failure(error) }
        return message
    }

    // MARK: Moving

    /// Has the camera go somewhere, at once or over a time, and says where it is then.
    func go(_ update: CameraUpdate, _ animation: AnimationOptions? = nil) throws {
        if let animation {
            if !animation.noWait { try command(.subscribe(), answer: "subscribed") }
            let duration = animation.duration?.value ?? AnimationOptions.usualDuration
            try command(.animate(update, durationMs: duration, easing: animation.easing ?? .default))
            guard !animation.noWait else { return }
            try waitForRest()
        } else {
            try command(.move(update))
        }
        try showPosition()
    }

    /// Waits until the camera rests. An animation that changes nothing is silent.
    private func waitForRest() throws {
        let end = ContinuousClock.now + Self.patience
        var isMoving = false
        while let message = try next(before: isMoving ? nil : end), message.type != "idle" {
            switch message.type {
            case "removed": throw Failure(.unavailable, "the camera was removed")
            case "reset": throw Failure(.busy, "a trace has taken the camera")
            // What was missed may have been its rest.
            case "lagged": isMoving = false
            default: isMoving = isMoving || message.isEvent
            }
        }
    }

    /// How late the first frame of an animation may be: a daemon may have much to do.
    private static let patience = Duration.milliseconds(500)

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
