// The hub has a fast path for lines with one live gesture. It must do the same as the slow path, which the same line
// takes with a space where the fast path expects none.

import TestSupport
import Testing

@testable import Hub

@Suite struct GestureLineTests {
    private static let kinds = ["pan", "pinch", "rotate", "tilt", "one-finger-zoom", "double-tap"]

    /// Returns a report with any valid members.
    private static func report(_ random: inout Seeded) -> String {
        let kind = kinds.randomElement(using: &random) ?? "pan"
        var members = ["\"type\":\"\(kind)\""]
        let phase =
            ["began", "changed", "changed", "changed", "ended", "cancelled"].randomElement(using: &random) ?? ""
        members.append("\"phase\":\"\(kind == "double-tap" ? "ended" : phase)\"")
        let camera = ["main", "left", "right"][random.integer(0...2)]
        if random.chance(0.3) { members.append("\"camera\":\"\(camera)\"") }
        if random.chance(0.2) { members.append("\"id\":\(random.integer(0...9))") }
        if random.chance(0.2) { members.append("\"gesture\":\(random.integer(0...1))") }
        let focus = (x: random.integer(0...400), y: random.integer(0...800))
        if random.chance(0.7) { members.append("\"focus\":{\"x\":\(focus.x),\"y\":\(focus.y)}") }
        let (x, y) = (random.integer(-50...50), random.integer(-50...50))
        switch kind {
        case "pan": members.append("\"translation\":{\"x\":\(x).25,\"y\":\(y).5}")
        case "pinch": members.append("\"scale\":1.\(random.integer(0...999))")
        case "rotate": members.append("\"rotationDeg\":\(x).125")
        case "double-tap": break
        default: members.append("\"translation\":{\"y\":\(y)}")
        }
        return "{\(members.joined(separator: ","))}"
    }

    /// Returns the output for a sequence of lines.
    private func played(_ seed: UInt64, _ change: (String) -> String) -> (own: [UInt8], others: [UInt8], lines: UInt64)
    {
        let host = HubHost()
        let (feed, other, reader) = (host.connect(), host.connect(), host.connect())
        reader.send(#"{"type":"subscribe","camera":"*"}"#)
        reader.send(#"{"type":"subscribe","camera":"left","events":["gesture","idle"]}"#)
        var random = Seeded(seed)
        for _ in 0..<400 {
            let peer = random.chance(0.8) ? feed : other
            peer.put(change(Self.report(&random)))
            if random.chance(0.3) { host.pass(random.number(0...40)) }
        }
        host.pass(2000)
        return (feed.received, reader.received, host.hub.parts.counters.lines)
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func bothWaysOfALineDoTheSame(_ seed: UInt64) {
        let short = played(seed) { $0 }
        let long = played(seed) { "{ " + $0.dropFirst() }
        #expect(short == long)
        #expect(short.others.count > 10_000 && short.lines == 402)
    }
}
