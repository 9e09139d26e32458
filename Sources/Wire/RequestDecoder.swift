// A line in, its requests out; or the one error that it is answered with. Nothing is applied here and nothing remembered,
// so a line means the same whoever sends it and whenever. Steady state allocates nothing.

import Gestures
import MapCamera

/// Why a line was rejected, and what is known of it.
public struct Rejection: Error {
    public let error: WireError
    /// Which object of an array was wrong; `nil` if the line as a whole was.
    public let member: Int?
    /// Whether the line meant to begin a trace. What follows such a line must not be taken for live input.
    public let isHeader: Bool

    public init(error: WireError, member: Int?, isHeader: Bool) {
        self.error = error
        self.member = member
        self.isHeader = isHeader
    }
}

/// Decodes lines.
public struct RequestDecoder: ~Copyable {
    /// The longest line in bytes, its LF and a CR before it not counted.
    public static let longestLine = 65536
    /// The most objects in an array.
    public static let largestFrame = 64
    static let longestID = 256
    static let longestLabel = 64
    static let longestName = 64

    /// The requests of the last line that was accepted.
    public private(set) var requests: [Request] = []
    /// The ids of the last line's objects, as far as they could be read.
    public private(set) var ids: [Slice?] = []

    private var tape = JSONTape()
    private let types = WordTable(MessageType.allCases.map(\.rawValue))
    private let updates = WordTable(UpdateKind.allCases.map(\.rawValue))
    private let phases = WordTable(["began", "changed", "ended", "cancelled"])
    private let easings = WordTable(["default", "linear", "ease-in", "ease-out", "ease-in-out"])
    private let eventNames = WordTable(["move-started", "camera-changed", "idle"])
    private let deliveries = WordTable(["every", "latest"])
    private let speeds = WordTable(["max"])
    /// The camera name read last: a long name costs its string only once.
    private var lastName = ""

    public init() {}

    /// Reads a line without its LF.
    public mutating func decode(_ line: Span<UInt8>) throws(Rejection) {
        requests.removeAll(keepingCapacity: true)
        ids.removeAll(keepingCapacity: true)
        do {
            try tape.read(line)
        } catch {
            throw Rejection(error: error, member: nil, isHeader: looksLikeHeader(line))
        }
        switch tape.nodes[0].kind {
        case .object: try member(0, line, isFrame: false)
        case .array: try frame(line)
        default: throw Rejection(error: Self.notALine, member: nil, isHeader: false)
        }
    }

    /// Says what is wrong with a line beyond the limit, of which only the beginning need be there.
    public mutating func rejectTooLong(_ beginning: Span<UInt8>) -> Rejection {
        requests.removeAll(keepingCapacity: true)
        ids.removeAll(keepingCapacity: true)
        try? tape.read(beginning)
        let error = WireError(.lineTooLong, "a line has at most \(Self.longestLine) bytes")
        return Rejection(error: error, member: nil, isHeader: looksLikeHeader(beginning))
    }

    private static let notALine = WireError(.invalidValue, "a line is one object, or an array of objects")

    private mutating func frame(_ line: Span<UInt8>) throws(Rejection) {
        let end = Int(tape.nodes[0].next)
        var index = 1
        var hasHeader = false
        while index < end {
            ids.append(tape.nodes[index].kind == .object ? readableID(index, line) : nil)
            hasHeader = hasHeader || type(of: index, line) == .trace
            index = Int(tape.nodes[index].next)
        }
        func reject(_ error: WireError) -> Rejection { Rejection(error: error, member: nil, isHeader: hasHeader) }
        if ids.isEmpty { throw reject(WireError(.invalidValue, "an array has at least one object")) }
        if ids.count > Self.largestFrame {
            throw reject(WireError(.limitReached, "an array has at most \(Self.largestFrame) objects"))
        }
        index = 1
        while index < end {
            try member(index, line, isFrame: true)
            index = Int(tape.nodes[index].next)
        }
    }

    private mutating func member(_ object: Int, _ line: Span<UInt8>, isFrame: Bool) throws(Rejection) {
        if !isFrame { ids.append(readableID(object, line)) }
        do {
            requests.append(try request(object, line, isFrame: isFrame))
        } catch {
            let isHeader = type(of: object, line) == .trace
            throw Rejection(error: error, member: isFrame ? requests.count : nil, isHeader: isHeader)
        }
    }

    /// The id for the answer to a request that may be wrong otherwise.
    private func readableID(_ object: Int, _ line: Span<UInt8>) -> Slice? {
        guard let node = child(object, .id), let id = try? id(node, line) else { return nil }
        return id
    }

    private func type(of object: Int, _ line: Span<UInt8>) -> MessageType? {
        guard let node = child(object, .type), tape.nodes[node].kind == .string else { return nil }
        return word(node, types, line).map { MessageType.allCases[$0] }
    }

    /// Whether a line that is broken somewhere says before that place that it is a header.
    private func looksLikeHeader(_ line: Span<UInt8>) -> Bool {
        let header = types.index(of: Array("trace".utf8).span, 0, 5)
        return tape.nodes.contains { node in
            node.field == Field.type.rawValue && node.kind == .string
                && types.index(of: line, Int(node.text.start), Int(node.text.end)) == header
        }
    }

    // MARK: One request

    private enum MessageType: String, CaseIterable {
        case pan, pinch, rotate, tilt
        case move, animate, stop
        case setGestures = "set-gestures"
        case setZoomRange = "set-zoom-range"
        case setTargetBounds = "set-target-bounds"
        case setViewport = "set-viewport"
        case removeCamera = "remove-camera"
        case getCamera = "get-camera"
        case cameraForBounds = "camera-for-bounds"
        case project, unproject
        case visibleRegion = "visible-region"
        case cameras, stats, ping
        case subscribe, unsubscribe, hello, trace
        case traceEnd = "trace-end"
    }

    /// Every type that is known, for tests of the documentation.
    static let knownTypes = MessageType.allCases.map(\.rawValue)

    private mutating func request(_ object: Int, _ line: Span<UInt8>, isFrame: Bool) throws(WireError) -> Request {
        guard tape.nodes[object].kind == .object else { throw Self.notALine }
        guard let typeNode = child(object, .type) else {
            throw .missing(FieldPath(.type), "every object says what it is, such as \"pan\"")
        }
        guard tape.nodes[typeNode].kind == .string else { throw .wrong(FieldPath(.type), "must be a string") }
        guard let known = word(typeNode, types, line) else {
            let given = JSONTape.text(line, tape.nodes[typeNode].text).prefix(40)
            throw WireError(.unknownType, field: "type", "nothing is known of the type \"\(given)\"")
        }
        let type = MessageType.allCases[known]
        let id = try child(object, .id).map { node throws(WireError) in try self.id(node, line) }
        let camera = try cameraName(object, line)
        if isFrame && (type == .trace || type == .traceEnd) {
            throw .wrong(
                FieldPath(.type), "must not be \"\(type.rawValue)\" in an array: it stands on a line of its own")
        }
        let time = try number(object, FieldPath(.timeMs), .timeMs, in: -1e15...1e15)
        let body = try body(type, object, line, time)
        return Request(id: id, camera: camera, timeMs: time, body: body)
    }

    private func body(
        _ type: MessageType, _ object: Int, _ line: Span<UInt8>, _ time: Double?
    ) throws(WireError) -> Request.Body {
        switch type {
        case .pan: try gesture(.pan, object, line, time)
        case .pinch: try gesture(.pinch, object, line, time)
        case .rotate: try gesture(.rotate, object, line, time)
        case .tilt: try gesture(.tilt, object, line, time)
        case .move: .command(.move(try update(object, line)))
        case .animate: .command(try animate(object, line))
        case .stop: .command(.stop)
        case .setGestures: .command(.setGestures(try gestureSettings(object, nil)))
        case .setZoomRange: .command(try zoomRange(object))
        case .setTargetBounds: .command(.setTargetBounds(try targetBounds(object)))
        case .setViewport: .command(.setViewport(try viewport(object, nil)))
        case .removeCamera: .command(.removeCamera)
        case .getCamera: .query(.getCamera)
        case .cameraForBounds:
            .query(
                .cameraForBounds(
                    try bounds(object, FieldPath(.bounds), .bounds),
                    insets: try insets(object, FieldPath(.insets), .insets) ?? EdgeInsets()))
        case .project: .query(.project(try latLng(object, FieldPath(.coordinate), .coordinate)))
        case .unproject: .query(.unproject(try requiredPoint(object, FieldPath(.point), .point)))
        case .visibleRegion: .query(.visibleRegion)
        case .cameras: .query(.cameras)
        case .stats: .query(.stats)
        case .ping: .query(.ping)
        case .subscribe: .subscribe(try subscribe(object, line))
        case .unsubscribe: .unsubscribe
        case .hello: try hello(object)
        case .trace: .trace(try header(object, line))
        case .traceEnd: .traceEnd
        }
    }

    // MARK: Gestures

    private func gesture(
        _ kind: GestureKind, _ object: Int, _ line: Span<UInt8>, _ time: Double?
    ) throws(WireError) -> Request.Body {
        let phase: GesturePhase
        switch try requiredWord(object, .phase, phases, line, "began, changed, ended or cancelled") {
        case 0: phase = .began
        case 1: phase = .changed
        case 2: phase = .ended
        default: phase = .cancelled
        }
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
        }
        return .gesture(event, label: try label(object, line))
    }

    private func translation(_ object: Int) throws(WireError) -> ScreenPoint? {
        let path = FieldPath(.translation)
        guard let inner = try self.object(object, path, .translation) else { return nil }
        return ScreenPoint(
            x: try number(inner, path / .x, .x, in: -1e9...1e9) ?? 0,
            y: try number(inner, path / .y, .y, in: -1e9...1e9) ?? 0)
    }

    private func label(_ object: Int, _ line: Span<UInt8>) throws(WireError) -> GestureKey.Label {
        guard let node = child(object, .gesture) else { return .none }
        if tape.nodes[node].kind == .string, tape.nodes[node].text.count <= Self.longestLabel {
            return .text(text(node, line))
        }
        if let number = integer(node, line) { return .number(number) }
        throw .wrong(FieldPath(.gesture), "must be an integer, or a string of at most \(Self.longestLabel) bytes")
    }

    private func gestureSettings(_ object: Int, _ path: FieldPath?) throws(WireError) -> GestureSettingsChange {
        var change = GestureSettingsChange()
        change.scroll = try flag(object, path, .scroll)
        change.zoom = try flag(object, path, .zoom)
        change.rotate = try flag(object, path, .rotate)
        change.tilt = try flag(object, path, .tilt)
        change.scrollDuringRotateOrZoom = try flag(object, path, .scrollDuringRotateOrZoom)
        return change
    }

    // MARK: Commands

    private enum UpdateKind: String, CaseIterable {
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

    private func update(_ object: Int, _ line: Span<UInt8>) throws(WireError) -> CameraUpdate {
        let path = FieldPath(.update)
        let inner = try requiredObject(object, path, .update)
        guard let kindNode = child(inner, .kind) else {
            throw .missing(path / .kind, "it is the camera update to make, such as \"zoom-to\"")
        }
        guard tape.nodes[kindNode].kind == .string, let known = word(kindNode, updates, line) else {
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

    private func animate(_ object: Int, _ line: Span<UInt8>) throws(WireError) -> Request.Command {
        let update = try update(object, line)
        let duration = try number(object, FieldPath(.durationMs), .durationMs, in: 0...3_600_000) ?? 250
        let easing: Easing
        switch try word(object, .easing, easings, line, "default, linear, ease-in, ease-out or ease-in-out") {
        case 1: easing = .linear
        case 2: easing = .easeIn
        case 3: easing = .easeOut
        case 4: easing = .easeInOut
        default: easing = .default
        }
        return .animate(update, durationMs: duration, easing: easing)
    }

    private func zoomRange(_ object: Int) throws(WireError) -> Request.Command {
        let (min, max) = try zoomLimits(object)
        if min == nil && max == nil { throw .missing(FieldPath(.minZoom), "minZoom, maxZoom or both are to be set") }
        return .setZoomRange(min: min, max: max)
    }

    /// The two ends of a zoom range, as far as they stand there. That one is not above the other is checked here only
    /// where both do.
    private func zoomLimits(_ object: Int) throws(WireError) -> (Double?, Double?) {
        let min = try number(object, FieldPath(.minZoom), .minZoom, in: ZoomRange.limits)
        let max = try number(object, FieldPath(.maxZoom), .maxZoom, in: ZoomRange.limits)
        if let min, let max, min > max { throw Self.reversedZoomRange }
        return (min, max)
    }

    /// The answer to a zoom range whose ends are the wrong way round.
    public static let reversedZoomRange = WireError(
        .invalidValue, field: "minZoom", "minZoom must not be above maxZoom")

    private func targetBounds(_ object: Int) throws(WireError) -> CoordinateBounds? {
        if let node = child(object, .bounds), tape.nodes[node].kind == .null { return nil }
        return try bounds(object, FieldPath(.bounds), .bounds)
    }

    // MARK: Subscriptions, traces

    private func subscribe(_ object: Int, _ line: Span<UInt8>) throws(WireError) -> Subscribe {
        var subscribe = Subscribe()
        if let node = child(object, .events) { subscribe.events = try events(node, line) }
        let delivery = try word(object, .delivery, deliveries, line, "\"every\" or \"latest\"")
        subscribe.delivery = delivery == 1 ? .latest : .every
        if let node = child(object, .since) {
            guard let seq = integer(node, line), seq >= 0 else {
                throw .wrong(FieldPath(.since), "must be a seq: an integer from 0")
            }
            subscribe.since = (UInt64(seq), try epoch(object))
        }
        return subscribe
    }

    private func epoch(_ object: Int) throws(WireError) -> Slice {
        guard let node = child(object, .epoch) else {
            throw .missing(FieldPath(.epoch), "since counts within the epoch that \"subscribed\" told")
        }
        guard tape.nodes[node].kind == .string, tape.nodes[node].text.count <= Self.longestLabel else {
            throw .wrong(FieldPath(.epoch), "must be a string of at most \(Self.longestLabel) bytes")
        }
        return tape.nodes[node].text
    }

    private func events(_ array: Int, _ line: Span<UInt8>) throws(WireError) -> EventKinds {
        let error = WireError.wrong(
            FieldPath(.events), "must be an array of \"move-started\", \"camera-changed\" and \"idle\"")
        guard tape.nodes[array].kind == .array else { throw error }
        var kinds: EventKinds = .reset
        var index = array + 1
        while index < Int(tape.nodes[array].next) {
            guard tape.nodes[index].kind == .string, let name = word(index, eventNames, line) else { throw error }
            kinds.insert(EventKinds(rawValue: 1 << UInt8(name)))
            index = Int(tape.nodes[index].next)
        }
        return kinds
    }

    private func hello(_ object: Int) throws(WireError) -> Request.Body {
        try version(object)
        return .hello
    }

    private func version(_ object: Int) throws(WireError) {
        guard child(object, .version) != nil else { throw .missing(FieldPath(.version), "it is 1") }
        guard try number(object, FieldPath(.version), .version) == 1 else {
            throw WireError(.unsupportedVersion, field: "version", "only version 1 is spoken here")
        }
    }

    private func header(_ object: Int, _ line: Span<UInt8>) throws(WireError) -> TraceHeader {
        try version(object)
        var header = TraceHeader()
        if let node = child(object, .speed) {
            let number = tape.nodes[node].kind == .number ? tape.nodes[node].number : 0
            let isMax = tape.nodes[node].kind == .string && word(node, speeds, line) != nil
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
        if let node = child(object, .targetBounds), tape.nodes[node].kind != .null {
            header.constraints.targetBounds = try bounds(object, FieldPath(.targetBounds), .targetBounds)
        }
        if let inner = try self.object(object, FieldPath(.gestures), .gestures) {
            header.gestures = try gestureSettings(inner, FieldPath(.gestures))
        }
        return header
    }

    // MARK: Parts of the camera

    private func position(_ object: Int, _ path: FieldPath) throws(WireError) -> CameraPosition {
        let inner = try requiredObject(object, path, .position)
        return CameraPosition(
            target: try latLng(inner, path / .target, .target),
            zoom: try requiredNumber(inner, path / .zoom, .zoom),
            bearing: try number(inner, path / .bearing, .bearing) ?? 0,
            viewingAngle: try number(inner, path / .viewingAngle, .viewingAngle) ?? 0)
    }

    private func latLng(_ object: Int, _ path: FieldPath, _ field: Field) throws(WireError) -> LatLng {
        let inner = try requiredObject(object, path, field)
        return LatLng(
            latitude: try requiredNumber(inner, path / .latitude, .latitude),
            longitude: try requiredNumber(inner, path / .longitude, .longitude))
    }

    private func bounds(_ object: Int, _ path: FieldPath, _ field: Field) throws(WireError) -> CoordinateBounds {
        let inner = try requiredObject(object, path, field)
        let southWest = try latLng(inner, path / .southWest, .southWest)
        let northEast = try latLng(inner, path / .northEast, .northEast)
        guard let bounds = CoordinateBounds(southWest: southWest, northEast: northEast) else {
            throw .wrong(path / .southWest / .latitude, "must not be north of northEast.latitude")
        }
        return bounds
    }

    private func viewport(_ object: Int, _ parent: FieldPath?) throws(WireError) -> Viewport {
        func path(_ field: Field) -> FieldPath { parent.map { $0 / field } ?? FieldPath(field) }
        let width = try requiredNumber(object, path(.width), .width, in: Double.leastNonzeroMagnitude...100_000)
        let height = try requiredNumber(object, path(.height), .height, in: Double.leastNonzeroMagnitude...100_000)
        let padding = try insets(object, path(.padding), .padding)
        return Viewport(width: width, height: height, padding: padding ?? EdgeInsets())
    }

    private func insets(_ object: Int, _ path: FieldPath, _ field: Field) throws(WireError) -> EdgeInsets? {
        guard let inner = try self.object(object, path, field) else { return nil }
        return EdgeInsets(
            top: try number(inner, path / .top, .top, in: 0...100_000) ?? 0,
            left: try number(inner, path / .left, .left, in: 0...100_000) ?? 0,
            bottom: try number(inner, path / .bottom, .bottom, in: 0...100_000) ?? 0,
            right: try number(inner, path / .right, .right, in: 0...100_000) ?? 0)
    }

    private func requiredPoint(_ object: Int, _ path: FieldPath, _ field: Field) throws(WireError) -> ScreenPoint {
        guard let point = try point(object, path, field) else { throw .missing(path, "an object with x and y") }
        return point
    }

    private func point(_ object: Int, _ path: FieldPath, _ field: Field) throws(WireError) -> ScreenPoint? {
        guard let inner = try self.object(object, path, field) else { return nil }
        return ScreenPoint(
            x: try requiredNumber(inner, path / .x, .x, in: -1e9...1e9),
            y: try requiredNumber(inner, path / .y, .y, in: -1e9...1e9))
    }

    // MARK: Members

    /// The node of an object's member.
    private func child(_ object: Int, _ field: Field) -> Int? {
        guard tape.nodes[object].payload & field.bit != 0 else { return nil }
        var index = object + 1
        while tape.nodes[index].field != field.rawValue { index = Int(tape.nodes[index].next) }
        return index
    }

    private func object(_ object: Int, _ path: FieldPath, _ field: Field) throws(WireError) -> Int? {
        guard let node = child(object, field) else { return nil }
        guard tape.nodes[node].kind == .object else { throw .wrong(path, "must be an object") }
        return node
    }

    private func requiredObject(_ object: Int, _ path: FieldPath, _ field: Field) throws(WireError) -> Int {
        guard let node = try self.object(object, path, field) else { throw .missing(path, "an object belongs there") }
        return node
    }

    private func number(
        _ object: Int, _ path: FieldPath, _ field: Field,
        in range: ClosedRange<Double> = -Double.greatestFiniteMagnitude...Double.greatestFiniteMagnitude
    ) throws(WireError) -> Double? {
        guard let node = child(object, field) else { return nil }
        guard tape.nodes[node].kind == .number, range.contains(tape.nodes[node].number) else {
            throw .wrong(path, Self.wanted(range))
        }
        return tape.nodes[node].number
    }

    private static func wanted(_ range: ClosedRange<Double>) -> String {
        if range.upperBound == .greatestFiniteMagnitude { return "must be a finite number" }
        if range.lowerBound == .leastNonzeroMagnitude {
            return "must be a number above 0, up to \(plain(range.upperBound))"
        }
        return "must be a number from \(plain(range.lowerBound)) to \(plain(range.upperBound))"
    }

    private static func plain(_ number: Double) -> String { Int64(exactly: number).map { "\($0)" } ?? "\(number)" }

    private func requiredNumber(
        _ object: Int, _ path: FieldPath, _ field: Field,
        in range: ClosedRange<Double> = -Double.greatestFiniteMagnitude...Double.greatestFiniteMagnitude
    ) throws(WireError) -> Double {
        guard let number = try number(object, path, field, in: range) else {
            throw .missing(path, "a number belongs there")
        }
        return number
    }

    private func flag(_ object: Int, _ parent: FieldPath?, _ field: Field) throws(WireError) -> Bool? {
        guard let node = child(object, field) else { return nil }
        switch tape.nodes[node].kind {
        case .true: return true
        case .false: return false
        default: throw .wrong(parent.map { $0 / field } ?? FieldPath(field), "must be true or false")
        }
    }

    /// The number of a string's word in a table.
    private func word(_ node: Int, _ table: WordTable, _ line: Span<UInt8>) -> Int? {
        let slice = tape.nodes[node].text
        guard tape.nodes[node].isEscaped else { return table.index(of: line, Int(slice.start), Int(slice.end)) }
        let plain = JSONTape.unescape(line, slice)
        return table.index(of: plain.span, 0, plain.count)
    }

    private func word(
        _ object: Int, _ field: Field, _ table: WordTable, _ line: Span<UInt8>, _ words: String
    ) throws(WireError) -> Int? {
        guard let node = child(object, field) else { return nil }
        guard tape.nodes[node].kind == .string, let index = word(node, table, line) else {
            throw .wrong(FieldPath(field), "must be \(words)")
        }
        return index
    }

    private func requiredWord(
        _ object: Int, _ field: Field, _ table: WordTable, _ line: Span<UInt8>, _ words: String
    ) throws(WireError) -> Int {
        guard let index = try word(object, field, table, line, words) else {
            throw .missing(FieldPath(field), "it is \(words)")
        }
        return index
    }

    private func text(_ node: Int, _ line: Span<UInt8>) -> String {
        let slice = tape.nodes[node].text
        if tape.nodes[node].isEscaped { return JSONTape.text(line, slice) }
        return unsafe line.extracting(slice.range).withUnsafeBufferPointer {
            unsafe String(decoding: $0, as: UTF8.self)
        }
    }

    /// An integer written as one, no larger than a double holds exactly.
    private func integer(_ node: Int, _ line: Span<UInt8>) -> Int64? {
        let slice = tape.nodes[node].text
        guard tape.nodes[node].kind == .number, slice.count <= 17 else { return nil }
        for index in slice.range {
            let byte = line[index]
            guard byte == UInt8(ascii: "-") || (0x30...0x39).contains(byte) else { return nil }
        }
        let value = tape.nodes[node].number
        return abs(value) < 0x1p53 ? Int64(value) : nil
    }

    private func id(_ node: Int, _ line: Span<UInt8>) throws(WireError) -> Slice {
        let slice = tape.nodes[node].text
        if tape.nodes[node].kind == .string, slice.count <= Self.longestID {
            return Slice(Int(slice.start) - 1, Int(slice.end) + 1)
        }
        if integer(node, line) != nil { return slice }
        throw .wrong(FieldPath(.id), "must be an integer, or a string of at most \(Self.longestID) bytes")
    }

    private mutating func cameraName(_ object: Int, _ line: Span<UInt8>) throws(WireError) -> String? {
        guard let node = child(object, .camera) else { return nil }
        let error = WireError.wrong(
            FieldPath(.camera), "must be 1 to \(Self.longestName) characters of A-Z a-z 0-9 . _ -")
        guard tape.nodes[node].kind == .string else { throw error }
        if !isLastName(tape.nodes[node].text, line) {
            let name = text(node, line)
            guard (1...Self.longestName).contains(name.utf8.count), name.utf8.allSatisfy(Self.isNameByte) else {
                throw error
            }
            lastName = name
        }
        return lastName
    }

    private func isLastName(_ slice: Slice, _ line: Span<UInt8>) -> Bool {
        guard slice.count == lastName.utf8.count, slice.count > 0 else { return false }
        return zip(slice.range, lastName.utf8).allSatisfy { line[$0] == $1 }
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default:
            false
        }
    }
}
