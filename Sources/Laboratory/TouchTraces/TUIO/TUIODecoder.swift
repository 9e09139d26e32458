// Decodes fingers sent by TUIO 1.1 (https://www.tuio.org/?specification) and 2.0 (https://www.tuio.org/?tuio20): takes
// datagrams, and returns what is on each source's surface. A datagram may be lost, late or malformed; the caller
// supplies the time. Protocols/tuio.md lists what is supported.

import GimbalProtocol
import MapCamera
import Touches

/// All fingers on a source's surface in one of its frames.
package struct TUIOFrame: Equatable {
    /// The source's unique name: at most 64 printable ASCII characters.
    package let source: String
    /// Milliseconds of the source's clock; `nil` if it sends no time.
    package let timeMs: Double?
    /// At most 256 fingers. Positions are fractions of the surface's width and height, 0 to 1 from its top left corner.
    package let fingers: [Touch]
    /// Whether the previous fingers were lost, rather than lifted.
    package let isCancelled: Bool
}

/// A decoder for all sources that send to one port.
package struct TUIODecoder {
    /// The state of one source.
    private struct Source {
        /// `NAME@HOST`, from the name that it sends and its address.
        let key: String
        let name: String
        /// When its last frame arrived, in milliseconds.
        var heardMs: Double
        /// The number of its last numbered frame.
        var number: Int32?
        /// In landing order.
        var fingers: [Touch] = []
        /// The unfinished frame: positions of fingers, ids of those present, its number and its time.
        var positions: [Int: ScreenPoint] = [:]
        var alive: [Int]?
        var nextNumber: Int32?
        var timeMs: Double?
    }

    /// The maximum number of sources followed at a time: as many as the surfaces a connection may have fingers on.
    package static let mostSources = 16
    /// A source that is silent for this many milliseconds loses its fingers.
    package static let longestSilenceMs = 5000.0
    /// A frame is late if its number is at most this far behind the last one; one farther behind restarts the count.
    private static let mostLateFrames: Int32 = 100
    /// A frame that arrives this many milliseconds after the last one is not late, whatever its number.
    private static let longestDelayMs = 1000.0

    private var sources: [Source] = []

    /// Creates a decoder that follows no source yet.
    package init() {}

    /// Reads a datagram.
    ///
    /// - Parameters:
    ///   - host, port: its sender.
    ///   - nowMs: its arrival time, in milliseconds of any monotonic clock.
    /// - Returns: the surfaces whose fingers have changed.
    /// - Throws: ``TUIOError`` if the datagram is malformed; none of it is applied then.
    package mutating func read(
        _ datagram: ArraySlice<UInt8>, from host: String, port: Int, at nowMs: Double
    ) throws(TUIOError) -> [TUIOFrame] {
        var messages: [TUIOMessage] = []
        for message in try OSCMessage.all(datagram) {
            if let message = try TUIOMessage(message) { messages.append(message) }
        }
        var (frames, source): ([TUIOFrame], Int?) = ([], nil)
        func key(_ name: String) -> String {
            name.isEmpty ? "\(host):\(port)" : name.contains("@") ? name : "\(name)@\(host)"
        }
        for message in messages {
            if case .source(let name) = message { source = index(of: key(name), at: nowMs) }
            if case .begin(_, _, let name) = message { source = index(of: key(name), at: nowMs) }
            source = source ?? index(of: key(""), at: nowMs)
            guard let source else { return frames }
            if let frame = take(message, of: source, at: nowMs) { frames.append(frame) }
        }
        return frames
    }

    /// Cancels the fingers of silent sources.
    package mutating func expire(at nowMs: Double) -> [TUIOFrame] {
        sources.indices.filter { nowMs - sources[$0].heardMs >= Self.longestSilenceMs }.compactMap { index in
            (sources[index].number, sources[index].timeMs) = (nil, nil)
            return change(index, to: [], isCancelled: true)
        }
    }

    /// When ``expire(at:)`` next has something to do, in milliseconds.
    package var expiryMs: Double? {
        sources.filter { !$0.fingers.isEmpty }.map { $0.heardMs + Self.longestSilenceMs }.min()
    }

    // MARK: Sources

    /// Returns a new source's name: its key in printable characters, and unlike the names of all others.
    private func name(of key: String) -> String {
        let bytes = key.utf8.map { byte in
            (0x21...0x7e).contains(byte) && !#""\"#.utf8.contains(byte) ? byte : UInt8(ascii: "_")
        }
        // The end of a long one has the address.
        var (name, number) = (String(decoding: bytes.suffix(64), as: UTF8.self), 1)
        while sources.contains(where: { $0.name == name }) {
            number += 1
            name = String(decoding: bytes.suffix(61), as: UTF8.self) + "~\(number)"
        }
        return name
    }

    /// Finds or adds a source; may replace the longest silent one without fingers. Returns `nil` if all have fingers.
    private mutating func index(of key: String, at nowMs: Double) -> Int? {
        if let known = sources.firstIndex(where: { $0.key == key }) { return known }
        let new = Source(key: key, name: name(of: key), heardMs: nowMs)
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
            // Bounds the memory of a frame that never ends.
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
        var isCancelled = false
        (sources[index].positions, sources[index].alive) = ([:], nil)
        if let number {
            let isSoon = nowMs - source.heardMs < Self.longestDelayMs
            if let last = source.number, last &- number > 0 {
                if isSoon, last &- number <= Self.mostLateFrames { return nil }
                // The fingers of the count before are lost; others may have their numbers.
                isCancelled = !source.fingers.isEmpty
            }
            sources[index].number = number
        }
        sources[index].heardMs = nowMs
        // Without an alive message, all fingers stay. A finger that lands without a position waits for one.
        let alive = source.alive ?? source.fingers.map(\.id)
        var (left, ids) = (Set(alive), [Int]())
        for id in source.fingers.map(\.id) + alive where left.remove(id) != nil { ids.append(id) }
        let fingers = ids.lazy.compactMap { id in
            let known = source.fingers.first { $0.id == id }?.position
            return (source.positions[id] ?? known).map { Touch(id: id, position: $0) }
        }
        return change(index, to: Array(fingers.prefix(RequestDecoder.mostFingers)), isCancelled: isCancelled)
    }

    private mutating func change(_ index: Int, to fingers: [Touch], isCancelled: Bool) -> TUIOFrame? {
        guard sources[index].fingers != fingers || isCancelled && !fingers.isEmpty else { return nil }
        sources[index].fingers = fingers
        let source = sources[index]
        return TUIOFrame(
            source: source.name, timeMs: source.timeMs, fingers: fingers, isCancelled: isCancelled)
    }
}

/// A TUIO message about fingers.
private enum TUIOMessage {
    /// 1.1: the source's name.
    case source(String)
    /// 2.0: a frame begins.
    case begin(Int32?, timeMs: Double?, source: String)
    case set(Int, ScreenPoint)
    case alive([Int])
    /// 1.1: a frame ends.
    case end(Int32?)
    /// 2.0: a frame ends.
    case aliveAtEnd([Int])

    /// Returns `nil` for messages about anything else.
    init?(_ message: OSCMessage) throws(TUIOError) {
        switch (message.address, message.arguments.first) {
        case ("/tuio/2Dcur", .text("source")): self = .source(try message.text(1))
        case ("/tuio/2Dcur", .text("alive")): self = .alive(try message.integers(from: 1))
        case ("/tuio/2Dcur", .text("set")): self = .set(try message.integer(1), try message.position(2))
        case ("/tuio/2Dcur", .text("fseq")):
            // -1: outside the sequence.
            let number = try message.integer(1)
            self = .end(number > 0 ? Int32(truncatingIfNeeded: number) : nil)
        case ("/tuio2/frm", _):
            // 0: outside the sequence.
            let number = try message.integer(0)
            let source = message.arguments.count > 3 ? try message.text(3) : ""
            self = .begin(
                number == 0 ? nil : Int32(truncatingIfNeeded: number), timeMs: try message.milliseconds(1),
                source: source)
        case ("/tuio2/ptr", _): self = .set(try message.integer(0), try message.position(3))
        case ("/tuio2/alv", _): self = .aliveAtEnd(try message.integers(from: 0))
        default: return nil
        }
    }
}

/// Typed access to the arguments.
extension OSCMessage {
    private func value(_ index: Int) throws(TUIOError) -> Argument {
        guard index < arguments.count else { throw wrong }
        return arguments[index]
    }

    private var wrong: TUIOError { TUIOError(message: "\(address) with invalid arguments") }

    fileprivate func text(_ index: Int) throws(TUIOError) -> String {
        guard case .text(let text) = try value(index) else { throw wrong }
        return text
    }

    fileprivate func integer(_ index: Int) throws(TUIOError) -> Int {
        guard case .integer(let integer) = try value(index), Int32(truncatingIfNeeded: integer) == integer else {
            throw wrong
        }
        return integer
    }

    fileprivate func integers(from start: Int) throws(TUIOError) -> [Int] {
        guard start <= arguments.count else { throw wrong }
        var integers: [Int] = []
        for index in start..<arguments.count { integers.append(try integer(index)) }
        return integers
    }

    fileprivate func position(_ index: Int) throws(TUIOError) -> ScreenPoint {
        ScreenPoint(x: try share(index), y: try share(index + 1))
    }

    /// Clamps a finger beside the surface to its edge.
    private func share(_ index: Int) throws(TUIOError) -> Double {
        guard case .number(let number) = try value(index), number.isFinite else { throw wrong }
        return min(max(number, 0), 1)
    }

    /// Returns `nil` for the time tag that means "immediately".
    fileprivate func milliseconds(_ index: Int) throws(TUIOError) -> Double? {
        guard case .time(let time) = try value(index) else { throw wrong }
        return time > 1 ? Double(time >> 32) * 1000 + Double(time & 0xffff_ffff) * 1000 / 4_294_967_296 : nil
    }
}
