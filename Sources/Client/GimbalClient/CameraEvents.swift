// A subscription as a sequence. Nothing is read ahead: while the loop's body works, events wait in the daemon, which
// skips or keeps them according to the delivery. Invariant: missed events are reported.

import UnixSocket

/// The events of one camera or of all cameras, one at a time; made by
/// ``RemoteCamera/events(_:delivery:since:reconnecting:)`` and ``Gimbal/events(_:delivery:since:reconnecting:)``.
///
/// Each loop over it has a connection of its own, which ends with the loop, or when the task is cancelled.
///
/// The sequence of one camera ends after ``/GimbalProtocol/CameraEvent/removed(camera:)``. It throws
/// ``/GimbalProtocol/GimbalError`` if the daemon refuses the subscription, and ``GimbalConnectionError`` if the first
/// connection fails, or as many reconnections as ``Reconnection`` allows.
///
/// **When the daemon goes away**, the sequence reconnects and asks for the events after the last one that it returned.
/// It then returns another ``/GimbalProtocol/CameraEvent/subscribed(_:)``, followed by the missed events; if the daemon
/// no longer has them, ``/GimbalProtocol/CameraEvent/lagged(_:)`` says how many there were.
public struct CameraEvents: AsyncSequence, Sendable {
    let socket: DaemonSocket
    let monitor: ConnectionMonitor
    /// `nil` stands for all cameras.
    let camera: String?
    let kinds: Set<EventKind>
    let delivery: EventDelivery
    let since: [String: ResumePoint]
    let reconnection: Reconnection

    /// Begins a loop.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    /// A loop over the events.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let events: CameraEvents
        private var state = State.beginning
        private var connection: LineConnection?
        private var points: ResumePoints
        /// The event to return next, before anything is read.
        private var gap: CameraEvent?

        private enum State {
            /// The daemon has not answered yet: failing to reach it is an error.
            case beginning
            /// The daemon has answered before; `attempts` have been made since.
            case following(attempts: Int)
            case over
        }

        /// How far the events of each camera have been read, by its name. A later loop, even in another process, may
        /// resume from here.
        public var resumePoints: [String: ResumePoint] { points.points }

        /// How far the events of a sequence of one camera have been read; `nil` before the first event.
        public var resumePoint: ResumePoint? { events.camera.flatMap { resumePoints[$0] } }

        init(_ events: CameraEvents) {
            self.events = events
            points = ResumePoints(events.since)
        }

        /// Returns the next event, as soon as there is one.
        public mutating func next() async throws -> CameraEvent? {
            if let gap = gap.take() { return gap }
            while true {
                if case .over = state { return nil }
                do {
                    if let event = try await read() { return event }
                } catch let error as GimbalConnectionError where error.isTransient {
                    try await waitForNextAttempt(after: error)
                } catch {
                    end(because: error as? GimbalConnectionError)
                    throw error
                }
            }
        }

        private mutating func end(because error: GimbalConnectionError? = nil) {
            connection?.close(because: error)
            (connection, state) = (nil, .over)
        }

        // MARK: One connection

        private var hasFollowed: Bool { if case .following = state { true } else { false } }

        /// Returns the next event of the connection; `nil` if the next line is not an event.
        private mutating func read() async throws -> CameraEvent? {
            let connection = try connection ?? subscribe()
            self.connection = connection
            switch try ServerLine(fromDaemon: await connection.line()).message {
            case .event(let event):
                note(event)
                return event
            case .error(let error) where error.isOfConnection && hasFollowed:
                // The daemon takes no connections now.
                throw GimbalConnectionError.unreachable(path: connection.path, reason: "\(error)")
            case .error(let error):
                throw error
            default:
                return nil
            }
        }

        private mutating func subscribe() throws -> LineConnection {
            let connection = try LineConnection(events.socket, monitor: events.monitor)
            let request: ClientRequest =
                if events.camera == nil {
                    .subscribeAll(kinds: events.kinds, delivery: events.delivery, since: points.forAllCameras())
                } else {
                    .subscribe(kinds: events.kinds, delivery: events.delivery, since: resumePoint)
                }
            connection.send(try request.line(camera: events.camera))
            return connection
        }

        private mutating func note(_ event: CameraEvent) {
            gap = points.note(event).map { .lagged($0) }
            switch event {
            case .subscribedToAll, .subscribed:
                connection?.noteAnswer()
                state = .following(attempts: 0)
            case .removed: if events.camera != nil { end() }
            default: break
            }
        }

        // MARK: Reconnection

        private mutating func waitForNextAttempt(after error: GimbalConnectionError) async throws {
            let reconnection = events.reconnection
            connection = nil
            guard case .following(let attempts) = state, attempts < reconnection.attempts ?? .max else {
                state = .over
                throw error
            }
            state = .following(attempts: attempts + 1)
            do {
                try await reconnection.clock.sleep(for: reconnection.delay(before: attempts))
            } catch {
                end()
                throw error
            }
        }
    }
}

extension GimbalConnectionError {
    /// Whether another attempt may succeed.
    fileprivate var isTransient: Bool {
        switch self {
        case .unreachable, .ended: true
        case .noAnswer, .requestTooLong, .tooManyRequests, .lineTooLong, .unexpectedAnswer: false
        }
    }
}

/// How a sequence of events reconnects to a daemon that went away: how often, and after which delays, which double.
public struct Reconnection: Sendable {
    /// The time before the first attempt.
    public var firstDelay: Duration
    /// The longest time between two attempts.
    public var longestDelay: Duration
    /// How many attempts in a row may fail; `nil` is any number.
    public var attempts: Int?
    /// The clock that measures the delays.
    public var clock: any Clock<Duration>

    /// Creates a reconnection policy; the defaults suit a daemon that is restarted by a service manager.
    ///
    /// - Parameters:
    ///   - firstDelay: the time before the first attempt, above 0; it doubles with each attempt.
    ///   - longestDelay: the longest time between two attempts.
    ///   - attempts: how many in a row may fail, 0 or more; `nil` is any number.
    ///   - clock: the clock that measures the delays.
    public init(
        firstDelay: Duration = .milliseconds(100), longestDelay: Duration = .seconds(5), attempts: Int? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.firstDelay = firstDelay
        self.longestDelay = longestDelay
        self.attempts = attempts
        self.clock = clock
    }

    /// No reconnection: the end of the connection ends the sequence with an error.
    public static let never = Reconnection(attempts: 0)

    /// Returns the delay before an attempt; attempts count from 0.
    package func delay(before attempt: Int) -> Duration {
        // Beyond 2^30, every delay exceeds any longest delay.
        min(firstDelay * (1 << min(attempt, 30)), longestDelay)
    }
}
