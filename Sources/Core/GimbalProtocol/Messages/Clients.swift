// `clients` (schema: client.clients, server.clients): who is connected, in pages.

import JSONLines

/// A client of the daemon.
public struct Client: Equatable, Sendable {
    /// What a client may do.
    public enum Role: String, Sendable {
        /// Feeds and commands cameras, watches and asks.
        case everything
        /// Watches and asks.
        case watchOnly = "watch-only"
    }

    /// A subscription of a client.
    public struct Following: Equatable, Sendable {
        /// The camera's name.
        public let camera: String
        /// Which events are sent.
        public let delivery: EventDelivery
        /// Events that have not been sent yet.
        public let behind: Int

        package init(camera: String, delivery: EventDelivery, behind: Int) {
            (self.camera, self.delivery, self.behind) = (camera, delivery, behind)
        }
    }

    /// Counts connections from 1.
    public package(set) var number: Int
    /// Whether it is the connection that asks.
    public package(set) var isSelf = false
    /// The number of its user as it connected; `nil` where that is not told.
    public package(set) var user: Int?
    /// The number of its process as it connected; `nil` where that is not told.
    public package(set) var process: Int?
    /// What it may do.
    public package(set) var role = Role.everything
    /// What it tells others of itself.
    public package(set) var about: String?
    /// The camera that it plays a trace into.
    public package(set) var replay: String?
    /// Whether it has subscribed to all cameras.
    public package(set) var followsAll = false
    /// How many subscriptions it has.
    public package(set) var subscriptionCount = 0
    /// The first 16 of them.
    public package(set) var subscriptions: [Following] = []
    /// How many of its requests wait for a camera's rest.
    public package(set) var waits = 0
    /// Bytes of answers that it has not been sent yet.
    public package(set) var unreadBytes = 0

    package init(number: Int) { self.number = number }
}

/// Some of the clients of the daemon, sorted by their numbers.
public struct ClientPage: Equatable, Sendable {
    /// At most 64.
    public let clients: [Client]
    /// Whether there are clients with greater numbers.
    public let hasMore: Bool
}

// MARK: Out

extension LineWriter {
    /// Writes one page of clients.
    ///
    /// - Parameter hasMore: whether clients with greater numbers are left out.
    package mutating func clients(_ clients: [Client], hasMore: Bool, _ id: Span<UInt8>) {
        open(.clients, id)
        write(",\"clients\":[")
        for (index, client) in clients.enumerated() {
            if index > 0 { write(",") }
            self.client(client)
        }
        write("]")
        if hasMore { write(",\"more\":true") }
        close()
    }

    private mutating func client(_ client: Client) {
        write("{\"number\":")
        write(UInt64(client.number))
        if client.isSelf { write(",\"self\":true") }
        if let user = client.user { member("user", UInt64(user)) }
        if let process = client.process { member("process", UInt64(process)) }
        member("role", client.role.rawValue)
        if let about = client.about { member("about", about) }
        if let camera = client.replay { member("replay", camera) }
        if client.followsAll { write(",\"all\":true") }
        member("subscriptionCount", UInt64(client.subscriptionCount))
        write(",\"subscriptions\":[")
        for (index, subscription) in client.subscriptions.enumerated() {
            write(index > 0 ? ",{\"camera\":" : "{\"camera\":")
            write(string: subscription.camera)
            member("delivery", subscription.delivery.rawValue)
            member("behind", UInt64(subscription.behind))
            write("}")
        }
        write("]")
        member("waits", UInt64(client.waits))
        member("unreadBytes", UInt64(client.unreadBytes))
        write("}")
    }
}

// MARK: In

extension RequestDecoder {
    /// The number after which the requested clients begin.
    func clients(_ object: Int, _ line: Span<UInt8>) throws(WireError) -> Int {
        guard let node = child(object, .after) else { return 0 }
        guard let number = integer(node, line), number >= 0 else {
            throw .wrong(FieldPath(.after), "must be a client's number: an integer from 0")
        }
        return Int(number)
    }
}

extension Client.Role: MessageReadable {}

extension Client.Following: MessageReadable {
    init(_ json: JSONValue) throws(DecodingError) {
        let members = try json.members()
        camera = try members.get("camera")
        delivery = try members.get("delivery")
        behind = try members.get("behind")
    }
}

extension Client: MessageReadable {
    init(_ json: JSONValue) throws(DecodingError) {
        let members = try json.members()
        number = try members.get("number")
        isSelf = try members.get(ifPresent: "self") ?? false
        user = try members.get(ifPresent: "user")
        process = try members.get(ifPresent: "process")
        role = try members.get("role")
        about = try members.get(ifPresent: "about")
        replay = try members.get(ifPresent: "replay")
        followsAll = try members.get(ifPresent: "all") ?? false
        subscriptionCount = try members.get("subscriptionCount")
        subscriptions = try members.get("subscriptions")
        waits = try members.get("waits")
        unreadBytes = try members.get("unreadBytes")
    }
}

extension ClientPage: MessageReadable {
    init(_ json: JSONValue) throws(DecodingError) {
        let members = try json.members()
        clients = try members.get("clients")
        hasMore = try members.get(ifPresent: "more") ?? false
    }
}
