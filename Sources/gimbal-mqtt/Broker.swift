// The connection to the broker, by libmosquitto on a thread of its own: connecting blocks there, and nothing here. Each
// connection is made of a new client, so that nothing of the one before is sent behind this side's back.
// Invariants: what comes waits in an inbox of limited length for the program's loop, which a pipe wakes; the client is
// used under the lock, but by the thread that alone makes and destroys it.

import CMosquitto
import Dispatch
import Glibc
import MQTTBridge
import Synchronization
import UnixSocket

/// What comes from the broker.
enum BrokerNews: Sendable {
    case connected
    case disconnected(String)
    /// The broker has a message; a reason, if it does not want it.
    case acknowledged(CInt, refusal: String?)
    case subscribed(CInt, isRefused: Bool)
    case delivery(Delivery)
}

final class Broker: Sendable {
    struct Settings: Sendable {
        /// Where brokers of one cluster are: when one of them is gone, the next is tried.
        var addresses: [BrokerAddress]
        var credentials = Credentials()
        var certificates = Certificates()
        var clientID: String
        var will: Publication?
        var keepalive: CInt = 10
        /// MQTT 5; otherwise 3.1.1.
        var isVersion5 = true
    }

    /// As many messages, and as many bytes of them, wait for the loop.
    private static let (mostDeliveries, mostBytes) = (8192, 16 << 20)

    private struct Inbox {
        var news: [BrokerNews] = []
        var bytes = 0
        var deliveries = 0
        /// How many messages found no room.
        var lost = 0
    }

    /// What the callbacks have seen of a connection.
    private struct Standing {
        var isAccepted = false
        var refusal: String?
    }

    private let settings: Settings
    private let standing = Mutex(Standing())
    private let inbox = Mutex(Inbox())
    /// The client's address as a number; 0 as long as nothing can be sent.
    private let client = Mutex<UInt>(0)
    private let isEnding = Mutex(false)
    /// Signalled when the thread ends.
    private let over = DispatchSemaphore(value: 0)
    /// Becomes readable when there is news.
    let wake: CInt
    private let waking: CInt

    init(_ settings: Settings) throws {
        self.settings = settings
        var ends: [CInt] = [-1, -1]
        guard unsafe pipe2(&ends, O_NONBLOCK | O_CLOEXEC) == 0 else { throw SystemError("pipe2") }
        (wake, waking) = (ends[0], ends[1])
        _ = mosquitto_lib_init()
    }

    func begin() {
        DispatchQueue(label: "broker").async {
            self.run()
            self.over.signal()
        }
    }

    // MARK: For the loop

    /// What has come since the last time, and how many messages were lost.
    func takeNews() -> (news: [BrokerNews], lost: Int) {
        var bytes = [UInt8](repeating: 0, count: 64)
        _ = unsafe read(wake, &bytes, bytes.count)
        return inbox.withLock { inbox in
            defer { inbox = Inbox() }
            return (inbox.news, inbox.lost)
        }
    }

    /// Sends a message.
    ///
    /// - Returns: what its acknowledgement is known by; `nil` if there is no connection.
    func publish(_ publication: Publication) -> CInt? {
        unsafe withClient { client in
            var properties: OpaquePointer?
            defer { unsafe mosquitto_property_free_all(&properties) }
            if let correlation = publication.correlation, settings.isVersion5 {
                _ = unsafe correlation.withUnsafeBytes {
                    unsafe mosquitto_property_add_binary(
                        &properties, CInt(MQTT_PROP_CORRELATION_DATA.rawValue), $0.baseAddress, UInt16($0.count))
                }
            }
            var number: CInt = 0
            let result = unsafe publication.payload.withUnsafeBytes {
                unsafe mosquitto_publish_v5(
                    client, &number, publication.topic, CInt($0.count), $0.baseAddress,
                    publication.isAcknowledged ? 1 : 0, publication.isRetained, properties)
            }
            return result == MOSQ_ERR_SUCCESS.rawValue ? number : nil
        }
    }

    func subscribe(_ filter: String) -> CInt? {
        unsafe withClient { client in
            var number: CInt = 0
            return unsafe mosquitto_subscribe(client, &number, filter, 1) == 0 ? number : nil
        }
    }

    func unsubscribe(_ filter: String) {
        _ = unsafe withClient { client in unsafe mosquitto_unsubscribe(client, nil, filter) }
    }

    /// Ends the connection in good order, so that the broker publishes no will: waits until it is told, but not for long, for
    /// the thread may be connecting.
    func end() {
        isEnding.withLock { $0 = true }
        let isConnected = unsafe withClient { client in unsafe mosquitto_disconnect(client) } != nil
        if isConnected { _ = over.wait(timeout: .now() + .milliseconds(500)) }
    }

    private func withClient<Result: Sendable>(_ body: (OpaquePointer) -> Result?) -> Result? {
        client.withLock { address in unsafe OpaquePointer(bitPattern: address).flatMap { unsafe body($0) } }
    }

    // MARK: The thread

    private func run() {
        var delay: UInt32 = 100
        var turn = 0
        while !isEnding.withLock({ $0 }) {
            let address = settings.addresses[turn % settings.addresses.count]
            let (reason, wasConnected) = connection(to: address)
            turn += 1
            if isEnding.withLock({ $0 }) { return }
            if wasConnected { delay = 100 }
            post(.disconnected("\(address): \(reason)"))
            // Not all that were cut off come back at one time.
            _ = usleep((delay / 2 + UInt32.random(in: 0...delay / 2)) * 1000)
            delay = min(delay * 2, 10_000)
        }
    }

    /// One connection, from beginning to end.
    ///
    /// - Returns: why it ended, and whether the broker had accepted it.
    private func connection(to address: BrokerAddress) -> (reason: String, wasConnected: Bool) {
        // Sound: this object outlives its thread, which outlives the client.
        let this = unsafe Unmanaged.passUnretained(self).toOpaque()
        guard let client = unsafe mosquitto_new(settings.clientID, true, this) else { return ("no memory", false) }
        defer { unsafe mosquitto_destroy(client) }
        if let problem = unsafe configure(client, for: address) { return (problem, false) }
        unsafe setCallbacks(client)
        errno = 0
        var result = unsafe mosquitto_connect(client, address.host, CInt(address.port), settings.keepalive)
        guard result == MOSQ_ERR_SUCCESS.rawValue else { return (Self.text(result), false) }
        standing.withLock { $0 = Standing() }
        let place = UInt(bitPattern: client)
        self.client.withLock { $0 = place }
        while result == MOSQ_ERR_SUCCESS.rawValue { result = unsafe mosquitto_loop(client, 1000, 1) }
        self.client.withLock { $0 = 0 }
        let standing = self.standing.withLock { $0 }
        return (standing.refusal ?? Self.text(result), standing.isAccepted)
    }

    private func configure(_ client: OpaquePointer, for address: BrokerAddress) -> String? {
        let version = settings.isVersion5 ? MQTT_PROTOCOL_V5 : MQTT_PROTOCOL_V311
        var result = unsafe mosquitto_int_option(client, MOSQ_OPT_PROTOCOL_VERSION, CInt(version))
        _ = unsafe mosquitto_int_option(client, MOSQ_OPT_TCP_NODELAY, 1)
        // What is sent from the loop's thread wakes this one.
        _ = unsafe mosquitto_threaded_set(client, true)
        // This side limits by itself what is not acknowledged; no message waits in the client.
        _ = unsafe mosquitto_max_inflight_messages_set(client, UInt32(Outbox.mostMessages))
        if let user = settings.credentials.user {
            result = unsafe mosquitto_username_pw_set(client, user, settings.credentials.password)
        }
        if let will = settings.will {
            result = unsafe will.payload.withUnsafeBytes {
                unsafe mosquitto_will_set(client, will.topic, CInt($0.count), $0.baseAddress, 1, true)
            }
        }
        guard result == MOSQ_ERR_SUCCESS.rawValue else { return Self.text(result) }
        guard address.isEncrypted else { return nil }
        let certificates = settings.certificates
        if let authority = certificates.authority {
            result = unsafe mosquitto_tls_set(client, authority, nil, certificates.own, certificates.key, nil)
        } else {
            result = unsafe mosquitto_int_option(client, MOSQ_OPT_TLS_USE_OS_CERTS, 1)
            let folder = "/etc/ssl/certs"
            if result == MOSQ_ERR_SUCCESS.rawValue {
                result = unsafe mosquitto_tls_set(client, nil, folder, certificates.own, certificates.key, nil)
            }
        }
        guard result == MOSQ_ERR_SUCCESS.rawValue else { return "TLS: \(Self.text(result))" }
        return nil
    }

    private static func text(_ result: CInt) -> String {
        if result == MOSQ_ERR_ERRNO.rawValue { return unsafe String(cString: strerror(errno)) }
        if result == MOSQ_ERR_KEEPALIVE.rawValue { return "no sign of life" }
        return unsafe String(cString: mosquitto_strerror(result))
    }

    private func post(_ news: BrokerNews) {
        let isFirst = inbox.withLock { inbox in
            if case .delivery(let delivery) = news {
                guard inbox.deliveries < Self.mostDeliveries, inbox.bytes < Self.mostBytes else {
                    inbox.lost += 1
                    return true
                }
                inbox.deliveries += 1
                inbox.bytes += delivery.payload.count
            }
            inbox.news.append(news)
            return inbox.news.count == 1
        }
        guard isFirst else { return }
        var one: UInt8 = 1
        _ = unsafe write(waking, &one, 1)
    }

    // MARK: What libmosquitto calls

    private static func broker(_ context: UnsafeMutableRawPointer?) -> Broker? {
        unsafe context.map { unsafe Unmanaged<Broker>.fromOpaque($0).takeUnretainedValue() }
    }

    private func setCallbacks(_ client: OpaquePointer) {
        unsafe mosquitto_connect_v5_callback_set(client) { _, context, code, _, _ in
            guard let broker = unsafe Broker.broker(context) else { return }
            broker.answered(code)
        }
        unsafe mosquitto_publish_v5_callback_set(client) { _, context, number, code, _ in
            let refusal = code < 128 ? nil : unsafe String(cString: mosquitto_reason_string(code))
            unsafe Broker.broker(context)?.post(.acknowledged(number, refusal: refusal))
        }
        unsafe mosquitto_subscribe_callback_set(client) { _, context, number, count, granted in
            let isRefused = unsafe granted.map { unsafe count < 1 || $0.pointee >= 128 } ?? true
            unsafe Broker.broker(context)?.post(.subscribed(number, isRefused: isRefused))
        }
        unsafe mosquitto_message_v5_callback_set(client) { _, context, message, properties in
            guard let message = unsafe message?.pointee, let topic = unsafe message.topic else { return }
            let bytes = unsafe UnsafeRawBufferPointer(start: message.payload, count: Int(message.payloadlen))
            var delivery = unsafe Delivery(
                String(cString: topic), Array(bytes), isRetained: message.retain)
            var text: UnsafeMutablePointer<CChar>?
            if unsafe mosquitto_property_read_string(
                properties, CInt(MQTT_PROP_RESPONSE_TOPIC.rawValue), &text, false) != nil, let read = unsafe text
            {
                delivery.responseTopic = unsafe String(cString: read)
                unsafe free(read)
            }
            var data: UnsafeMutableRawPointer?
            var count: UInt16 = 0
            if unsafe mosquitto_property_read_binary(
                properties, CInt(MQTT_PROP_CORRELATION_DATA.rawValue), &data, &count, false) != nil,
                let read = unsafe data
            {
                delivery.correlation = unsafe Array(UnsafeRawBufferPointer(start: read, count: Int(count)))
                unsafe free(read)
            }
            unsafe Broker.broker(context)?.post(.delivery(delivery))
        }
    }

    private func answered(_ code: CInt) {
        if code == 0 {
            standing.withLock { $0.isAccepted = true }
            return post(.connected)
        }
        let text =
            settings.isVersion5
            ? unsafe String(cString: mosquitto_reason_string(code))
            : unsafe String(cString: mosquitto_connack_string(code))
        standing.withLock { $0.refusal = text }
    }
}
