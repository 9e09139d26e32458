// `clients` (schema: client.clients, server.clients): the connected clients, in pages.

/// A client of the daemon.
public struct Client: Equatable, Sendable {
    /// The permissions of a client.
    public enum Role: String, CaseIterable, Sendable, ProtocolWord {
        /// May feed and command cameras, watch and query.
        case everything
        /// May watch and query.
        case watchOnly = "watch-only"
    }

    /// A subscription of a client.
    public struct Following: Equatable, Sendable {
        /// The camera's name.
        public package(set) var camera: String
        /// The events that are sent.
        public package(set) var delivery: EventDelivery
        /// The number of events not sent yet.
        public package(set) var behind: Int

        package init(camera: String, delivery: EventDelivery, behind: Int) {
            (self.camera, self.delivery, self.behind) = (camera, delivery, behind)
        }
    }

    /// The connection's number, counted from 1.
    public package(set) var number: Int
    /// Whether it is the connection that sent the request.
    public package(set) var isSelf = false
    /// The id of the user when it connected; `nil` if that is not disclosed.
    public package(set) var user: Int?
    /// The id of the process when it connected; `nil` if that is not disclosed.
    public package(set) var process: Int?
    /// The client's permissions.
    public package(set) var role = Role.everything
    /// The client's description of itself.
    public package(set) var about: String?
    /// The camera that the client plays a trace into.
    public package(set) var replay: String?
    /// Whether it has subscribed to all cameras.
    public package(set) var followsAll = false
    /// The number of its subscriptions.
    public package(set) var subscriptionCount = 0
    /// The first 16 subscriptions.
    public package(set) var subscriptions: [Following] = []
    /// The number of its requests that wait for a camera to rest.
    public package(set) var waits = 0
    /// Bytes of answers not sent yet.
    public package(set) var unreadBytes = 0

    package init(number: Int) { self.number = number }
}

/// Some of the daemon's clients, sorted by number.
public struct ClientPage: Equatable, Sendable {
    /// The clients, at most 64.
    public package(set) var clients: [Client]
    /// Whether there are clients with higher numbers.
    public package(set) var hasMore: Bool

    package init(clients: [Client], hasMore: Bool) { (self.clients, self.hasMore) = (clients, hasMore) }
}

extension ClientPage: Described {
    package static let blank = ClientPage(clients: [], hasMore: false)

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try visitor.list(.clients, &clients)
        try visitor.member(.more, &hasMore, .flag, unless: false)
    }
}

extension Client: Described {
    package static let blank = Client(number: 0)

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try visitor.member(.number, &number, .count)
        try visitor.member(.isSelf, &isSelf, .flag, unless: false)
        try visitor.member(.user, &user, .count)
        try visitor.member(.process, &process, .count)
        try visitor.member(.role, &role, WordRule())
        try visitor.member(.about, &about, .text())
        try visitor.member(.replay, &replay, .cameraName)
        try visitor.member(.all, &followsAll, .flag, unless: false)
        try visitor.member(.subscriptionCount, &subscriptionCount, .count)
        try visitor.list(.subscriptions, &subscriptions)
        try visitor.member(.waits, &waits, .count)
        try visitor.member(.unreadBytes, &unreadBytes, .count)
    }
}

extension Client.Following: Described {
    package static let blank = Client.Following(camera: "", delivery: .every, behind: 0)

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try visitor.member(.camera, &camera, .cameraName)
        try visitor.member(.delivery, &delivery, WordRule())
        try visitor.member(.behind, &behind, .count)
    }
}
