// What traces did to cameras, as an MCAP file with three channels for each camera. `/CAMERA/events` has the camera's
// events as Gimbal prints them; `/CAMERA/target` and `/CAMERA/visible_region` have what Foxglove's map shows. Times are
// those of the trace. Protocols/test-kit.md describes the file.

import GimbalProtocol
import JSONLines
import MapCamera

/// Makes an MCAP file of what traces do to cameras.
package struct MCAPRecording {
    private struct Channels {
        let camera: String
        let events, target, region: UInt16
    }

    private var writer = MCAPWriter(library: "gimbal")
    private let schemas: (event: UInt16, target: UInt16, region: UInt16)
    private var channels: [Channels] = []
    /// Microseconds of the file's clock: at its last message, and when the camera's clock began.
    private var (nowUs, startUs) = (0.0, 0.0)
    /// The time of the trace's first line, in milliseconds.
    private var origin: Double?
    private var viewport = Viewport.standard
    /// The last camera and its position.
    private var last: (channels: Channels, position: CameraPosition)?

    /// Creates a recording without messages.
    package init() {
        schemas = (
            writer.addSchema("gimbal.CameraEvent", Array(Self.eventSchema.utf8)),
            writer.addSchema("foxglove.LocationFix", Array(Self.targetSchema.utf8)),
            writer.addSchema("foxglove.GeoJSON", Array(Self.regionSchema.utf8))
        )
    }

    /// Follows a line of a trace that is played at the highest speed.
    ///
    /// - Parameters:
    ///   - requests: the line's requests; empty if it was rejected.
    ///   - messages: the answers and events that it produced.
    ///   - newViewport: returns the camera's viewport after the line.
    package mutating func follow(
        _ requests: [Request], _ messages: [ReceivedLine], newViewport: () throws -> Viewport?
    ) rethrows {
        if requests.contains(where: { if case .trace = $0.body { true } else { false } }) {
            origin = nil
            viewport = try newViewport() ?? viewport
        }
        let lineMs = requests.lazy.compactMap(\.timeMs).first
        origin = origin ?? lineMs
        let changes = requests.contains { if case .set(.viewport) = $0.body { true } else { false } }
        // Motion that was already under way precedes the line, and is seen in the old viewport.
        let changeMs = changes ? (((lineMs ?? 0) - (origin ?? 0)) * 1000).rounded() / 1000 : .infinity
        let changed = changes ? try newViewport() : nil
        for message in messages {
            if let ended = message.traceEnded { nowUs = max(nowUs, (startUs + ended.durationMs * 1000).rounded()) }
            guard let event = message.event else { continue }
            if let changed, event.timeMs.map({ $0 >= changeMs }) ?? false { viewport = changed }
            if case .reset(let reset) = event {
                // A trace that follows another begins where that one ended.
                if nowUs > 0 { startUs = nowUs - reset.timeMs * 1000 }
                add(message, of: reset.camera, reset.position, atMs: reset.timeMs, isChange: true)
            } else if let move = event.move {
                let isChange = message.type == .cameraChanged
                add(message, of: move.camera, move.position, atMs: move.timeMs, isChange: isChange)
            }
        }
        guard let changed, changed != viewport else { return }
        viewport = changed
        if let last { addRegion(of: last.position, to: last.channels, atMs: changeMs) }
    }

    /// Ends the file.
    package mutating func finish() { writer.finish() }

    /// Returns the bytes of the file that were written since the last call.
    package mutating func take() -> [UInt8] { writer.take() }

    // MARK: Messages

    private mutating func add(
        _ message: ReceivedLine, of camera: String, _ position: CameraPosition, atMs: Double, isChange: Bool
    ) {
        let channels = channels(of: camera)
        last = (channels, position)
        let time = nanoseconds(atMs)
        writer.add(Array(message.withoutEpoch), to: channels.events, at: time)
        guard isChange else { return }
        let fix: JSONValue = .object([
            "timestamp": .object([
                "sec": .number(Double(time / 1_000_000_000)), "nsec": .number(Double(time % 1_000_000_000)),
            ]),
            "frame_id": .string(camera), "latitude": .number(position.target.latitude),
            "longitude": .number(position.target.longitude), "altitude": .number(0),
            "position_covariance": .array(Array(repeating: .number(0), count: 9)),
            "position_covariance_type": .number(0),
        ])
        writer.add(fix.bytes, to: channels.target, at: time)
        addRegion(of: position, to: channels, atMs: atMs)
    }

    /// Adds the corners of the ground that a position shows, unless a corner shows no ground.
    private mutating func addRegion(of position: CameraPosition, to channels: Channels, atMs: Double) {
        guard let region = Projection(position, viewport: viewport).unwrappedVisibleRegion else { return }
        let ring = [region.nearLeft, region.nearRight, region.farRight, region.farLeft, region.nearLeft].map { corner in
            // As many digits as the protocol has.
            JSONValue.array([corner.longitude, corner.latitude].map { .number(($0 * 1e9).rounded() / 1e9) })
        }
        let feature: JSONValue = .object([
            "type": .string("Feature"), "properties": .object(["name": .string(channels.camera)]),
            "geometry": .object(["type": .string("Polygon"), "coordinates": .array([.array(ring)])]),
        ])
        let text = String(decoding: feature.bytes, as: UTF8.self)
        writer.add(JSONValue.object(["geojson": .string(text)]).bytes, to: channels.region, at: nanoseconds(atMs))
    }

    /// Returns the file's time at a time of the camera's clock, which has a resolution of a microsecond. The file's
    /// clock ends after 291 years, and stands still from then on.
    private mutating func nanoseconds(_ timeMs: Double) -> UInt64 {
        nowUs = max(nowUs, (startUs + timeMs * 1000).rounded())
        return UInt64(min(nowUs, 9.2e15)) * 1000
    }

    private mutating func channels(of camera: String) -> Channels {
        if let known = channels.first(where: { $0.camera == camera }) { return known }
        let new = Channels(
            camera: camera, events: writer.addChannel("/\(camera)/events", schema: schemas.event),
            target: writer.addChannel("/\(camera)/target", schema: schemas.target),
            region: writer.addChannel("/\(camera)/visible_region", schema: schemas.region))
        channels.append(new)
        return new
    }

    // MARK: Schemas

    /// The events that have a position, as in Protocols/gimbal.schema.json; a test keeps the two consistent.
    private static let eventSchema = """
        {"$schema":"https://json-schema.org/draft/2020-12/schema","title":"gimbal.CameraEvent","type":"object",\
        "description":"What a camera of Gimbal did","required":["type","camera","seq","timeMs","position"],"properties":{\
        "type":{"enum":["move-started","camera-changed","idle","reset"]},\
        "camera":{"type":"string","description":"The camera's name"},\
        "seq":{"type":"integer","minimum":0,"description":"The number of the event"},\
        "timeMs":{"type":"number","description":"Milliseconds of the trace's clock"},\
        "reason":{"enum":[\(MoveReason.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ","))]},\
        "position":{"type":"object","required":["target","zoom","bearing","viewingAngle"],"properties":{\
        "target":{"type":"object","required":["latitude","longitude"],"properties":{\
        "latitude":{"type":"number","description":"Degrees north"},\
        "longitude":{"type":"number","description":"Degrees east"}}},\
        "zoom":{"type":"number","description":"The world is 256 * 2^zoom points wide"},\
        "bearing":{"type":"number","description":"Degrees clockwise from north"},\
        "viewingAngle":{"type":"number","description":"Degrees from looking straight down"}}}}}
        """

    /// Foxglove's LocationFix, restricted to what is used here.
    private static let targetSchema = """
        {"title":"foxglove.LocationFix","type":"object","properties":{\
        "timestamp":{"type":"object","title":"time","properties":{\
        "sec":{"type":"integer","minimum":0},"nsec":{"type":"integer","minimum":0,"maximum":999999999}}},\
        "frame_id":{"type":"string","description":"The camera's name"},\
        "latitude":{"type":"number","description":"Degrees north of the camera's target"},\
        "longitude":{"type":"number","description":"Degrees east of the camera's target"},\
        "altitude":{"type":"number","description":"Metres: 0, the target is on the ground"},\
        "position_covariance":{"type":"array","items":{"type":"number"},"minItems":9,"maxItems":9},\
        "position_covariance_type":{"type":"integer","description":"0: unknown"}}}
        """

    /// Foxglove's GeoJSON.
    private static let regionSchema = """
        {"title":"foxglove.GeoJSON","type":"object","properties":{\
        "geojson":{"type":"string","description":"The ground that the viewport less its padding shows, as a polygon"}}}
        """
}
