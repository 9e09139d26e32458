// A request has to arrive in time, and within its length. Who sends a byte now and then, or more than was asked for, is no
// reason to keep a connection. Invariant: at every moment of a connection some deadline runs, but while it is answered.

import NIOCore
import NIOHTTPTypes

final class RequestDeadline: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let limits: Limits
    private var deadline: Scheduled<Void>?
    /// Bytes of the request's body that may still come.
    private var left = 0
    private var isRead = true

    init(_ limits: Limits) { self.limits = limits }

    func handlerAdded(context: ChannelHandlerContext) { set(limits.headTime, context) }

    func handlerRemoved(context: ChannelHandlerContext) { deadline?.cancel() }

    func channelInactive(context: ChannelHandlerContext) {
        deadline?.cancel()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            left = limits.recordingBytes + limits.lineBytes
            isRead = false
            set(limits.requestTime, context)
        case .body(let bytes):
            left -= bytes.readableBytes
            if left < 0 { return context.close(promise: nil) }
        case .end:
            isRead = true
            deadline?.cancel()
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        // What is left of a request that was refused still has its deadline.
        if case .end = unwrapOutboundIn(data), isRead { set(limits.idleTime, context) }
        context.write(data, promise: promise)
    }

    private func set(_ time: TimeAmount, _ context: ChannelHandlerContext) {
        deadline?.cancel()
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: time) { context.close(promise: nil) }
    }
}
