// Logs clients for `--log-level debug`: when they come and go, which cameras they make or remove, and which of their
// lines are refused. A client that errs or connects in a loop does not fill the journal: lines per second are limited.

import GimbalProtocol
import Glibc
import Hub
import Service
import UnixSocket

struct ClientLog {
    private let log: Log
    private var limit = RateLimit(burst: 100, windowMs: 1000)
    /// The names of users who have connected, if they have one. A directory server may take long to answer, so each
    /// user is looked up once.
    private var userNames: [uid_t: String?] = [:]
    private static let mostNames = 256

    /// - Returns: `nil` unless the log level includes such messages.
    init?(_ log: Log) {
        guard log.level >= .debug else { return nil }
        self.log = log
    }

    mutating func came(_ connection: Connection, of count: Int, at now: Double) {
        let socket = connection.socketKind == .watch ? " through the watch socket" : ""
        tell(.clientCameOrWent, "connected\(socket): \(count) now", of: connection, at: now)
    }

    mutating func went(_ connection: Connection, of count: Int, at now: Double) {
        tell(.clientCameOrWent, "disconnected: \(count) now", of: connection, at: now)
    }

    mutating func takeNote(_ note: Hub.Note, of connection: Connection, at now: Double) {
        switch note {
        case .refused(let error, let line, let camera):
            let field: PrintableText = error.field.map { " in \($0)" } ?? ""
            let place: PrintableText = camera.map { ", camera \"\($0)\"" } ?? ""
            tell(
                .lineRefused, "had line \(line) refused\(place): \(error.code.rawValue)\(field): \(error.message)",
                of: connection, camera, at: now)
        case .made(let camera):
            tell(.cameraMadeOrRemoved, "created camera \"\(camera)\"", of: connection, camera, at: now)
        case .removed(let camera):
            tell(.cameraMadeOrRemoved, "removed camera \"\(camera)\"", of: connection, camera, at: now)
        }
    }

    /// Returns a client's description, such as `client 17 (user 1000 "alice", process 4242 "python3")`. Names are
    /// omitted if the system does not reveal them: the unit's sandbox hides other users' processes.
    private mutating func name(of connection: Connection) -> PrintableText {
        let user: PrintableText = userName(of: connection).map { " \"\($0)\"" } ?? ""
        let program: PrintableText = Self.program(of: connection.process).map { " \"\($0)\"" } ?? ""
        return
            "client \(connection.descriptor) (user \(connection.user)\(user), process \(connection.process)\(program))"
    }

    private mutating func userName(of connection: Connection) -> String? {
        if let known = userNames[connection.user] { return known }
        guard userNames.count < Self.mostNames else { return nil }
        let name = Account.name(ofUser: connection.user)
        userNames[connection.user] = .some(name)
        return name
    }

    /// Returns a process's own name. (proc(5): `comm`)
    private static func program(of process: pid_t) -> String? {
        let file = unsafe open("/proc/\(process)/comm", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { _ = close(file) }
        guard let bytes = try? readFile(file, from: 0, 64, "read"), bytes.count > 1 else { return nil }
        return String(decoding: bytes.dropLast(), as: UTF8.self)
    }

    /// - Parameter text: what the client did.
    private mutating func tell(
        _ event: LogEvent, _ text: @autoclosure () -> PrintableText, of connection: Connection, _ camera: String? = nil,
        at now: Double
    ) {
        guard let left = limit.admit(at: now) else { return }
        if left > 0 { log(.debug, "omitted \(counted(left, "line")) about clients") }
        let name = name(of: connection)
        log(
            .debug, event, "\(name) \(text())",
            [
                .client: "\(connection.descriptor)", .clientUser: "\(connection.user)",
                .clientProcess: "\(connection.process)", .camera: camera ?? "",
            ])
    }
}

/// Admits a limited number in a window of time, and counts the rest.
struct RateLimit {
    let burst: Int
    let windowMs: Double
    private var start = -Double.infinity
    private var admitted = 0
    private var leftOut = 0

    init(burst: Int, windowMs: Double) { (self.burst, self.windowMs) = (burst, windowMs) }

    /// Asks to admit one more.
    ///
    /// - Parameter now: milliseconds, never less than before.
    /// - Returns: `nil` if it is one too many; otherwise how many were refused since the last admitted one.
    mutating func admit(at now: Double) -> Int? {
        if now - start >= windowMs { (start, admitted) = (now, 0) }
        guard admitted < burst else {
            leftOut += 1
            return nil
        }
        admitted += 1
        defer { leftOut = 0 }
        return leftOut
    }
}
