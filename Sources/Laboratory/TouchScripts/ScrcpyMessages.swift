// A canonical script as messages to scrcpy's server on an Android phone. They are as its ControlMessageReader.java reads them from
// version 2.0 on: no document describes them.

import MapCamera
import TouchTraces

/// What the fingers do at one time, as messages to scrcpy's server.
package struct ScrcpyMessages: Equatable, Sendable {
    /// Milliseconds since the fingers begin.
    package let timeMs: Double
    /// What changes then.
    package let bytes: [UInt8]
    /// What lifts the fingers that are down then.
    package let lifts: [UInt8]
}

extension TouchExport {
    /// The fingers as messages for a screen, in its pixels.
    package func scrcpyMessages(width: Int, height: Int) -> [ScrcpyMessages] {
        let (viewport, size) = (canonical.viewport, (width: max(width, 1), height: max(height, 1)))
        /// Android's MotionEvent has these actions.
        enum Action: UInt8 { case down = 0, up, move }
        func message(_ action: Action, _ slot: Int, _ position: ScreenPoint) -> [UInt8] {
            let x = min(Int(position.x / viewport.width * Double(size.width)), size.width - 1)
            let y = min(Int(position.y / viewport.height * Double(size.height)), size.height - 1)
            let type: UInt8 = 2  // A touch.
            let pressure: UInt16 = action == .up ? 0 : .max
            // Its last 8 bytes are a mouse's buttons.
            return [type, action.rawValue] + bigEndian(UInt64(slot))
                + bigEndian(UInt32(clamping: x)) + bigEndian(UInt32(clamping: y))
                + bigEndian(UInt16(clamping: size.width)) + bigEndian(UInt16(clamping: size.height))
                + bigEndian(pressure) + [UInt8](repeating: 0, count: 8)
        }
        var steps: [ScrcpyMessages] = []
        var before: [ScreenPoint?] = []
        for frame in canonical.timed {
            var bytes: [UInt8] = []
            for slot in 0..<max(frame.fingers.count, before.count) {
                let old = slot < before.count ? before[slot] : nil
                let now = slot < frame.fingers.count ? frame.fingers[slot] : nil
                guard old != now, let position = now ?? old else { continue }
                bytes += message(now == nil ? .up : old == nil ? .down : .move, slot, position)
            }
            before = frame.fingers
            guard !bytes.isEmpty else { continue }
            let lifts = before.enumerated().flatMap { slot, position in position.map { message(.up, slot, $0) } ?? [] }
            steps.append(ScrcpyMessages(timeMs: frame.timeMs, bytes: bytes, lifts: lifts))
        }
        return steps
    }
}

private func bigEndian(_ number: some FixedWidthInteger) -> [UInt8] {
    var number = number.bigEndian
    return unsafe withUnsafeBytes(of: &number) { unsafe Array($0) }
}
