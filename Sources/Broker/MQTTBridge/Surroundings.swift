// What the bridge needs from outside: a broker, a daemon and a log. The process has sockets and a thread for it,
// the tests a broker and a hub in memory. Times are milliseconds of one monotonic clock, and always come in as arguments.

import GimbalProtocol
import Service

/// MQTT's quality of service, as far as it is used here.
package enum QoS: CInt, Sendable {
    /// The message may be lost.
    case atMostOnce = 0
    /// The broker acknowledges it, and may have it twice.
    case atLeastOnce = 1
}

/// A message for the broker.
package struct Publication: Equatable, Sendable {
    package var topic: String
    package var payload: [UInt8]
    /// Whether the broker retains it for later subscribers.
    package var isRetained = false
    package var qos = QoS.atLeastOnce
    /// What a reply repeats of the request, by MQTT 5.
    package var correlation: [UInt8]?

    package init(
        _ topic: String, _ payload: [UInt8], isRetained: Bool = false, qos: QoS = .atLeastOnce,
        correlation: [UInt8]? = nil
    ) {
        (self.topic, self.payload, self.isRetained) = (topic, payload, isRetained)
        (self.qos, self.correlation) = (qos, correlation)
    }
}

/// A message from the broker.
package struct Delivery: Equatable, Sendable {
    package var topic: String
    package var payload: [UInt8]
    /// Whether it answers a subscription with what the broker has kept.
    package var isRetained = false
    /// Where replies go, and what they repeat, by MQTT 5.
    package var responseTopic: String?
    package var correlation: [UInt8]?

    package init(
        _ topic: String, _ payload: [UInt8], isRetained: Bool = false, responseTopic: String? = nil,
        correlation: [UInt8]? = nil
    ) {
        (self.topic, self.payload, self.isRetained) = (topic, payload, isRetained)
        (self.responseTopic, self.correlation) = (responseTopic, correlation)
    }
}

/// A connection to the daemon. What is sent waits inside until the daemon takes it.
package protocol DaemonConnection: AnyObject {
    /// Sends lines, each with its LF.
    func send(_ bytes: [UInt8])
    /// Whether lines are read. Those that are not wait with the daemon, by whose rules they are delivered.
    var isReading: Bool { get set }
    /// How many bytes the daemon has not taken yet.
    var unsentBytes: Int { get }
    /// Ends the connection without a word to its reader; the daemon cancels the gestures that came by it.
    func close()
}

/// Who reads a connection to the daemon.
package protocol DaemonReader: AnyObject {
    /// A line has come, without its LF.
    func received(_ line: ArraySlice<UInt8>, at now: Double)
    /// The daemon has ended the connection; nothing more comes by it.
    func ended(_ reason: String, at now: Double)
}

package protocol Surroundings: AnyObject {
    /// Connects to the daemon.
    ///
    /// - Throws: why it cannot connect.
    func connect(_ reader: any DaemonReader) throws -> any DaemonConnection
    /// Whether what is published now goes out at once; where not, it waits behind what the broker has not taken yet.
    var hasRoom: Bool { get }
    /// Sends a message to the broker, as long as there is a connection. A token comes back as `acknowledged`.
    func publish(_ publication: Publication, token: Int?)
    /// Subscribes; subscribing again sends the retained messages once more.
    func subscribe(_ filter: String)
    func unsubscribe(_ filter: String)
    /// What the machine's wall clock shows now.
    var wallTime: WallTime { get }
    /// How good the machine's wall clock is now; `nil` where the system does not say.
    var clockQuality: ClockQuality? { get }
    func say(_ level: LogLevel, _ text: @autoclosure () -> PrintableText)
    /// The process must end: what it is to do, another does.
    func refuse(_ reason: String)
}

/// Delays between attempts, which double.
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
    /// The earlier one of two times that may not be set.
    static func earliest(_ times: Double?...) -> Double? { times.compactMap { $0 }.min() }
}
