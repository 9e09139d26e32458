// The settings of a camera, as `get-camera` prints them behind its position: on the node's side the text that the broker keeps,
// on the mirror's what is to be set. No event tells of a setting, so both sides ask for them now and then.

import Gestures
import GimbalProtocol
import MapCamera

/// What a camera is set to.
package struct CameraSettings: Equatable, Sendable {
    package var zoomRange: ZoomRange
    package var targetBounds: CoordinateBounds?
    package var viewport: Viewport
    package var gestures: GestureSettings

    /// How often a daemon is asked for them, in milliseconds.
    static let interval = 1000.0

    init(_ state: CameraState) {
        (zoomRange, targetBounds) = (state.zoomRange, state.targetBounds)
        (viewport, gestures) = (state.viewport, state.gestures)
    }

    /// Reads what a bridge tells of them; `nil` if it is nothing of the kind, or cannot be.
    package init?(_ payload: [UInt8]) {
        guard var message = (try? JSONValue(payload))?.object, message["type"] == .string("camera-settings") else {
            return nil
        }
        // It is what the daemon answers, without the position and what counts it.
        message["type"] = .string("camera")
        message["seq"] = .number(0)
        message["position"] = .object([
            "target": .object(["latitude": .number(0), "longitude": .number(0)]), "zoom": .number(2),
            "bearing": .number(0), "viewingAngle": .number(0),
        ])
        guard let line = try? ServerLine(line: JSONValue.object(message).bytes), case .camera(let state) = line.message
        else { return nil }
        self.init(state)
    }

    /// What sets a camera so.
    var requests: [ClientRequest] {
        [
            .setZoomRange(min: zoomRange.min, max: zoomRange.max), .setTargetBounds(targetBounds),
            .setViewport(viewport), .setGestures(GestureSwitches(gestures)),
        ]
    }
}

/// Which of several messages about a thing is the newest, whoever has told it.
package struct Stamp: Equatable, Sendable {
    package var instance: String
    package var generation: Int
    /// Counts what one instance has told.
    package var number: Int

    init(instance: String, generation: Int, number: Int) {
        (self.instance, self.generation, self.number) = (instance, generation, number)
    }

    init?(_ json: JSONValue) {
        guard let instance = json["instance"]?.string, let generation = json["generation"]?.integer,
            let number = json["number"]?.integer
        else { return nil }
        self.init(instance: instance, generation: generation, number: number)
    }
}

/// What a node tells of its cameras' settings: asks the daemon, and has the broker keep what it answers, digit for digit.
final class NodeSettings {
    private let topics: NodeTopics
    private let outbox: BrokerOutbox
    /// Ends a payload: who has told it, and its number.
    private let stamp: (inout LineWriter) -> Void
    /// As the daemon has printed them, and as they are told.
    private var texts: [String: ArraySlice<UInt8>] = [:]
    /// Of whom the answer has not come.
    private var asked: Set<String> = []
    private var nextQuestion: Double?
    /// Who is asked next; as many at one time at most.
    private var turn: ArraySlice<String> = []
    private static let mostQuestions = 256

    init(_ topics: NodeTopics, _ outbox: BrokerOutbox, stamp: @escaping (inout LineWriter) -> Void) {
        (self.topics, self.outbox, self.stamp) = (topics, outbox, stamp)
    }

    /// A connection to the daemon begins, or is over: what was asked by another one is not answered.
    func begin(at now: Double?) {
        asked = []
        nextQuestion = now.map { $0 + CameraSettings.interval }
    }

    /// Asks for the settings of a camera, unless the answer is on its way.
    func ask(_ name: String, by link: any DaemonLink) {
        guard asked.insert(name).inserted,
            let line = try? ClientRequest.getCamera.line(camera: name, id: .text(name), creates: false)
        else { return }
        link.send(line)
    }

    var deadline: Double? { nextQuestion }

    /// Asks again when it is time: all of them, or where there are many the next ones.
    func advance(to now: Double, by link: any DaemonLink, _ names: () -> [String]) {
        guard let question = nextQuestion, question <= now else { return }
        nextQuestion = now + CameraSettings.interval
        if turn.isEmpty { turn = ArraySlice(names()) }
        for name in turn.prefix(Self.mostQuestions) { ask(name, by: link) }
        turn = turn.dropFirst(Self.mostQuestions)
    }

    /// Takes an answer of the daemon's; `false` if nothing of the kind was asked.
    func handle(_ message: Message, _ line: ArraySlice<UInt8>) -> Bool {
        guard message.type == .camera || message.type == .error, case .text(let name)? = message.id,
            asked.remove(name) != nil
        else { return false }
        if message.type == .camera, let text = Self.text(in: line), text != texts[name] {
            texts[name] = text
            tell(name)
        }
        return true
    }

    /// What is behind the position.
    private static func text(in line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let name = Array(",\"minZoom\":".utf8)
        guard line.last == UInt8(ascii: "}"),
            let start = line.indices.first(where: { line[$0...].starts(with: name) })
        else { return nil }
        return ArraySlice(Array(line[start..<line.endIndex - 1]))
    }

    private func tell(_ name: String) {
        guard let text = texts[name], outbox.isOpen else { return }
        var line = LineWriter(capacity: 512)
        line.write("{\"type\":\"camera-settings\",\"camera\":")
        line.write(string: name)
        line.write(text.span)
        stamp(&line)
        // Where there is no room for it, it is told when it is asked for again.
        if !outbox.send(Publication(topics.settings(name), line.bytes, isRetained: true)) { texts[name] = nil }
    }

    /// The broker is there, and keeps nothing that is certain.
    func opened() { for name in texts.keys.sorted() { tell(name) } }

    func remove(_ name: String) {
        texts[name] = nil
        outbox.send(Publication(topics.settings(name), [], isRetained: true))
    }
}
