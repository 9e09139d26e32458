// A camera of another machine, live in the daemon of this one. What the broker has kept of that camera is all that this needs:
// after any outage it tells the whole truth again, and the mirror brings its own camera there.
// Invariant: where the source rests, and broker and daemon can be reached, the mirror comes to rest in the same place.

import Gestures
import GimbalProtocol
import MapCamera

/// How a camera of a node stands, as the broker has kept it.
package struct CameraStanding: Equatable, Sendable {
    package var epoch: String
    package var seq: Int
    package var isMoving: Bool
    package var position: CameraPosition
    package var stamp: Stamp

    /// Reads a payload; `nil` if it is none, or tells of what no camera can be.
    package init?(_ payload: [UInt8]) {
        guard let read = Self(written: payload) ?? Self(any: payload), read.isPossible else { return nil }
        self = read
    }

    private var isPossible: Bool {
        -85...85 ~= position.target.latitude && -180..<180 ~= position.target.longitude
            && ZoomRange.limits ~= position.zoom && 0..<360 ~= position.bearing && 0...90 ~= position.viewingAngle
    }

    /// Reads a payload that is written as `NodeCameras` writes it, as nearly every one is, straight from its bytes.
    package init?(written payload: [UInt8]) {
        var reader = LineReader(payload)
        guard reader.skip("{\"type\":\"camera-state\",\"camera\":\""), NodeTopics.isName(reader.word(upTo: "\"")),
            reader.skip("\",\"epoch\":\"")
        else { return nil }
        let epoch = reader.word(upTo: "\"")
        guard NodeTopics.isName(epoch), reader.skip("\",\"seq\":"), let seq = reader.count() else { return nil }
        if reader.skip(",\"timeMs\":") { _ = reader.number() }
        if reader.skip(",\"moving\":true") {
            isMoving = true
        } else if reader.skip(",\"moving\":false") {
            isMoving = false
        } else {
            return nil
        }
        if reader.skip(",\"reason\":\"") {
            guard NodeTopics.isName(reader.word(upTo: "\"")), reader.skip("\"") else { return nil }
        }
        guard reader.skip(",\"position\":"), let place = reader.place(), reader.skip(",\"node\":\""),
            NodeTopics.isName(reader.word(upTo: "\"")), reader.skip("\",\"instance\":\"")
        else { return nil }
        let instance = reader.word(upTo: "\"")
        guard NodeTopics.isName(instance), reader.skip("\",\"generation\":"), let generation = reader.count(),
            reader.skip(",\"number\":"), let number = reader.count(), reader.skip("}"), reader.isAtEnd
        else { return nil }
        (self.epoch, self.seq, position) = (String(decoding: epoch, as: UTF8.self), seq, place)
        stamp = Stamp(
            instance: String(decoding: instance, as: UTF8.self), generation: generation, number: number)
    }

    /// Reads a payload that says the same in whatever way.
    package init?(any payload: [UInt8]) {
        guard let json = try? JSONValue(payload), json["type"] == .string("camera-state"),
            let epoch = json["epoch"]?.string, let seq = json["seq"]?.integer, let isMoving = json["moving"]?.bool,
            let place = json["position"], let position = Self.position(place), let stamp = Stamp(json)
        else { return nil }
        (self.epoch, self.seq, self.isMoving, self.position) = (epoch, seq, isMoving, position)
        self.stamp = stamp
    }

    private static func position(_ json: JSONValue) -> CameraPosition? {
        guard let latitude = json["target"]?["latitude"]?.number, let longitude = json["target"]?["longitude"]?.number,
            let zoom = json["zoom"]?.number, let bearing = json["bearing"]?.number,
            let viewingAngle = json["viewingAngle"]?.number
        else { return nil }
        return CameraPosition(
            target: LatLng(latitude: latitude, longitude: longitude), zoom: zoom, bearing: bearing,
            viewingAngle: viewingAngle)
    }
}

/// What is known of the camera that is followed: which of the messages about it is the newest, whoever was the node.
struct Source {
    private(set) var newest: CameraStanding?
    private(set) var settings: CameraSettings?
    private var settingsStamp: Stamp?
    private var state: NodeState?
    /// Whether the broker can be reached.
    private var isConnected = false

    /// What a message means for who follows.
    enum Meaning: Equatable { case news, nothing, doubt }

    /// Whether the camera moves, as far as anybody can know: not where its node is gone.
    var isMoving: Bool {
        guard isConnected, let newest, newest.isMoving else { return false }
        guard let state else { return true }
        return state.word == .ready && state.instance == newest.stamp.instance
    }

    mutating func connected() {
        isConnected = true
        state = nil
    }

    mutating func disconnected() { isConnected = false }

    mutating func saw(_ state: NodeState) { self.state = state }

    mutating func removed() { newest = nil }

    mutating func settingsRemoved() { (settings, settingsStamp) = (nil, nil) }

    mutating func saw(_ standing: CameraStanding, isRetained: Bool) -> Meaning {
        let meaning = meaning(of: standing.stamp, after: newest?.stamp, isRetained)
        if meaning == .news { newest = standing }
        return meaning
    }

    mutating func saw(_ settings: CameraSettings, _ stamp: Stamp, isRetained: Bool) -> Meaning {
        let meaning = meaning(of: stamp, after: settingsStamp, isRetained)
        if meaning == .news { (self.settings, settingsStamp) = (settings, stamp) }
        return meaning
    }

    private func meaning(of told: Stamp, after known: Stamp?, _ isRetained: Bool) -> Meaning {
        guard let known else { return .news }
        if told.instance == known.instance { return told.number > known.number ? .news : .nothing }
        let isOfOwner = state?.word == .ready && state?.instance == told.instance
        if isRetained || isOfOwner || told.generation > known.generation { return .news }
        // What the broker has kept says which of them is right.
        return .doubt
    }
}

extension CameraPosition {
    /// A position that prints as this one does, and that a camera can have: zoom and viewing angle are rounded apart, and at
    /// the ceiling the zoom that is printed may not allow the angle that is.
    fileprivate var unrounded: CameraPosition {
        guard viewingAngle > CameraConstraints.viewingAngleCeiling(atZoom: zoom) else { return self }
        var position = self
        // All but half a unit of the last place.
        position.zoom = min(zoom + 0.499_999e-6, ZoomRange.limits.upperBound)
        return position
    }
}

package final class Mirror: LinkReader {
    package struct Settings: Sendable {
        /// The node and the camera that are followed.
        package var node: String
        package var camera: String
        /// The camera of this daemon; `nil` where the view goes only elsewhere.
        package var local: String?
        /// Degrees that are added to the bearing, clockwise.
        package var bearingOffset = 0.0
        /// Whether this daemon's camera keeps the viewport that it has: its screen is of another size.
        package var keepsViewport = false
        /// The screen's part of a wall.
        package var tile: WallTile?
        /// When the broker is asked once more for what it has kept, if nothing has come for so long; in milliseconds.
        package var refresh = 60_000.0

        package init(node: String, camera: String, local: String?) {
            (self.node, self.camera, self.local) = (node, camera, local)
        }
    }

    private unowned let outside: any Surroundings
    private let settings: Settings
    private let topics: NodeTopics
    private var source = Source()
    /// When the broker is asked anew.
    private var nextQuestion: Double?
    /// Is told where the camera is, for outputs beside the daemon.
    private let show: ((CameraPosition, _ isMoving: Bool) -> Void)?

    // The daemon's side.
    private var link: (any DaemonLink)?
    private var backoff = Backoff(first: 100, longest: 5000)
    private var nextAttempt: Double? = -.infinity
    private var absence: String?
    private var lastID = 0
    /// The request whose answer has not come. Only one is on its way, so that what is sent is always the newest.
    private var waitingFor: Int?
    /// Where this side's camera is, and whether it moves.
    private var local: PrintedPosition?
    private var isLocalMoving = false
    /// Whether our gesture holds the camera.
    private var isHolding = false
    private var lastSent: CameraPosition?
    /// What this side's camera is set to; `nil` as long as that is being asked for.
    private var localSettings: CameraSettings?
    /// When the daemon is asked for them, and before when it is not told again what it was told in vain.
    private var nextLook: Double?
    private var nextSetting = -Double.infinity
    /// When it is tried once more to bring the camera where it does not go.
    private var patience = Backoff(first: 200, longest: mostPatience)
    private var nextTry: Double?
    private var lastTry = -Double.infinity
    private static let mostPatience = 10_000.0

    /// - Parameter show: is told each position that the source has, with the offset.
    package init(
        _ settings: Settings, _ outside: any Surroundings,
        show: ((CameraPosition, _ isMoving: Bool) -> Void)? = nil
    ) {
        (self.settings, self.outside, self.show) = (settings, outside, show)
        topics = NodeTopics(settings.node)
        if settings.local == nil { nextAttempt = nil }
    }

    /// Where the camera is to be; `nil` as long as nobody has said.
    package var goal: CameraPosition? {
        guard var position = source.newest?.position else { return nil }
        if settings.bearingOffset != 0 { position.bearing = wrap360(position.bearing + settings.bearingOffset) }
        return position.unrounded
    }

    /// What the camera is to be set to, where it is set to something; `nil` as long as nobody has said.
    private func goal(beside local: CameraSettings) -> CameraSettings? {
        guard var goal = source.settings else { return nil }
        if settings.keepsViewport || settings.tile != nil { goal.viewport = local.viewport }
        return goal
    }

    private var isSetRight: Bool {
        guard source.settings != nil else { return true }
        return localSettings.map { goal(beside: $0) == $0 } ?? false
    }

    /// Whether the camera is where it is to be, at rest, and set to what it is to be set to.
    package var isThere: Bool {
        guard let goal, isSetRight, !source.isMoving, waitingFor == nil, !isHolding else { return false }
        return local == PrintedPosition(goal) && !isLocalMoving
    }

    // MARK: The broker

    package func connected(at now: Double) {
        source.connected()
        outside.subscribe(topics.state)
        ask(at: now)
    }

    package func disconnected(at now: Double) {
        source.disconnected()
        nextQuestion = nil
        bring(at: now)
    }

    private func ask(at now: Double) {
        if settings.local != nil { outside.subscribe(topics.settings(settings.camera)) }
        outside.subscribe(topics.camera(settings.camera))
        nextQuestion = now + settings.refresh
    }

    package func received(_ delivery: Delivery, at now: Double) {
        if delivery.topic == topics.state {
            if let state = NodeState(delivery.payload) { source.saw(state) }
        } else if delivery.topic == topics.camera(settings.camera) {
            nextQuestion = now + settings.refresh
            handle(delivery, at: now)
        } else if delivery.topic == topics.settings(settings.camera) {
            handle(settings: delivery, at: now)
        }
        bring(at: now)
    }

    private func handle(settings delivery: Delivery, at now: Double) {
        if delivery.payload.isEmpty { return source.settingsRemoved() }
        guard let told = CameraSettings(delivery.payload),
            let stamp = (try? JSONValue(delivery.payload)).flatMap(Stamp.init)
        else { return outside.say(.warning, "\(delivery.topic): what came is no settings of a camera") }
        switch source.saw(told, stamp, isRetained: delivery.isRetained) {
        case .news:
            nextSetting = -.infinity
            if localSettings == nil { nextLook = now }
        case .nothing: break
        case .doubt: askSoon(at: now)
        }
    }

    /// Not at once: whoever has two of them would make this side ask for ever.
    private func askSoon(at now: Double) { nextQuestion = min(nextQuestion ?? .infinity, now + 1000) }

    private func handle(_ delivery: Delivery, at now: Double) {
        if delivery.payload.isEmpty { return source.removed() }
        guard let standing = CameraStanding(delivery.payload) else {
            return outside.say(.warning, "\(delivery.topic): what came is no state of a camera")
        }
        switch source.saw(standing, isRetained: delivery.isRetained) {
        case .news:
            nextTry = nil
            patience.reset()
            if let goal { show?(goal, source.isMoving) }
        case .nothing: break
        case .doubt: askSoon(at: now)
        }
    }

    // MARK: The daemon

    private func connect(at now: Double) {
        nextAttempt = nil
        do {
            let link = try outside.connect(self)
            self.link = link
            (waitingFor, local, isLocalMoving, isHolding, lastSent) = (nil, nil, false, false, nil)
            (localSettings, nextLook, nextSetting) = (nil, now, -.infinity)
            var lines = try ClientRequest.subscribe(delivery: .latest).line(camera: settings.local)
            if let viewport = settings.tile?.viewport {
                lines += try ClientRequest.setViewport(viewport).line(camera: settings.local)
            }
            link.send(lines)
        } catch {
            lost("\(error)", at: now)
        }
    }

    private func lost(_ reason: String, at now: Double) {
        if absence != reason { outside.say(.warning, "no daemon: \(reason)") }
        absence = reason
        link?.close()
        link = nil
        nextAttempt = now + backoff.next()
    }

    package func ended(_ reason: String, at now: Double) { lost(reason, at: now) }

    package func received(_ line: ArraySlice<UInt8>, at now: Double) {
        if let move = MoveLine(Array(line)) {
            local = PrintedPosition(move.place)
            isLocalMoving = move.kind != .idle
            return bring(at: now)
        }
        let message = Message(line)
        if let event = message.event {
            note(event)
        } else if case .camera(let state)? = message.content {
            localSettings = CameraSettings(state)
        } else if case .number(let id)? = message.id, id == waitingFor {
            waitingFor = nil
            if let error = message.error { refused(error, at: now) }
        } else if let error = message.error {
            return lost("the daemon refuses: \(error)", at: now)
        }
        bring(at: now)
    }

    private func note(_ event: CameraEvent) {
        switch event {
        case .subscribed(let now):
            absence = nil
            backoff.reset()
            local = PrintedPosition(now.position)
        case .removed:
            // It is made again with the next line, and then has to be watched again.
            link?.close()
            link = nil
            nextAttempt = -.infinity
        case .moveStarted, .cameraChanged, .idle, .reset, .lagged:
            if let position = event.position { local = PrintedPosition(position) }
            switch event {
            case .moveStarted, .cameraChanged: isLocalMoving = true
            case .idle, .reset: isLocalMoving = false
            default: break
            }
        case .subscribedToAll, .input, .touch, .replay, .marker: break
        }
    }

    private func refused(_ error: GimbalError, at now: Double) {
        (isHolding, lastSent) = (false, nil)
        nextTry = now + patience.next()
        outside.say(.warning, "the daemon refuses to move \(settings.local ?? ""): \(error)")
    }

    // MARK: Bringing the camera there

    private func bring(at now: Double) {
        guard let link, local != nil, waitingFor == nil, nextTry.map({ $0 <= now }) ?? true else { return }
        if let localSettings, let goal = goal(beside: localSettings), goal != localSettings, nextSetting <= now {
            nextSetting = now + Self.mostPatience
            self.localSettings = nil
            // What it has come to is the last answer; the camera may have moved by it.
            send(goal.requests + [.getCamera], nil, on: link)
            return
        }
        if source.isMoving, let goal {
            guard !isHolding || lastSent != goal else { return }
            isHolding = true
            send([.gesture(GestureEvent(.position, .changed, .position(goal)))], goal, on: link)
        } else if isHolding {
            isHolding = false
            send([.gesture(GestureEvent(.position, .ended, goal.map { .position($0) }))], goal, on: link)
        } else if let goal, local != PrintedPosition(goal), !isLocalMoving || lastSent != goal {
            // It has jumped, or somebody here has moved the camera.
            if now - lastTry > 2 * Self.mostPatience { patience.reset() }
            if lastSent == goal { nextTry = now + patience.next() }
            lastTry = now
            send(
                [
                    .gesture(GestureEvent(.position, .changed, .position(goal))),
                    .gesture(GestureEvent(.position, .ended, nil)),
                ], goal, on: link)
        }
    }

    private func send(_ requests: [ClientRequest], _ goal: CameraPosition?, on link: any DaemonLink) {
        lastID += 1
        lastSent = goal
        do {
            // The answer of the first one is that of all: a frame is taken as a whole.
            let line =
                requests.count == 1
                ? try requests[0].line(camera: settings.local, id: .number(lastID))
                : try ClientRequest.line(
                    frame: requests, camera: settings.local, ids: [.number(lastID)])
            waitingFor = lastID
            link.send(line)
        } catch {
            outside.say(.error, "\(error)")
        }
    }

    // MARK: Time

    package var deadline: Double? {
        .earliest(nextQuestion, nextAttempt, look, waitingFor == nil ? nextTry : nil)
    }

    /// When the daemon is asked what its camera is set to: where that matters.
    private var look: Double? { link == nil || source.settings == nil ? nil : nextLook }

    package func advance(to now: Double) {
        if let attempt = nextAttempt, attempt <= now { connect(at: now) }
        if let question = nextQuestion, question <= now { ask(at: now) }
        if let look, look <= now {
            nextLook = now + CameraSettings.interval
            if let line = try? ClientRequest.getCamera.line(camera: settings.local, creates: false) { link?.send(line) }
        }
        if let end = nextTry, end <= now, waitingFor == nil {
            nextTry = nil
            bring(at: now)
        }
    }

    /// Lets go of the daemon: what holds the camera is cancelled.
    package func close() {
        link?.close()
        (link, nextAttempt, nextQuestion, nextTry, nextLook) = (nil, nil, nil, nil, nil)
    }
}
