// Touches of a web page, one event to a line, as a page writes them that listens to TouchEvents or to PointerEvents:
//
//     {"viewport":{"width":390,"height":844}}
//     {"type":"touchmove","timeStamp":1234.5,"touches":[{"identifier":0,"clientX":101.5,"clientY":200}]}
//     {"type":"pointermove","timeStamp":1234.5,"pointerId":2,"clientX":101.5,"clientY":200}
//
// `touches` are all that are on the screen after the event. The first line may tell the viewport. What else a line has is
// ignored, and so is any other event. Times are milliseconds; positions are CSS pixels, which are points.

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Reads touches of a web page.
struct WebTouches {
    private struct Line: Decodable {
        struct Touch: Decodable {
            var identifier: Int
            var clientX: Double
            var clientY: Double
        }

        struct Size: Decodable {
            var width: Double
            var height: Double
        }

        var type: String?
        var timeStamp: Double?
        var touches: [Touch]?
        var pointerId: Int?
        var clientX: Double?
        var clientY: Double?
        var viewport: Size?
    }

    private struct Finger {
        var identifier: Int
        var contact: Contact
    }

    /// A line that cannot be read.
    struct Damaged: Error {}

    /// The last frame.
    private(set) var frame = ContactFrame(time: 0, contacts: [])
    /// The viewport as a device, as far as it is known.
    private(set) var device = DeviceDescription(isInPoints: true)
    private var clock = FrameClock()
    private var numbers = ContactNumbers()
    private var fingers: [Finger] = []
    private var highest = 0

    private static let decoder = JSONDecoder()
    /// As many as a device may have.
    private static let mostFingers = 64
    private static let positions = -1e9...1e9
    private static let times = -1e15...1e15
    private static let sizes = 0.001...100_000.0

    private static func decode(_ line: Span<UInt8>) -> Line? {
        let data = unsafe line.withUnsafeBufferPointer { unsafe Data(buffer: $0) }
        return try? decoder.decode(Line.self, from: data)
    }

    /// Whether a line can stand in recordings of this shape only.
    static func recognizes(_ line: Span<UInt8>) -> Bool {
        guard Scan.begins(line, with: "{"), let line = decode(line) else { return false }
        guard let type = line.type else { return line.viewport != nil }
        let isTouch = type.hasPrefix("touch") && line.touches != nil
        return line.timeStamp != nil && (isTouch || type.hasPrefix("pointer") && line.pointerId != nil)
    }

    /// Reads a line. Says whether there is a frame now.
    mutating func parse(_ text: Span<UInt8>, _ notes: inout RecordingNotes) throws(Damaged) -> Bool {
        if Scan.isAtEnd(text, 0) { return false }
        guard let line = Self.decode(text) else { throw Damaged() }
        guard let type = line.type else {
            try set(line.viewport)
            return false
        }
        guard let time = line.timeStamp, Self.times.contains(time) else { throw Damaged() }
        switch type {
        case "touchstart", "touchmove", "touchend":
            guard let touches = line.touches else { throw Damaged() }
            try take(touches)
        case "pointerdown", "pointermove", "pointerup":
            guard try take(line, type) else { return false }
        case "touchcancel", "pointercancel":
            guard !fingers.isEmpty else { return false }
            fingers.removeAll(keepingCapacity: true)
            return complete(at: time, isCancelled: true, &notes)
        default:
            return false
        }
        return complete(at: time, &notes)
    }

    private mutating func set(_ viewport: Line.Size?) throws(Damaged) {
        guard let viewport, Self.sizes.contains(viewport.width), Self.sizes.contains(viewport.height) else {
            throw Damaged()
        }
        // A viewport that changes later is another recording's business.
        guard device.x == nil else { return }
        device.x = DeviceAxis(minimum: 0, maximum: viewport.width)
        device.y = DeviceAxis(minimum: 0, maximum: viewport.height)
    }

    // MARK: Fingers

    /// All touches that are there.
    private mutating func take(_ touches: [Line.Touch]) throws(Damaged) {
        guard touches.count <= Self.mostFingers else { throw Damaged() }
        for touch in touches { try Self.check(touch.clientX, touch.clientY) }
        let before = fingers
        fingers.removeAll(keepingCapacity: true)
        for touch in touches {
            let number = before.first { $0.identifier == touch.identifier }?.contact.id ?? numbers.next()
            let contact = Contact(id: number, x: touch.clientX, y: touch.clientY)
            fingers.append(Finger(identifier: touch.identifier, contact: contact))
        }
    }

    /// One pointer that came, moved or went. Says whether it is a finger's: a mouse moves without having come.
    private mutating func take(_ line: Line, _ type: String) throws(Damaged) -> Bool {
        guard let id = line.pointerId, let x = line.clientX, let y = line.clientY else { throw Damaged() }
        try Self.check(x, y)
        let found = fingers.firstIndex { $0.identifier == id }
        if type == "pointerdown" {
            guard fingers.count < Self.mostFingers else { throw Damaged() }
            if let found { fingers.remove(at: found) }
            fingers.append(Finger(identifier: id, contact: Contact(id: numbers.next(), x: x, y: y)))
            return true
        }
        guard let found else { return false }
        if type == "pointerup" {
            fingers.remove(at: found)
        } else {
            fingers[found].contact.x = x
            fingers[found].contact.y = y
        }
        return true
    }

    private static func check(_ x: Double, _ y: Double) throws(Damaged) {
        guard positions.contains(x), positions.contains(y) else { throw Damaged() }
    }

    // MARK: Frames

    private mutating func complete(
        at timeMs: Double, isCancelled: Bool = false, _ notes: inout RecordingNotes
    ) -> Bool {
        let before = frame.contacts.count
        frame.time = clock.advance(to: Int((timeMs * 1000).rounded()), &notes)
        frame.isCancelled = isCancelled
        frame.contacts.removeAll(keepingCapacity: true)
        for finger in fingers { frame.contacts.append(finger.contact) }
        if !isCancelled { notes.count(frame, before: before, highest: &highest) }
        return true
    }

    /// Ends the recording, and says whether that makes a last frame: fingers that are still there are cancelled.
    mutating func finish(_ notes: inout RecordingNotes) -> Bool {
        guard !fingers.isEmpty else { return false }
        notes.add(.leftDown, fingers.count)
        fingers.removeAll()
        frame.contacts.removeAll()
        frame.isCancelled = true
        return true
    }
}
