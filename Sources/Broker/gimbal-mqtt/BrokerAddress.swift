// Where the broker is, and what this side presents to it: an address, a user's name and password, certificates.

import ArgumentParser
import Glibc

/// `mqtt://HOST[:PORT]`, or `mqtts://…` for TLS.
struct BrokerAddress: ExpressibleByArgument, Sendable, CustomStringConvertible {
    let host: String
    let port: Int
    let isEncrypted: Bool

    init?(argument: String) {
        // A password in a URL would be visible to every user who lists processes.
        let form = /(mqtts?):\/\/(?:\[([^\]\/@]+)\]|([^\/@:\[][^\/@:]*))(?::([0-9]{1,5}))?\/?/
        guard let match = argument.wholeMatch(of: form), let host = match.output.2 ?? match.output.3 else { return nil }
        isEncrypted = match.output.1 == "mqtts"
        port = match.output.4.flatMap { Int($0) } ?? (isEncrypted ? 8883 : 1883)
        self.host = String(host)
        guard 1...65535 ~= port else { return nil }
    }

    var description: String {
        let host = host.contains(":") ? "[\(host)]" : host
        return "\(isEncrypted ? "mqtts" : "mqtt")://\(host):\(port)"
    }
}

/// The files of TLS, in PEM.
struct Certificates: Sendable {
    /// The authorities to trust for the broker; `nil` means the system's.
    var authority: String?
    /// This side's certificate and key.
    var own: String?
    var key: String?
}

/// A user's name and password at the broker.
struct Credentials: Sendable {
    var user: String?
    var password: String?

    init() {}

    /// Reads a file of lines, `user = NAME` and `password = WORDS`; skips empty lines and those beginning with `#`.
    init(file path: String) throws {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw ValidationError("\(path): \(unsafe String(cString: strerror(errno)))") }
        defer { _ = close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & 0o007 == 0 else {
            throw ValidationError("\(path) is open to other users: run chmod 600 \(path)")
        }
        let text = try Self.text(of: descriptor, path)
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let line = Self.trimmed(line)
            if line.isEmpty || line.hasPrefix("#") { continue }
            let equals = line.firstIndex(of: "=")
            let value = equals.map { String(Self.trimmed(line[line.index(after: $0)...])) }
            switch equals.map({ Self.trimmed(line[..<$0]) }) {
            case "user": user = value
            case "password": password = value
            default:
                throw ValidationError(
                    "\(path), line \(index + 1): must be \"user = NAME\" or \"password = WORDS\"")
            }
        }
        guard user != nil else { throw ValidationError("\(path): \"user = NAME\" is missing") }
    }

    private static let longest = 16384

    private static func text(of descriptor: CInt, _ path: String) throws -> String {
        var result = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: longest) { buffer, count in
            result = unsafe read(descriptor, buffer.baseAddress, buffer.count)
            count = max(result, 0)
        }
        guard result >= 0 else { throw ValidationError("\(path): \(unsafe String(cString: strerror(errno)))") }
        guard bytes.count < longest else { throw ValidationError("\(path) is longer than \(longest) bytes") }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0 == "\r" }
        var text = text.drop(while: isSpace)
        while let last = text.last, isSpace(last) { text.removeLast() }
        return text
    }
}
