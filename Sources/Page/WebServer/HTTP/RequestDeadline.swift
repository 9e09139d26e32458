// Makes requests arrive in time and within their length: a client that sends a byte now and then, or too many, loses
// its connection. So does one whose request is answered before all of it has come: it was refused, and the rest is not
// waited for. Invariant: some deadline always runs on a connection, except while a request is answered.

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
    /// How many requests are unanswered; a client may send the next one early.
    private var unanswered = 0
    /// Bytes of the request's body that may still come.
    private var left = 0
    /// Whether the connection ends after the answer that is being written.
    private var isLastAnswer = false
    /// Whether that answer has been written; what arrives now is discarded.
    private var isOver = false

    init(_ limits: Limits) { self.limits = limits }

    func handlerAdded(context: ChannelHandlerContext) { set(limits.headTime, context) }

    func handlerRemoved(context: ChannelHandlerContext) { deadline?.cancel() }

    func channelInactive(context: ChannelHandlerContext) {
        deadline?.cancel()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isOver { return }
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
        switch unwrapOutboundIn(data) {
        case .head(var head) where head.status.kind != .informational:
            isLastAnswer = isReceiving && unanswered == 1 || head.status == .contentTooLarge
            if isLastAnswer { head.headerFields[.connection] = "close" }
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .end where isLastAnswer:
            isOver = true
            context.writeAndFlush(data, promise: promise)
            // The client reads the answer, and then the end. If both directions were closed, whatever it still sends
            // would make the kernel discard the answer.
            context.close(mode: .output, promise: nil)
            set(limits.lingerTime, context)
        case .end:
            unanswered -= 1
            context.write(data, promise: promise)
            wait(context)
        case .head, .body: context.write(data, promise: promise)
        }
    }

    /// Waits for the next request; there is no deadline while one is being answered.
    private func wait(_ context: ChannelHandlerContext) {
        if isReceiving { return }
        if unanswered > 0 { deadline?.cancel() } else { set(limits.idleTime, context) }
    }

    private func set(_ time: TimeAmount, _ context: ChannelHandlerContext) {
        deadline?.cancel()
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: time) { context.close(promise: nil) }
    }
}
