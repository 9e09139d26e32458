// Files beside the sources: the project's own, and recordings that are kept outside of it.

import Foundation

public enum Files {
    /// The project's root.
    public static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Other projects' recordings beside this one; `nil` if there are none.
    public static let recordings: URL? = {
        let folder = root.deletingLastPathComponent().appendingPathComponent("shared/traces")
        return FileManager.default.fileExists(atPath: folder.path) ? folder : nil
    }()

    /// Returns an unused path in the folder for temporary files; short, because a socket may be below it.
    public static func temporary(_ ending: String = "") -> URL {
        FileManager.default.temporaryDirectory.appendingPathComponent("gimbal-\(UUID().uuidString.prefix(8))\(ending)")
    }

    /// Returns the path of one of the sample traces.
    public static func sample(_ name: String) -> String {
        root.appendingPathComponent("Protocols/examples/traces/\(name).ndjson").path
    }

    public static func data(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: root.appendingPathComponent(path)))
    }

    public static func text(_ path: String) throws -> String {
        String(decoding: try data(path), as: UTF8.self)
    }

    /// Returns the lines of all blocks of a file that are fenced with these words, without blank lines.
    public static func fenced(_ words: String, in path: String) throws -> [String] {
        var found: [String] = []
        var isInside = false
        for line in try text(path).split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") {
                isInside = line == "```\(words)"
            } else if isInside, !line.isEmpty {
                found.append(String(line))
            }
        }
        return found
    }

    /// Returns the files with an extension, or all, in a folder of the project, by name.
    public static func list(_ folder: String, _ ext: String? = nil) -> [URL] {
        list(root.appendingPathComponent(folder), ext)
    }

    public static func list(_ folder: URL, _ ext: String? = nil) -> [URL] {
        let all = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        let files = all.filter { ext == nil || $0.pathExtension == ext }.sorted { $0.path < $1.path }
        // A test of no files would pass.
        precondition(!files.isEmpty, "there is no .\(ext ?? "*") in \(folder.path)")
        return files
    }

    /// Returns the recorded gestures beside the project, with name and bytes; none if there are no recordings.
    public static func recordedTraces() throws -> [(name: String, bytes: [UInt8])] {
        guard let recordings else { return [] }
        return try list(recordings.appendingPathComponent("gestures"), "ndjson").map {
            ($0.lastPathComponent, Array(try Data(contentsOf: $0)))
        }
    }
}

/// A new folder, which is removed with the last reference to it.
public final class Folder: Sendable {
    public let url = Files.temporary()

    public init() { precondition(mkdir(url.path, 0o777) == 0, "\(url.path) cannot be made") }

    deinit { try? FileManager.default.removeItem(at: url) }

    public var path: String { url.path }
    public func path(_ name: String) -> String { url.appendingPathComponent(name).path }

    /// Writes a file, and returns its path.
    @discardableResult public func write(_ name: String, _ text: String) throws -> String {
        try text.write(toFile: path(name), atomically: false, encoding: .utf8)
        return path(name)
    }

    public var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted() }
}

/// A seeded generator: SplitMix64 (Steele, Lea, Flood 2014).
public struct Seeded: RandomNumberGenerator {
    private var state: UInt64
    public init(_ seed: UInt64) { state = seed }

    /// Returns each seed with its generator.
    public static func each(_ seeds: ClosedRange<UInt64>) -> some Sequence<(seed: UInt64, random: Seeded)> {
        seeds.lazy.map { (seed: $0, random: Seeded($0)) }
    }

    public mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    public mutating func number(_ range: ClosedRange<Double>) -> Double { .random(in: range, using: &self) }
    public mutating func integer(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &self) }
    public mutating func pick<Value>(_ values: [Value]) -> Value { values[integer(0...values.count - 1)] }
    public mutating func chance(_ share: Double) -> Bool { number(0...1) < share }
}
