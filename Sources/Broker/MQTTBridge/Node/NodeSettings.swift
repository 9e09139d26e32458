// Publishes the settings of a node's cameras. No event reports a setting, so the node polls the daemon.
// Invariant: the retained settings are the daemon's last answer.

import GimbalProtocol

/// Asks the daemon for its cameras' settings, and publishes the answers as retained messages.
final class NodeSettings {
    /// The daemon's answers.
    let retained: RetainedMessages<RetainedSettings>
    /// The cameras whose answer is pending.
    private var asked: Set<String> = []
    /// When to ask next.
    private(set) var deadline: Double?
    /// Cameras to ask about next, and the most queries at a time.
    private var unasked: ArraySlice<String> = []
    private static let mostQueries = 256
    /// How often to ask the daemon, in milliseconds.
    static let interval = 1000.0

    init(_ retained: RetainedMessages<RetainedSettings>) { self.retained = retained }

    /// Notes a new connection to the daemon, or its end: queries over an earlier connection get no answer.
    func begin(at now: Double?) {
        asked = []
        deadline = now.map { $0 + Self.interval }
    }

    /// Asks for the settings of a camera, unless an answer is pending.
    func ask(_ name: String, by connection: any DaemonConnection) {
        guard asked.insert(name).inserted,
            let line = try? ClientRequest.getCamera().line(camera: name, id: .text(name), creates: false)
        else { return }
        connection.send(line)
    }

    /// Asks for the settings of all cameras when it is time, or for the next ones if there are many.
    func advance(to now: Double, by connection: any DaemonConnection, _ names: () -> [String]) {
        guard let deadline, deadline <= now else { return }
        self.deadline = now + Self.interval
        if unasked.isEmpty { unasked = ArraySlice(names()) }
        for name in unasked.prefix(Self.mostQueries) { ask(name, by: connection) }
        unasked = unasked.dropFirst(Self.mostQueries)
    }

    /// Handles a line from the daemon; `false` if it answers none of these queries.
    func handle(_ line: ServerLine) -> Bool {
        guard case .text(let name)? = line.id, asked.contains(name) else { return false }
        switch line.message {
        case .camera(let state): retained.set(name, RetainedSettings(camera: name, settings: state.setup))
        // The camera is gone.
        case .error: break
        default: return false
        }
        asked.remove(name)
        return true
    }
}
