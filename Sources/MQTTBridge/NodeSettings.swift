// What a node's cameras are set to, told to the broker. No event tells of a setting, so the daemon is asked now and then.
// Invariant: what the broker keeps is what the daemon has answered last.

import GimbalProtocol

/// What a node tells of its cameras' settings: asks the daemon, and has the broker keep what it answers.
final class NodeSettings {
    private let topics: NodeTopics
    private let outbox: BrokerOutbox
    private let stamps: StampSource
    /// What the daemon has answered, and what is told.
    private var settings: [String: CameraSettings] = [:]
    /// Of whom the answer has not come.
    private var asked: Set<String> = []
    private var nextQuestion: Double?
    /// Cameras that are to be asked for yet; as many at one time at most.
    private var unasked: ArraySlice<String> = []
    private static let mostQuestions = 256
    /// How often a daemon is asked, in milliseconds.
    static let interval = 1000.0

    init(_ topics: NodeTopics, _ outbox: BrokerOutbox, _ stamps: StampSource) {
        (self.topics, self.outbox, self.stamps) = (topics, outbox, stamps)
    }

    /// A connection to the daemon begins, or is over: what was asked by another one is not answered.
    func begin(at now: Double?) {
        asked = []
        nextQuestion = now.map { $0 + Self.interval }
    }

    /// Asks for the settings of a camera, unless the answer is on its way.
    func ask(_ name: String, by connection: any DaemonConnection) {
        guard asked.insert(name).inserted,
            let line = try? ClientRequest.getCamera.line(camera: name, id: .text(name), creates: false)
        else { return }
        connection.send(line)
    }

    var deadline: Double? { nextQuestion }

    /// Asks again when it is time: all of them, or where there are many the next ones.
    func advance(to now: Double, by connection: any DaemonConnection, _ names: () -> [String]) {
        guard let question = nextQuestion, question <= now else { return }
        nextQuestion = now + Self.interval
        if unasked.isEmpty { unasked = ArraySlice(names()) }
        for name in unasked.prefix(Self.mostQuestions) { ask(name, by: connection) }
        unasked = unasked.dropFirst(Self.mostQuestions)
    }

    /// Handles a line of the daemon's; `false` if it answers no question of this.
    func handle(_ line: ServerLine) -> Bool {
        guard case .text(let name)? = line.id, asked.contains(name) else { return false }
        switch line.message {
        case .camera(let state):
            if settings[name] != state.settings {
                settings[name] = state.settings
                tell(name)
            }
        // There is no such camera any more.
        case .error: break
        default: return false
        }
        asked.remove(name)
        return true
    }

    private func tell(_ name: String) {
        guard let known = settings[name], outbox.isOpen else { return }
        let payload = RetainedSettings(camera: name, settings: known).payload(stamps.next())
        // Where there is no room for it, it is told when it is asked for again.
        if !outbox.send(Publication(topics.settings(name), payload, isRetained: true)) { settings[name] = nil }
    }

    /// The broker is there, and keeps nothing that is certain.
    func opened() { for name in settings.keys.sorted() { tell(name) } }

    func remove(_ name: String) {
        settings[name] = nil
        outbox.send(Publication(topics.settings(name), [], isRetained: true))
    }
}
