// Sources/README.md names types, functions and folders: each of them is where the page says.

import Foundation
import TestSupport
import Testing

@Suite struct SourcesPageTests {
    /// The declarations in the sources: the words after `struct`, `func` and the like.
    private struct Declarations {
        /// The files that declare or extend a type, by its name.
        private var homes: [String: [Int]] = [:]
        /// The members of each file.
        private var members: [Set<String>] = []

        private static let types: Set<String> = ["class", "struct", "enum", "protocol", "extension"]
        private static let others: Set<String> = ["func", "var", "let", "case"]

        init() throws {
            let folder = Files.root.appendingPathComponent("Sources")
            let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            for file in files where file.hasSuffix(".swift") {
                let source = try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
                var found: Set<String> = []
                var last = ""
                for word in source.utf8.split(whereSeparator: { !SourcesPageTests.isWord($0) }) {
                    let word = String(decoding: word, as: UTF8.self)
                    if Self.types.contains(last) { homes[word, default: []].append(members.count) }
                    if Self.others.contains(last) { found.insert(word) }
                    last = word
                }
                members.append(found)
            }
        }

        var fileCount: Int { members.count }

        func has(_ type: String) -> Bool { homes[type] != nil }

        func has(_ member: String, in type: String) -> Bool {
            homes[type, default: []].contains { members[$0].contains(member) }
        }
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }

    private func page() throws -> String { try Files.text("Sources/README.md") }

    @Test func everyTypeThatThePageNamesExists() throws {
        let declarations = try Declarations()
        let types = try page().matches(of: /`([A-Z]\w+)`/).map { String($0.1) }
        #expect(Set(types).count > 20 && declarations.fileCount > 100)
        for type in Set(types) { #expect(declarations.has(type), "\(type)") }
    }

    @Test func everyFunctionThatThePageNamesIsInItsType() throws {
        let declarations = try Declarations()
        let names = try page().matches(of: /\b([A-Z]\w+)\.([a-z]\w+)\b/).map { ($0.1, $0.2) }
        let functions = names.filter { $0.1 != "md" && $0.1 != "swift" }.map { (String($0), String($1)) }
        #expect(functions.count > 25)
        for (type, member) in functions { #expect(declarations.has(member, in: type), "\(type).\(member)") }
        // The test is able to fail.
        #expect(!declarations.has("noSuchFunction", in: "Hub") && !declarations.has("NoSuchType"))
    }

    @Test func everyFolderOfTheHubIsOnThePageAndNoOther() throws {
        let hub = Files.root.appendingPathComponent("Sources/Daemon/Hub")
        let folders = try FileManager.default.contentsOfDirectory(atPath: hub.path).filter { !$0.contains(".") }
        let named = try page().matches(of: /`Hub\/(\w+)`/).map { String($0.1) }
        #expect(Set(named) == Set(folders) && !folders.isEmpty)
    }

    @Test func everyTargetOfThePictureIsAFolder() throws {
        let picture = try #require(try page().split(separator: "```").first { $0.hasPrefix("text") })
        let targets = picture.matches(of: /\b(gimbald?|[A-Z]+[a-z]\w*)\b/).map { String($0.1) }
        #expect(Set(targets).count >= 13)
        let sources = Files.root.appendingPathComponent("Sources")
        let folders = try FileManager.default.contentsOfDirectory(atPath: sources.path).flatMap { part in
            (try? FileManager.default.contentsOfDirectory(atPath: sources.appendingPathComponent(part).path)) ?? []
        }
        for target in targets { #expect(folders.contains(target), "\(target)") }
    }
}
