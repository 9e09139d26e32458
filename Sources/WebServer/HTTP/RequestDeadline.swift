// A request has to arrive in time, and within its length: a client that sends a byte now and then, or too many, loses
// its connection. Invariant: some deadline always runs on a connection, except while a request is answered.

import NIOCore
import NIOHTTPTypes

final class RequestDeadline: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let limits: Limits
    private var deadline: Scheduled<Void>?
    /// Whether the body of a request is still to come.
    private var isReceiving = false
    /// How many requests have no answer yet: a client may send the next one before.
    private var unanswered = 0
    /// Bytes of the request's body that may still come.
    private var left = 0

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
            unanswered += 1
            isReceiving = true
            set(limits.requestTime, context)
        case .body(let bytes):
            left -= bytes.readableBytes
            if left < 0 { return context.close(promise: nil) }
        case .end:
            isReceiving = false
            wait(context)
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) {
            unanswered -= 1
            wait(context)
        }
        context.write(data, promise: promise)
    }

    /// Waits for the next request, or for nothing while there is something to answer. What is left of a request that was
    /// refused still has its deadline.
    private func wait(_ context: ChannelHandlerContext) {
        if isReceiving { return }
        if unanswered > 0 { deadline?.cancel() } else { set(limits.idleTime, context) }
    }

    private func set(_ time: TimeAmount, _ context: ChannelHandlerContext) {
        deadline?.cancel()
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: time) { context.close(promise: nil) }
    }
}
