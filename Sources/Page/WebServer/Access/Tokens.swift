// The secrets of a server: one allows watching, another also moves cameras, and a third only reads metrics. Invariant:
// comparing with a secret takes as long for a near miss as for anything else.

import Glibc

/// What a request may do.
package enum Role: String, Sendable {
    /// It may only watch.
    case watch
    /// It may move cameras.
    case feed
}

/// The tokens that pages send with their requests.
package struct Tokens: Equatable, Sendable {
    package let feed: String
    package let watch: String

    /// Random bytes in a token: 144 bits cannot be guessed.
    private static let length = 18

    /// Makes new tokens.
    package init() {
        feed = Self.made()
        watch = Self.made()
    }

    /// Reads stored tokens, one per line: first the one that feeds, then the one that watches.
    ///
    /// - Returns: `nil` unless they are two different ones of at least 16 characters that are allowed in a link.
    package init?(text: String) {
        let lines = text.split(separator: "\n").map(String.init)
        guard lines.count == 2, lines[0] != lines[1], lines.allSatisfy(Self.isUsable) else { return nil }
        (feed, watch) = (lines[0], lines[1])
    }

    /// The text to store.
    package var text: String { "\(feed)\n\(watch)\n" }

    /// Returns what the holder of a token may do; `nil` if it is neither.
    package func role(of token: some StringProtocol) -> Role? {
        // Always compares both.
        let (feeds, watches) = (Self.isSame(token, feed), Self.isSame(token, watch))
        return feeds ? .feed : watches ? .watch : nil
    }

    static func isSame(_ a: some StringProtocol, _ b: String) -> Bool {
        guard a.utf8.count == b.utf8.count else { return false }
        return zip(a.utf8, b.utf8).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private static func isUsable(_ text: String) -> Bool {
        (16...128).contains(text.utf8.count) && text.utf8.allSatisfy { letters.contains($0) }
    }

    /// Letters that need no escape in a link (RFC 4648, base64url): 6 bits each.
    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// Returns a text that cannot be guessed.
    static func made() -> String {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<length * 8 / 6).map { _ in letters[Int(generator.next() & 63)] }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension Tokens {
    /// Reads the tokens from a file, or makes the file with new ones, for its owner alone.
    package init(file path: String) throws(StartError) {
        let text = try Self.kept(in: path, new: Tokens().text)
        guard let tokens = Tokens(text: text) else {
            throw .ofOptions(
                "\(path) must have two lines, the token that feeds and the one that watches: 16 to 128 "
                    + "of A-Z a-z 0-9 - _ each, and different. To have new ones made, remove the file")
        }
        self = tokens
    }

    /// Reads the token for metrics from a file, or makes the file with a new one, for its owner alone.
    package static func forMetrics(file path: String) throws(StartError) -> String {
        let lines = try kept(in: path, new: made() + "\n").split(separator: "\n")
        guard lines.count == 1, isUsable(String(lines[0])) else {
            throw .ofOptions(
                "\(path) must have one line, the token that reads metrics: 16 to 128 of A-Z a-z 0-9 - _. "
                    + "To have a new one made, remove the file")
        }
        return String(lines[0])
    }

    /// Returns the text of a file, which is made if it is missing.
    private static func kept(in path: String, new text: String) throws(StartError) -> String {
        if let text = try contents(path) { return text }
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw error("cannot create", path) }
        defer { _ = close(descriptor) }
        let bytes = Array(text.utf8)
        guard unsafe write(descriptor, bytes, bytes.count) == bytes.count else {
            let error = error("cannot write", path)
            // An incomplete file would keep later servers from starting.
            _ = unsafe unlink(path)
            throw error
        }
        return text
    }

    /// Returns the beginning of a file; `nil` if there is none.
    private static func contents(_ path: String) throws(StartError) -> String? {
        // Does not wait at a pipe without a writer.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw error("cannot read", path)
        }
        defer { _ = close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw error("cannot read", path) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .ofOptions("\(path) is not a regular file") }
        guard status.st_mode & 0o077 == 0 else {
            throw .ofOptions("\(path) is open to other users: its mode must be 0600")
        }
        var bytes = [UInt8](repeating: 0, count: 512)
        let count = unsafe read(descriptor, &bytes, bytes.count)
        guard count >= 0 else { throw error("cannot read", path) }
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    private static func error(_ what: String, _ path: String) -> StartError {
        .ofOptions("\(what) \(path): \(unsafe String(cString: strerror(errno)))")
    }
}
