// One attempt to connect, on its own thread, since name lookup, connecting and key exchange are blocking calls.
// (libmosquitto can connect without blocking, but TLS then does not always start in another library's loop.)
// Invariant: the client belongs to the thread until the outcome is there, then to the caller that takes the outcome; if
// no caller waits for it any more, the thread frees it.

import CMosquitto
import Dispatch
import Glibc
import MQTTBridge
import Synchronization

final class ConnectionAttempt: Sendable {
    @safe enum Outcome {
        /// The broker has accepted this client, which now belongs to the caller.
        case accepted(OpaquePointer)
        case refused(String)
    }

    /// What the callback has seen, and the outcome. The client is stored as its address.
    private enum State: Sendable {
        case waiting
        case answered(refusal: String?)
        case accepted(UInt)
        case refused(String)
        case taken
        case abandoned
    }

    /// The largest packet that the broker may send (MQTT 5), in bytes: a `$state` with the most cameras of a daemon.
    private static let largestPacket: UInt32 = 8 << 20

    let address: BrokerAddress
    private let settings: Broker.Settings
    /// A descriptor that gets a byte when the outcome is there.
    private let pipe: CInt
    private let state = Mutex(State.waiting)

    init(_ settings: Broker.Settings, _ address: BrokerAddress, _ pipe: CInt) {
        (self.settings, self.address, self.pipe) = (settings, address, pipe)
    }

    func begin() {
        DispatchQueue(label: "broker").async {
            let end = self.run()
            let isAbandoned = self.state.withLock { state in
                if case .abandoned = state { return true }
                state = end
                return false
            }
            guard !isAbandoned else { return Self.free(end) }
            var one: UInt8 = 1
            _ = unsafe write(self.pipe, &one, 1)
        }
    }

    /// Returns the outcome once it is known, and only once.
    func takeOutcome() -> Outcome? {
        state.withLock { state in
            switch state {
            case .waiting, .answered, .taken, .abandoned: return nil
            case .refused(let reason):
                state = .taken
                return .refused(reason)
            case .accepted(let address):
                state = .taken
                return unsafe OpaquePointer(bitPattern: address).map { unsafe .accepted($0) }
            }
        }
    }

    /// Stops waiting for the outcome: the kernel tries for minutes to reach a machine that is off.
    func abandon() {
        let end = state.withLock { state in
            defer { state = .abandoned }
            return state
        }
        Self.free(end)
    }

    /// Frees the client of an outcome that is not wanted.
    private static func free(_ end: State) {
        guard case .accepted(let address) = end, let client = unsafe OpaquePointer(bitPattern: address) else { return }
        _ = unsafe mosquitto_disconnect(client)
        unsafe mosquitto_destroy(client)
    }

    // MARK: The thread

    private func run() -> State {
        // Sound: this object outlives its thread, which removes it from the client when done.
        let this = unsafe Unmanaged.passUnretained(self).toOpaque()
        guard let client = unsafe mosquitto_new(settings.clientID, true, this) else { return .refused("no memory") }
        do throws(Refusal) {
            try unsafe connect(client)
        } catch {
            unsafe mosquitto_destroy(client)
            return .refused(error.reason)
        }
        unsafe mosquitto_connect_v5_callback_set(client, nil)
        unsafe mosquitto_user_data_set(client, nil)
        return .accepted(UInt(bitPattern: client))
    }

    private struct Refusal: Error {
        let reason: String
    }

    private func connect(_ client: OpaquePointer) throws(Refusal) {
        try unsafe configure(client)
        unsafe mosquitto_connect_v5_callback_set(client) { _, context, code, _, _ in
            guard let context = unsafe context else { return }
            unsafe Unmanaged<ConnectionAttempt>.fromOpaque(context).takeUnretainedValue().answered(code)
        }
        var properties: OpaquePointer?
        defer { unsafe mosquitto_property_free_all(&properties) }
        if settings.isVersion5 {
            _ = unsafe mosquitto_property_add_int32(
                &properties, CInt(MQTT_PROP_MAXIMUM_PACKET_SIZE.rawValue), Self.largestPacket)
        }
        errno = 0
        var result = unsafe mosquitto_connect_bind_v5(
            client, address.host, CInt(address.port), settings.keepalive, nil, properties)
        while result == MOSQ_ERR_SUCCESS.rawValue {
            switch state.withLock({ $0 }) {
            case .answered(nil): return
            case .answered(let refusal?): throw Refusal(reason: refusal)
            case .abandoned:
                // Properly, so that the broker publishes no will.
                _ = unsafe mosquitto_disconnect(client)
                throw Refusal(reason: "the attempt was given up")
            case .waiting, .accepted, .refused, .taken: break
            }
            result = unsafe mosquitto_loop(client, 1000, 1)
        }
        // Some brokers send why they refuse, and end the connection at once.
        if case .answered(let refusal?) = state.withLock({ $0 }) { throw Refusal(reason: refusal) }
        throw Refusal(reason: Self.text(result))
    }

    private func answered(_ code: CInt) {
        let text =
            settings.isVersion5
            ? unsafe String(cString: mosquitto_reason_string(code))
            : unsafe String(cString: mosquitto_connack_string(code))
        state.withLock { state in
            if case .waiting = state { state = .answered(refusal: code == 0 ? nil : text) }
        }
    }

    private func configure(_ client: OpaquePointer) throws(Refusal) {
        let version = settings.isVersion5 ? MQTT_PROTOCOL_V5 : MQTT_PROTOCOL_V311
        try Self.check(unsafe mosquitto_int_option(client, MOSQ_OPT_PROTOCOL_VERSION, CInt(version)))
        _ = unsafe mosquitto_int_option(client, MOSQ_OPT_TCP_NODELAY, 1)
        // This side limits unacknowledged messages itself; none waits in the client.
        _ = unsafe mosquitto_max_inflight_messages_set(client, UInt32(BrokerOutbox.mostMessages))
        if let user = settings.credentials.user {
            try Self.check(unsafe mosquitto_username_pw_set(client, user, settings.credentials.password))
        }
        if let will = settings.will {
            try Self.check(
                unsafe will.payload.withUnsafeBytes {
                    unsafe mosquitto_will_set(
                        client, will.topic, CInt($0.count), $0.baseAddress, will.qos.rawValue, will.isRetained
                    )
                })
        }
        guard address.isEncrypted else { return }
        let (authority, own, key) = (
            settings.certificates.authority, settings.certificates.own, settings.certificates.key
        )
        if authority == nil {
            try Self.check(unsafe mosquitto_int_option(client, MOSQ_OPT_TLS_USE_OS_CERTS, 1), "TLS: ")
        }
        let folder = authority == nil ? "/etc/ssl/certs" : nil
        try Self.check(unsafe mosquitto_tls_set(client, authority, folder, own, key, nil), "TLS: ")
    }

    private static func check(_ result: CInt, _ about: String = "") throws(Refusal) {
        guard result == MOSQ_ERR_SUCCESS.rawValue else { throw Refusal(reason: about + text(result)) }
    }

    /// Returns the text for a result of libmosquitto, or for `errno`.
    static func text(_ result: CInt) -> String {
        if result == MOSQ_ERR_ERRNO.rawValue { return unsafe String(cString: strerror(errno)) }
        if result == MOSQ_ERR_KEEPALIVE.rawValue { return "keep-alive timeout" }
        return unsafe String(cString: mosquitto_strerror(result))
    }
}
