// Fingers by TUIO 1.1 (https://www.tuio.org/?specification) and 2.0 (https://www.tuio.org/?tuio20): datagrams in, what is on
// each source's surface out. A datagram may be lost, come late or be anything; time comes in from outside. Protocols/tuio.md
// says what is taken.

import GimbalProtocol
import MapCamera
import Touches

/// All fingers on the surface of a source, from one of its frames.
package struct TUIOFrame: Equatable {
    /// Tells sources apart: at most 64 printable characters of ASCII.
    package let source: String
    /// Milliseconds of the source's clock; `nil` where it tells none.
    package let timeMs: Double?
    /// Positions are shares of the surface's width and height, 0 to 1 from its top left corner; at most 256.
    package let fingers: [Touch]
    /// Whether those before are lost, and have not lifted.
    package let isCancelled: Bool
}

/// Follows the sources that send to one port.
package struct TUIODecoder {
    /// What a source has said.
    private struct Source {
        let name: String
        /// When its last frame came, in milliseconds.
        var heardMs: Double
        /// The number of its last frame that had one.
        var number: Int32?
        /// In the order in which they landed.
        var fingers: [Touch] = []
        /// Of the frame that has not ended: where fingers are, which there are, its number and its time.
        var positions: [Int: ScreenPoint] = [:]
        var alive: [Int]?
        var nextNumber: Int32?
        var timeMs: Double?
    }

    /// So many sources are followed at one time: as many surfaces a connection may have fingers on.
    package static let mostSources = 16
    /// Fingers of a source that is silent for so many milliseconds are lost.
    package static let longestSilenceMs = 5000.0
    /// A frame is late if it is behind the last one by so many at the most; one that is farther back begins anew.
    private static let mostLateFrames: Int32 = 100
    /// A frame that comes so many milliseconds after the last one is not late, whatever its number.
    private static let longestDelayMs = 1000.0

    private var sources: [Source] = []

    /// Follows nothing yet.
    package init() {}

    /// Reads a datagram.
    ///
    /// - Parameters:
    ///   - host, port: who has sent it.
    ///   - nowMs: when it came, in milliseconds of any clock that does not go back.
    /// - Returns: the surfaces whose fingers have changed.
    /// - Throws: ``TUIOError`` for a datagram that is not right, of which nothing is taken.
    package mutating func read(
        _ datagram: ArraySlice<UInt8>, from host: String, port: Int, at nowMs: Double
    ) throws(TUIOError) -> [TUIOFrame] {
        var messages: [TUIOMessage] = []
        for message in try OSCMessage.all(datagram) {
            if let message = try TUIOMessage(message) { messages.append(message) }
        }
        var (frames, source): ([TUIOFrame], Int?) = ([], nil)
        func named(_ name: String) -> String { Self.name(name, host, port) }
        for message in messages {
            if case .source(let name) = message { source = index(of: named(name), at: nowMs) }
            if case .begin(_, _, let name) = message { source = index(of: named(name), at: nowMs) }
            source = source ?? index(of: named(""), at: nowMs)
            guard let source else { return frames }
            if let frame = take(message, of: source, at: nowMs) { frames.append(frame) }
        }
        return frames
    }

    /// Cancels the fingers of sources that are silent.
    package mutating func expire(at nowMs: Double) -> [TUIOFrame] {
        sources.indices.filter { nowMs - sources[$0].heardMs >= Self.longestSilenceMs }.compactMap { index in
            sources[index].number = nil
            return change(index, to: [], isCancelled: true)
        }
    }

    /// When there is something to ``expire(at:)`` next, in milliseconds.
    package var expiryMs: Double? {
        sources.filter { !$0.fingers.isEmpty }.map { $0.heardMs + Self.longestSilenceMs }.min()
    }

    // MARK: Sources

    /// `NAME@HOST`, of what a source calls itself and where it is.
    private static func name(_ name: String, _ host: String, _ port: Int) -> String {
        let name = name.isEmpty ? "\(host):\(port)" : name.contains("@") ? name : "\(name)@\(host)"
        let bytes = name.utf8.prefix(64).map { byte in
            (0x21...0x7e).contains(byte) && !#""\"#.utf8.contains(byte) ? byte : UInt8(ascii: "_")
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A new source takes the place of the one that has been silent longest of those without fingers; `nil` if all have some.
    private mutating func index(of name: String, at nowMs: Double) -> Int? {
        if let known = sources.firstIndex(where: { $0.name == name }) { return known }
        let new = Source(name: name, heardMs: nowMs)
        guard sources.count >= Self.mostSources else {
            sources.append(new)
            return sources.count - 1
        }
        let free = sources.indices.filter { sources[$0].fingers.isEmpty }
        guard let oldest = free.min(by: { sources[$0].heardMs < sources[$1].heardMs }) else { return nil }
        sources[oldest] = new
        return oldest
    }

    // MARK: Frames

    private mutating func take(_ message: TUIOMessage, of index: Int, at nowMs: Double) -> TUIOFrame? {
        switch message {
        case .source: break
        case .begin(let number, let timeMs, _):
            sources[index].positions = [:]
            (sources[index].nextNumber, sources[index].timeMs) = (number, timeMs)
        case .set(let id, let position):
            // A frame that never ends is kept no longer than this.
            if sources[index].positions.count < 4 * RequestDecoder.mostFingers {
                sources[index].positions[id] = position
            }
        case .alive(let ids): sources[index].alive = ids
        case .end(let number):
            sources[index].timeMs = nil
            return endFrame(number, of: index, at: nowMs)
        case .aliveAtEnd(let ids):
            sources[index].alive = ids
            defer { sources[index].nextNumber = nil }
            return endFrame(sources[index].nextNumber, of: index, at: nowMs)
        }
        return nil
    }

    private mutating func endFrame(_ number: Int32?, of index: Int, at nowMs: Double) -> TUIOFrame? {
        let source = sources[index]
        (sources[index].positions, sources[index].alive) = ([:], nil)
        if let number {
            let isSoon = nowMs - source.heardMs < Self.longestDelayMs
            if let last = source.number, isSoon, 1...Self.mostLateFrames ~= last &- number { return nil }
            sources[index].number = number
        }
        sources[index].heardMs = nowMs
        // Where nothing is said of that, all are still there. Of those that land, one whose position was lost waits for the next.
        let alive = source.alive ?? source.fingers.map(\.id)
        var (left, ids) = (Set(alive), [Int]())
        for id in source.fingers.map(\.id) + alive where left.remove(id) != nil { ids.append(id) }
        let fingers = ids.lazy.compactMap { id in
            let known = source.fingers.first { $0.id == id }?.position
            return (source.positions[id] ?? known).map { Touch(id: id, position: $0) }
        }
        return change(index, to: Array(fingers.prefix(RequestDecoder.mostFingers)), isCancelled: false)
    }

    private mutating func change(_ index: Int, to fingers: [Touch], isCancelled: Bool) -> TUIOFrame? {
        guard sources[index].fingers != fingers else { return nil }
        sources[index].fingers = fingers
        let source = sources[index]
        return TUIOFrame(
            source: source.name, timeMs: isCancelled ? nil : source.timeMs, fingers: fingers, isCancelled: isCancelled)
    }
}

/// A message of TUIO about fingers.
private enum TUIOMessage {
    /// 1.1: what the source calls itself.
    case source(String)
    /// 2.0: a frame begins.
    case begin(Int32?, timeMs: Double?, source: String)
    case set(Int, ScreenPoint)
    case alive([Int])
    /// 1.1: a frame ends.
    case end(Int32?)
    /// 2.0: a frame ends.
    case aliveAtEnd([Int])

    /// Nothing for messages about anything else.
    init?(_ message: OSCMessage) throws(TUIOError) {
        let values = Values(message)
        switch (message.address, message.arguments.first) {
        case ("/tuio/2Dcur", .text("source")): self = .source(try values.text(1))
        case ("/tuio/2Dcur", .text("alive")): self = .alive(try values.integers(from: 1))
        case ("/tuio/2Dcur", .text("set")): self = .set(try values.integer(1), try values.position(2))
        case ("/tuio/2Dcur", .text("fseq")):
            // -1: out of the order.
            let number = try values.integer(1)
            self = .end(number > 0 ? Int32(truncatingIfNeeded: number) : nil)
        case ("/tuio2/frm", _):
            // 0: out of the order.
            let number = try values.integer(0)
            let source = message.arguments.count > 3 ? try values.text(3) : ""
            self = .begin(
                number == 0 ? nil : Int32(truncatingIfNeeded: number), timeMs: try values.milliseconds(1),
                source: source)
        case ("/tuio2/ptr", _): self = .set(try values.integer(0), try values.position(3))
        case ("/tuio2/alv", _): self = .aliveAtEnd(try values.integers(from: 0))
        default: return nil
        }
    }

    /// The arguments of a message, read as what they must be.
    private struct Values {
        let address: String
        let arguments: [OSCMessage.Argument]

        init(_ message: OSCMessage) { (address, arguments) = (message.address, message.arguments) }

        private func value(_ index: Int) throws(TUIOError) -> OSCMessage.Argument {
            guard index < arguments.count else { throw wrong }
            return arguments[index]
        }

        private var wrong: TUIOError { TUIOError(message: "\(address) with arguments that are not right") }

        func text(_ index: Int) throws(TUIOError) -> String {
            guard case .text(let text) = try value(index) else { throw wrong }
            return text
        }

        func integer(_ index: Int) throws(TUIOError) -> Int {
            guard case .integer(let integer) = try value(index), Int32(truncatingIfNeeded: integer) == integer else {
                throw wrong
            }
            return integer
        }

        func integers(from start: Int) throws(TUIOError) -> [Int] {
            guard start <= arguments.count else { throw wrong }
            var integers: [Int] = []
            for index in start..<arguments.count { integers.append(try integer(index)) }
            return integers
        }

        func position(_ index: Int) throws(TUIOError) -> ScreenPoint {
            ScreenPoint(x: try share(index), y: try share(index + 1))
        }

        /// A finger beside the surface is at its edge.
        private func share(_ index: Int) throws(TUIOError) -> Double {
            guard case .number(let number) = try value(index), number.isFinite else { throw wrong }
            return min(max(number, 0), 1)
        }

        /// `nil` for the time tag that means "at once".
        func milliseconds(_ index: Int) throws(TUIOError) -> Double? {
            guard case .time(let time) = try value(index) else { throw wrong }
            return time > 1 ? Double(time >> 32) * 1000 + Double(time & 0xffff_ffff) * 1000 / 4_294_967_296 : nil
        }
    }
}
