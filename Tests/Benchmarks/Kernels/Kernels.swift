// Runs one stage of a line's path in isolation, repeatedly: `kernels PART COUNT`. Prints the elapsed nanoseconds; the
// caller counts instructions and allocations from outside, as the difference between two counts.

import Glibc
import Hub
import MapCamera
import GimbalProtocol

@main struct Kernels {
    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let part = Part(rawValue: arguments[1]), let count = Int(arguments[2]) else {
            print("usage: kernels \(Part.allCases.map(\.rawValue).joined(separator: "|")) COUNT")
            exit(64)
        }
        let start = nanoseconds()
        let sum = part.run(count)
        // Prints the sum so that the compiler cannot drop any of the work.
        print(nanoseconds() - start, sum)
    }

    private static func nanoseconds() -> Int {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}

/// The stages that can be measured.
private enum Part: String, CaseIterable {
    case camera, decoder, encoder, hub, replay, frame, delivery

    /// Runs the stage `count` times; the result depends on every run.
    func run(_ count: Int) -> Int {
        switch self {
        case .camera: moveCamera(count)
        case .decoder: readLines(count)
        case .encoder: writeEvents(count)
        case .hub: passThrough(gestureLines, count, readers: 1, burst: 64)
        case .replay:
            passThrough(
                gestureLines.map { Array($0.dropLast()) + Array(",\"timeMs\":0}".utf8) }, count, readers: 1, burst: 64,
                header: "{\"type\":\"trace\",\"version\":1,\"speed\":\"max\"}\n")
        case .frame: passFrames(count)
        case .delivery: passThrough(gestureLines, count / 100, readers: 100, burst: 1)
        }
    }
}

private let position = CameraPosition(
    target: LatLng(latitude: 48.858809831, longitude: 2.295090581), zoom: 14.321928, bearing: 353.512345,
    viewingAngle: 42.512345)

/// Lines of a finger that moves in a circle: each one moves the camera.
private let gestureLines: [[UInt8]] = (0..<256).map { step in
    let angle = 2 * Double.pi * Double(step) / 256
    let (x, y) = ((90_000 * cos(angle)).rounded() / 1000, (90_000 * sin(angle)).rounded() / 1000)
    let line = """
        {"type":"pan","phase":"changed","focus":{"x":\(195 + x),"y":\(420 + y)},"translation":{"x":\(x),"y":\(y)}}
        """
    return Array(line.utf8)
}

/// Applies anchored pans under tilt, back and forth.
private func moveCamera(_ count: Int) -> Int {
    var camera = Camera(position: position)
    let (here, there) = (ScreenPoint(x: 195, y: 420), ScreenPoint(x: 201.5, y: 411.25))
    for step in 0..<count {
        camera.apply(step % 2 == 0 ? .pan(from: here, to: there) : .pan(from: there, to: here))
    }
    return Int(camera.position.target.latitude * 1e9)
}

private func readLines(_ count: Int) -> Int {
    var decoder = RequestDecoder()
    var requests: [Request] = []
    var sum = 0
    let lines = gestureLines
    for step in 0..<count {
        let line = lines[step % lines.count]
        guard (try? decoder.decode(line.span, into: &requests)) != nil else { return -1 }
        sum += requests.count
    }
    return sum
}

private func writeEvents(_ count: Int) -> Int {
    var line = LineWriter()
    var sum = 0
    let name = Array("main".utf8)
    var (view, printed) = (ViewText(), [position, position])
    printed[1].target.latitude += 0.001
    let positions = printed.map(PrintedPosition.init)
    for step in 0..<count {
        line.clear()
        let time = 1234.567 + Double(step)
        let position = positions[step % 2]
        let event = Event(kind: .cameraChanged, seq: UInt64(step), timeMs: time, reason: .gesture, position: position)
        line.withRoom(Event.longest + name.count) { $0.event(event, camera: name.span, &view) }
        sum += line.count
    }
    return sum
}

/// Runs the whole path without the kernel's share: bytes into the hub, some lines per turn, and out to the readers.
///
/// - Parameter header: the lines to send first.
private func passThrough(_ lines: [[UInt8]], _ count: Int, readers: Int, burst: Int, header: String = "") -> Int {
    let hub = Hub(server: "kernels", epochSeed: 1, at: 0)
    let clients = (0...readers).map { _ in Client(of: hub) }
    guard let from = clients[0].peer else { return -1 }
    let place = """
        {"type":"move","update":{"kind":"set-camera","position":{"target":{"latitude":48.858809831,\
        "longitude":2.295090581},"zoom":14.321928,"bearing":353.512345,"viewingAngle":42.512345}}}

        """
    hub.receive(Array(place.utf8).span, from: from, at: 0)
    let subscribe = Array("{\"type\":\"subscribe\"}\n".utf8)
    for case let reader? in clients.dropFirst().map(\.peer) { hub.receive(subscribe.span, from: reader, at: 0) }
    let bursts: [[UInt8]] = stride(from: 0, to: lines.count, by: burst).map { start in
        lines[start..<start + burst].flatMap { $0 + [0x0a] }
    }
    hub.receive(Array(header.utf8).span, from: from, at: 0)
    for turn in 0..<count / burst {
        let now = Double(turn)
        let lines = bursts[turn % bursts.count]
        hub.receive(lines.span, from: from, at: now)
        hub.advance(to: now)
        hub.endTurn(at: now)
    }
    return clients.reduce(0) { $0 + $1.taken }
}

/// Sends reports of 64 active gestures, in arrays of 64: the most gestures that are counted.
private func passFrames(_ count: Int) -> Int {
    let hub = Hub(server: "kernels", epochSeed: 1, at: 0)
    let client = Client(of: hub)
    guard let peer = client.peer else { return -1 }
    let frames: [[UInt8]] = (0..<2).map { step in
        let reports = (0..<64).map { number in
            let x = step * 8 + number % 5
            return #"{"type":"pan","phase":"changed","gesture":\#(number),"translation":{"x":\#(x),"y":1}}"#
        }
        return Array("[\(reports.joined(separator: ","))]\n".utf8)
    }
    for turn in 0..<count / 64 {
        let now = Double(turn)
        let frame = frames[turn % 2]
        hub.receive(frame.span, from: peer, at: now)
        hub.advance(to: now)
        hub.endTurn(at: now)
    }
    return hub.cameraCount
}

/// A client that reads everything and ignores it.
private final class Client: Outlet {
    private(set) var peer: Peer?
    private(set) var taken = 0

    init(of hub: Hub) { peer = hub.connect(self) }

    func send(_ pieces: [UnsafeRawBufferPointer]) -> Int {
        let count = unsafe pieces.reduce(0) { $0 + $1.count }
        taken += count
        return count
    }

    func send(_ piece: UnsafeRawBufferPointer, isRepeated: Bool) -> Int {
        taken += piece.count
        return piece.count
    }

    func keepQueueShort() {}
    func setReading(_ isReading: Bool) {}
    func finishSending() {}
    func close() {}
}
