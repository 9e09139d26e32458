// Pieces that are sent to many sockets: all receive the same bytes, whether copied or shared.

import Foundation
import TestSupport
import Testing

@testable import gimbald

@Suite struct SharedPagesTests {
    /// A socket as the daemon has it, and its other end.
    private final class Pair {
        let socket: CInt
        let other: CInt

        init() throws {
            var ends: [CInt] = [-1, -1]
            guard socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue), 0, &ends) == 0 else {
                throw POSIXError(.EMFILE)
            }
            (socket, other) = (ends[0], ends[1])
        }

        deinit {
            close(socket)
            close(other)
        }

        /// Returns everything that has arrived.
        func receive() -> [UInt8] {
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            while case let count = recv(other, &buffer, buffer.count, 0), count > 0 { bytes += buffer[..<count] }
            return bytes
        }
    }

    private static let sharing = ConditionTrait.enabled(if: SharedPages.isSafe, "needs Linux 6.5")

    private let pages = SharedPages()
    private let pairs: [Pair]
    /// How many pieces of 20,000 bytes are copied before one is shared.
    private let copies = (SharedPages.mostCopied + 19_999) / 20_000

    init() throws {
        signal(SIGPIPE, SIG_IGN)
        pairs = try (0..<40).map { _ in try Pair() }
    }

    private func piece(_ seed: UInt64, _ count: Int = 20_000) -> [UInt8] {
        var random = Seeded(seed)
        return (0..<count).map { _ in UInt8(random.integer(0...255)) }
    }

    /// Returns `nil` if the piece must be copied.
    private func write(_ piece: [UInt8], to pair: Pair, isRepeated: Bool) -> Int? {
        piece.withUnsafeBytes { pages.write(pair.socket, $0, isRepeated: isRepeated) }
    }

    @Test(Self.sharing) func everySocketThatIsNotToBeSentACopyHasTheWholePiece() throws {
        for round in UInt64(0)..<5 {
            let piece = piece(round)
            for (index, pair) in pairs.enumerated() {
                let taken = write(piece, to: pair, isRepeated: index > 0)
                #expect(taken == (index < copies ? nil : 20_000))
                #expect(pair.receive() == (taken == nil ? [] : piece))
            }
        }
    }

    @Test(Self.sharing) func onlyPiecesThatPayAreShared() {
        for count in [1, SharedPages.lengths.lowerBound - 1, SharedPages.lengths.upperBound + 1, 1 << 20] {
            let piece = piece(1, count)
            for index in 0..<200 { #expect(write(piece, to: pairs[0], isRepeated: index > 0) == nil) }
        }
        let longest = piece(2, SharedPages.lengths.upperBound)
        for (index, pair) in pairs.enumerated() { _ = write(longest, to: pair, isRepeated: index > 0) }
        #expect(pairs[39].receive() == longest)
    }

    @Test(Self.sharing) func aSocketThatIsFullLosesNothingOfWhatItTookAndTheNextHasTheWhole() throws {
        let piece = piece(1)
        for pair in pairs[..<copies] { #expect(write(piece, to: pair, isRepeated: pair !== pairs[0]) == nil) }
        let full = pairs[copies]
        var taken: [Int] = []
        repeat {
            taken.append(write(piece, to: full, isRepeated: true) ?? -2)
        } while taken.last! > 0 && taken.count < 100
        #expect(taken.last == -1 && errno == EAGAIN, "\(taken)")
        for pair in pairs[(copies + 1)...] { #expect(write(piece, to: pair, isRepeated: true) == 20_000) }
        #expect(full.receive() == taken.dropLast().flatMap { piece.prefix($0) })
        for pair in pairs[(copies + 1)...] { #expect(pair.receive() == piece) }
    }

    @Test(Self.sharing) func aSocketThatIsClosedIsLeftToItsCallerAndTheNextHasTheWhole() throws {
        let piece = piece(1)
        for index in 0..<copies { #expect(write(piece, to: pairs[0], isRepeated: index > 0) == nil) }
        shutdown(pairs[1].other, CInt(SHUT_RDWR))
        #expect(write(piece, to: pairs[1], isRepeated: true) == nil)
        #expect(write(piece, to: pairs[2], isRepeated: true) == 20_000)
        #expect(pairs[2].receive() == piece)
    }

    @Test(arguments: [
        ("6.5.0", true), ("6.18.44-rt", true), ("10.0", true), ("6.1.0-18-amd64", false), ("5.15.0", false),
        ("", false),
    ])
    func piecesAreSharedFromLinux6_5(_ release: String, _ isSafe: Bool) {
        #expect(SharedPages.isSafe(on: release) == isSafe)
    }

    @Test func manySubscribersReadTheSameAndOneThatReadsLateToo() throws {
        let daemon = try DaemonProcess()
        let (feed, late) = (try SocketClient(daemon.socket), try SocketClient(daemon.socket))
        let readers = try (0..<30).map { _ in try SocketClient(daemon.socket) }
        for reader in readers + [late] { _ = try reader.ask(#"{"type":"subscribe"}"#) }
        let pipes = try daemon.pipes()
        var events: [String] = []
        for round in 1...8 {
            // In one write, so that they are sent in one turn.
            let moves = (1...80).map {
                #"{"type":"move","update":{"kind":"set-bearing","bearing":\#(round).\#($0)}}"# + "\n"
            }
            try feed.send(Array(moves.joined().utf8))
            var lines: [String] = []
            for _ in moves { lines += try readers[0].receive(until: "idle") }
            for reader in readers.dropFirst() { for line in lines { #expect(reader.receive() == line) } }
            events += lines
        }
        #expect(try daemon.pipes() == pipes + (SharedPages.isSafe ? 4 : 0))
        for line in events { #expect(late.receive() == line) }
    }
}

extension DaemonProcess {
    /// Returns how many of the process's descriptors are ends of pipes.
    fileprivate func pipes() throws -> Int {
        let folder = "/proc/\(process.processIdentifier)/fd"
        return try FileManager.default.contentsOfDirectory(atPath: folder).count { name in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")
            return target?.hasPrefix("pipe:") == true
        }
    }
}
