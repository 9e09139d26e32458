// A person at a replay: keys in, steering out, and the line that shows where the replay is. It has a connection of its own,
// since the replay's lines wait for their time. Invariant: the daemon alone knows how the replay stands, and what is shown
// comes from it.

import GimbalClient
import GimbalProtocol
import Glibc

final class PlayerControl {
    /// Whether the daemon tells what becomes of the camera's replays.
    private enum Subscription {
        case asked, granted, refused
    }

    /// What it has told of them.
    private enum Told {
        case nothing, running, over
    }

    /// The question where the replay is.
    private enum Question {
        case none, asked
        /// Its answer tells how the replay stood before the last key.
        case outdated
    }

    /// Where keys come from; `nil` where the terminal has none for this program.
    private let keyboard: Keyboard?
    private let connection: DaemonConnection
    private let camera: String
    private let style = Style(STDERR_FILENO)
    private var face = PlayerFace()
    private var status = StatusLines()
    /// Whether the replay stands still, or will once it has found its place.
    private var isPaused = false
    private var told = Told.nothing
    /// Since when the replay has been on its way to another place.
    private var seekStart: ContinuousClock.Instant?
    private var subscription = Subscription.asked
    /// Whether the person has ended the replay.
    private(set) var isEnding = false
    private var isStoppedByPerson = false
    private var marks = 0
    private var markers: Set<Double> = []
    /// What it is fed; `nil` where lines would come faster than they are worth.
    private var gestures: PlayedGestures? = PlayedGestures()
    /// Whether the camera is where the face shows it.
    private var isCameraKnown = false

    private let started = ContinuousClock.now
    private var lastAsked: ContinuousClock.Instant?
    private var question = Question.none
    private var noteEnd: ContinuousClock.Instant?

    /// A replay that is over in an instant shows nothing.
    private static let delay = Duration.milliseconds(330)
    private static let interval = Duration.milliseconds(100)
    /// At a higher speed gestures change faster than a person can read.
    private static let fastestGestures = 8.0
    private static let noteTime = Duration.seconds(2)
    /// A seek shorter than this shows as a jump.
    private static let jumpTime = Duration.milliseconds(200)
    private static let statusID: RequestID = "player-status"

    /// - Parameters:
    ///   - isInputTaken: whether standard input is the trace.
    ///   - hasRows: whether events scroll by, which show well enough how far it is.
    ///   - markers: times of the markers that the trace is known to have, in milliseconds.
    /// - Returns: `nil` without a terminal, where there is nothing to steer and to show.
    init?(
        _ title: String, of camera: String, _ socket: SocketOptions, isInputTaken: Bool, hasRows: Bool,
        loop: TracePlayback.Loop, durationMs: Double?, markers: [Double]
    ) throws {
        // A reader of standard output, such as a pager, may read keys, too; a person typing the trace presses no
        // others.
        let canSteer = isatty(STDOUT_FILENO) == 1 && (!isInputTaken || isatty(STDIN_FILENO) == 0)
        keyboard = canSteer ? Keyboard(isInputTaken: isInputTaken) : nil
        guard keyboard != nil || !hasRows && Terminal.canMoveCursor(STDERR_FILENO) else { return nil }
        self.camera = camera
        connection = try DaemonConnection(socket)
        (face.name, face.rounds, face.durationMs) = (PrintableText(title), loop, durationMs)
        face.hasKeys = keyboard != nil
        self.markers = Set(markers)
        face.markers = markers.sorted()
    }

    /// Waits until the daemon tells what becomes of the camera's replays; `false` if it is one that does not.
    func begin() throws -> Bool {
        try subscribe()
        connection.expectAnswer()
        while subscription == .asked {
            if try connection.turn(handle).end != nil { throw Failure.daemonWentAway }
        }
        connection.hasAnswered()
        return subscription == .granted
    }

    private func subscribe() throws {
        let kinds: Set<EventKind> = gestures == nil ? [.replay, .marker] : [.replay, .marker, .gesture]
        try send(.subscribe(kinds: kinds))
    }

    /// Leaves the terminal as it was.
    func end() {
        clear()
        keyboard?.end()
    }

    // MARK: In turns

    /// What is readable when there is something to do.
    var sources: [CInt] { [connection.source, keyboard?.source].compactMap(\.self) }

    /// How long to wait until there is something to do in any case, in milliseconds.
    var timeout: Int { keyboard?.isUndecided == true ? 50 : 100 }

    /// Does what keys ask for, takes note of what the daemon tells, and shows it.
    func advance() throws {
        keyboard?.begin()
        keyboard?.stopIfAsked(leave, resume)
        // What a key does depends on how the replay stands.
        _ = try connection.turn(timeout: 0, handle)
        for key in keyboard?.read() ?? [] { try press(key) }
        try ask()
        if connection.unsent > 0 { _ = try connection.turn(timeout: 0, handle) }
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
        case .refuse(let why): note("\(why)")
        }
    }

    /// Reckons with what the daemon was just asked for, until it tells: keys may follow one another faster.
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

    /// Asks where the replay and its camera are, now and then while they move.
    private func ask() throws {
        let now = ContinuousClock.now
        guard told == .running, face.state == .playing || face.state == .seeking || seekStart != nil || !isCameraKnown,
            question == .none,
            now - (lastAsked ?? started) >= Self.interval
        else { return }
        (lastAsked, question) = (now, .asked)
        try send(.getReplay, id: Self.statusID)
        try send(.getCamera())
    }

    // MARK: ^Z

    /// The replay stands still for as long as the program does.
    private func leave() {
        clear()
        guard told == .running, !isPaused else { return }
        isStoppedByPerson = true
        try? send(.pauseReplay)
        _ = try? connection.turn(timeout: 0, handle)
    }

    private func resume() {
        guard isStoppedByPerson else { return }
        isStoppedByPerson = false
        try? send(.resumeReplay)
    }

    // MARK: From the daemon

    private func handle(_ line: ArraySlice<UInt8>) throws {
        let message = try ReceivedLine(fromDaemon: line)
        switch message.content {
        case .event(.subscribed): subscription = .granted
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
            if marker.label == "mark \(marks)" { note("\(marker.label) set") }
        case .error(let error):
            if subscription == .asked { subscription = .refused }
            if message.id == Self.statusID { question = .none }
            // Before its header is read and once it is over there is none.
            if error.code != .noReplay { note("\(error.message)") }
        default: break
        }
    }

    private func handle(_ status: ReplayStatus) throws {
        // If the person ended it before it began, end it now.
        if told != .running, isEnding, status.state != .ended { try? send(.endReplay) }
        told = status.state == .ended ? .over : .running
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

    private func add(_ times: [Double]) {
        let before = markers.count
        markers.formUnion(times)
        if markers.count > before { face.markers = markers.sorted() }
    }

    // MARK: On the terminal

    private func note(_ text: PrintableText) {
        face.note = text
        noteEnd = .now + Self.noteTime
    }

    private func draw() {
        let now = ContinuousClock.now
        if let end = noteEnd, end <= now { (face.note, noteEnd) = (nil, nil) }
        guard keyboard?.isOn ?? true, told == .running, now - started >= Self.delay || isPaused || face.showsKeys else {
            return
        }
        let columns = Terminal.columns(STDERR_FILENO) - 1
        let rows = Terminal.rows(STDERR_FILENO)
        let lines = face.lines(columns: columns, rows: rows, isUTF8: Terminal.isUTF8, style: style)
        writeError(status.draw(lines, columns: columns))
    }

    /// Removes the line; it comes back when there is something to do.
    func clear() { writeError(status.clear()) }

    /// Notes that the replay is over, as reported on the connection that plays it.
    func conclude() {
        if told == .running { told = .over }
        clear()
    }

    /// Prints something else where the line is.
    func printing(_ body: () throws -> Void) rethrows {
        clear()
        try body()
        draw()
    }
}
