// Fingers by TUIO: both versions; lost, late, duplicated and invalid datagrams; and many sources.

import Foundation
import MapCamera
import TestSupport
import Testing
import Touches

@testable import TouchTraces

/// Makes Open Sound Control datagrams.
enum OSC {
    enum Argument: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral {
        case integer(Int32), number(Float), text(String), time(UInt64)

        init(integerLiteral value: Int32) { self = .integer(value) }
        init(floatLiteral value: Float) { self = .number(value) }
        init(stringLiteral value: String) { self = .text(value) }

        /// Its type tag and its bytes.
        var coded: (tag: String, bytes: [UInt8]) {
            switch self {
            case .integer(let value): ("i", OSC.bytes(UInt32(bitPattern: value)))
            case .number(let value): ("f", OSC.bytes(value.bitPattern))
            case .text(let value): ("s", OSC.text(value))
            case .time(let value): ("t", OSC.bytes(value))
            }
        }
    }

    static func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
        stride(from: number.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    static func text(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8) + [0]
        return bytes + Array(repeating: 0, count: (4 - bytes.count % 4) % 4)
    }

    static func message(_ address: String, _ arguments: Argument...) -> [UInt8] { message(address, arguments) }

    static func message(_ address: String, _ arguments: [Argument]) -> [UInt8] {
        text(address) + text("," + arguments.map(\.coded.tag).joined()) + arguments.flatMap(\.coded.bytes)
    }

    static func bundle(_ parts: [UInt8]...) -> [UInt8] { bundle(parts) }

    static func bundle(_ parts: [[UInt8]]) -> [UInt8] {
        text("#bundle") + bytes(UInt64(1)) + parts.flatMap { bytes(UInt32($0.count)) + $0 }
    }
}

/// A finger's number and position.
typealias Finger = (id: Int32, x: Float, y: Float)

@Suite struct TUIOTests {
    /// Returns a TUIO 1.1 bundle.
    private func bundle(
        _ number: Int32, _ fingers: [Finger], alive: [Int32]? = nil, source: String? = "table@here"
    ) -> [UInt8] {
        let profile = "/tuio/2Dcur"
        let ids = (alive ?? fingers.map(\.id)).map { OSC.Argument.integer($0) }
        let sets = fingers.map { finger in
            OSC.message(
                profile,
                ["set", .integer(finger.id), .number(finger.x), .number(finger.y)] + Array(repeating: 0.0, count: 3))
        }
        let head = source.map { [OSC.message(profile, "source", .text($0))] } ?? []
        return OSC.bundle(
            head + [OSC.message(profile, ["alive"] + ids)] + sets + [OSC.message(profile, "fseq", .integer(number))])
    }

    /// Returns a TUIO 2.0 bundle.
    private func bundle2(_ number: Int32, _ fingers: [Finger], time: UInt64 = 1, source: String = "wall:0@here")
        -> [UInt8]
    {
        let pointers = fingers.map { finger in
            OSC.message(
                "/tuio2/ptr",
                [.integer(finger.id), 0, 0, .number(finger.x), .number(finger.y)] + Array(repeating: 0.0, count: 4))
        }
        return OSC.bundle(
            [OSC.message("/tuio2/frm", .integer(number), .time(time), 0x0400_0300, .text(source))] + pointers
                + [OSC.message("/tuio2/alv", fingers.map { .integer($0.id) })])
    }

    /// Reads datagrams that arrive 10 ms apart; returns a surface's contents after each one that changed something.
    private func read(_ datagrams: [[UInt8]]) throws -> [TUIOFrame] {
        var (decoder, nowMs) = (TUIODecoder(), 0.0)
        return try datagrams.flatMap { datagram in
            nowMs += 10
            return try decoder.read(datagram[...], from: "10.0.0.7", port: 4000, at: nowMs)
        }
    }

    private func text(_ frame: TUIOFrame) -> String {
        frame.fingers.map { "\($0.id):\(short($0.position.x)),\(short($0.position.y))" }.joined(separator: " ")
    }

    private func short(_ number: Double) -> String { String(format: "%g", number) }

    // MARK: Valid input

    @Test func fingersLandMoveAndLift() throws {
        let frames = try read([
            bundle(1, []), bundle(2, [(7, 0.25, 0.5)]), bundle(3, [(7, 0.5, 0.5), (8, 1, 0)]),
            bundle(4, [], alive: [7, 8]),
            bundle(5, [(8, 0.75, 0)]), bundle(6, []),
        ])
        #expect(frames.map(text) == ["7:0.25,0.5", "7:0.5,0.5 8:1,0", "8:0.75,0", ""])
        #expect(frames.allSatisfy { $0.source == "table@here" && $0.timeMs == nil && !$0.isCancelled })
    }

    @Test func theSecondVersionHasTimes() throws {
        let second: UInt64 = 1 << 32
        let frames = try read([
            bundle2(1, [(7, 0.25, 0.5)], time: 3 * second), bundle2(2, [(7, 0.5, 0.5)], time: 3 * second + second / 4),
            bundle2(3, []),
        ])
        #expect(frames.map(text) == ["7:0.25,0.5", "7:0.5,0.5", ""])
        #expect(frames.map(\.timeMs) == [3000, 3250, nil] && frames.allSatisfy { $0.source == "wall:0@here" })
    }

    @Test func messagesMayComeAlone() throws {
        let profile = "/tuio/2Dcur"
        let frames = try read([
            OSC.message(profile, "set", 3, 0.5, 0.25, 0.0, 0.0, 0.0), OSC.message(profile, "alive", 3),
            OSC.message("/tuio/2Dobj", "set", 1), OSC.message(profile, "fseq", 1), OSC.message(profile, "alive"),
            OSC.message(profile, "fseq", 2),
        ])
        #expect(frames.map(text) == ["3:0.5,0.25", ""] && frames.allSatisfy { $0.source == "10.0.0.7:4000" })
    }

    @Test func aBundleMayStandInABundle() throws {
        #expect(try read([OSC.bundle(bundle(1, [(1, 0, 0)]), bundle(2, []))]).map(text) == ["1:0,0", ""])
    }

    @Test func fingersBesideTheSurfaceAreAtItsEdge() throws {
        #expect(try read([bundle(1, [(1, -0.5, 1.5)])]).map(text) == ["1:0,1"])
    }

    // MARK: Lost and late datagrams

    @Test func theNextBundleMakesGoodALostOne() throws {
        // Lost: a lift, and the landing of another finger, whose position is unknown until it moves.
        let frames = try read([
            bundle(1, [(1, 0.5, 0.5)]), bundle(3, [], alive: [2]), bundle(4, [(2, 0.25, 0.25)], alive: [2]),
        ])
        #expect(frames.map(text) == ["1:0.5,0.5", "", "2:0.25,0.25"])
    }

    @Test func aLateBundleIsIgnored() throws {
        for make in [{ bundle($0, $1) }, { bundle2($0, $1) }] as [(Int32, [Finger]) -> [UInt8]] {
            let frames = try read([
                make(5, [(1, 0.5, 0.5)]), make(7, []), make(6, [(1, 0.75, 0.5)]), make(7, []), make(8, [(2, 0, 0)]),
            ])
            #expect(frames.map(text) == ["1:0.5,0.5", "", "2:0,0"])
        }
    }

    @Test func aSourceMayBeginAnew() throws {
        // A much lower number, or a second of silence.
        #expect(try read([bundle(500, [(1, 0.5, 0.5)]), bundle(1, [])]).map(text) == ["1:0.5,0.5", ""])
        var decoder = TUIODecoder()
        _ = try decoder.read(bundle(50, [(1, 0.5, 0.5)])[...], from: "a", port: 1, at: 0)
        #expect(try decoder.read(bundle(1, [])[...], from: "a", port: 1, at: 999) == [])
        #expect(try decoder.read(bundle(1, [])[...], from: "a", port: 1, at: 1000).map(text) == [""])
    }

    /// Its fingers were lost, rather than lifted, and others may have their numbers.
    @Test func aSourceThatBeginsAnewCancelsItsFingers() throws {
        let frames = try read([
            bundle(500, []), bundle(300, [(1, 0.5, 0.5)]), bundle(1, [(1, 0.5, 0.5)]), bundle(2, [(1, 0.75, 0.5)]),
        ])
        #expect(frames.map(text) == ["1:0.5,0.5", "1:0.5,0.5", "1:0.75,0.5"])
        #expect(frames.map(\.isCancelled) == [false, true, false])
        let second: UInt64 = 1 << 32
        let again = try read([bundle2(500, [(1, 0, 0)], time: 9 * second), bundle2(1, [(1, 1, 0)], time: 2 * second)])
        #expect(again.map(\.timeMs) == [9000, 2000] && again.map(\.isCancelled) == [false, true])
    }

    @Test func numbersRunOverAndMayBeLeftOut() throws {
        let frames = try read([
            bundle2(.max, [(1, 0.5, 0.5)]), bundle2(.min, [(1, 0.75, 0.5)]), bundle2(.max, [(1, 0, 0)]), bundle2(0, []),
        ])
        #expect(frames.map(text) == ["1:0.5,0.5", "1:0.75,0.5", ""])
        #expect(try read([bundle(9, [(1, 0.5, 0.5)]), bundle(-1, [])]).map(text) == ["1:0.5,0.5", ""])
    }

    @Test func anyOrderAndAnyLossEndAtTheLastBundle() throws {
        var random = Seeded(1)
        for _ in 0..<200 {
            let last: [Finger] = [(3, 0.25, 0.75), (9, 0.5, 0.5)]
            var datagrams = (1...40).map { number in
                bundle(
                    Int32(number),
                    (0..<Int32.random(in: 0...4, using: &random)).map {
                        ($0, Float.random(in: 0...1, using: &random), 0.5)
                    })
            }
            datagrams = (datagrams + datagrams).shuffled(using: &random).filter { _ in Bool.random(using: &random) }
            let frames = try read(datagrams + [bundle(41, last), datagrams.first ?? []].filter { !$0.isEmpty })
            #expect(frames.last.map(text) == "3:0.25,0.75 9:0.5,0.5")
        }
    }

    @Test func fingersOfASilentSourceAreCancelled() throws {
        var decoder = TUIODecoder()
        _ = try decoder.read(bundle(1, [(1, 0.5, 0.5)])[...], from: "a", port: 1, at: 100)
        #expect(decoder.expiryMs == 5100 && decoder.expire(at: 5099) == [])
        let frames = decoder.expire(at: 5100)
        #expect(frames.map(text) == [""] && frames.first?.isCancelled == true)
        #expect(decoder.expiryMs == nil && decoder.expire(at: 9000) == [])
    }

    // MARK: Sources

    @Test func sourcesHaveSurfacesOfTheirOwn() throws {
        var decoder = TUIODecoder()
        func send(_ source: String?, _ host: String, _ port: Int, _ x: Float) throws -> String? {
            try decoder.read(bundle(1, [(1, x, 0)], source: source)[...], from: host, port: port, at: 0).first?.source
        }
        #expect(try send("wall", "10.0.0.1", 1, 0.1) == "wall@10.0.0.1")
        #expect(try send("wall", "10.0.0.2", 1, 0.1) == "wall@10.0.0.2")
        #expect(try send("wall", "10.0.0.2", 2, 0.2) == "wall@10.0.0.2")
        #expect(try send(nil, "10.0.0.2", 2, 0.2) == "10.0.0.2:2")
        #expect(try send("a \"\u{1b}\u{e9}\\", "::1", 2, 0.2) == "a______@::1")
        let long = String(repeating: "n", count: 200)
        #expect(try send(long, "::1", 2, 0.2) == "\(long.prefix(60))@::1")
    }

    @Test func sourcesWhoseNamesBecomeTheSameHaveSurfacesOfTheirOwn() throws {
        var decoder = TUIODecoder()
        func send(_ source: String) throws -> String? {
            try decoder.read(bundle(1, [(1, 0.1, 0)], source: source)[...], from: "a", port: 1, at: 0).first?.source
        }
        let long = String(repeating: "x", count: 64)
        #expect(try ["a b", "a_b", "a\tb"].map(send) == ["a_b@a", "a_b@a~2", "a_b@a~3"])
        let both = try (send(long + "\u{1}b"), send(long + "\u{2}b"))
        #expect(both.0?.hasSuffix("x_b@a") == true && both.1?.hasSuffix("x_b@a~2") == true)
        #expect(both.0?.count == 64 && both.1?.count == 63)
        #expect(try send("a b") == nil, "its fingers have not changed")
    }

    @Test func soManySourcesAreFollowedAndNoMore() throws {
        var decoder = TUIODecoder()
        func send(_ source: Int, _ fingers: [Finger], at nowMs: Double, number: Int32 = 1) throws -> Int {
            try decoder.read(bundle(number, fingers, source: "s\(source)")[...], from: "a", port: 1, at: nowMs).count
        }
        for source in 0..<16 { #expect(try send(source, [(1, 0, 0)], at: Double(source)) == 1) }
        #expect(try send(16, [(1, 0, 0)], at: 20) == 0)
        #expect(try send(4, [], at: 30, number: 2) == 1)
        #expect(try send(16, [(1, 0, 0)], at: 40) == 1)
        #expect(try send(4, [(1, 0, 0)], at: 50) == 0)
    }

    @Test func soManyFingersAreTakenAndNoMore() throws {
        let many: [Finger] = (0..<900).map { (Int32($0), 0.5, 0.5) }
        let frames = try read([
            bundle(1, Array(many.prefix(2))), bundle(2, many.reversed()), bundle(3, [], alive: [1, 1, 1]),
        ])
        #expect(frames.map(\.fingers.count) == [2, 256, 1])
        // Existing fingers stay.
        #expect(frames[1].fingers.map(\.id).prefix(3) == [0, 1, 899])
    }

    // MARK: Invalid input

    @Test func nothingIsTakenOfADatagramThatIsWrong() throws {
        let right = bundle(2, [(1, 0.5, 0.5)])
        let wrong: [[UInt8]] = [
            [], [0], Array("hello".utf8), Array("#bundle".utf8), OSC.text("/tuio/2Dcur"), right.dropLast(), right + [0],
            OSC.bundle(right, Array("#bun".utf8)), OSC.message("/tuio/2Dcur", "alive", "x"),
            OSC.message("/tuio/2Dcur", "set", 1, 0.5), OSC.message("/tuio/2Dcur", "set", 1, .number(.nan), 0.5),
            OSC.message("/tuio/2Dcur", "set", 1, .number(.infinity), 0.5), OSC.message("/tuio/2Dcur", "fseq", "1"),
            OSC.message("/tuio2/frm", 1, 2, 3, "x"), OSC.message("/tuio2/alv", 0.5), OSC.text("/a") + OSC.text(",q"),
            OSC.text("/a") + OSC.text(",b") + OSC.bytes(Int32(-4)),
            OSC.text("/a") + OSC.text(",b") + OSC.bytes(Int32.max),
            (0..<9).reduce(OSC.message("/a")) { part, _ in OSC.bundle(part) },
        ]
        for datagram in wrong {
            var decoder = TUIODecoder()
            #expect(throws: TUIOError.self, "\(datagram)") {
                try decoder.read(OSC.bundle(right, datagram)[...], from: "a", port: 1, at: 0)
            }
            #expect(throws: TUIOError.self) { try decoder.read(datagram[...], from: "a", port: 1, at: 0) }
            #expect(try decoder.read(right[...], from: "a", port: 1, at: 0).map(text) == ["1:0.5,0.5"])
        }
    }

    @Test func noDatagramCrashes() throws {
        var random = Seeded(2)
        let samples = [bundle(1, [(1, 0.5, 0.5), (2, 0.25, 0.25)]), bundle2(1, [(1, 0.5, 0.5)])]
        var (decoder, taken) = (TUIODecoder(), 0)
        for step in 0..<20_000 {
            var datagram = samples[step % 2]
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                datagram[Int.random(in: 0..<datagram.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            if step % 5 == 0 { datagram.removeLast(Int.random(in: 0..<datagram.count, using: &random)) }
            let frames = (try? decoder.read(datagram[...], from: "a", port: step % 40, at: Double(step))) ?? []
            taken += frames.count
            for finger in frames.flatMap(\.fingers) {
                #expect((0...1).contains(finger.position.x) && (0...1).contains(finger.position.y))
            }
        }
        #expect(taken > 1000)
    }
}
