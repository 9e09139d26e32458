// Who has one of the places for connections. Half a handshake or half a request takes a place as well: where they run short,
// the oldest connection that has shown no token makes way, of the address that has most of them. Invariant: at most `limit`
// connections have a place, and one that feeds or has a stream keeps it.

import NIOCore
import Synchronization

final class ConnectionPlaces: Sendable {
    private struct State {
        var kept: Set<ObjectIdentifier> = []
        /// Those that have shown no token, by address, in the order in which they came.
        var strangers: [String: [(number: Int, channel: any Channel)]] = [:]
        /// The addresses of those.
        var addresses: [ObjectIdentifier: String] = [:]
        var lastNumber = 0

        mutating func add(_ channel: any Channel) {
            let address = channel.remoteAddress?.ipAddress ?? ""
            lastNumber += 1
            strangers[address, default: []].append((lastNumber, channel))
            addresses[ObjectIdentifier(channel)] = address
        }

        /// Forgets one that has shown no token; `false` if it is none of them any more.
        mutating func remove(_ channel: any Channel) -> Bool {
            guard let address = addresses.removeValue(forKey: ObjectIdentifier(channel)) else { return false }
            strangers[address]?.removeAll { $0.channel === channel }
            if strangers[address]?.isEmpty == true { strangers[address] = nil }
            return true
        }

        /// The one that makes way next.
        var oldestOfMost: (any Channel)? {
            strangers.values.max { a, b in (a.count, b[0].number) < (b.count, a[0].number) }?.first?.channel
        }
    }

    private let limit: Int
    private let state = Mutex(State())

    init(limit: Int) { self.limit = limit }

    /// Gives a new connection a place: another one's where there is none left, which is closed.
    fileprivate func enter(_ channel: any Channel) {
        let leaving = state.withLock { state -> (any Channel)? in
            state.add(channel)
            guard state.kept.count + state.addresses.count > limit, let leaving = state.oldestOfMost else { return nil }
            return state.remove(leaving) ? leaving : nil
        }
        leaving?.eventLoop.execute {
            // Below TLS, which takes its time to say goodbye.
            let door = try? leaving?.pipeline.syncOperations.context(handlerType: Door.self)
            door?.close(promise: nil)
        }
    }

    /// Has a connection that feeds, or has a stream, keep its place.
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

    /// The part of a connection that stands next to the network: the connection has a place as long as it is open.
    final class Door: ChannelInboundHandler, RemovableChannelHandler {
        typealias InboundIn = ByteBuffer

        private let places: ConnectionPlaces

        init(_ places: ConnectionPlaces) { self.places = places }

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
