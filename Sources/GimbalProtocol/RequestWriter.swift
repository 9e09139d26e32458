// Requests out, as the decoder reads them: the lines of a trace. What a camera was fed is written so that every number reads
// back unharmed; a trace that is made of a recording is rounded.

import Gestures
import JSONLines
import MapCamera

extension LineWriter {
    /// What is recorded of a camera makes the same camera again; what is made of a recording is rounded, to be read.
    private enum Precision {
        case exact, rounded
    }

    private typealias MessageType = RequestDecoder.MessageType
    private typealias UpdateKind = RequestDecoder.UpdateKind

    /// Writes gestures and commands of one frame: an object, or an array of several; without LF.
    ///
    /// The time is milliseconds of the trace's clock.
    mutating func requests(_ frame: [Request.Body], timeMs: Double) {
        if frame.count > 1 { write("[") }
        for (index, body) in frame.enumerated() {
            if index > 0 { write(",") }
            // A frame has one time, which its first object names.
            request(body, timeMs: index == 0 ? timeMs : nil)
        }
        if frame.count > 1 { write("]") }
    }

    /// Writes the first line of a trace, without LF; a speed of 1 is left out.
    mutating func header(_ header: TraceHeader) {
        open(.trace, timeMs: nil)
        write(",\"version\":1")
        if header.speed == .infinity {
            write(",\"speed\":\"max\"")
        } else if header.speed != 1 {
            member("speed", exact: header.speed)
        }
        write(",\"viewport\":{")
        size(header.viewport)
        write("}")
        position(header.position)
        member("minZoom", exact: header.constraints.zoomRange.min)
        member("maxZoom", exact: header.constraints.zoomRange.max)
        if let bounds = header.constraints.targetBounds { self.bounds("targetBounds", bounds) }
        write(",\"gestures\":{")
        switches(header.gestures, isFirst: true)
        write("}}")
    }

    private mutating func request(_ body: Request.Body, timeMs: Double?) {
        switch body {
        case .gesture(let gesture): self.gesture(gesture.event, gesture.label, timeMs, .exact)
        case .command(let command): self.command(command, timeMs)
        case .query, .subscribe, .unsubscribe, .subscribeAll, .unsubscribeAll, .awaitIdle, .endReplay, .hello, .trace,
            .traceEnd:
            preconditionFailure("only gestures and commands move a camera")
        }
        write("}")
    }

    private mutating func open(_ type: MessageType, timeMs: Double?) {
        write("{\"type\":")
        write(string: type.rawValue)
        if let timeMs { member("timeMs", exact: timeMs) }
    }

    // MARK: Gestures

    /// Writes a trace that is made of a recording: the first line, LF included. Sizes are rounded to 6 decimals.
    package mutating func traceHeader(viewport: Viewport, position: CameraPosition) {
        open(.trace, timeMs: nil)
        write(",\"version\":1,\"viewport\":{\"width\":")
        write(FixedDecimal(viewport.width, places: 6))
        write(",\"height\":")
        write(FixedDecimal(viewport.height, places: 6))
        write("},\"position\":")
        write(PrintedPosition(position))
        write("}\n")
    }

    /// Writes the reports of one frame as a line of such a trace, LF included. Times are rounded to 3 decimals, points and
    /// degrees to 6, a scale to 9.
    ///
    /// - Parameter camera: the camera that they name; a trace has it in its header.
    package mutating func frame(_ events: [GestureEvent], timeMs: Double, camera: String? = nil) {
        if events.count > 1 { write("[") }
        for index in events.indices {
            if index > 0 { write(",") }
            gesture(events[index], .none, index == 0 ? timeMs : nil, .rounded)
            if let camera {
                member("camera")
                write(string: camera)
            }
            write("}")
        }
        write(events.count > 1 ? "]\n" : "\n")
    }

    private mutating func gesture(
        _ event: GestureEvent, _ label: GestureKey.Label, _ timeMs: Double?, _ precision: Precision
    ) {
        write("{\"type\":")
        write(string: Self.type(of: event.kind).rawValue)
        if let timeMs { member("timeMs", timeMs, places: 3, precision) }
        phase(event.phase)
        switch label {
        case .none: break
        case .number(let number):
            member("gesture", exact: Double(number))
        case .text(let text):
            member("gesture")
            write(string: text)
        }
        if let focus = event.focus { point("focus", focus, precision) }
        switch event.value {
        case .pan(let translation): point("translation", translation, precision)
        case .pinch(let scale): member("scale", scale, places: 9, precision)
        case .rotate(let degrees): member("rotationDeg", degrees, places: 6, precision)
        case .tilt(let y), .oneFingerZoom(let y):
            write(",\"translation\":{\"y\":")
            number(y, places: 6, precision)
            write("}")
        case nil: break
        }
        if let velocity = event.velocity { point("velocity", velocity, precision) }
    }

    private static func type(of kind: GestureKind) -> MessageType {
        switch kind {
        case .pan: .pan
        case .pinch: .pinch
        case .rotate: .rotate
        case .tilt: .tilt
        case .oneFingerZoom: .oneFingerZoom
        case .doubleTap: .doubleTap
        case .twoFingerTap: .twoFingerTap
        }
    }

    private mutating func phase(_ phase: GesturePhase) {
        switch phase {
        case .began: write(",\"phase\":\"began\"")
        case .changed: write(",\"phase\":\"changed\"")
        case .ended: write(",\"phase\":\"ended\"")
        case .cancelled: write(",\"phase\":\"cancelled\"")
        }
    }

    // MARK: Commands

    private mutating func command(_ command: Request.Command, _ timeMs: Double?) {
        switch command {
        case .move(let update):
            open(.move, timeMs: timeMs)
            self.update(update)
        case .animate(let update, let duration, let easing):
            open(.animate, timeMs: timeMs)
            self.update(update)
            member("durationMs", exact: duration)
            self.easing(easing)
        case .stop: open(.stop, timeMs: timeMs)
        case .setGestures(let change):
            open(.setGestures, timeMs: timeMs)
            switches(change, isFirst: false)
        case .setZoomRange(let min, let max):
            open(.setZoomRange, timeMs: timeMs)
            if let min { member("minZoom", exact: min) }
            if let max { member("maxZoom", exact: max) }
        case .setTargetBounds(let bounds):
            open(.setTargetBounds, timeMs: timeMs)
            if let bounds { self.bounds("bounds", bounds) } else { write(",\"bounds\":null") }
        case .setViewport(let viewport):
            open(.setViewport, timeMs: timeMs)
            write(",")
            size(viewport)
        case .removeCamera: open(.removeCamera, timeMs: timeMs)
        }
    }

    private mutating func easing(_ easing: Easing) {
        switch easing {
        case .linear: write(",\"easing\":\"linear\"")
        case .easeIn: write(",\"easing\":\"ease-in\"")
        case .easeOut: write(",\"easing\":\"ease-out\"")
        case .easeInOut: write(",\"easing\":\"ease-in-out\"")
        default: break
        }
    }

    private mutating func update(_ update: CameraUpdate) {
        switch update {
        case .zoomIn: open(.zoomIn)
        case .zoomOut: open(.zoomOut)
        case .zoomTo(let zoom):
            open(.zoomTo)
            member("zoom", exact: zoom)
        case .zoomBy(let amount, let focus):
            open(.zoomBy)
            member("amount", exact: amount)
            if let focus { point("focus", focus) }
        case .setTarget(let target, let zoom):
            open(.setTarget)
            place(",\"target\":", target)
            if let zoom { member("zoom", exact: zoom) }
        case .setCamera(let position):
            open(.setCamera)
            self.position(position)
        case .scrollBy(let x, let y):
            open(.scrollBy)
            member("x", exact: x)
            member("y", exact: y)
        case .fitBounds(let bounds, let insets):
            open(.fitBounds)
            self.bounds("bounds", bounds)
            write(",\"insets\":{")
            edges(insets)
            write("}")
        case .setBearing(let bearing):
            open(.setBearing)
            member("bearing", exact: bearing)
        case .setViewingAngle(let angle):
            open(.setViewingAngle)
            member("viewingAngle", exact: angle)
        case .pan, .rotateBy, .tiltBy:
            preconditionFailure("no command has such an update")
        }
        write("}")
    }

    private mutating func open(_ kind: UpdateKind) {
        write(",\"update\":{\"kind\":")
        write(string: kind.rawValue)
    }

    // MARK: Parts

    private mutating func member(_ name: StaticString, exact value: Double) {
        member(name)
        write(exact: value)
    }

    private mutating func member(_ name: StaticString, _ value: Double, places: Int, _ precision: Precision) {
        member(name)
        number(value, places: places, precision)
    }

    private mutating func number(_ value: Double, places: Int, _ precision: Precision) {
        switch precision {
        case .exact: write(exact: value)
        case .rounded: write(FixedDecimal(value, places: places))
        }
    }

    private mutating func point(_ name: StaticString, _ point: ScreenPoint, _ precision: Precision = .exact) {
        member(name)
        write("{\"x\":")
        number(point.x, places: 6, precision)
        member("y", point.y, places: 6, precision)
        write("}")
    }

    private mutating func place(_ opening: StaticString, _ place: LatLng) {
        write(opening)
        write("{\"latitude\":")
        write(exact: place.latitude)
        member("longitude", exact: place.longitude)
        write("}")
    }

    private mutating func position(_ position: CameraPosition) {
        place(",\"position\":{\"target\":", position.target)
        member("zoom", exact: position.zoom)
        member("bearing", exact: position.bearing)
        member("viewingAngle", exact: position.viewingAngle)
        write("}")
    }

    private mutating func bounds(_ name: StaticString, _ bounds: CoordinateBounds) {
        member(name)
        place("{\"southWest\":", bounds.southWest)
        place(",\"northEast\":", bounds.northEast)
        write("}")
    }

    private mutating func size(_ viewport: Viewport) {
        write("\"width\":")
        write(exact: viewport.width)
        member("height", exact: viewport.height)
        write(",\"padding\":{")
        edges(viewport.padding)
        write("}")
    }

    private mutating func edges(_ edges: EdgeInsets) {
        write("\"top\":")
        write(exact: edges.top)
        member("left", exact: edges.left)
        member("bottom", exact: edges.bottom)
        member("right", exact: edges.right)
    }

    /// Writes the switches that are named, without braces.
    private mutating func switches(_ change: GestureSettingsChange, isFirst: Bool) {
        let named: [(StaticString, Bool?)] = [
            ("scroll", change.scroll), ("zoom", change.zoom), ("rotate", change.rotate), ("tilt", change.tilt),
            ("scrollDuringRotateOrZoom", change.scrollDuringRotateOrZoom), ("fling", change.fling),
            ("inertia", change.inertia),
        ]
        var isFirst = isFirst
        for case (let name, let isOn?) in named {
            write(isFirst ? "\"" : ",\"")
            write(name)
            write("\":")
            write(isOn)
            isFirst = false
        }
    }
}
