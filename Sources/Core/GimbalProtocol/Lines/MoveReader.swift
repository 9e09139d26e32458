// Steps of movements, as nearly every line of a subscription is, read on a tape: for readers of many cameras, and four
// times as fast as `ServerLine`. Invariant: what it reads, `ServerLine` reads the same; a line that it does not read
// may still be an event, which `ServerLine` decides.

import JSONLines
import MapCamera

/// Reads `move-started`, `camera-changed` and `idle`.
package struct MoveReader: ~Copyable {
    private enum Member: UInt8, CaseIterable {
        case type, camera, seq, timeMs, reason, position, target, latitude, longitude, zoom, bearing, viewingAngle

        static let names = WordTable(allCases.map { "\($0)" })
    }

    private var tape = JSONTape(names: Member.names)

    package init() {}

    /// Reads a line without its LF.
    ///
    /// - Returns: `nil` if it may be something else.
    package mutating func read(_ line: Span<UInt8>) -> CameraEvent? {
        guard (try? tape.read(line)) != nil, let type = text(.type, line), let camera = text(.camera, line),
            let seq = number(0, .seq).flatMap(Int.init(exactly:)), let timeMs = number(0, .timeMs),
            let reason = text(.reason, line).flatMap(MoveReason.init(rawValue:)), let position
        else { return nil }
        let move = CameraMove(camera: camera, seq: seq, timeMs: timeMs, reason: reason, position: position)
        switch MessageType(rawValue: type) {
        case .moveStarted: return .moveStarted(move)
        case .cameraChanged: return .cameraChanged(move)
        case .idle: return .idle(move)
        default: return nil
        }
    }

    private var position: CameraPosition? {
        guard let position = child(0, .position), let target = child(position, .target),
            let latitude = number(target, .latitude), let longitude = number(target, .longitude),
            let zoom = number(position, .zoom), let bearing = number(position, .bearing),
            let viewingAngle = number(position, .viewingAngle)
        else { return nil }
        let read = CameraPosition(
            target: LatLng(latitude: latitude, longitude: longitude), zoom: zoom, bearing: bearing,
            viewingAngle: viewingAngle)
        return read.isPossible ? read : nil
    }

    private func child(_ object: Int, _ member: Member) -> Int? { tape.child(of: object, name: member.rawValue) }

    private func number(_ object: Int, _ member: Member) -> Double? {
        guard let node = child(object, member), tape[node].kind == .number, tape[node].number.isFinite else {
            return nil
        }
        return tape[node].number
    }

    /// A string of the line's object that has no escapes.
    private func text(_ member: Member, _ line: Span<UInt8>) -> String? {
        guard let node = child(0, member), tape[node].kind == .string, !tape[node].isEscaped else { return nil }
        return unsafe line.extracting(tape[node].text.range).withUnsafeBufferPointer {
            unsafe String(decoding: $0, as: UTF8.self)
        }
    }
}
