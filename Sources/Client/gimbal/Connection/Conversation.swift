// A connection on which each request is answered before the next is sent. An error of the daemon ends the program.

import GimbalClient

final class Conversation {
    private let connection: DaemonConnection
    /// The camera that was named; `nil` if none was.
    private let camera: CameraName?
    private let output = Output()
    private let isForPeople: Bool
    private let questionsCreate: Bool
    /// Received lines that have not been handled.
    private var received: [ReceivedLine] = []
    private var hasEnded = false
    /// Whether a command has been sent that moves the camera, and nothing but an animation moves it since.
    private var moves = false

    convenience init(_ options: AnswerOptions) throws { try self.init(options.socket, json: options.json) }

    /// Connects for requests about one camera.
    convenience init(_ options: CameraOptions) throws {
        let answers = options.answers
        try self.init(answers.socket, json: answers.json, camera: options.camera)
    }

    /// Connects for queries of one camera.
    convenience init(_ options: QuestionOptions, limitsAnswers: Bool = true) throws {
        let answers = options.answers
        try self.init(
            answers.socket, json: answers.json, camera: options.camera, creates: options.create,
            limitsAnswers: limitsAnswers)
    }

    /// - Parameters:
    ///   - json: whether people get the daemon's lines, too.
    ///   - creates: whether a query creates the camera if it does not exist.
    ///   - limitsAnswers: whether --timeout limits the wait for answers; if not, it is passed to the daemon.
    init(
        _ socket: SocketOptions, json: Bool = false, camera: CameraName? = nil, creates: Bool = false,
        limitsAnswers: Bool = true
    ) throws {
        connection = try DaemonConnection(socket, isLimited: limitsAnswers)
        questionsCreate = creates
        self.camera = camera
        isForPeople = output.isTerminal && !json
    }

    // MARK: Requests

    /// Sends a request and waits for its answer; earlier messages are dropped.
    ///
    /// - Parameters:
    ///   - name: the camera of the request, if not that of the conversation.
    ///   - creates: whether the request creates the camera if it does not exist.
    ///   - timeout: how long the answer may take, in milliseconds; `nil` for the usual time.
    /// - Returns: the answer's line, and its contents.
    private func ask<Answer>(
        _ request: ClientRequest, of name: String? = nil, creates: Bool = true, timeout: Double? = nil
    ) throws -> (line: ReceivedLine, holds: Answer) {
        connection.queue(try request.line(camera: name ?? camera?.text, creates: creates))
        if let timeout { connection.expectAnswer(within: timeout) } else { connection.expectAnswer() }
        while true {
            let message = try next()
            guard let content = message.content else {
                throw Failure(.unavailable, "the daemon's answer cannot be read")
            }
            guard let answer = content.answer(as: Answer.self) else { continue }
            connection.hasAnswered()
            return (message, answer)
        }
    }

    /// Sends a command, and waits until the daemon acknowledges it.
    ///
    /// - Parameters:
    ///   - answer: the type of the acknowledgement.
    ///   - creates: whether the command creates the camera if it does not exist.
    func command(_ request: ClientRequest, answer: MessageType = .ok, creates: Bool = true) throws {
        try connection.joinLeases(of: camera?.text ?? CameraName.main.text)
        connection.queue(try request.line(camera: camera?.text, id: "command", creates: creates))
        connection.expectAnswer()
        while try next().type != answer {}
        connection.hasAnswered()
    }

    /// Takes a lease, or joins the one that is held for this command; waits for it as long as the request does.
    func lease(_ request: LeaseRequest) throws -> CameraLease {
        try connection.joinLeases(of: camera?.text ?? CameraName.main.text)
        return try ask(.takeLease(request), timeout: request.wait ? .infinity : nil).holds
    }

    /// Returns the state of the camera that is about to be changed.
    func state() throws -> CameraState { try ask(.getCamera()).holds }

    /// Returns the daemon's next message.
    ///
    /// - Throws: a `Failure` if it is an error, or if the daemon goes.
    private func next() throws -> ReceivedLine {
        while received.isEmpty {
            guard !hasEnded else { throw Failure.daemonWentAway }
            hasEnded = try connection.turn { received.append($0) }.end != nil
        }
        let message = received.removeFirst()
        guard let error = message.error else { return message }
        guard error.code == .unknownCamera else { throw Failure(error) }
        throw Failure.unknownCamera(camera?.text ?? CameraName.main.text, among: try cameraNames())
    }

    /// Returns the names of all cameras.
    func cameraNames() throws -> [String] { try ask(.cameras).holds }

    /// Prints the daemon's counters as a monitoring system reads them.
    func showMetrics() throws {
        var metrics = OpenMetrics(try ask(.stats).holds)
        var page = ClientPage(clients: [], hasMore: true)
        repeat {
            page = try ask(.clients(after: page.clients.last?.number ?? 0)).holds
            metrics.add(page.clients)
        } while page.hasMore && !page.clients.isEmpty
        for name in try cameraNames().prefix(OpenMetrics.mostCameras) {
            do {
                metrics.add(try ask(.getCamera(), of: name, creates: false).holds as CameraState)
            } catch let failure as Failure where failure.status == .rejected {}  // It has been removed since.
        }
        for line in metrics.text.split(separator: "\n") { output.add(Array(line.utf8)[...]) }
        try output.flush()
    }

    // MARK: Moving

    /// Moves the camera, at once or over a time, and prints where it is then.
    func go(_ update: CameraUpdate, _ animation: AnimationOptions? = nil) throws {
        guard let animation else {
            try command(.move(update))
            return try showPosition()
        }
        let request = ClientRequest.animate(
            update, durationMs: animation.duration?.milliseconds, easing: animation.easing ?? .default,
            path: animation.path)
        try perform(request, isWaitedFor: !animation.noWait)
    }

    /// Has the camera move over a time, and prints where it is when it rests.
    ///
    /// - Parameter isWaitedFor: whether to wait for the rest, and print anything.
    func perform(_ request: ClientRequest, isWaitedFor: Bool) throws {
        guard isWaitedFor else { return try command(request) }
        do {
            try commandAndRest(request)
        } catch let interrupt as Interrupt {
            try stop(interrupt)
        }
        try showPosition()
    }

    /// Sends a command, and waits until the camera rests; no other request comes between the two.
    private func commandAndRest(_ request: ClientRequest) throws {
        // Whatever the kinds, a subscriber learns that a trace has taken the camera.
        try command(.subscribe(kinds: [.moveStarted]), answer: .subscribed)
        connection.queue(
            try ClientRequest.line(batch: [request, .awaitIdle()], camera: camera?.text, ids: ["command", "rest"]))
        connection.expectAnswer()
        moves = true
        var message: ReceivedLine
        repeat {
            message = try next()
            switch message.type {
            case .ok: connection.hasAnswered()
            case .reset: throw Failure(.busy, "a trace has taken the camera")
            case .moveStarted: moves = message.event?.move?.reason == .animation
            default: break
            }
        } while message.type != .atRest
    }

    /// Stops the camera where it is, unless this command does not move it yet or any more, and ends the command.
    private func stop(_ interrupt: Interrupt) throws -> Never {
        interrupt.accept()
        if moves {
            connection.queue(try ClientRequest.stop.line(camera: camera?.text, id: "stop"))
            connection.expectAnswer(within: Self.lastPatience)
            while let message = try? next(), message.id != "stop" {}
        }
        throw interrupt
    }

    /// How long the daemon may take to stop the camera after ^C, in milliseconds.
    private static let lastPatience = 250.0

    // MARK: Showing

    /// Prints where the camera is.
    func showPosition() throws { try showState { [$0.position.text] } }

    /// Prints the camera's state; for people, as these rows.
    func showState(_ rows: (CameraState) -> [PrintableText]) throws { try show(.getCamera(), rows) }

    /// Asks, and prints the answer: rows for people, the unchanged line for programs.
    ///
    /// - Parameters:
    ///   - timeout: how long the answer may take, in milliseconds; `nil` for the usual time.
    ///   - rows: makes rows of the answer's contents.
    func show<Answer>(
        _ request: ClientRequest, timeout: Double? = nil, _ rows: (Answer) -> [PrintableText]
    ) throws {
        let (line, answer): (ReceivedLine, Answer) = try ask(request, creates: questionsCreate, timeout: timeout)
        // Called for programs, too: the closure may take note of the answer.
        let rows = rows(answer)
        if isForPeople {
            for row in rows { output.add(row) }
        } else {
            output.add(line.bytes)
        }
        try output.flush()
    }
}

extension Failure {
    /// Returns the failure of a request about a missing camera.
    static func unknownCamera(_ name: String, among names: [String]) -> Failure {
        let guess: PrintableText? = Spelling.closest(to: name, among: names).map { ". Did you mean \($0)?" }
        let some = names.prefix(20) + (names.count > 20 ? ["\(grouped(names.count - 20)) more"] : [])
        let all: PrintableText =
            names.isEmpty ? "there are none" : "there \(names.count == 1 ? "is" : "are") \(listed(Array(some), "and"))"
        return Failure(.rejected, "there is no camera \(name); \(all)\(guess ?? "")")
    }
}
