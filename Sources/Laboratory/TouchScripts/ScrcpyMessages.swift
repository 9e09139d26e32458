// Converts a canonical script to messages to scrcpy's server on an Android phone. Their format is what its
// ControlMessageReader.java reads from version 2.0 on; it is not documented elsewhere.

import MapCamera
import TouchTraces

/// Messages to scrcpy's server for one point in time.
package struct ScrcpyMessages: Equatable, Sendable {
    /// Milliseconds since the script's start.
    package let timeMs: Double
    /// The messages for the fingers that change.
    package let bytes: [UInt8]
    /// The messages that would lift all fingers that are down afterwards.
    package let lifts: [UInt8]
}

extension TouchExport {
    /// Returns the fingers as messages for a screen of a size in pixels.
    package func scrcpyMessages(width: Int, height: Int) -> [ScrcpyMessages] {
        let (viewport, size) = (canonical.viewport, (width: max(width, 1), height: max(height, 1)))
        /// Actions of Android's MotionEvent.
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
        for tick in canonical.ticks {
            var bytes: [UInt8] = []
            for (slot, (old, now)) in zip(tick.before, tick.fingers).enumerated() where old != now {
                guard let position = now ?? old else { continue }
                bytes += message(now == nil ? .up : old == nil ? .down : .move, slot, position)
            }
            guard !bytes.isEmpty else { continue }
            let lifts = tick.fingers.enumerated().flatMap { slot, place in place.map { message(.up, slot, $0) } ?? [] }
            steps.append(ScrcpyMessages(timeMs: tick.timeMs, bytes: bytes, lifts: lifts))
        }
        return steps
    }
}

private func bigEndian(_ number: some FixedWidthInteger) -> [UInt8] {
    var number = number.bigEndian
    return unsafe withUnsafeBytes(of: &number) { unsafe Array($0) }
}
