// The conformance cases of Protocols/, and a player that runs one against anything that exchanges lines.

import Foundation

/// A connection from a conformance case's point of view.
public protocol ConformancePeer: AnyObject {
    func send(_ bytes: [UInt8]) throws
    /// Returns the next line without its LF; `nil` when nothing comes or the other side has closed.
    func receive() throws -> String?
    /// Returns whether the other side has closed and nothing is left to read.
    func isClosed() throws -> Bool
    func halfClose() throws
    func close() throws
}

public struct ConformanceCase: Sendable, CustomStringConvertible {
    public let file: String
    public let name: String
    /// The peers that may only watch.
    let watchers: [String]
    let steps: [JSON]

    public var description: String { "\(file)/\(name)" }

    public static func all() throws -> [ConformanceCase] {
        try Files.list("Protocols/conformance", "json").flatMap { file in
            let topic = try JSON(String(contentsOf: file, encoding: .utf8))
            let cases = topic["cases"]?.array ?? []
            return cases.map { one -> ConformanceCase in
                ConformanceCase(
                    file: file.deletingPathExtension().lastPathComponent, name: one["name"]?.string ?? "?",
                    watchers: one["watchers"]?.array?.compactMap(\.string) ?? [], steps: one["steps"]?.array ?? [])
            }
        }
    }

    /// The trace that a peer sends, if one does and its header is accepted: from the first header to the last end.
    public var trace: String? {
        guard !name.hasSuffix("closes"), file != "watching" else { return nil }
        var sent = steps.filter { $0["send"] != nil || $0["sendBytes"] != nil }
        func isOf(_ type: String, _ step: JSON) -> Bool { step["send"]?["type"]?.string == type }
        if let owner = sent.first(where: { isOf("trace", $0) })?["peer"] { sent.removeAll { $0["peer"] != owner } }
        guard let start = sent.firstIndex(where: { isOf("trace", $0) }) else { return nil }
        let end = sent.lastIndex { isOf("trace-end", $0) } ?? sent.count - 1
        return sent[start...end].map { step in
            step["sendBytes"]?.string ?? (step["send"].map { $0.string ?? $0.text } ?? "") + "\n"
        }.joined()
    }

    /// Plays the case. `connect` makes a peer; its argument is whether that may only watch. `emitted` receives every
    /// line that arrived.
    public func play(_ connect: (Bool) throws -> any ConformancePeer, emitted: (String) -> Void) throws {
        var peers: [String: any ConformancePeer] = [:]
        for (index, step) in steps.enumerated() {
            let name = step["peer"]?.string ?? "a"
            let peer = try peers[name] ?? connect(watchers.contains(name))
            peers[name] = peer
            if let failure = try play(step, peer, emitted) {
                throw TestFailure(description: "\(self), step \(index + 1) \(step.text): \(failure)")
            }
        }
        for peer in peers.values { try peer.close() }
    }

    /// Plays a step; returns what was wrong.
    private func play(_ step: JSON, _ peer: any ConformancePeer, _ emitted: (String) -> Void) throws -> String? {
        if let value = step["send"] {
            try peer.send(Array((value.string ?? value.text).utf8) + [0x0a])
        } else if let bytes = step["sendBytes"]?.string {
            try peer.send(Array(bytes.utf8))
        } else if let repeated = step["sendRepeated"] {
            let text = String(repeating: repeated["text"]?.string ?? "", count: Int(repeated["times"]?.number ?? 0))
            let line = (repeated["before"]?.string ?? "") + text + (repeated["after"]?.string ?? "") + "\n"
            try peer.send(Array(line.utf8))
        } else if let pattern = step["expect"] {
            guard let line = try peer.receive() else { return "nothing came" }
            emitted(line)
            if !(try JSON(line)).matches(pattern) { return "came \(line)" }
        } else if let expected = step["line"]?.string {
            guard let line = try peer.receive() else { return "nothing came" }
            emitted(line)
            if line != expected { return "came \(line)" }
        } else if step["expectNothing"] != nil {
            try peer.send(Array("{\"type\":\"ping\",\"id\":\"nothing more\"}\n".utf8))
            let line = try peer.receive() ?? "nothing at all"
            if line != "{\"type\":\"pong\",\"id\":\"nothing more\"}" { return "came \(line)" }
        } else if step["halfClose"] != nil {
            try peer.halfClose()
        } else if step["close"] != nil {
            try peer.close()
        } else if step["expectClosed"] != nil {
            if let line = try peer.receive() { return "came \(line)" }
            if !(try peer.isClosed()) { return "still open" }
        } else {
            return "unknown step"
        }
        return nil
    }
}
