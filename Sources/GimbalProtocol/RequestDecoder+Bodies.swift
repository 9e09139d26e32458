// What stands in a request of each type: gestures, commands, subscriptions, traces, and the parts of the camera that they
// are made of. Each function names the fields that it reads, so that an error can.

import Gestures
import JSONLines
import MapCamera

extension RequestDecoder {
    // MARK: Gestures

    func gesture(
        _ kind: GestureKind, _ object: Int, _ line: Span<UInt8>, _ time: Double?
    ) throws(WireError) -> Request.Body {
        let phase = try phase(object, line, isRequired: !kind.isTap)
        var event = GestureEvent(kind, phase)
        event.time = time
        event.focus = try point(object, FieldPath(.focus), .focus)
        switch kind {
        case .pan:
            event.value = try translation(object).map { .pan($0) }
            if phase == .ended { event.velocity = try point(object, FieldPath(.velocity), .velocity) }
        case .pinch:
            event.value = try number(object, FieldPath(.scale), .scale, in: 1e-9...1e9).map { .pinch($0) }
        case .rotate:
            event.value = try number(object, FieldPath(.rotationDeg), .rotationDeg, in: -1e9...1e9).map { .rotate($0) }
        case .tilt:
            event.value = try translation(object).map { .tilt($0.y) }
        case .oneFingerZoom:
            event.value = try translation(object).map { .oneFingerZoom($0.y) }
        case .doubleTap, .twoFingerTap:
            break
        }
        return .gesture(Request.Gesture(event, label: try label(object, line)))
    }

    /// A tap has happened when it is reported: its phase is `ended`, and may be left out.
    func phase(_ object: Int, _ line: Span<UInt8>, isRequired: Bool) throws(WireError) -> GesturePhase {
        if !isRequired, child(object, .phase) == nil { return .ended }
        switch try requiredWord(object, .phase, Self.phases, line, "began, changed, ended or cancelled") {
        case 0: return .began
        case 1: return .changed
        case 2: return .ended
        default: return .cancelled
        }
    }

    func translation(_ object: Int) throws(WireError) -> ScreenPoint? {
        let path = FieldPath(.translation)
        guard let inner = try self.object(object, path, .translation) else { return nil }
        return ScreenPoint(
            x: try number(inner, path / .x, .x, in: -1e9...1e9) ?? 0,
            y: try number(inner, path / .y, .y, in: -1e9...1e9) ?? 0)
    }

    func label(_ object: Int, _ line: Span<UInt8>) throws(WireError) -> GestureKey.Label {
        guard let node = child(object, .gesture) else { return .none }
        if tape[node].kind == .string, tape[node].text.count <= Self.longestLabel {
            return .text(text(node, line))
        }
        if let number = integer(node, line) { return .number(number) }
        throw .wrong(FieldPath(.gesture), "must be an integer, or a string of at most \(Self.longestLabel) bytes")
    }

    func gestureSettings(_ object: Int, _ path: FieldPath?) throws(WireError) -> GestureSettingsChange {
        var change = GestureSettingsChange()
        change.scroll = try flag(object, path, .scroll)
        change.zoom = try flag(object, path, .zoom)
        change.rotate = try flag(object, path, .rotate)
        change.tilt = try flag(object, path, .tilt)
        change.scrollDuringRotateOrZoom = try flag(object, path, .scrollDuringRotateOrZoom)
        change.fling = try flag(object, path, .fling)
        change.inertia = try flag(object, path, .inertia)
        return change
    }

    // MARK: Commands

    enum UpdateKind: String, CaseIterable {
        case zoomIn = "zoom-in"
        case zoomOut = "zoom-out"
        case zoomTo = "zoom-to"
        case zoomBy = "zoom-by"
        case setTarget = "set-target"
        case setCamera = "set-camera"
        case scrollBy = "scroll-by"
        case fitBounds = "fit-bounds"
        case setBearing = "set-bearing"
        case setViewingAngle = "set-viewing-angle"
    }

    func update(_ object: Int, _ line: Span<UInt8>) throws(WireError) -> CameraUpdate {
        let path = FieldPath(.update)
        let inner = try requiredObject(object, path, .update)
        guard let kindNode = child(inner, .kind) else {
            throw .missing(path / .kind, "it is the camera update to make, such as \"zoom-to\"")
        }
        guard tape[kindNode].kind == .string, let known = word(kindNode, Self.updates, line) else {
            let all = UpdateKind.allCases.map(\.rawValue).joined(separator: ", ")
            throw .wrong(path / .kind, "must be one of \(all)")
        }
        switch UpdateKind.allCases[known] {
        case .zoomIn: return .zoomIn
        case .zoomOut: return .zoomOut
        case .zoomTo: return .zoomTo(try requiredNumber(inner, path / .zoom, .zoom))
        case .zoomBy:
            return .zoomBy(
                try requiredNumber(inner, path / .amount, .amount), focus: try point(inner, path / .focus, .focus))
        case .setTarget:
            return .setTarget(
                try latLng(inner, path / .target, .target), zoom: try number(inner, path / .zoom, .zoom))
        case .setCamera: return .setCamera(try position(inner, path / .position))
        case .scrollBy:
            return .scrollBy(
                x: try requiredNumber(inner, path / .x, .x, in: -1e9...1e9),
                y: try requiredNumber(inner, path / .y, .y, in: -1e9...1e9))
        case .fitBounds:
            let bounds = try bounds(inner, path / .bounds, .bounds)
            let padding = try number(inner, path / .padding, .padding, in: 0...100_000)
            let insets = try insets(inner, path / .insets, .insets)
            return .fitBounds(
                bounds, insets: insets ?? EdgeInsets(all: padding ?? CameraUpdate.defaultFitPadding))
        case .setBearing: return .setBearing(try requiredNumber(inner, path / .bearing, .bearing))
        case .setViewingAngle:
            return .setViewingAngle(try requiredNumber(inner, path / .viewingAngle, .viewingAngle))
        }
    }

    func animate(_ object: Int, _ line: Span<UInt8>) throws(WireError) -> Request.Command {
        let update = try update(object, line)
        let duration =
            try number(object, FieldPath(.durationMs), .durationMs, in: 0...3_600_000)
            ?? CameraAnimation.usualDuration
        let easing: Easing
        switch try word(object, .easing, Self.easings, line, "default, linear, ease-in, ease-out or ease-in-out") {
        case 1: easing = .linear
        case 2: easing = .easeIn
        case 3: easing = .easeOut
        case 4: easing = .easeInOut
        default: easing = .default
        }
        return .animate(update, durationMs: duration, easing: easing)
    }

    func zoomRange(_ object: Int) throws(WireError) -> Request.Command {
        let (min, max) = try zoomLimits(object)
        if min == nil && max == nil { throw .missing(FieldPath(.minZoom), "minZoom, maxZoom or both are to be set") }
        return .setZoomRange(min: min, max: max)
    }

    /// The two ends of a zoom range, as far as they stand there. That one is not above the other is checked here only
    /// where both do.
    func zoomLimits(_ object: Int) throws(WireError) -> (Double?, Double?) {
        let min = try number(object, FieldPath(.minZoom), .minZoom, in: ZoomRange.limits)
        let max = try number(object, FieldPath(.maxZoom), .maxZoom, in: ZoomRange.limits)
        if let min, let max, min > max { throw Self.reversedZoomRange }
        return (min, max)
    }

    /// The answer to a zoom range whose ends are the wrong way round.
    package static let reversedZoomRange = WireError(
        .invalidValue, field: "minZoom", "minZoom must not be above maxZoom")

    func targetBounds(_ object: Int) throws(WireError) -> CoordinateBounds? {
        if let node = child(object, .bounds), tape[node].kind == .null { return nil }
        return try bounds(object, FieldPath(.bounds), .bounds)
    }

    // MARK: Subscriptions, traces

    func subscribe(_ object: Int, _ line: Span<UInt8>) throws(WireError) -> Subscribe {
        var subscribe = try following(object, line)
        if let node = child(object, .since) { subscribe.since = (try seq(node, line, .since), try epoch(object)) }
        return subscribe
    }

    /// What is to be sent of whatever cameras.
    private func following(_ object: Int, _ line: Span<UInt8>) throws(WireError) -> Subscribe {
        var subscribe = Subscribe()
        if let node = child(object, .events) { subscribe.events = try events(node, line) }
        let delivery = try word(object, .delivery, Self.deliveries, line, "\"every\" or \"latest\"")
        subscribe.delivery = delivery == 1 ? .latest : .every
        if subscribe.delivery == .latest, subscribe.events.contains(.gesture) {
            throw .wrong(FieldPath(.delivery), "must be \"every\" where events has \"gesture\"")
        }
        return subscribe
    }

    private func seq(_ node: Int, _ line: Span<UInt8>, _ field: Field) throws(WireError) -> UInt64 {
        guard let seq = integer(node, line), seq >= 0 else {
            throw .wrong(FieldPath(field), "must be a seq: an integer from 0")
        }
        return UInt64(seq)
    }

    /// A subscription to all cameras.
    mutating func subscribeAll(_ object: Int, _ line: Span<UInt8>) throws(WireError) -> Request.Body {
        let subscribe = try following(object, line)
        if subscribe.events.contains(.gesture) {
            throw .wrong(FieldPath(.events), "must not have \"gesture\" where camera is \"*\": name each camera")
        }
        var points: [ResumePoint] = []
        if let array = child(object, .since) {
            func wrong() -> WireError {
                .wrong(
                    FieldPath(.since), "must be an array of objects with camera, seq and epoch where camera is \"*\"")
            }
            guard tape[array].kind == .array else { throw wrong() }
            var index = array + 1
            while index < Int(tape[array].next) {
                guard tape[index].kind == .object, let name = try cameraName(index, line),
                    let node = child(index, .seq)
                else { throw wrong() }
                points.append(ResumePoint(camera: name, seq: try seq(node, line, .seq), epoch: try epoch(index)))
                index = Int(tape[index].next)
            }
        }
        return .subscribeAll(subscribe, since: points)
    }

    func epoch(_ object: Int) throws(WireError) -> ByteRange {
        guard let node = child(object, .epoch) else {
            throw .missing(FieldPath(.epoch), "since counts within the epoch that \"subscribed\" told")
        }
        guard tape[node].kind == .string, tape[node].text.count <= Self.longestLabel else {
            throw .wrong(FieldPath(.epoch), "must be a string of at most \(Self.longestLabel) bytes")
        }
        return tape[node].text
    }

    func events(_ array: Int, _ line: Span<UInt8>) throws(WireError) -> EventKinds {
        func wrong() -> WireError {
            .wrong(
                FieldPath(.events),
                "must be an array of \"move-started\", \"camera-changed\", \"idle\" and \"gesture\"")
        }
        guard tape[array].kind == .array else { throw wrong() }
        var kinds: EventKinds = .reset
        var index = array + 1
        while index < Int(tape[array].next) {
            guard tape[index].kind == .string, let name = word(index, Self.eventNames, line) else { throw wrong() }
            kinds.insert(EventKinds(rawValue: 1 << UInt8(name)))
            index = Int(tape[index].next)
        }
        return kinds
    }

    /// Which clients are asked for: those whose number is greater.
    func clients(_ object: Int, _ line: Span<UInt8>) throws(WireError) -> Int {
        guard let node = child(object, .after) else { return 0 }
        guard let number = integer(node, line), number >= 0 else {
            throw .wrong(FieldPath(.after), "must be a client's number: an integer from 0")
        }
        return Int(number)
    }

    func hello(_ object: Int) throws(WireError) -> Request.Body {
        try version(object)
        return .hello
    }

    func version(_ object: Int) throws(WireError) {
        guard child(object, .version) != nil else { throw .missing(FieldPath(.version), "it is 1") }
        guard try number(object, FieldPath(.version), .version) == 1 else {
            throw WireError(.unsupportedVersion, field: "version", "only version 1 is spoken here")
        }
    }

    func header(_ object: Int, _ line: Span<UInt8>) throws(WireError) -> TraceHeader {
        try version(object)
        var header = TraceHeader()
        if let node = child(object, .speed) {
            let number = tape[node].kind == .number ? tape[node].number : 0
            let isMax = tape[node].kind == .string && word(node, Self.speeds, line) != nil
            guard isMax || (number > 0 && number.isFinite) else {
                throw .wrong(FieldPath(.speed), "must be a number above 0, or \"max\"")
            }
            header.speed = isMax ? .infinity : number
        }
        if let inner = try self.object(object, FieldPath(.viewport), .viewport) {
            header.viewport = try viewport(inner, FieldPath(.viewport))
        }
        if child(object, .position) != nil { header.position = try position(object, FieldPath(.position)) }
        let (min, max) = try zoomLimits(object)
        header.constraints.zoomRange =
            ZoomRange(min: min ?? ZoomRange.all.min, max: max ?? ZoomRange.all.max) ?? .all
        if let node = child(object, .targetBounds), tape[node].kind != .null {
            header.constraints.targetBounds = try bounds(object, FieldPath(.targetBounds), .targetBounds)
        }
        if let inner = try self.object(object, FieldPath(.gestures), .gestures) {
            header.gestures = try gestureSettings(inner, FieldPath(.gestures))
        }
        return header
    }

    // MARK: Parts of the camera

    func position(_ object: Int, _ path: FieldPath) throws(WireError) -> CameraPosition {
        let inner = try requiredObject(object, path, .position)
        return CameraPosition(
            target: try latLng(inner, path / .target, .target),
            zoom: try requiredNumber(inner, path / .zoom, .zoom),
            bearing: try number(inner, path / .bearing, .bearing) ?? 0,
            viewingAngle: try number(inner, path / .viewingAngle, .viewingAngle) ?? 0)
    }

    func latLng(_ object: Int, _ path: FieldPath, _ field: Field) throws(WireError) -> LatLng {
        let inner = try requiredObject(object, path, field)
        return LatLng(
            latitude: try requiredNumber(inner, path / .latitude, .latitude),
            longitude: try requiredNumber(inner, path / .longitude, .longitude))
    }

    func bounds(_ object: Int, _ path: FieldPath, _ field: Field) throws(WireError) -> CoordinateBounds {
        let inner = try requiredObject(object, path, field)
        let southWest = try latLng(inner, path / .southWest, .southWest)
        let northEast = try latLng(inner, path / .northEast, .northEast)
        guard let bounds = CoordinateBounds(southWest: southWest, northEast: northEast) else {
            throw .wrong(path / .southWest / .latitude, "must not be north of northEast.latitude")
        }
        return bounds
    }

    func viewport(_ object: Int, _ parent: FieldPath?) throws(WireError) -> Viewport {
        func path(_ field: Field) -> FieldPath { parent.map { $0 / field } ?? FieldPath(field) }
        let width = try requiredNumber(object, path(.width), .width, in: 0.001...100_000)
        let height = try requiredNumber(object, path(.height), .height, in: 0.001...100_000)
        let padding = try insets(object, path(.padding), .padding)
        return Viewport(width: width, height: height, padding: padding ?? EdgeInsets())
    }

    func insets(_ object: Int, _ path: FieldPath, _ field: Field) throws(WireError) -> EdgeInsets? {
        guard let inner = try self.object(object, path, field) else { return nil }
        return EdgeInsets(
            top: try number(inner, path / .top, .top, in: 0...100_000) ?? 0,
            left: try number(inner, path / .left, .left, in: 0...100_000) ?? 0,
            bottom: try number(inner, path / .bottom, .bottom, in: 0...100_000) ?? 0,
            right: try number(inner, path / .right, .right, in: 0...100_000) ?? 0)
    }

    func requiredPoint(_ object: Int, _ path: FieldPath, _ field: Field) throws(WireError) -> ScreenPoint {
        guard let point = try point(object, path, field) else { throw .missing(path, "an object with x and y") }
        return point
    }

    func point(_ object: Int, _ path: FieldPath, _ field: Field) throws(WireError) -> ScreenPoint? {
        guard let inner = try self.object(object, path, field) else { return nil }
        return ScreenPoint(
            x: try requiredNumber(inner, path / .x, .x, in: -1e9...1e9),
            y: try requiredNumber(inner, path / .y, .y, in: -1e9...1e9))
    }
}
