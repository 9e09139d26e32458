// Edits of a whole trace: another screen, another place, another pace. What the fingers did stays the same, and lines
// that an edit does not concern keep their bytes.

import Gestures
import GimbalProtocol
import MapCamera
import Touches

/// A change of a whole trace.
package enum TraceEdit: Sendable {
    /// Gives the screen another size, in points; fingers stay where they were on it.
    case viewport(width: Double, height: Double)
    /// Starts the camera elsewhere; without a zoom, its zoom stays. Places in the trace's lines stay.
    case start(LatLng, zoom: Double?)
    /// Moves everything to another part of the map: the start of the camera and every place in a line are shifted by
    /// the same amount on the map's plane.
    case moveTo(LatLng)
    /// Speeds everything up by a factor: times, animations, and the velocities of flings.
    case speed(Double)
    /// Limits pauses, in which no finger is down, no gesture is active and nothing moves, to this many milliseconds.
    case trimIdle(Double)
    /// Replaces the initial bounds of the target, or removes them.
    case bounds(CoordinateBounds?)
    /// Replaces the initial zoom range.
    case zoomRange(ZoomRange)
}

extension Trace {
    /// Applies an edit.
    ///
    /// - Throws: `TraceError` if the header cannot be rewritten, or if a daemon would no longer accept a line.
    package mutating func apply(_ edit: TraceEdit) throws(TraceError) {
        let before = lines.map(\.requests.isEmpty)
        try change(edit)
        for (index, line) in lines.enumerated() where !before[index] && line.requests.isEmpty {
            throw TraceError(
                "would have a time or a speed out of range in line \(index + 2), not counting blank lines, which no daemon accepts"
            )
        }
    }

    private mutating func change(_ edit: TraceEdit) throws(TraceError) {
        switch edit {
        case .viewport(let width, let height):
            var viewport = headerMember("viewport")?.object ?? [:]
            viewport["width"] = .number(width)
            viewport["height"] = .number(height)
            try header.set([("viewport", .object(viewport))])
        case .start(let target, let zoom):
            var position = headerMember("position")?.object ?? [:]
            position["target"] = .place(target)
            if let zoom { position["zoom"] = .number(zoom) }
            if position["zoom"] == nil { position["zoom"] = .number(CameraPosition.initial.zoom) }
            try header.set([("position", .object(position))])
        case .moveTo(let place): try move(to: place)
        case .speed(let factor): try hasten(factor)
        case .trimIdle(let longest): try trimIdle(longest)
        case .bounds(let bounds):
            let corners = bounds.map { bounds -> JSONValue in
                .object(["southWest": .place(bounds.southWest), "northEast": .place(bounds.northEast)])
            }
            try header.set([("targetBounds", corners)])
        case .zoomRange(let range): try header.set([("minZoom", .number(range.min)), ("maxZoom", .number(range.max))])
        }
    }

    private func headerMember(_ name: String) -> JSONValue? { (try? JSONValue(header.bytes))?[name] }

    /// Changes the objects of every valid line; the others stay as they are.
    private mutating func mapObjects(_ change: (inout JSONObject) -> Void) {
        for index in lines.indices where !lines[index].requests.isEmpty { lines[index].mapObjects(change) }
    }

    // MARK: Place

    private mutating func move(to place: LatLng) throws(TraceError) {
        let from = MercatorPoint(header.header?.position.target.normalized ?? place)
        let to = MercatorPoint(place.normalized)
        let shift = MercatorPoint(x: to.x - from.x, y: to.y - from.y)
        var members: [(name: String, value: JSONValue?)] = []
        var position = headerMember("position")?.object ?? [:]
        position["target"] = .place(place.normalized)
        if position["zoom"] == nil { position["zoom"] = .number(CameraPosition.initial.zoom) }
        members.append(("position", .object(position)))
        for name in ["targetBounds", "idleAction"] {
            if let member = headerMember(name), member != .null { members.append((name, member.shifted(by: shift))) }
        }
        try header.set(members)
        mapObjects { object in
            for member in object.members { object[member.name] = member.value.shifted(by: shift) }
        }
    }

    // MARK: Pace

    private mutating func hasten(_ factor: Double) throws(TraceError) {
        try changeHeaderTimes { $1 / factor }
        guard let start = startMs else { return }
        let isOwnPaced = lines.lazy.flatMap(\.requests).contains { request in
            guard case .tour(let keyframes) = request.body else { return false }
            return keyframes.contains { $0.durationMs == nil }
        }
        guard !isOwnPaced else {
            throw TraceError("has a tour with a flight that takes its own time: give its keyframe a durationMs")
        }
        // Each surface has its own clock, which starts at the first time of that surface.
        var surfaceStarts: [[UInt8]: Double] = [:]
        mapObjects { object in
            if let time = object["timeMs"]?.number { object["timeMs"] = .time(start + (time - start) / factor) }
            if let time = object["surfaceTimeMs"]?.number {
                let start = surfaceStarts[object["surface"]?.bytes ?? [], default: time]
                surfaceStarts[object["surface"]?.bytes ?? []] = start
                object["surfaceTimeMs"] = .time(start + (time - start) / factor)
            }
            object.divide(["durationMs", "maxDurationMs"], by: factor)
            if object["type"]?.string == "animate", object["durationMs"] == nil {
                if object["path"]?.string == "flight" {
                    object["speed"] = .number((object["speed"]?.number ?? Flight.usualSpeed) * factor)
                } else {
                    object["durationMs"] = .time(CameraAnimation.usualDuration / factor)
                }
            }
            object["keyframes"] = object["keyframes"]?.withObjects { $0.divide(["durationMs", "waitMs"], by: factor) }
            guard var velocity = object["velocity"]?.object else { return }
            for name in ["x", "y"] {
                if let value = velocity[name]?.number { velocity[name] = .number(value * factor) }
            }
            object["velocity"] = .object(velocity)
        }
    }

    /// Changes the times in the header.
    private mutating func changeHeaderTimes(_ change: (_ name: String, Double) -> Double?) throws(TraceError) {
        var members: [(name: String, value: JSONValue?)] = []
        for name in ["fromMs", "untilMs", "durationMs", "idleTimeLimitMs"] {
            guard let time = headerMember(name)?.number else { continue }
            members.append((name, change(name, time).map(JSONValue.time)))
        }
        try header.set(members)
    }

    // MARK: Pauses

    private mutating func trimIdle(_ longest: Double) throws(TraceError) {
        let shifts = try pauses().map { max($0 - longest, 0) }
        let start = startMs ?? 0
        var shift = 0.0
        /// The times of lines before and after the edit.
        var moved: [(from: Double, to: Double)] = []
        for index in lines.indices {
            shift += shifts[index]
            guard let time = lines[index].timeMs else { continue }
            // A daemon rejects a line that goes back in time.
            if time - start >= moved.last?.from ?? 0 { moved.append((time - start, time - start - shift)) }
            guard shift > 0 else { continue }
            lines[index].mapObjects { if $0["timeMs"] != nil { $0["timeMs"] = .time(time - shift) } }
        }
        // Pauses are shortened at their ends.
        try changeHeaderTimes { name, time in
            switch name {
            case "fromMs", "untilMs":
                let before = moved.last { $0.from <= time }
                let inPause = time - (before.map { $0.from - $0.to } ?? 0)
                return moved.first { $0.from > time }.map { min(inPause, $0.to) } ?? inPause
            case "durationMs": return nil
            default: return time
            }
        }
    }

    /// Returns how long before each line nothing moved, no gesture was active, no finger was down, and no second tap
    /// was awaited, in milliseconds.
    private func pauses() throws(TraceError) -> [Double] {
        let start = startMs ?? 0
        var reporter = GestureReporter()
        var active = ActiveGestures<Void>(header.header?.gestures ?? GestureSettings())
        var last = start
        var tapEnd = -Double.infinity
        var pauses: [Double] = []
        let run: TraceRun
        do { run = try TraceRun(camera: header.camera) } catch { throw TraceError("has an invalid camera name") }
        run.play(try header.asAWhole().bytes) { _ in }
        for line in lines {
            var moved = last
            var isRejected = false
            run.play(line.bytes) { played in
                isRejected = isRejected || played.messages.contains { $0.type == .error }
                let times = played.messages.compactMap { $0.event?.move?.timeMs }.map { start + $0 }
                moved = times.last { (line.timeMs ?? last).isPrintedAfter($0) } ?? moved
            }
            let time = line.timeMs ?? last
            let isIdle = active.isEmpty && reporter.fingersDown == 0 && !isRejected
            pauses.append(isIdle ? max(time - max(moved, last, tapEnd), 0) : 0)
            if !isRejected { last = time }
            for request in line.requests where !isRejected {
                for report in reporter.reports(of: request, at: time) { active.handle(report, ()) }
                active.handle(request.body)
                if case .touch = request.body, reporter.waitsForSecondTap {
                    // The first microsecond that is too late for a second tap.
                    tapEnd = time + Thresholds().tapTime + 0.001
                }
            }
        }
        return pauses
    }
}

extension Trace.Line {
    /// Changes the objects of the line; a line that stays the same keeps its bytes.
    mutating func mapObjects(_ change: (inout JSONObject) -> Void) {
        guard let value = try? JSONValue(bytes) else { return }
        let changed = value.withObjects(change)
        if changed != value { self = Trace.Line(changed.bytes) }
    }
}

extension JSONValue {
    /// Returns the value with its object changed; if it is an array, with each of its objects changed.
    fileprivate func withObjects(_ change: (inout JSONObject) -> Void) -> JSONValue {
        if let array { return .array(array.map { $0.withObjects(change) }) }
        guard case .object(var object) = self else { return self }
        change(&object)
        return .object(object)
    }

    fileprivate static func place(_ place: LatLng) -> JSONValue {
        .object([
            "latitude": .number(rounded(place.latitude, 1e9)), "longitude": .number(rounded(place.longitude, 1e9)),
        ])
    }

    /// Returns a time rounded to whole microseconds.
    fileprivate static func time(_ timeMs: Double) -> JSONValue { .number(rounded(timeMs, 1000)) }

    private static func rounded(_ value: Double, _ unit: Double) -> Double { (value * unit).rounded() / unit }

    /// Returns the value with all places in it shifted on the map's plane.
    fileprivate func shifted(by shift: MercatorPoint) -> JSONValue {
        if case .array(let values) = self { return .array(values.map { $0.shifted(by: shift) }) }
        guard case .object(var object) = self else { return self }
        if let latitude = object["latitude"]?.number, let longitude = object["longitude"]?.number {
            var point = MercatorPoint(LatLng(latitude: latitude, longitude: longitude).normalized)
            (point.x, point.y) = (point.x + shift.x, point.y + shift.y)
            return Self.place(point.coordinate.normalized)
        }
        let (west, east) = (object["southWest"]?["longitude"]?.number, object["northEast"]?["longitude"]?.number)
        let isWholeTurn = (east ?? 0) - (west ?? 0) >= 360
        for member in object.members {
            // Bounds that span the whole globe still do.
            let way = isWholeTurn ? MercatorPoint(x: 0, y: shift.y) : shift
            var moved = member.value.shifted(by: way)
            if isWholeTurn, case .object(var corner) = moved, let longitude = member.value["longitude"] {
                corner["longitude"] = longitude
                moved = .object(corner)
            }
            object[member.name] = moved
        }
        return .object(object)
    }
}

extension JSONObject {
    /// Divides those of the named times that the object has.
    fileprivate mutating func divide(_ names: [String], by factor: Double) {
        for name in names {
            if let time = self[name]?.number { self[name] = .time(time / factor) }
        }
    }
}
