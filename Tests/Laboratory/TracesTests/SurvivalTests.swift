// A camera's state and behaviour in a trace that was recorded, cut, joined and run without a daemon equal those of the
// camera itself. `CameraChange` lists what can differ between cameras.

import GimbalProtocol
import TestSupport
import Testing
import Traces

/// A camera's final state, and its movements on the way there.
private struct Course: Equatable {
    /// Its answer about itself, without its event count.
    var answer: [String: JSON]
    var moves: [String]

    init(_ answer: JSON, _ events: some Sequence<JSON>) {
        self.answer = answer.leaves.filter { $0.key != "seq" }
        moves = events.compactMap(TraceTape.event)
    }

    /// The course of a camera that plays a trace without a daemon.
    init(_ trace: Trace) throws {
        let run = try TraceRun(camera: trace.header.camera)
        var messages: [ReceivedLine] = []
        run.play(try trace.header.asAWhole().bytes) { messages += $0.messages }
        for line in trace.lines { run.play(line.bytes) { messages += $0.messages } }
        run.finish { messages += $0.messages }
        let answer = try #require(run.ask(.getCamera()).first { $0.type == .camera })
        self.init(try JSON(String(decoding: answer.bytes, as: UTF8.self)), try Self.events(messages))
    }

    private static func events(_ messages: [ReceivedLine]) throws -> [JSON] {
        try messages.filter(\.isOfStream).map { try JSON(String(decoding: $0.bytes, as: UTF8.self)) }
    }
}

@Suite struct SurvivalTests {
    /// Returns the course of a daemon's camera, and the trace recorded from it.
    ///
    /// - Parameter isLate: whether the recording begins after the camera has changed; the course does, too.
    private func recorded(_ change: CameraChange, isLate: Bool) throws -> (course: Course, trace: Trace) {
        let host = HubHost()
        let (feeder, watcher, recorder) = (host.connect(), host.connect(), host.connect())
        func send(_ lines: [String]) {
            for line in lines {
                feeder.send(line)
                host.pass(8)
            }
        }
        watcher.send(#"{"type":"subscribe"}"#)
        if !isLate { recorder.send(#"{"type":"subscribe","events":["gesture"]}"#) }
        send(change.lines)
        if isLate {
            // A header describes only a camera at rest.
            feeder.send(#"{"type":"stop"}"#)
            recorder.send(#"{"type":"subscribe","events":["gesture"]}"#)
            _ = watcher.lines()
        }
        send(CameraChange.probe)
        host.pass(4000)
        feeder.send(#"{"type":"get-camera"}"#)
        let events = try watcher.lines().map { try JSON($0) }
        let answer = try #require(feeder.messages.last)
        let lines = try #require(TraceTape(of: recorder).traces.first).lines
        return (Course(answer, events), try Trace((lines.joined(separator: "\n") + "\n").utf8))
    }

    @Test(arguments: CameraChange.all, [false, true])
    func recordingMakesTheSameCamera(_ change: CameraChange, isLate: Bool) throws {
        let (course, trace) = try recorded(change, isLate: isLate)
        let again = try Course(trace)
        #expect(again == course)
        #expect(course.moves.count > 10)
    }

    @Test(arguments: CameraChange.all)
    func stretchOfATraceMakesTheSameCamera(_ change: CameraChange) throws {
        let (_, trace) = try recorded(change, isLate: false)
        let whole = try Course(trace)
        let cut = try trace.cut(fromMs: Double(change.lines.count * 8) - 4)
        let stretch = try Course(cut.trace)
        #expect(stretch.answer == whole.answer)
        let changes = { (course: Course) in course.moves.filter { $0.hasPrefix("camera-changed") } }
        #expect(changes(stretch) == changes(whole).suffix(changes(stretch).count))
        #expect(changes(stretch).count > 4)
    }

    @Test(arguments: CameraChange.all)
    func tracesThatAreJoinedMakeTheCameraOfEach(_ change: CameraChange) throws {
        // A trace recorded after the change has it only in its header; another one's header reverts it.
        let (_, changed) = try recorded(change, isLate: true)
        let plain = try Trace(
            #"""
            {"type":"trace","version":1}
            {"type":"move","timeMs":5,"update":{"kind":"scroll-by","x":10,"y":20}}

            """#.utf8)
        let (alone, alonePlain) = (try Course(changed), try Course(plain))
        let (there, back) = (
            try Course(Trace.joined([plain, changed]).trace), try Course(Trace.joined([changed, plain]).trace)
        )
        #expect(there.answer == alone.answer)
        #expect(there.moves.suffix(alone.moves.count) == alone.moves[...])
        #expect(back.answer == alonePlain.answer)
    }

    @Test(arguments: CameraChange.all)
    func runWithoutADaemonIsWhatADaemonPlays(_ change: CameraChange) throws {
        let (_, trace) = try recorded(change, isLate: false)
        let lines = String(decoding: trace.bytes, as: UTF8.self).split(separator: "\n").dropLast().map(String.init)
        let (events, errors) = try TraceTape.play(lines)
        #expect(errors.isEmpty)
        let run = try TraceRun.events(of: trace)
        let told = try String(decoding: run, as: UTF8.self).split(separator: "\n").map { try JSON($0) }
        #expect(told.compactMap(TraceTape.event) == events)
        #expect(events.count > 10)
    }
}
