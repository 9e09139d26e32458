// Assigns the limited places for connections. Half a handshake or half a request takes a place, too. When places run
// out, the oldest that neither streams nor feeds gives way, from the address that has most of those. Invariant: at most
// `limit` connections have a place, and one that has a stream or feeds keeps it.

import NIOCore
import Synchronization

final class ConnectionPlaces: Sendable {
    private struct State {
        var kept: Set<ObjectIdentifier> = []
        /// Connections without a token, by address, in order of arrival.
        var strangers: [String: [(number: Int, channel: any Channel)]] = [:]
        /// Their addresses.
        var addresses: [ObjectIdentifier: String] = [:]
        var lastNumber = 0

        mutating func add(_ channel: any Channel) {
            let address = channel.remoteAddress?.ipAddress ?? ""
            lastNumber += 1
            strangers[address, default: []].append((lastNumber, channel))
            addresses[ObjectIdentifier(channel)] = address
        }

        /// Forgets a connection without a token; `false` if it is not one any more.
        mutating func remove(_ channel: any Channel) -> Bool {
            guard let address = addresses.removeValue(forKey: ObjectIdentifier(channel)) else { return false }
            strangers[address]?.removeAll { $0.channel === channel }
            if strangers[address]?.isEmpty == true { strangers[address] = nil }
            return true
        }

        /// The next connection to give way.
        var oldestOfMost: (any Channel)? {
            strangers.values.max { a, b in (a.count, b[0].number) < (b.count, a[0].number) }?.first?.channel
        }
    }

    private let limit: Int
    private let state = Mutex(State())

    init(limit: Int) { self.limit = limit }

    /// Gives a new connection a place. If none is left, another connection gives way, and is closed.
    fileprivate func enter(_ channel: any Channel) {
        let leaving = state.withLock { state -> (any Channel)? in
            state.add(channel)
            guard state.kept.count + state.addresses.count > limit, let leaving = state.oldestOfMost else { return nil }
            return state.remove(leaving) ? leaving : nil
        }
        if let leaving { Door.close(leaving) }
    }

    /// Lets a connection that streams or feeds keep its place.
    func keep(_ channel: any Channel) {
        state.withLock { state in
            if state.remove(channel) { state.kept.insert(ObjectIdentifier(channel)) }
        }
    }

    fileprivate func leave(_ channel: any Channel) {
        state.withLock { state in
            if state.kept.remove(ObjectIdentifier(channel)) == nil { _ = state.remove(channel) }
        }
    }

    /// The handler next to the network: a connection has a place as long as it is open.
    final class Door: ChannelInboundHandler, RemovableChannelHandler {
        typealias InboundIn = ByteBuffer

        private let places: ConnectionPlaces

        init(_ places: ConnectionPlaces) { self.places = places }

        /// Closes a connection below TLS, whose closing takes time.
        static func close(_ channel: any Channel) {
            channel.eventLoop.execute {
                let door = try? channel.pipeline.syncOperations.context(handlerType: Door.self)
                door?.close(promise: nil)
            }
        }

        func channelActive(context: ChannelHandlerContext) {
            places.enter(context.channel)
            context.fireChannelActive()
        }

        func channelInactive(context: ChannelHandlerContext) {
            places.leave(context.channel)
            context.fireChannelInactive()
        }
    }
}
