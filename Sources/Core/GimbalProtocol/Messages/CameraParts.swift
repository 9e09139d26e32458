// What messages of both directions are made of: places, positions, bounds, points, insets and viewports. Each with the way
// in from a request, the way out into one, and the way in from an answer; answers are written in PrintedPosition.swift.

import JSONLines
import MapCamera

// MARK: From a request

extension RequestDecoder {
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
            x: try requiredNumber(inner, path / .x, .x, in: .points),
            y: try requiredNumber(inner, path / .y, .y, in: .points))
    }
}

// MARK: Into a request

/// How numbers of a request are written: a recording of a camera keeps all digits, to make the same camera again; a
/// trace made of touch data is rounded, to be readable.
enum Precision {
    case exact, rounded
}

extension LineWriter {
    /// Opens a member of an object that is not its first.
    mutating func member(_ name: StaticString) {
        write(",\"")
        write(name)
        write("\":")
    }

    mutating func member(_ name: StaticString, exact value: Double) {
        member(name)
        write(exact: value)
    }

    mutating func member(_ name: StaticString, _ value: Double, places: Int, _ precision: Precision) {
        member(name)
        number(value, places: places, precision)
    }

    mutating func number(_ value: Double, places: Int, _ precision: Precision) {
        switch precision {
        case .exact: write(exact: value)
        case .rounded: write(FixedDecimal(value, places: places))
        }
    }

    mutating func point(_ name: StaticString, _ point: ScreenPoint, _ precision: Precision = .exact) {
        member(name)
        write("{\"x\":")
        number(point.x, places: 6, precision)
        member("y", point.y, places: 6, precision)
        write("}")
    }

    mutating func place(_ name: StaticString, exact place: LatLng, isFirst: Bool = false) {
        write(isFirst ? "\"" : ",\"")
        write(name)
        write("\":{\"latitude\":")
        write(exact: place.latitude)
        member("longitude", exact: place.longitude)
        write("}")
    }

    mutating func position(exact position: CameraPosition) {
        write(",\"position\":{")
        place("target", exact: position.target, isFirst: true)
        member("zoom", exact: position.zoom)
        member("bearing", exact: position.bearing)
        member("viewingAngle", exact: position.viewingAngle)
        write("}")
    }

    mutating func bounds(_ name: StaticString, exact bounds: CoordinateBounds) {
        member(name)
        write("{")
        place("southWest", exact: bounds.southWest, isFirst: true)
        place("northEast", exact: bounds.northEast)
        write("}")
    }

    /// Writes the members of a viewport, without braces.
    mutating func size(_ viewport: Viewport) {
        write("\"width\":")
        write(exact: viewport.width)
        member("height", exact: viewport.height)
        insets("padding", viewport.padding)
    }

    mutating func insets(_ name: StaticString, _ insets: EdgeInsets) {
        member(name)
        write("{\"top\":")
        write(exact: insets.top)
        member("left", exact: insets.left)
        member("bottom", exact: insets.bottom)
        member("right", exact: insets.right)
        write("}")
    }
}

// MARK: From an answer

extension LatLng: MessageReadable {
    init(_ json: JSONValue) throws(DecodingError) {
        let members = try json.members()
        self.init(latitude: try members.get("latitude"), longitude: try members.get("longitude"))
    }
}

extension CameraPosition: MessageReadable {
    package init(_ json: JSONValue) throws(DecodingError) {
        let members = try json.members()
        self.init(
            target: try members.get("target"), zoom: try members.get("zoom"),
            bearing: try members.get(ifPresent: "bearing") ?? 0,
            viewingAngle: try members.get(ifPresent: "viewingAngle") ?? 0)
        guard isPossible else { throw .wrong("this is no position of a camera") }
    }
}

extension CoordinateBounds: MessageReadable {
    init(_ json: JSONValue) throws(DecodingError) {
        let members = try json.members()
        guard let bounds = Self(southWest: try members.get("southWest"), northEast: try members.get("northEast")) else {
            throw .wrong("southWest is north of northEast")
        }
        self = bounds
    }
}

extension ScreenPoint: MessageReadable {
    init(_ json: JSONValue) throws(DecodingError) {
        let members = try json.members()
        self.init(x: try members.get("x"), y: try members.get("y"))
    }
}

extension EdgeInsets: MessageReadable {
    init(_ json: JSONValue) throws(DecodingError) {
        let members = try json.members()
        self.init(
            top: try members.get(ifPresent: "top") ?? 0, left: try members.get(ifPresent: "left") ?? 0,
            bottom: try members.get(ifPresent: "bottom") ?? 0, right: try members.get(ifPresent: "right") ?? 0)
    }
}

extension Viewport: MessageReadable {
    init(_ json: JSONValue) throws(DecodingError) {
        let members = try json.members()
        self.init(
            width: try members.get("width"), height: try members.get("height"),
            padding: try members.get(ifPresent: "padding") ?? EdgeInsets())
    }
}
