// What a camera did over time, from any source: events of Gimbal, an app's own log, a table. Times count from the first
// line that has one, so that streams of one trace can be superimposed.

import MapCamera

/// Where a camera was at one time.
package struct CameraSample: Equatable, Sendable {
    /// Milliseconds since the stream began.
    package let timeMs: Double
    package let position: CameraPosition
    /// The line that contains it, from 1.
    package let line: Int
}

/// What a camera did over time.
package struct CameraStream: Sendable {
    /// A movement, from the first motion of the camera to its rest.
    package struct Movement: Equatable, Sendable {
        package let startMs: Double
        /// `nil` while the movement continues.
        package fileprivate(set) var endMs: Double?
    }

    /// Where the camera was, in order of time.
    package private(set) var samples: [CameraSample] = []
    /// The camera's movements. In a log without events: its changes, separated by pauses of more than 100 ms.
    package private(set) var movements: [Movement] = []
    /// When the stream ends, in milliseconds: at the end of its trace, or at its last line.
    package private(set) var endMs = 0.0
    /// The screen that distances are measured on.
    package var viewport = Viewport.standard

    /// How far apart two lines of a log may be for the camera to have moved between them; otherwise it rested.
    static let longestStepMs = 100.0

    package init() {}

    // MARK: Filling

    mutating func began(at timeMs: Double, _ position: CameraPosition, line: Int) {
        if movements.last.map({ $0.endMs != nil }) ?? true { movements.append(Movement(startMs: timeMs)) }
        moved(at: timeMs, position, line: line)
    }

    mutating func rested(at timeMs: Double, _ position: CameraPosition, line: Int) {
        if let last = movements.indices.last { movements[last].endMs = timeMs }
        moved(at: timeMs, position, line: line)
    }

    /// Adds a line of a log, which does not contain movements.
    mutating func logged(at timeMs: Double, _ position: CameraPosition, line: Int) {
        if let last = samples.last, last.position != position {
            if let index = movements.indices.last, let end = movements[index].endMs, timeMs - end <= Self.longestStepMs
            {
                movements[index].endMs = timeMs
            } else {
                let isStep = timeMs - last.timeMs <= Self.longestStepMs
                movements.append(Movement(startMs: isStep ? last.timeMs : timeMs, endMs: timeMs))
            }
        }
        moved(at: timeMs, position, line: line)
    }

    mutating func ended(at timeMs: Double) { endMs = max(endMs, timeMs) }

    mutating func moved(at timeMs: Double, _ position: CameraPosition, line: Int) {
        samples.append(CameraSample(timeMs: timeMs, position: position, line: line))
        endMs = max(endMs, timeMs)
    }

    // MARK: Queries

    /// Whether the camera is at rest at the end.
    package var isAtRest: Bool { movements.last.map { $0.endMs != nil } ?? true }

    /// Where the camera is at the end.
    package var last: CameraSample? { samples.last }

    /// Returns the index of the last sample at or before a time; `nil` before the first.
    func index(at timeMs: Double) -> Int? {
        let next = samples.partitioningIndex { $0.timeMs > timeMs }
        return next > 0 ? next - 1 : nil
    }

    /// Returns the last sample at or before a time; before the first, the first.
    package func sample(at timeMs: Double) -> CameraSample? { index(at: timeMs).map { samples[$0] } ?? samples.first }

    /// Returns where the camera may be at a time: at the last sample, or between it and the next one if that is near.
    func ways(at timeMs: Double) -> [CameraSample] {
        guard let index = index(at: timeMs) else { return samples.first.map { [$0] } ?? [] }
        let sample = samples[index]
        guard index + 1 < samples.count, sample.timeMs < timeMs else { return [sample] }
        let next = samples[index + 1]
        guard next.timeMs - sample.timeMs <= Self.longestStepMs else { return [sample] }
        let share = (timeMs - sample.timeMs) / (next.timeMs - sample.timeMs)
        let between = sample.position.interpolated(to: next.position, share)
        return [sample, CameraSample(timeMs: timeMs, position: between, line: sample.line)]
    }
}

extension CameraPosition {
    /// Returns a position on the straight path to another, in the Mercator plane and by the shorter turn.
    fileprivate func interpolated(to other: CameraPosition, _ share: Double) -> CameraPosition {
        let (from, to) = (MercatorPoint(target), MercatorPoint(other.target))
        let turn = wrap180(other.target.longitude - target.longitude) * (.pi / 180)
        let place = MercatorPoint(x: from.x + share * turn, y: from.y + share * (to.y - from.y)).coordinate
        return CameraPosition(
            target: place.normalized, zoom: zoom + share * (other.zoom - zoom),
            bearing: wrap360(bearing + share * wrap180(other.bearing - bearing)),
            viewingAngle: viewingAngle + share * (other.viewingAngle - viewingAngle))
    }
}
