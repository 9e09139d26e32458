// A connection to the daemon, in lines, on SwiftNIO: bytes pass unchanged. Invariant: its owner receives every line in
// order, and the end exactly once, all from one event loop.

import GimbalClient
import NIOCore
import NIOPosix
import Synchronization
import UnixSocket

/// A connection to the daemon.
final class DaemonChannel: Sendable {
    private let channel: any Channel
    /// Bytes that the daemon has not taken yet.
    private let waiting = Atomic(0)

    /// The most bytes waiting for the daemon; if there are more, it has stopped reading.
    private static let mostWaiting = 8 << 20

    /// Connects to the daemon.
    ///
    /// - Parameters:
    ///   - receive: receives each line, without its LF; an error ends the connection.
    ///   - end: called when nothing more comes.
    init(
        _ socket: DaemonSocket, on group: any EventLoopGroup,
        receive: @escaping @Sendable (ArraySlice<UInt8>) throws -> Void,
        end: @escaping @Sendable () -> Void
    ) async throws {
        // A daemon whose accept queue is full counts as absent.
        let descriptor = try socket.connect().descriptor
        channel = try await ClientBootstrap(group: group)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(LineReceiver(receive: receive, end: end))
                }
            }
            .channelOption(.writeBufferWaterMark, value: .init(low: 64 << 10, high: 256 << 10))
            .withConnectedSocket(descriptor).get()
    }

    deinit { close() }

    /// Whether the daemon takes bytes now; if not, senders must wait.
    var isWritable: Bool { channel.isWritable }

    /// Sends bytes without waiting. The connection ends if too many are waiting already.
    func send(_ bytes: some Collection<UInt8>) {
        let buffer = ByteBuffer(bytes: bytes)
        let count = buffer.readableBytes
        guard waiting.add(count, ordering: .relaxed).newValue <= Self.mostWaiting else { return close() }
        channel.writeAndFlush(buffer).whenComplete { [self] _ in waiting.subtract(count, ordering: .relaxed) }
    }

    /// Sends bytes, and returns once the kernel has them.
    func sendAndWait(_ bytes: some Collection<UInt8>) async throws {
        try await channel.writeAndFlush(ByteBuffer(bytes: bytes)).get()
    }

    /// Ends the connection; the daemon cancels what came over it.
    func close() { channel.close(promise: nil) }

    /// Ends the connection, and returns once it is closed.
    func end() async { try? await channel.close() }
}

private final class LineReceiver: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let receive: @Sendable (ArraySlice<UInt8>) throws -> Void
    private let end: @Sendable () -> Void
    private var lines = LineBuffer()

    init(receive: @escaping @Sendable (ArraySlice<UInt8>) throws -> Void, end: @escaping @Sendable () -> Void) {
        (self.receive, self.end) = (receive, end)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var buffer = unwrapInboundIn(data)
        _ = unsafe lines.append(upTo: buffer.readableBytes) { room in
            unsafe buffer.readWithUnsafeReadableBytes { bytes in
                unsafe room.copyMemory(from: bytes)
                return bytes.count
            }
        }
        do {
            while let line = try lines.next() { try receive(line) }
        } catch {
            context.close(promise: nil)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
