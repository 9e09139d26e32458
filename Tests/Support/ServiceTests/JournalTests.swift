// Journal entries: what is sent to its socket, and what happens to those that it does not accept.

import Foundation
import Glibc
import TestSupport
import Testing
import UnixSocket

@testable import Service

@Suite struct JournalTests {
    /// A socket in place of the journal's, and a file that serves as a program's standard error.
    private final class StandIn {
        let path = Files.temporary(".sock").path
        let output: CInt
        private let descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0)

        init() throws {
            output = open("/dev/null", O_WRONLY)
            let descriptor = descriptor
            let bound = try System.withAddress(path) { bind(descriptor, $0, $1) }
            try #require(bound == 0 && output >= 0)
        }

        deinit {
            close(descriptor)
            close(output)
            unlink(path)
        }

        var stream: String {
            var status = stat()
            fstat(output, &status)
            return "\(status.st_dev):\(status.st_ino)"
        }

        func receive() -> [UInt8]? {
            var buffer = [UInt8](repeating: 0, count: 65536)
            let count = recv(descriptor, &buffer, buffer.count, CInt(MSG_DONTWAIT))
            return count < 0 ? nil : Array(buffer[..<count])
        }
    }

    @Test func anEntryIsOneDatagramOfFields() throws {
        let standIn = try StandIn()
        let journal = try #require(Journal(stream: standIn.stream, of: standIn.output, path: standIn.path))
        #expect(journal.send([("MESSAGE", "a = b"), ("CAMERA", "größe")]))
        #expect(standIn.receive() == Array("MESSAGE=a = b\nCAMERA=größe\n".utf8) && standIn.receive() == nil)
    }

    @Test func aValueWithALineFeedMakesNoOtherField() {
        let forged = Journal.entry([("CAMERA", "a\nMESSAGE_ID=1"), ("PRIORITY", "6")])
        let length: [UInt8] = [14, 0, 0, 0, 0, 0, 0, 0]
        #expect(forged == Array("CAMERA\n".utf8) + length + Array("a\nMESSAGE_ID=1\nPRIORITY=6\n".utf8))
    }

    @Test func aJournalThatDoesNotReadIsNotWaitedFor() throws {
        let standIn = try StandIn()
        let journal = try #require(Journal(stream: standIn.stream, of: standIn.output, path: standIn.path))
        var sent = 0
        while journal.send([("MESSAGE", "\(sent)")]), sent < 100_000 { sent += 1 }
        #expect(sent > 0 && sent < 100_000)
        #expect(standIn.receive() == Array("MESSAGE=0\n".utf8))
        #expect(journal.send([("MESSAGE", "again")]))
        #expect(!journal.send([("MESSAGE", String(repeating: "x", count: 1_000_000))]))
    }

    @Test func thereIsNoJournalWhereStandardErrorLeadsElsewhere() throws {
        let standIn = try StandIn()
        #expect(Journal(stream: nil, of: standIn.output, path: standIn.path) == nil)
        #expect(Journal(stream: "1:2", of: standIn.output, path: standIn.path) == nil)
    }

    @Test func theCatalogSaysWhatEachEventIsAndNoOther() throws {
        let catalog = try Files.text("systemd/gimbal.catalog")
        let entries = catalog.components(separatedBy: "\n-- ").dropFirst()
        #expect(entries.map { String($0.prefix(32)) } == LogEvent.allCases.map(\.rawValue))
        for entry in entries {
            let (head, text) = (
                entry.components(separatedBy: "\n\n")[0], entry.components(separatedBy: "\n\n").dropFirst()
            )
            #expect(head.contains("\nSubject: ") && head.contains("\nDefined-By: gimbal\n") && text.joined().count > 20)
        }
    }
}
