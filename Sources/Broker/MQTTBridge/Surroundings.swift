// What the bridge needs from outside: a broker, a daemon and a log. The process uses sockets and a thread, the tests a
// broker and a hub in memory. Times are milliseconds of one monotonic clock, always passed as arguments.

import GimbalProtocol
import Service

/// MQTT's quality of service, as far as it is used here.
package enum QoS: CInt, Sendable {
    /// The message may be lost.
    case atMostOnce = 0
    /// The broker acknowledges the message, and may get it twice.
    case atLeastOnce = 1
}

/// A message for the broker, or from it.
package struct Publication: Equatable, Sendable {
    package var topic: String
    package var payload: [UInt8]
    /// Whether the broker retains it for later subscribers; of one from it, whether it was retained, and is sent in
    /// answer to a subscription.
    package var isRetained = false
    /// How it goes to the broker.
    package var qos = QoS.atLeastOnce
    /// Where a publisher wants replies, and the correlation data that they repeat (MQTT 5).
    package var responseTopic: String?
    package var correlation: [UInt8]?

    package init(
        _ topic: String, _ payload: [UInt8], isRetained: Bool = false, qos: QoS = .atLeastOnce,
        responseTopic: String? = nil, correlation: [UInt8]? = nil
    ) {
        (self.topic, self.payload, self.isRetained, self.qos) = (topic, payload, isRetained, qos)
        (self.responseTopic, self.correlation) = (responseTopic, correlation)
    }
}

/// A connection to the daemon. What is sent is buffered until the daemon takes it.
package protocol DaemonConnection: AnyObject {
    /// Sends lines, each with its LF.
    func send(_ bytes: [UInt8])
    /// Whether lines are read. The others wait in the daemon, and are delivered by its rules.
    var isReading: Bool { get set }
    /// How many bytes the daemon has not taken yet.
    var unsentBytes: Int { get }
    /// Closes the connection without telling its reader; the daemon cancels the gestures that came over it.
    func close()
}

/// The reader of a connection to the daemon.
package protocol DaemonReader: AnyObject {
    /// Handles a line, without its LF.
    func received(_ line: ArraySlice<UInt8>, at now: Double)
    /// Handles the end of the connection by the daemon; nothing more comes over it.
    func ended(_ reason: String, at now: Double)
}

package protocol Surroundings: AnyObject {
    /// Connects to the daemon.
    ///
    /// - Throws: why it cannot connect.
    func connect(_ reader: any DaemonReader) throws -> any DaemonConnection
    /// Whether a message published now goes out at once, and not after others that the broker has not taken yet.
    var hasRoom: Bool { get }
    /// Sends a message to the broker if there is a connection. Its token comes back in `acknowledged`.
    @discardableResult func publish(_ publication: Publication, token: Int?) -> Bool
    /// Subscribes; subscribing again sends the retained messages once more.
    func subscribe(_ filter: String)
    func unsubscribe(_ filter: String)
    /// The machine's wall-clock time.
    var wallTime: WallTime { get }
    /// How good the machine's wall clock is; `nil` if the system does not say.
    var clockQuality: ClockQuality? { get }
    func say(_ level: LogLevel, _ text: @autoclosure () -> PrintableText)
    /// Ends the process, as another one does its work.
    func refuse(_ reason: String)
}

/// Delays between attempts, each twice the one before.
package struct Backoff {
    private let first: Double
    private let longest: Double
    private var delay: Double

    package init(first: Double, longest: Double) { (self.first, self.longest, delay) = (first, longest, first) }

    package mutating func next() -> Double {
        defer { delay = min(delay * 2, longest) }
        return delay
    }

    package mutating func reset() { delay = first }
}

extension Double {
    /// Returns the earliest of several times, any of which may be unset.
    static func earliest(_ times: Double?...) -> Double? { times.compactMap { $0 }.min() }
}
