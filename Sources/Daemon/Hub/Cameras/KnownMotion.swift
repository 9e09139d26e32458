// A camera's motion as its subscribers are told of it; the camera has one while the motion runs.

import GimbalProtocol

final class KnownMotion {
    let start: MotionStart
    /// When it began, on the camera's clock.
    let timeMs: Double

    init(_ start: MotionStart, at timeMs: Double) { (self.start, self.timeMs) = (start, timeMs) }

    struct Record: Codable {
        /// The motion as JSON.
        let start: String
        let timeMs: Double
        let isTold: Bool

        init(_ motion: KnownMotion, isTold: Bool) {
            var line = LineWriter()
            line.write(motion.start)
            (start, timeMs) = (String(decoding: line.bytes, as: UTF8.self), motion.timeMs)
            self.isTold = isTold
        }
    }

    convenience init(_ record: Record) throws(StateDecoder.Damage) {
        guard let start = try? MotionStart(JSONValue(record.start.utf8)), record.timeMs.isFinite else {
            throw StateDecoder.Damage()
        }
        self.init(start, at: record.timeMs)
    }
}
