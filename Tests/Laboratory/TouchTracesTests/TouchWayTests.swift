// Fingers recognized by the daemon move a camera exactly as the gestures that `gimbal convert` makes of them: byte for
// byte, from a trace and live.

import Foundation
import TestSupport
import Testing
import TouchTraces

@Suite struct TouchWayTests {
    /// Returns the lines of the trace made from a recording.
    private func converted(_ recording: [UInt8], touches: Bool) throws -> [String] {
        var options = TraceOptions()
        options.writesTouches = touches
        let trace = try TraceConverter(options).trace(of: recording)
        return String(decoding: trace, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private func timeMs(_ line: String) throws -> Double? {
        let json = try JSON(line)
        return (json.array?.first ?? json)["timeMs"]?.number
    }

    /// Returns the lines sent to a subscriber while a trace plays. Its clock begins at 0, whatever its first line is.
    private func played(_ trace: [String]) throws -> [String] {
        let host = HubHost()
        let (watcher, feed) = (host.connect(), host.connect())
        watcher.send(#"{"type":"subscribe"}"#)
        feed.send(trace[0].replacing(#"{"type":"trace","#, with: #"{"type":"trace","speed":"max","#))
        feed.send(#"{"type":"set-gestures","inertia":true,"timeMs":0}"#)
        for line in trace.dropFirst() { feed.send(line) }
        host.pass(1)
        let answers = feed.lines()
        #expect(answers.count == 1 && answers[0].contains("trace-ended"), "\(answers.prefix(3))")
        return watcher.lines()
    }

    /// Returns the lines sent to a subscriber while the lines of a trace arrive live, each at its time.
    private func sent(_ trace: [String], until end: Double) throws -> [String] {
        let host = HubHost()
        let (watcher, feed) = (host.connect(), host.connect())
        feed.send(#"{"type":"move","update":{"kind":"zoom-to","zoom":12}}"#)
        watcher.send(#"{"type":"subscribe"}"#)
        let start = host.now
        for line in trace.dropFirst().dropLast() {
            if let time = try timeMs(line) { host.pass(start + time - host.now) }
            feed.send(line)
        }
        host.pass(start + end - host.now)
        #expect(feed.lines() == [])
        return watcher.lines()
    }

    private func expectSame(_ recording: [UInt8], _ name: String, live: Bool) throws -> Int {
        let (gestures, touches) = (try converted(recording, touches: false), try converted(recording, touches: true))
        let (wanted, found) = (try played(gestures), try played(touches))
        let place = zip(wanted, found).first { $0 != $1 }
        #expect(wanted == found, "\(name): \(wanted.count), \(found.count), \(String(describing: place))")
        guard live else { return wanted.count }
        let end = (try touches.compactMap(timeMs).max() ?? 0) + 10_000
        let (liveWanted, liveFound) = (try sent(gestures, until: end), try sent(touches, until: end))
        let livePlace = zip(liveWanted, liveFound).first { $0 != $1 }
        #expect(liveWanted == liveFound, "live \(name): \(String(describing: livePlace))")
        return wanted.count
    }

    @Test(.needsRecordings) func touchesOfEveryRecordingMoveTheCameraAsItsGesturesDo() throws {
        let folder = try #require(Files.recordings)
        let all = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: [.fileSizeKey])
        var (recordings, lines) = (0, 0)
        while let file = all?.nextObject() as? URL {
            guard let size = try file.resourceValues(forKeys: [.fileSizeKey]).fileSize, size < 1 << 20,
                !file.path.contains("/gestures/"), let bytes = try? Array(Data(contentsOf: file)),
                (try? converted(bytes, touches: true)) != nil
            else { continue }
            let count = try expectSame(bytes, file.lastPathComponent, live: size < 100_000)
            recordings += 1
            lines += count
        }
        #expect(recordings > 20 && lines > 1000, "\(recordings) recordings, \(lines) lines")
    }

    /// Returns fingers that land, rest, wander, tap and lift, as events of a web page.
    private func webRecording(_ random: inout Seeded) -> [UInt8] {
        var text = #"{"viewport":{"width":390,"height":844}}"# + "\n"
        var fingers: [(id: Int, x: Double, y: Double)] = []
        var (time, next) = (random.number(0...2e12).rounded() / 8, 0)
        for _ in 0..<random.integer(20...200) {
            time += random.chance(0.1) ? random.number(0...800) : random.number(0...20)
            var type = "touchmove"
            if fingers.count < 4, random.chance(fingers.isEmpty ? 0.8 : 0.06) {
                fingers.append((next, random.number(0...390), random.number(0...844)))
                (next, type) = (next + 1, "touchstart")
            } else if !fingers.isEmpty, random.chance(0.08) {
                fingers.remove(at: random.integer(0...(fingers.count - 1)))
                type = random.chance(0.1) ? "touchcancel" : "touchend"
            } else if random.chance(0.8) {
                let (x, y) = (random.number(-15...15), random.number(-15...15))
                for index in fingers.indices {
                    fingers[index].x += x + random.number(-9...9)
                    fingers[index].y += y + random.number(-9...9)
                }
            }
            let touches = fingers.map { #"{"identifier":\#($0.id),"clientX":\#($0.x),"clientY":\#($0.y)}"# }
            text += #"{"type":"\#(type)","timeStamp":\#(time),"touches":[\#(touches.joined(separator: ","))]}"# + "\n"
        }
        return Array(text.utf8)
    }

    @Test(arguments: UInt64(1)...60)
    func touchesOfRandomFingersMoveTheCameraAsTheirGesturesDo(seed: UInt64) throws {
        var random = Seeded(seed)
        _ = try expectSame(webRecording(&random), "seed \(seed)", live: true)
    }
}
