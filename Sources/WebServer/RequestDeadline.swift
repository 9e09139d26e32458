// A request has to arrive in time, and within its length. Who sends a byte now and then, or more than was asked for, is no
// reason to keep a connection. Invariant: at every moment of a connection some deadline runs, but while it is answered.

import NIOCore
import NIOHTTPTypes

final class RequestDeadline: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// Where a connection is between its requests and their answers.
    private enum Phase {
        /// Nothing has come of the next request.
        case idle
        /// The request's body comes; one that was refused may be answered already.
        case receiving(isAnswered: Bool)
        /// All of the request is there, and not all of the answer is sent.
        case answering
    }

    private let limits: Limits
    private var deadline: Scheduled<Void>?
    private var phase = Phase.idle
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
            phase = .receiving(isAnswered: false)
            set(limits.requestTime, context)
        case .body(let bytes):
            left -= bytes.readableBytes
            if left < 0 { return context.close(promise: nil) }
        case .end:
            if case .receiving(isAnswered: true) = phase {
                wait(context)
            } else {
                phase = .answering
                deadline?.cancel()
            }
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) {
            switch phase {
            // What is left of a request that was refused still has its deadline.
            case .receiving: phase = .receiving(isAnswered: true)
            case .answering, .idle: wait(context)
            }
        }
        context.write(data, promise: promise)
    }

    /// Waits for the next request.
    private func wait(_ context: ChannelHandlerContext) {
        phase = .idle
        set(limits.idleTime, context)
    }

    private func set(_ time: TimeAmount, _ context: ChannelHandlerContext) {
        deadline?.cancel()
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: time) { context.close(promise: nil) }
    }
}
