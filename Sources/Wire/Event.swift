// What a camera broadcasts. Each event is encoded once, here, however many read it.

/// What moved the camera.
public enum MoveReason: Sendable {
    case gesture, animation, command
}

/// One event of one camera.
public struct Event: Sendable {
    public enum Kind: Sendable {
        case moveStarted, cameraChanged, idle

        public var mask: EventKinds {
            switch self {
            case .moveStarted: .moveStarted
            case .cameraChanged: .cameraChanged
            case .idle: .idle
            }
        }
    }

    public var kind: Kind
    public var seq: UInt64
    /// Milliseconds of the camera's clock.
    public var timeMs: Double
    public var reason: MoveReason
    public var position: PrintedPosition

    /// What the longest line takes, the camera's name not counted.
    static let longest = 256 + PrintedPosition.longest

    public init(kind: Kind, seq: UInt64, timeMs: Double, reason: MoveReason, position: PrintedPosition) {
        self.kind = kind
        self.seq = seq
        self.timeMs = timeMs
        self.reason = reason
        self.position = position
    }
}

extension LineWriter {
    /// Writes an event line of a camera, LF included.
    public mutating func event(_ event: Event, camera: Span<UInt8>) {
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
            line.write(Decimal(event.timeMs, places: 3))
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
    public mutating func fed(_ frame: [Request.Body], camera: String, timeMs: Double) {
        openFed(camera, timeMs)
        requests(frame, timeMs: timeMs)
        write("}\n")
    }

    /// Writes the line that tells how a trace of what a camera is fed begins.
    public mutating func fed(_ header: TraceHeader, camera: String, timeMs: Double) {
        openFed(camera, timeMs)
        self.header(header)
        write("}\n")
    }

    private mutating func openFed(_ camera: String, _ timeMs: Double) {
        write("{\"type\":\"gesture\",\"camera\":")
        write(string: camera)
        write(",\"timeMs\":")
        write(Decimal(timeMs, places: 3))
        write(",\"line\":")
    }

    /// Writes the line that tells of a replay's new camera. The epoch stands last: all before it follows from the trace.
    public mutating func reset(camera: String, position: PrintedPosition, epoch: String) {
        write("{\"type\":\"reset\",\"camera\":")
        write(string: camera)
        write(",\"seq\":0,\"timeMs\":0,\"position\":")
        write(position)
        write(",\"epoch\":")
        write(string: epoch)
        write("}\n")
    }
}
