// Answers requests. Every browser that knows the server's name gets the page's files, as the link's fragment never gets
// here. All else needs a token, and changes must also come from a page of this server or of an allowed origin.

import class GimbalClient.Gimbal
import struct GimbalProtocol.OpenMetrics
import HTTPTypes
import HummingbirdCore
import NIOCore
import UnixSocket

struct Responder: Sendable {
    let access: Access
    let limits: Limits
    let pages: Pages
    let places: ConnectionPlaces
    let conversions: Conversions
    let follower: Follower
    let socket: DaemonSocket
    let group: any EventLoopGroup
    /// The links for pages.
    let links: Links
    /// What pages draw a map with, if configured.
    let map: StyledMap?
    /// The daemon whose metrics are served, if they are.
    let metered: Gimbal?

    /// The shortest time between two pieces of a stream.
    private static let frame = Duration.milliseconds(1000) / 60

    /// The bytes of a file that are written at a time.
    private static let piece = 64 << 10

    /// Returns the policy for pages: they load nothing from elsewhere, send nothing elsewhere, and are in no frame. A
    /// map style is the smallest possible exception: the page may ask its origins, and its worker is a blob.
    package static func policy(_ map: StyledMap?) -> String {
        let origins = map.map { $0.origins.map { " " + $0.text }.joined() } ?? ""
        return "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'\(origins); "
            + "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
            + "require-trusted-types-for 'script'; "
            + (map == nil ? "trusted-types 'none'" : "trusted-types default; worker-src blob:")
    }

    /// The header fields of every answer.
    private static let fields: HTTPFields = [
        .xContentTypeOptions: "nosniff",
        .referrerPolicy: "no-referrer",
        .openerPolicy: "same-origin",
        .resourcePolicy: "same-origin",
        .permissionsPolicy: "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
        .cacheControl: "no-store",
    ]

    /// Returns the header fields of an answer, which a guest's page may read.
    private func fields(for request: Request) -> HTTPFields {
        var fields = Self.fields
        fields[.contentSecurityPolicy] = Self.policy(map)
        guard !access.guests.isEmpty else { return fields }
        fields[.vary] = "Origin"
        guard let guest = access.guest(request.head) else { return fields }
        fields[.accessControlAllowOrigin] = guest.text
        fields[.accessControlExposeHeaders] = "Retry-After"
        return fields
    }

    func respond(_ request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel) async throws {
        let answer: Answer
        var fields = Self.fields
        do throws(HTTPRefusal) {
            try access.checkHost(request.head)
            fields = self.fields(for: request)
            answer = try await self.answer(to: request, over: channel)
        } catch {
            answer = .refusal(error)
        }
        // A client that reads nothing may still ask for more.
        let deadline = limit(limits.requestTime, channel)
        switch answer {
        case .file(let file):
            fields[.contentType] = file.type
            fields[.contentLength] = "\(file.bytes.readableBytes)"
            var body = try await writer.writeHead(HTTPResponse(status: .ok, headerFields: fields))
            deadline.cancel()
            // In pieces: a client that asks for a file and does not read it costs two of them, and has a deadline.
            var left = request.method == .head ? ByteBuffer() : file.bytes
            while let piece = left.readSlice(length: min(Self.piece, left.readableBytes)), piece.readableBytes > 0 {
                try await send(piece, to: &body, within: limits.requestTime, channel)
                // Only the event loop knows whether there was room; the next write waits for it.
                try await channel.eventLoop.submit {}.get()
            }
            let deadline = limit(limits.requestTime, channel)
            try await body.finish(nil)
            deadline.cancel()
        case .taken:
            try await writer.writeResponse(HTTPResponse(status: .noContent, headerFields: fields))
        case .mayAsk:
            fields[.accessControlAllowMethods] = "GET, POST"
            fields[.accessControlAllowHeaders] = "Authorization, Content-Type, Gimbal-Page"
            fields[.accessControlMaxAge] = "600"
            try await writer.writeResponse(HTTPResponse(status: .noContent, headerFields: fields))
        case .refusal(let refusal):
            let body = ByteBuffer(string: refusal.message + "\n")
            fields[.contentType] = "text/plain; charset=utf-8"
            fields[.contentLength] = "\(body.readableBytes)"
            if refusal.status == .unauthorized { fields[.wwwAuthenticate] = "Bearer" }
            if refusal.status == .methodNotAllowed { fields[.allow] = "GET, HEAD, POST" }
            if let retryAfter = refusal.retryAfter { fields[.retryAfter] = "\(retryAfter)" }
            try await writer.write(
                response: HTTPResponse(status: refusal.status, headerFields: fields),
                body: request.method == .head ? ResponseBody() : ResponseBody(byteBuffer: body))
        case .stream(let page):
            deadline.cancel()
            defer {
                follower.remove(page.outbox)
                pages.remove(page)
            }
            try await stream(page, fields, writer, channel)
        }
        deadline.cancel()
    }

    private enum Answer {
        case file(PageFile)
        case stream(Page)
        /// The content was accepted.
        case taken
        /// A guest's page may send the request that its browser asks about.
        case mayAsk
        case refusal(HTTPRefusal)
    }

    private func answer(to request: Request, over channel: any Channel) async throws(HTTPRefusal) -> Answer {
        let path = request.uri.path
        switch (request.method, path) {
        case (.get, "/stream"):
            try access.checkReader(request.head)
            let page = Page(try access.role(of: request.head), socket, on: group, limits)
            try pages.add(page)
            places.keep(channel)
            return .stream(page)
        case (.post, "/lines"):
            let page = try feeder(request, over: channel)
            try await page.send(try await body(of: request, atMost: limits.lineBytes))
            return .taken
        case (.post, "/recording"):
            let page = try feeder(request, over: channel)
            let camera = request.uri.queryParameters["camera"].map(String.init) ?? "main"
            let lease = try lease(of: request)
            try pages.beginRecording(of: page)
            defer { pages.endSending(of: page) }
            do throws(HTTPRefusal) {
                let bytes = try await body(of: request, atMost: limits.recordingBytes)
                let trace = try await conversions.trace(of: bytes, camera: camera, for: page)
                let connection = try await page.openRecording()
                Task {
                    await page.play(trace, by: lease, of: camera, over: connection)
                    pages.endRecording()
                }
            } catch {
                pages.endRecording()
                throw error
            }
            return .taken
        case (.get, "/metrics"), (.head, "/metrics"):
            guard let metered else { fallthrough }
            try access.checkReader(request.head)
            try access.checkMetrics(request.head)
            do {
                let text = try await metered.metrics().text
                return .file(PageFile(type: OpenMetrics.contentType, bytes: ByteBuffer(string: text)))
            } catch {
                throw HTTPRefusal(.serviceUnavailable, "\(error)")
            }
        case (.get, _), (.head, _):
            guard let file = path == "/map-engine.js" ? map?.engine : PageFile.all[path] else {
                throw HTTPRefusal(.notFound, "there is no \(path.prefix(100)) here")
            }
            return .file(file)
        case (.options, "/stream"), (.options, "/lines"), (.options, "/recording"):
            guard access.guest(request.head) != nil else { throw Self.unknownMethod }
            return .mayAsk
        case (.post, _):
            throw HTTPRefusal(.notFound, "lines go to /lines, a recording to /recording")
        default: throw Self.unknownMethod
        }
    }

    private static let unknownMethod = HTTPRefusal(.methodNotAllowed, "only GET, HEAD and POST are supported")

    /// Returns the page that sent a request to change something.
    private func feeder(_ request: Request, over channel: any Channel) throws(HTTPRefusal) -> Page {
        try access.checkSender(request.head)
        guard try access.role(of: request.head) == .feed else {
            throw HTTPRefusal(.forbidden, "this link may only watch; moving cameras needs another one")
        }
        let page = try pages.page(request.headers[.page])
        places.keep(channel)
        return page
    }

    /// Returns the number of the lease that a request names; `nil` if it names none.
    private func lease(of request: Request) throws(HTTPRefusal) -> Int? {
        guard let text = request.uri.queryParameters["lease"] else { return nil }
        guard let lease = Int(text), lease >= 0 else {
            throw HTTPRefusal(.badRequest, "lease must be the number of a lease: an integer, 0 or more")
        }
        return lease
    }

    private func body(of request: Request, atMost limit: Int) async throws(HTTPRefusal) -> [UInt8] {
        let tooLarge = HTTPRefusal(.contentTooLarge, "this request may have at most \(limit) bytes")
        if let length = request.headers[.contentLength].flatMap(Int.init), length > limit { throw tooLarge }
        var bytes: [UInt8] = []
        do {
            for try await piece in request.body {
                guard bytes.count + piece.readableBytes <= limit else { throw tooLarge }
                bytes.append(contentsOf: piece.readableBytesView)
            }
        } catch let refusal as HTTPRefusal {
            throw refusal
        } catch {
            throw HTTPRefusal(.badRequest, "the request is incomplete")
        }
        return bytes
    }

    // MARK: Streams

    private func stream(
        _ page: Page, _ fields: HTTPFields, _ writer: consuming ResponseWriter, _ channel: any Channel
    ) async throws {
        channel.closeFuture.whenComplete { _ in page.outbox.finish() }
        var fields = fields
        fields[.contentType] = "application/x-ndjson"
        var body = try await writer.writeHead(HTTPResponse(status: .ok, headerFields: fields))
        follower.add(page.outbox, links.introduction(of: page, limits, map))
        var last = ContinuousClock.now - Self.frame
        for await _ in page.outbox.signals {
            try await Task.sleep(until: last + Self.frame)
            last = .now
            guard let bytes = follower.take(page.outbox) else { break }
            if bytes.isEmpty { continue }
            try await send(ByteBuffer(bytes: bytes), to: &body, within: limits.stallTime, channel)
        }
        try await body.finish(nil)
    }

    /// Sends a piece of a body; ends a connection that cannot send it in time.
    private func send(
        _ piece: ByteBuffer, to body: inout some ResponseBodyWriter, within time: TimeAmount, _ channel: any Channel
    ) async throws {
        let deadline = limit(time, channel)
        try await body.write(piece)
        deadline.cancel()
    }

    /// Closes a connection after a time, unless that is cancelled.
    private func limit(_ time: TimeAmount, _ channel: any Channel) -> Scheduled<Void> {
        channel.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
    }
}
