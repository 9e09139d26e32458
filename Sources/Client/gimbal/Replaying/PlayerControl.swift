// A person's control of a replay: turns keys into requests, and draws lines that show where the replay is. It has a
// connection of its own, since the replay's lines wait for their time. Invariant: only the daemon knows the state of
// the replay, and what is shown comes from it.

import GimbalProtocol
import Glibc

final class PlayerControl {
    /// The state of the request for the replay's status.
    private enum Question {
        case none, asked
        /// The answer will describe the replay before the last key.
        case outdated
    }

    /// The source of keys; `nil` if the terminal has none for this program.
    private let keyboard: Keyboard?
    private let connection: DaemonConnection
    private let camera: String
    private let style = Style(STDERR_FILENO)
    private var face = PlayerFace()
    private var status = StatusLines()
    /// Whether the replay is paused, or will be at the end of its seek.
    private var isPaused = false
    /// Whether a replay runs, as far as the daemon has reported.
    private var isRunning = false
    /// When the replay began to seek; `nil` if it does not.
    private var seekStart: ContinuousClock.Instant?
    /// Whether the daemon has granted the subscription to the camera's replays; `nil` until it answers.
    private var isSubscribed: Bool?
    /// Whether a key has ended the replay.
    private(set) var isEnding = false
    private var marks = 0
    /// The gestures fed to the camera; `nil` at a speed at which they would change too fast to read.
    private var gestures: PlayedGestures? = PlayedGestures()
    /// Whether the face shows where the camera is.
    private var isCameraKnown = false

    private let started = ContinuousClock.now
    private var lastAsked: ContinuousClock.Instant?
    private var question = Question.none
    /// A short-lived note in place of the bar.
    private var note: (text: PrintableText, end: ContinuousClock.Instant)?

    /// A replay that ends within this time shows nothing.
    private static let delay = Duration.milliseconds(330)
    private static let interval = Duration.milliseconds(100)
    /// At a higher speed gestures change faster than a person can read.
    private static let fastestGestures = 8.0
    /// A seek shorter than this shows as a jump.
    private static let jumpTime = Duration.milliseconds(200)
    private static let statusID: RequestID = "player-status"

    /// - Parameters:
    ///   - isInputTaken: whether standard input is the trace.
    ///   - hasRows: whether events scroll by, which already show the progress.
    ///   - markers: times of the known markers of the trace, in milliseconds.
    /// - Returns: `nil` without a terminal to read keys from or draw on.
    init?(
        _ title: String, of camera: String, _ socket: SocketOptions, isInputTaken: Bool, hasRows: Bool,
        loop: TracePlayback.Loop, durationMs: Double?, markers: [Double]
    ) throws {
        // A pager that reads standard output may read keys, too; a person who types the trace presses no other keys.
        let canSteer = isatty(STDOUT_FILENO) == 1 && (!isInputTaken || isatty(STDIN_FILENO) == 0)
        keyboard = canSteer ? Keyboard(isInputTaken: isInputTaken) : nil
        guard keyboard != nil || !hasRows && Terminal.canMoveCursor(STDERR_FILENO) else { return nil }
        self.camera = camera
        connection = try DaemonConnection(socket)
        (face.name, face.rounds, face.durationMs) = (PrintableText(title), loop, durationMs)
        face.hasKeys = keyboard != nil
        add(markers)
    }

    /// Subscribes to the camera's replays, and waits for the answer; returns `false` if the daemon does not support it.
    func begin() throws -> Bool {
        try subscribe()
        connection.expectAnswer()
        while isSubscribed == nil {
            if try connection.turn(handle).end != nil { throw Failure.daemonWentAway }
        }
        connection.hasAnswered()
        return isSubscribed == true
    }

    private func subscribe() throws {
        let kinds: Set<EventKind> = gestures == nil ? [.replay, .marker] : [.replay, .marker, .gesture]
        try send(.subscribe(kinds: kinds))
    }

    /// Restores the terminal.
    func end() {
        clear()
        keyboard?.end()
    }

    // MARK: Turns

    /// The descriptors that are readable when there is something to do.
    var sources: [CInt] { [connection.socket.descriptor, keyboard?.source].compactMap(\.self) }

    /// The longest time to wait before the next `advance`, in milliseconds.
    var timeout: Int { keyboard?.isUndecided == true ? 50 : 100 }

    /// Handles keys and the daemon's messages, and redraws the lines.
    func advance() throws {
        keyboard?.begin()
        stopIfAsked()
        // What a key does depends on the state of the replay.
        _ = try connection.turn(timeout: 0, handle)
        for key in keyboard?.read() ?? [] { try press(key) }
        try ask()
        if connection.socket.unsent > 0 { _ = try connection.turn(timeout: 0, handle) }
        draw()
    }

    private func press(_ key: Key) throws {
        guard let action = PlayerAction(key, face, isPaused: isPaused) else { return }
        switch action {
        case .steer(let request):
            try send(request)
            expect(request)
        case .mark:
            marks += 1
            try send(.marker(label: "mark \(marks)"))
        case .showKeys: face.showsKeys.toggle()
        case .end:
            isEnding = true
            try send(.endReplay)
        case .refuse(let why): show("\(why)")
        }
    }

    /// Assumes the effect of a request until the daemon reports it: keys may follow one another faster.
    private func expect(_ request: ClientRequest) {
        if question == .asked { question = .outdated }
        switch request {
        case .pauseReplay, .stepReplay: isPaused = true
        case .resumeReplay: isPaused = false
        case .seekReplay(.time(let time)): face.timeMs = time
        case .setReplaySpeed(let speed): face.speed = speed
        default: break
        }
    }

    private func send(_ request: ClientRequest, id: RequestID? = nil) throws {
        connection.queue(try request.line(camera: camera, id: id))
    }

    /// Requests where the replay and its camera are, at intervals while they move.
    private func ask() throws {
        let now = ContinuousClock.now
        guard isRunning, face.state == .playing || face.state == .seeking || seekStart != nil || !isCameraKnown,
            question == .none,
            now - (lastAsked ?? started) >= Self.interval
        else { return }
        (lastAsked, question) = (now, .asked)
        try send(.getReplay, id: Self.statusID)
        try send(.getCamera())
    }

    /// Stops the program if ^Z was pressed, and pauses the replay for as long as it is stopped.
    private func stopIfAsked() {
        let isPlaying = isRunning && !isPaused
        let wasStopped = keyboard?.stopIfAsked {
            clear()
            guard isPlaying else { return }
            try? send(.pauseReplay)
            _ = try? connection.turn(timeout: 0, handle)
        }
        if wasStopped == true, isPlaying { try? send(.resumeReplay) }
    }

    // MARK: Messages from the daemon

    private func handle(_ message: ReceivedLine) throws {
        switch message.content {
        case .event(.subscribed): isSubscribed = true
        case .event(.replay(let status)):
            isCameraKnown = false
            try handle(status)
        case .event(.input(let input)):
            gestures?.follow(input)
            face.gestures = gestures?.kinds ?? []
        case .camera(let state): (face.position, isCameraKnown) = (state.position, true)
        case .replay(let status):
            if question != .outdated { try handle(status) }
            question = .none
        case .event(.marker(let marker)):
            add([marker.timeMs])
            if marker.label == "mark \(marks)" { show("\(marker.label) set") }
        case .error(let error):
            isSubscribed = isSubscribed ?? false
            if message.id == Self.statusID { question = .none }
            // There is no replay before its header is read, or once it is over.
            if error.code != .noReplay { show("\(error.message)") }
        default: break
        }
    }

    private func handle(_ status: ReplayStatus) throws {
        // If a key ended it before it began, end it now.
        if !isRunning, isEnding, status.state != .ended { try? send(.endReplay) }
        isRunning = status.state != .ended
        if status.state == .seeking {
            let start = seekStart ?? .now
            seekStart = start
            if .now - start >= Self.jumpTime { face.state = .seeking }
        } else {
            seekStart = nil
            face.state = status.state
        }
        if status.state != .seeking { isPaused = status.state != .playing }
        face.timeMs = status.timeMs
        face.durationMs = status.durationMs ?? face.durationMs
        (face.speed, face.round) = (status.speed, status.round)
        if (gestures != nil) != (status.speed <= Self.fastestGestures) {
            (gestures, face.gestures) = (gestures == nil ? PlayedGestures() : nil, [])
            try subscribe()
        }
        if let markers = status.markers { add(markers.map(\.timeMs)) }
    }

    private func add(_ markers: [Double]) { face.markers = Set(face.markers).union(markers).sorted() }

    // MARK: Display

    private func show(_ note: PrintableText) { self.note = (note, .now + .seconds(2)) }

    private func draw() {
        let now = ContinuousClock.now
        if let end = note?.end, end <= now { note = nil }
        face.note = note?.text
        guard keyboard?.isOn ?? true, isRunning, now - started >= Self.delay || isPaused || face.showsKeys else {
            return
        }
        let columns = Terminal.columns(STDERR_FILENO) - 1
        let rows = Terminal.rows(STDERR_FILENO)
        let lines = face.lines(columns: columns, rows: rows, isUTF8: Terminal.isUTF8, style: style)
        writeError(status.draw(lines, columns: columns))
    }

    /// Removes the lines; the next `advance` brings them back.
    func clear() { writeError(status.clear()) }

    /// Notes that the replay is over, as reported on the connection that plays it.
    func conclude() {
        isRunning = false
        clear()
    }

    /// Prints something else in place of the lines.
    func printing(_ body: () throws -> Void) rethrows {
        clear()
        try body()
        draw()
    }
}
