// The description of a device that is stored beside recordings: an accepted one has a range of positions, and a
// recording read with it has touches at finite points.

import FuzzSupport
import TouchTraces
import Touches

private let recording = Array(
    """
    E: 0.000001 0003 0039 5
    E: 0.000001 0003 0035 100
    E: 0.000001 0003 0036 -200
    E: 0.000001 0000 0000 0
    E: 0.000002 0003 0035 2147483647
    E: 0.000002 0003 0036 -2147483648
    E: 0.000002 0000 0000 0

    """.utf8)

private func checkTouches(_ device: DeviceDescription) {
    var options = TraceOptions()
    options.device = device
    var reader = RecordingReader(options)
    var frames: [ContactFrame] = []
    func take(_ frame: RecordedFrame) { if case .touches(let frame) = frame { frames.append(frame) } }
    do {
        try reader.read(recording.span, take)
        try reader.finish(take)
    } catch {
        fatalError("\(error)")
    }
    guard let surface = reader.surface else { fatalError("no surface") }
    check(surface.viewport.width > 0 && surface.viewport.height > 0, "\(surface.viewport)")
    var touches = TouchFrame(timeMs: 0, touches: [])
    for frame in frames {
        surface.map(frame, into: &touches)
        check(touches.touches.allSatisfy { $0.position.x.isFinite && $0.position.y.isFinite }, "\(touches)")
    }
    check(frames.contains { !$0.contacts.isEmpty }, "no touch")
}

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let device = try? DeviceDescription(input(start, count).span) else { return 0 }
    guard let x = device.x, let y = device.y else { fatalError("no axes: \(device)") }
    check(x.maximum > x.minimum && y.maximum > y.minimum, "no range: \(device)")
    checkTouches(device)
    return 0
}
