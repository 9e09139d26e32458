// A client that sends exactly what a test wants, valid or not, over its own socket.

import Foundation
import TestSupport
import Testing

/// Unique file names.
enum TemporaryPath {
    static func fresh(_ name: String) -> String {
        Files.temporary("-\(name)").path
    }
}

final class HTTPClient {
    let descriptor: CInt
    private var waiting: [UInt8] = []
    private let port: Int

    struct Failure: Error {}

    struct Answer {
        let status: Int
        let fields: [String: String]
        let body: String
    }

    init(_ port: Int, receiveBuffer: CInt? = nil) throws {
        self.port = port
        descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        if var size = receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<CInt>.size))
        }
        var time = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { throw Failure() }
    }

    deinit { close(descriptor) }

    func send(_ text: String) { StandIn.write(text.utf8, to: descriptor) }

    /// Sends a request with a valid Host and the given fields.
    func request(
        _ method: String, _ path: String, _ fields: [String: String] = [:], host: String? = nil, body: String = ""
    ) {
        var all = ["Host": host ?? "127.0.0.1:\(port)"].merging(fields) { $1 }
        if method == "POST" { all["Content-Length"] = all["Content-Length"] ?? "\(body.utf8.count)" }
        send("\(method) \(path) HTTP/1.1\r\n" + all.map { "\($0): \($1)\r\n" }.joined() + "\r\n" + body)
    }

    /// Waits for more bytes; returns `false` at the end.
    private func fill() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65536)
        errno = 0
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else { return false }
        waiting += buffer[..<count]
        return true
    }

    /// The number of received bytes that have not been read yet.
    var waitingCount: Int { waiting.count }

    /// Returns whether the server's end is open, according to the kernel: a client that does not read cannot notice.
    func isOpenAtServer() throws -> Bool {
        var own = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &own) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = getsockname(descriptor, $0, &size) }
        }
        let ends = [port, Int(UInt16(bigEndian: own.sin_port))].map { String(format: "0100007F:%04X", $0) }
        // A line per connection: both ends, then the state; 01 means established. It is read piece by piece.
        guard let table = fopen("/proc/net/tcp", "r") else { throw Failure() }
        defer { fclose(table) }
        var line = [CChar](repeating: 0, count: 512)
        while fgets(&line, CInt(line.count), table) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if text.contains(" \(ends[0]) \(ends[1]) 01 ") { return true }
        }
        return false
    }

    /// Returns whether the server has ended the connection, whatever it sends before.
    func isEnded() -> Bool {
        while fill() {}
        return errno != EAGAIN
    }

    func line(endedBy end: String = "\r\n") throws -> String {
        let bytes = Array(end.utf8)
        while true {
            if let range = Data(waiting).range(of: Data(bytes)) {
                let line = String(decoding: waiting[..<range.lowerBound], as: UTF8.self)
                waiting.removeFirst(range.upperBound)
                return line
            }
            guard fill() else { throw Failure() }
        }
    }

    func head() throws -> (status: Int, fields: [String: String]) {
        let words = try line().split(separator: " ")
        guard words.count > 1, let status = Int(words[1]) else { throw Failure() }
        var fields: [String: String] = [:]
        while true {
            let line = try line()
            if line.isEmpty { return (status, fields) }
            let parts = line.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            fields[parts[0].lowercased()] = parts.count > 1 ? parts[1] : ""
        }
    }

    func answer() throws -> Answer {
        let (status, fields) = try head()
        let count = fields["content-length"].flatMap { Int($0) } ?? 0
        while waiting.count < count { guard fill() else { throw Failure() } }
        let body = String(decoding: waiting[..<count], as: UTF8.self)
        waiting.removeFirst(count)
        return Answer(status: status, fields: fields, body: body)
    }

    private var rest = ""

    /// Returns the next object of a stream.
    func object() throws -> [String: Any] {
        while true {
            if let end = rest.firstIndex(of: "\n") {
                let text = rest[..<end]
                rest = String(rest[rest.index(after: end)...])
                return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
            }
            let count = try #require(Int(try line(), radix: 16))
            while waiting.count < count + 2 { guard fill() else { throw Failure() } }
            rest += String(decoding: waiting[..<count], as: UTF8.self)
            waiting.removeFirst(count + 2)
        }
    }

    /// Returns the next object of a type, whatever comes before it.
    func object(_ type: String, where matches: ([String: Any]) -> Bool = { _ in true }) throws -> [String: Any] {
        var alive = 0
        // The server sends a sign of life every 10 seconds.
        while alive < 3 {
            let object = try object()
            if object["type"] as? String == type, matches(object) { return object }
            alive += object["type"] as? String == "alive" ? 1 : 0
        }
        throw Failure()
    }

    /// Reads until a camera's last event is mentioned in any line: a slow server receives a summary of what it missed.
    func read(untilSeq last: Int) throws {
        var seq = 0
        while seq < last { seq = max(seq, try object()["seq"] as? Int ?? 0) }
        #expect(seq == last)
    }
}
