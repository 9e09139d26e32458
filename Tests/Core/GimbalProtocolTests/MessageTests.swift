// The daemon's decoder reads requests as they were meant here, and its own lines are recognized.

import Gestures
import MapCamera
import TestSupport
import Testing
import Touches

@testable import GimbalProtocol

/// Unwraps a value that a test has made so that it exists.
private func present<Value>(_ value: Value?) -> Value {
    guard let value else { preconditionFailure("it is not there") }
    return value
}

private let paris = LatLng(latitude: 48.8584, longitude: 2.2945)
private let position = CameraPosition(target: paris, zoom: 15.1, bearing: 40.25, viewingAngle: 0.1 + 0.2)
private let point = ScreenPoint(x: 1.0 / 3, y: -1e9)
private let insets = EdgeInsets(top: 1, left: 2.5, bottom: 0, right: 100_000)
private let bounds = present(
    CoordinateBounds(
        southWest: LatLng(latitude: -50, longitude: 165), northEast: LatLng(latitude: -30, longitude: 180)))

private let gestures: [ClientRequest] = {
    let events = [
        GestureEvent(.pan, .began), GestureEvent(.pan, .changed, .pan(point), focus: point, time: 12.0625),
        GestureEvent(.pan, .ended, .pan(point), velocity: ScreenPoint(x: -900, y: 1e-307)),
        GestureEvent(.pinch, .changed, .pinch(1.0 / 3)), GestureEvent(.rotate, .cancelled, .rotate(-12.5)),
        GestureEvent(.tilt, .changed, .tilt(-40.1)), GestureEvent(.oneFingerZoom, .began, .oneFingerZoom(64)),
        GestureEvent(.doubleTap, .ended, focus: point), GestureEvent(.twoFingerTap, .ended),
        GestureEvent(.position, .began), GestureEvent(.position, .changed, .position(position)),
    ]
    return events.map { .gesture($0) } + [
        .gesture(events[0], label: .number(-7)), .gesture(events[0], label: .text("a\"é\n")),
    ]
}()

private let fingers = [
    Touch(id: 1, position: point), Touch(id: -(1 << 53) + 1, position: ScreenPoint(x: 1e9, y: 0.1 + 0.2)),
]

private let touches: [ClientRequest] = [
    .touch(Fingers([])), .touch(Fingers(fingers, timeMs: 7.5)), .touch(Fingers(fingers, surface: .text("a\"b"))),
    .touch(Fingers([], surface: .number(-7), isCancelled: true)),
    .touch(Fingers(fingers, tellsAngles: false, surfaceTimeMs: 1.0 / 3)),
]

private let updates: [CameraUpdate] = [
    .zoomIn, .zoomOut, .zoomTo(12.3), .zoomBy(-1.7, focus: nil), .zoomBy(1e-9, focus: point),
    .setTarget(paris, zoom: nil), .setTarget(paris, zoom: 2), .setCamera(position), .scrollBy(x: 0.1, y: -3),
    .fitBounds(bounds, insets: insets), .setBearing(370), .setViewingAngle(30.7),
]

private let commands: [ClientRequest] =
    updates.map { .move($0) } + EasingName.allCases.map { .animate(.zoomIn, durationMs: 16.7, easing: $0) } + [
        .animate(.zoomOut), .fly(.zoomIn),
        .fly(
            .setTarget(paris, zoom: 2), Flight(curve: 0.1, speed: 7, maxDurationMs: 1.5), durationMs: 9, easing: .linear
        ),
        .tour([TourKeyframe(position)]),
        .tour([
            TourKeyframe(position, durationMs: 0.1, waitMs: 3, path: .straight, easing: .linear, turns: -100),
            TourKeyframe(.initial, durationMs: 5), TourKeyframe(.initial, durationMs: 5, path: .flight),
        ]), .stop, .set(.gestures(GestureSwitches(scroll: false, tilt: true, inertia: true))),
        .set(.gestures(GestureSwitches(GestureSettings()))), .set(.zoomRange(min: nil, max: 16.5)),
        .set(.zoomRange(min: 3, max: 16.5)), .set(.targetBounds(bounds)), .set(.targetBounds(nil)),
        .set(.viewport(Viewport(width: 1280.5, height: 720, padding: insets))), .removeCamera,
        .set(.idleAction(nil)), .set(.idleAction(IdleAction(afterMs: 1000, .flyHome(position)))),
        .set(.idleAction(IdleAction(afterMs: 60_000.5, .flyHome(.initial, durationMs: 0)))),
        .set(.idleAction(IdleAction(afterMs: 1000, .play(trace: "a.b")))),
        .set(.idleAction(IdleAction(afterMs: 86_400_000, .play(trace: "tour.ndjson", loop: false)))),
    ]

private let questions: [ClientRequest] = [
    .getCamera(), .getCamera(at: WallTime(microseconds: 1_764_158_400_000_001)),
    .cameraForBounds(bounds, insets: insets), .cameraForBounds(bounds), .project(paris),
    .unproject(point), .visibleRegion, .cameras, .stats, .traces, .ping, .getReplay, .clients(), .clients(after: 7),
    .hello(),
    .hello(about: "a\"é\n"), .awaitIdle(), .awaitIdle(timeoutMs: 0.5),
]

private let others: [ClientRequest] = {
    var header = TraceHeader()
    header.speed = .infinity
    header.viewport = Viewport(width: 100, height: 200, padding: insets)
    header.position = position
    header.zoomRange = present(ZoomRange(min: 3, max: 18))
    header.targetBounds = bounds
    header.gestures.tilt = false
    header.idleAction = IdleAction(afterMs: 5000, .play(trace: "tour.ndjson", loop: false))
    header.playback.paused = true
    (header.playback.fromMs, header.playback.untilMs) = (1.0 / 3, 65_000.5)
    header.playback.loop = .times(3)
    (header.playback.idleTimeLimitMs, header.playback.durationMs) = (1000, 70_000.25)
    (header.playback.pauseOnMarkers, header.playback.pauseAtEnd) = (true, true)
    var endless = TraceHeader()
    endless.playback.loop = .forever
    return [
        .subscribe(kinds: EventKind.movements, delivery: .every),
        .subscribe(kinds: [.idle, .cameraChanged], delivery: .latest), .subscribe(kinds: [], delivery: .every),
        .subscribe(kinds: EventKind.movements, delivery: .every, since: ResumePoint(seq: 1 << 52, epoch: "5f\"0c")),
        .unsubscribe, .subscribeAll(kinds: EventKind.movements, delivery: .every),
        .subscribeAll(kinds: [.idle], delivery: .latest),
        .subscribeAll(
            kinds: EventKind.movements, delivery: .every,
            since: ["right": ResumePoint(seq: 4, epoch: "b"), "left": ResumePoint(seq: 7, epoch: "a")]),
        .unsubscribeAll, .pauseReplay, .resumeReplay, .stepReplay(), .stepReplay(count: 30),
        .seekReplay(.time(1.0 / 3)), .seekReplay(.offset(-5000)), .seekReplay(.marker("a\"é\n")),
        .setReplaySpeed(0.25), .setReplaySpeed(.infinity), .endReplay, .marker(label: "lost the corner"), .traceEnd,
        .present(Presentation(.initial, at: WallTime(microseconds: 1), isMoving: true)),
        .present(Presentation(.initial, at: WallTime(microseconds: 1_764_158_400_000_001), isMoving: false)),
        .takeLease(LeaseRequest(forMs: 5000, label: "guide", wait: true)), .takeLease(LeaseRequest(forMs: 1)),
        .joinLease(7),
        .endLease(), .endLease(7),
        .trace(TraceHeader()), .trace(header), .trace(endless),
    ]
}()

/// Requests of every type, together with every member of each.
let everyRequest = gestures + touches + commands + questions + others

@Suite struct ReceivedLineTests {
    @Test func aResetWithoutItsEpochKeepsEveryOtherByte() {
        let place = #"{"target":{"latitude":0.00005,"longitude":-0.000001},"zoom":14.5,"bearing":0,"viewingAngle":0}"#
        let before = #"{"type":"reset","camera":"epoch","seq":3,"timeMs":0.0001,"position":\#(place)"#
        for rest in ["", #","moving":"gesture""#] {
            let line = ReceivedLine(Array((before + #","epoch":"5f0c9a3e71d2b846""# + rest + "}").utf8)[...])
            #expect(String(decoding: line.withoutEpoch, as: UTF8.self) == before + rest + "}")
        }
    }
}

@Suite struct RequestTests {
    private func decoded(_ line: [UInt8]) throws -> [Request] {
        #expect(line.last == 0x0a && line.count { $0 == 0x0a } == 1)
        return try decode(String(decoding: line.dropLast(), as: UTF8.self))
    }

    @Test func everyRequestIsReadAsItWasWritten() throws {
        for request in everyRequest {
            let read = try decoded(try request.line())
            #expect(read.map(\.body) == [request])
            #expect(read[0].camera == nil && read[0].id == nil)
        }
    }

    @Test func everyTypeOfTheProtocolIsThere() {
        #expect(Set(everyRequest.map(\.type)) == Set(ClientRequest.blanks.map(\.type)))
    }

    @Test func theSchemaTakesEveryRequest() throws {
        let lines = try everyRequest.map { request in
            String(decoding: try request.line(camera: "left", id: 1, timeMs: 2).dropLast(), as: UTF8.self)
        }
        #expect(try Schema.complaints(lines, from: .client) == "")
    }

    @Test(arguments: [RequestID.number(-(1 << 53) + 1), .number(0), "a/b", "\u{1F5FA} \"\\\n"])
    func cameraIdAndTimeOfAnyRequestAreReadBack(_ id: RequestID) throws {
        let line = try ClientRequest.stop.line(camera: "A-z.0_", id: id, timeMs: 1234.5678)
        let request = try decoded(line)[0]
        #expect(request.camera == "A-z.0_" && request.timeMs == 1234.5678)
        let slice = try #require(request.id)
        #expect(
            try ServerLine(line: Array("{\"type\":\"ok\",\"id\":".utf8) + line[slice.range] + Array("}".utf8)).id == id)
    }

    @Test func aBatchIsOneLine() throws {
        let batch = [ClientRequest.move(.zoomIn), .getCamera(), .gesture(GestureEvent(.pan, .began))]
        let read = try decoded(try ClientRequest.line(batch: batch, camera: "left", ids: [1, "b"], timeMs: 5))
        #expect(read.count == 3 && read.allSatisfy { $0.camera == "left" && $0.timeMs == 5 })
        #expect(read.map { $0.id != nil } == [true, true, false])
    }

    @Test func aGesturesOwnTimeGoesFirst() throws {
        let line = try ClientRequest.gesture(GestureEvent(.pinch, .began, time: 7)).line(timeMs: 5)
        #expect(try decoded(line)[0].timeMs == 7)
    }

    @Test func whatHasNoWordsIsAnError() {
        let requests: [ClientRequest] = [
            .move(.pan(from: point, to: point)), .move(.rotateBy(1, focus: nil)), .animate(.tiltBy(1)),
            .move(.zoomTo(.nan)), .move(.zoomTo(.infinity)), .gesture(GestureEvent(.pan, .changed, .pinch(2))),
            .touch(Fingers([Touch(id: 1, position: ScreenPoint(x: .nan, y: 0))])),
            .gesture(GestureEvent(.position, .changed)),
            .gesture(GestureEvent(.doubleTap, .ended, .pan(point))),
        ]
        for request in requests { #expect(throws: EncodingError.self) { try request.line() } }
    }

    @Test func doublesGoOutInFull() throws {
        var random = Seeded(5)
        for _ in 0..<500 {
            let zoom = Double(bitPattern: random.next())
            guard zoom.isFinite else { continue }
            let request = ClientRequest.move(.zoomTo(zoom))
            #expect(try decoded(try request.line())[0].body == request)
        }
    }
}

@Suite struct ReplyTests {
    private func message(_ line: String) throws -> ServerMessage { try ServerLine(line: line.utf8).message }

    @Test func everyExampleOfTheProtocolIsRead() throws {
        let examples = try Files.fenced("json server", in: "Protocols/README.md")
        #expect(examples.count >= 25)
        for example in examples {
            let line = try ServerLine(line: example.utf8)
            if case .unknown(let type) = line.message { Issue.record("\(type) is not known") }
            let json = try JSON(example)
            switch line.id {
            case .number(let number): #expect(json["id"]?.number == Double(number))
            case .text(let text): #expect(json["id"]?.string == text)
            case nil: #expect(json["id"] == nil)
            }
        }
    }

    @Test func whatTheDaemonWritesIsReadAsItIs() throws {
        let place =
            #"{"target":{"latitude":48.8584,"longitude":2.2945},"zoom":15.1,"bearing":40.25,"viewingAngle":0.3}"#
        let position = CameraPosition(target: paris, zoom: 15.1, bearing: 40.25, viewingAngle: 0.3)
        func expect(_ line: String, _ expected: ServerMessage) throws { #expect(try message(line) == expected) }
        try expect(
            #"{"type":"lagged","camera":"main","missed":5,"position":\#(place),"seq":9,"epoch":"e"}"#,
            .event(.lagged(Lagged(camera: "main", missed: 5, position: position, seq: 9, epoch: "e"))))
        try expect(#"{"type":"removed","camera":"left"}"#, .event(.removed(camera: "left")))
        try expect(
            #"{"type":"idle","camera":"left","seq":3,"timeMs":0.5,"reason":"animation","position":\#(place)}"#,
            .event(.idle(CameraMove(camera: "left", seq: 3, timeMs: 0.5, reason: .animation, position: position))))
        try expect(
            #"{"type":"gesture","camera":"left","timeMs":0.5,"line":{"type":"stop","timeMs":0.1234567890123}}"#,
            .event(.input(InputLine(camera: "left", timeMs: 0.5, line: #"{"type":"stop","timeMs":0.1234567890123}"#))))
        try expect(
            #"{"type":"reset","camera":"left","seq":0,"timeMs":0,"position":\#(place),"epoch":"e-2"}"#,
            .event(.reset(CameraReset(camera: "left", position: position, epoch: "e-2"))))
        try expect(
            #"{"type":"reset","camera":"left","seq":0,"timeMs":0,"position":\#(place)}"#,
            .event(.reset(CameraReset(camera: "left", position: position, epoch: nil))))
        let reset = CameraReset(
            camera: "left", seq: 7, timeMs: 41.5, position: position, moving: .animation, epoch: nil)
        try expect(
            #"{"type":"reset","camera":"left","seq":7,"timeMs":41.5,"position":\#(place),"moving":"animation"}"#,
            .event(.reset(reset)))
        var status = ReplayStatus(
            camera: "left", state: .paused, timeMs: 2.5, durationMs: nil, speed: .infinity, round: 2, markers: nil)
        try expect(
            #"{"type":"replay","camera":"left","state":"paused","timeMs":2.5,"speed":"max","round":2}"#,
            .event(.replay(status)))
        (status.state, status.durationMs, status.speed, status.round) = (.seeking, 60000, 0.5, 1)
        status.markers = [ReplayMarker(timeMs: 0.5, label: "a")]
        try expect(
            """
            {"type":"replay","camera":"left","state":"seeking","timeMs":2.5,"durationMs":60000,"speed":0.5,"round":1,\
            "markers":[{"timeMs":0.5,"label":"a"}]}
            """, .replay(status))
        try expect(
            #"{"type":"marker","camera":"left","timeMs":0.5,"label":"a"}"#,
            .event(.marker(CameraMarker(camera: "left", timeMs: 0.5, label: "a"))))
        try expect(
            #"{"type":"camera-for-bounds","position":null,"fits":false}"#,
            .cameraForBounds(BoundsFit(position: nil, fits: false)))
        try expect(
            #"{"type":"error","line":4,"code":"busy","message":"wait"}"#,
            .error(GimbalError(line: 4, code: .busy, field: nil, message: "wait")))
    }

    @Test func aCamerasStateIsReadInFull() throws {
        let line = """
            {"type":"camera","camera":"main","seq":9,"position":{"target":{"latitude":1,"longitude":2},"zoom":3,\
            "bearing":4,"viewingAngle":5},"minZoom":2.5,"maxZoom":20,"targetBounds":{"southWest":{"latitude":-50,\
            "longitude":165},"northEast":{"latitude":-30,"longitude":180}},"viewport":{"width":10,"height":20,\
            "padding":{"top":1,"left":2.5,"bottom":0,"right":100000}},"gestures":{"scroll":true,"zoom":false,\
            "rotate":true,"tilt":true,"scrollDuringRotateOrZoom":false,"fling":false,"inertia":true}}
            """
        guard case .camera(let state) = try message(line) else { return #expect(Bool(false)) }
        #expect(state.camera == "main" && state.seq == 9 && state.zoomRange == ZoomRange(min: 2.5, max: 20))
        #expect(state.targetBounds == bounds && state.viewport == Viewport(width: 10, height: 20, padding: insets))
        var settings = GestureSettings()
        (settings.zoom, settings.scrollDuringRotateOrZoom, settings.fling, settings.inertia) = (
            false, false, false, true
        )
        #expect(state.gestures == settings)
    }

    @Test func newTypesAndCodesAreKept() throws {
        #expect(try message(#"{"type":"weather","id":1,"wind":3}"#) == .unknown(type: "weather"))
        let error = try message(#"{"type":"error","line":1,"code":"too-windy","message":"come back later"}"#)
        #expect(
            error
                == .error(
                    GimbalError(
                        line: 1, code: GimbalError.Code(rawValue: "too-windy"), field: nil, message: "come back later"))
        )
    }

    @Test(arguments: [0, 16_666, 33_333, 50_000, 66_666, 1_764_158_400_000_000])
    func framesAreTheNextAndTheLastOfTheirOwnTimes(_ time: Int) {
        func frames(_ microseconds: Int) -> [Int] {
            let time = WallTime(microseconds: microseconds)
            return [time.lastFrame.microseconds, time.nextFrame.microseconds]
        }
        #expect(frames(time) == [time, time])
        let (before, after) = (frames(time - 1), frames(time + 1))
        #expect(before[1] == time && [16_666, 16_667].contains(time - before[0]), "\(before)")
        #expect(after[0] == time && [16_666, 16_667].contains(after[1] - time), "\(after)")
    }

    @Test func anErrorTellsItsFieldUnlessItsMessageDoes() {
        func text(_ field: String?) -> String {
            GimbalError(.leased, field: field, "a has leased this camera").description
        }
        #expect(text("camera") == "a has leased this camera" && text(nil) == text("camera"))
        #expect(text("type") == "a has leased this camera (type)")
        // "a" is a word of the message here, and "as" only a part of one.
        #expect(text("a") == text(nil) && text("as") == "a has leased this camera (as)")
    }

    @Test(arguments: [
        "{}", "[]", "x", #"{"type":"idle"}"#, #"{"type":"camera","camera":1}"#,
        #"{"type":"error","code":"busy","message":"wait"}"#,
    ])
    func whatIsNoMessageIsAnError(_ line: String) {
        #expect(throws: DecodingError.self) { try message(line) }
    }

    @Test func eachKindOfEventHasTheBitThatProcessesHandOver() {
        let bits: [EventKind: EventKinds] = [
            .moveStarted: .moveStarted, .cameraChanged: .cameraChanged, .idle: .idle, .gesture: .gesture,
            .touch: .touch, .replay: .replay, .marker: .marker, .lease: .lease, .clock: .clock, .motion: .motion,
            .present: .present,
        ]
        for kind in EventKind.allCases { #expect(EventKinds(kind) == bits[kind], "\(kind)") }
    }

    @Test func onlyTypesOfEventsAreOfAKind() {
        let kinds = MessageType.allCases.compactMap(\.eventKind)
        #expect(Set(kinds) == Set(EventKind.allCases) && kinds.count { $0 == .lease } == 2)
        #expect(kinds.count == EventKind.allCases.count + 1 && MessageType.lease.eventKind == nil)
    }

    @Test(arguments: MessageType.allCases)
    func aTypeIsSeenWithoutReadingTheLine(_ type: MessageType) {
        #expect(MessageType(of: #"{"type":"\#(type.rawValue)","camera":"left"}"#.utf8) == type)
        #expect(MessageType(of: #" {"id":1,"type" : "\#(type.rawValue)"}"#.utf8) == type)
        #expect(MessageType(of: #"{"type":"un\#(type.rawValue)"}"#.utf8) == nil)
    }
}
