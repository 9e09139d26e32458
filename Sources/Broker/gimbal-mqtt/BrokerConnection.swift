// A connection accepted by the broker, in the program's loop: libmosquitto's client reads and writes when its socket is
// ready, and writes published messages at once. Messages reach their node or mirror without another thread. Invariants:
// the client belongs to this object; once libmosquitto has closed the socket, nothing waits for it.

import CMosquitto
import Glibc
import Libevent
import MQTTBridge

@safe final class BrokerConnection: Watcher {
    /// The most read calls in one turn, each for one or more messages: the daemon gets its turn, too.
    private static let readsPerTurn = 64
    /// The bytes of payloads after which there are no more read calls in a turn.
    private static let bytesPerTurn = 1 << 20
    /// How often libmosquitto checks the keepalive, in milliseconds.
    private static let interval = 1000.0

    let address: BrokerAddress
    private let client: OpaquePointer
    private let isVersion5: Bool
    private var news: [BrokerNews] = []
    /// Bytes of payloads read in this turn.
    private var bytesRead = 0
    private var isWriting = false
    /// When libmosquitto is to check the keepalive.
    private(set) var deadline: Double
    /// Whether there may be unread data; no event announces what TLS has already taken from the socket.
    private var hasMore = true
    /// The number of the last message that never left this side; counts down.
    private var lastUnsent: CInt = 0
    /// Why the connection has ended.
    private(set) var failure: String?

    /// - Parameter client: a connected client, owned by this object from now on.
    init(_ loop: EventLoop, _ client: OpaquePointer, _ address: BrokerAddress, isVersion5: Bool, at now: Double) throws
    {
        unsafe self.client = client
        (self.address, self.isVersion5) = (address, isVersion5)
        deadline = now + Self.interval
        super.init(loop, unsafe mosquitto_socket(client))
        try wait(for: [.read, .persist])
        // Sound: the client is destroyed with this object.
        unsafe mosquitto_user_data_set(client, Unmanaged.passUnretained(self).toOpaque())
        setCallbacks()
    }

    deinit {
        stop()
        unsafe mosquitto_destroy(client)
    }

    func takeNews() -> [BrokerNews] {
        defer { news.removeAll(keepingCapacity: true) }
        return news
    }

    // MARK: The loop

    override func ready(_ what: Readiness) {
        if what.contains(.write) { check(unsafe mosquitto_loop_write(client, 1)) }
        if what.contains(.read) { read() }
    }

    /// Reads what has come, within the limits of a turn.
    private func read() {
        (hasMore, bytesRead) = (false, 0)
        for _ in 0..<Self.readsPerTurn where failure == nil && bytesRead < Self.bytesPerTurn {
            let before = news.count
            check(unsafe mosquitto_loop_read(client, 1))
            if news.count == before { return }
        }
        hasMore = failure == nil
    }

    private func check(_ result: CInt) {
        guard failure == nil else { return }
        if result != MOSQ_ERR_SUCCESS.rawValue {
            fail(ConnectionAttempt.text(result))
        } else if unsafe mosquitto_socket(client) < 0 {
            fail("the broker ended the connection")
        }
    }

    private func fail(_ reason: String) {
        guard failure == nil else { return }
        stop()
        (failure, hasMore) = (reason, false)
    }

    func advance(to now: Double) {
        if hasMore { read() }
        if deadline <= now, failure == nil {
            deadline = now + Self.interval
            check(unsafe mosquitto_loop_misc(client))
        }
    }

    /// Updates what the loop waits for at the socket. Call it before the loop waits.
    ///
    /// - Returns: whether there is nothing to do before the socket is ready.
    func mayWait() -> Bool {
        if failure == nil, isWriting == hasRoom {
            isWriting.toggle()
            do {
                try wait(for: isWriting ? [.read, .write, .persist] : [.read, .persist])
            } catch {
                fail("\(error)")
            }
        }
        return failure == nil && !hasMore && news.isEmpty
    }

    // MARK: Messages

    /// Whether all that was sent has left the client.
    var hasRoom: Bool { unsafe !mosquitto_want_write(client) }

    /// Sends a message.
    ///
    /// - Returns: the number of its acknowledgement; `nil` if the connection has ended.
    func publish(_ publication: Publication) -> CInt? {
        var properties: OpaquePointer?
        defer { unsafe mosquitto_property_free_all(&properties) }
        if let correlation = publication.correlation, isVersion5 {
            _ = unsafe correlation.withUnsafeBytes {
                unsafe mosquitto_property_add_binary(
                    &properties, CInt(MQTT_PROP_CORRELATION_DATA.rawValue), $0.baseAddress, UInt16($0.count))
            }
        }
        var number: CInt = 0
        let result = unsafe publication.payload.withUnsafeBytes {
            unsafe mosquitto_publish_v5(
                client, &number, publication.topic, CInt($0.count), $0.baseAddress,
                publication.qos.rawValue, publication.isRetained, properties)
        }
        if result == MOSQ_ERR_SUCCESS.rawValue { return number }
        guard Self.refusals.contains(result) else {
            // The connection has ended; unacknowledged messages go out over the next one.
            fail(ConnectionAttempt.text(result))
            return nil
        }
        // Reported like a refusal by the broker.
        lastUnsent -= 1
        news.append(.acknowledged(lastUnsent, refusal: ConnectionAttempt.text(result)))
        return lastUnsent
    }

    /// Errors of a message, not of the connection: it is larger than the broker's packets may be, or uses something
    /// that the broker does not support.
    private static let refusals = [
        MOSQ_ERR_INVAL, MOSQ_ERR_NOT_SUPPORTED, MOSQ_ERR_PAYLOAD_SIZE, MOSQ_ERR_OVERSIZE_PACKET,
        MOSQ_ERR_MALFORMED_UTF8, MOSQ_ERR_QOS_NOT_SUPPORTED, MOSQ_ERR_RETAIN_NOT_SUPPORTED, MOSQ_ERR_DUPLICATE_PROPERTY,
    ].map(\.rawValue)

    /// Subscribes with QoS 0: sessions are clean, so a broken connection would lose as much with QoS 1, and a cluster
    /// would have to store messages before it passes them on.
    func subscribe(_ filter: String) -> CInt? {
        var number: CInt = 0
        return unsafe mosquitto_subscribe(client, &number, filter, 0) == 0 ? number : nil
    }

    func unsubscribe(_ filter: String) { _ = unsafe mosquitto_unsubscribe(client, nil, filter) }

    /// Disconnects, and waits briefly until that has left the client.
    func disconnect() {
        guard failure == nil else { return }
        stop()
        _ = unsafe mosquitto_disconnect(client)
        let socket = unsafe mosquitto_socket(client)
        guard socket >= 0 else { return }
        var ready = pollfd(fd: socket, events: CShort(POLLOUT), revents: 0)
        if unsafe poll(&ready, 1, 500) > 0 { _ = unsafe mosquitto_loop_write(client, 1) }
    }

    // MARK: Callbacks of libmosquitto

    private static func connection(_ context: UnsafeMutableRawPointer?) -> BrokerConnection? {
        unsafe context.map { unsafe Unmanaged<BrokerConnection>.fromOpaque($0).takeUnretainedValue() }
    }

    private func setCallbacks() {
        unsafe mosquitto_publish_v5_callback_set(client) { _, context, number, code, _ in
            let refusal = code < 128 ? nil : unsafe String(cString: mosquitto_reason_string(code))
            unsafe BrokerConnection.connection(context)?.news.append(.acknowledged(number, refusal: refusal))
        }
        unsafe mosquitto_subscribe_callback_set(client) { _, context, number, count, granted in
            let isRefused = unsafe granted.map { unsafe count < 1 || $0.pointee >= 128 } ?? true
            unsafe BrokerConnection.connection(context)?.news.append(.subscribed(number, isRefused: isRefused))
        }
        unsafe mosquitto_message_v5_callback_set(client) { _, context, message, properties in
            guard let message = unsafe message?.pointee, let topic = unsafe message.topic else { return }
            let bytes = unsafe UnsafeRawBufferPointer(start: message.payload, count: Int(message.payloadlen))
            var delivery = unsafe Publication(String(cString: topic), Array(bytes), isRetained: message.retain)
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
            let connection = unsafe BrokerConnection.connection(context)
            connection?.bytesRead += bytes.count
            connection?.news.append(.delivery(delivery))
        }
    }
}
