// What a camera broadcasts. Each event is encoded once, here, however many read it.

/// What moved the camera.
package enum MoveReason: Sendable {
    case gesture, animation, command
}

/// One event of one camera.
package struct Event: Sendable {
    package enum Kind: Sendable {
        case moveStarted, cameraChanged, idle

        package var mask: EventKinds {
            switch self {
            case .moveStarted: .moveStarted
            case .cameraChanged: .cameraChanged
            case .idle: .idle
            }
        }
    }

    package var kind: Kind
    package var seq: UInt64
    /// Milliseconds of the camera's clock.
    package var timeMs: Double
    package var reason: MoveReason
    package var position: PrintedPosition

    /// What the longest line takes, the camera's name not counted.
    static let longest = 256 + PrintedPosition.longest

    package init(kind: Kind, seq: UInt64, timeMs: Double, reason: MoveReason, position: PrintedPosition) {
        self.kind = kind
        self.seq = seq
        self.timeMs = timeMs
        self.reason = reason
        self.position = position
    }
}

extension LineWriter {
    /// Writes an event line of a camera, LF included.
    package mutating func event(_ event: Event, camera: Span<UInt8>) {
        withRoom(Event.longest + camera.count) { line in
            switch event.kind {
            case .moveStarted: line.write("{\"type\":\"move-started\",\"camera\":\"")
            case .cameraChanged: line.write("{\"type\":\"camera-changed\",\"camera\":\"")
            case .idle: line.write("{\"type\":\"idle\",\"camera\":\"")
            }
            line.write(camera)
            line.write("\",\"seq\":")
            line.write(event.seq)
            line.write(",\"timeMs\":")
            line.write(FixedDecimal(event.timeMs, places: 3))
            switch event.reason {
            case .gesture: line.write(",\"reason\":\"gesture\",\"position\":")
            case .animation: line.write(",\"reason\":\"animation\",\"position\":")
            case .command: line.write(",\"reason\":\"command\",\"position\":")
            }
            event.position.write(to: &line)
            line.write("}\n")
        }
    }

    /// Writes the line that tells what a camera is fed: requests of one frame, as a line of a trace.
    package mutating func fed(_ frame: [Request.Body], camera: String, timeMs: Double) {
        openFed(camera, timeMs)
        requests(frame, timeMs: timeMs)
        write("}\n")
    }

    /// Writes the line that tells how a trace of what a camera is fed begins.
    package mutating func fed(_ header: TraceHeader, camera: String, timeMs: Double) {
        openFed(camera, timeMs)
        self.header(header)
        write("}\n")
    }

    private mutating func openFed(_ camera: String, _ timeMs: Double) {
        write("{\"type\":\"gesture\",\"camera\":")
        write(string: camera)
        write(",\"timeMs\":")
        write(FixedDecimal(timeMs, places: 3))
        write(",\"line\":")
    }

    /// Writes the line that tells of a replay's new camera. The epoch stands last: all before it follows from the trace.
    package mutating func reset(camera: String, position: PrintedPosition, epoch: String) {
        write("{\"type\":\"reset\",\"camera\":")
        write(string: camera)
        write(",\"seq\":0,\"timeMs\":0,\"position\":")
        write(position)
        write(",\"epoch\":")
        write(string: epoch)
        write("}\n")
    }
}
