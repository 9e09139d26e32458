// The parts of messages in both directions: places, positions, bounds, points, insets and viewports.

import MapCamera

extension LatLng: Described {
    package static let blank = LatLng(latitude: 0, longitude: 0)

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try visitor.member(.latitude, &latitude, .number(places: 9))
        try visitor.member(.longitude, &longitude, .number(places: 9))
    }

    /// Writes the place as a position's target: 180° becomes -180°.
    package func writeRounded(to line: inout LineWriter) -> Bool {
        var printed = Corner(place: self)
        if FixedDecimal(longitude, places: 9).units == 180_000_000_000 { printed.place.longitude = -180 }
        line.write(printed)
        return true
    }
}

extension CameraPosition: Described {
    package static var blank: CameraPosition { .initial }

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try visitor.object(.target, &target)
        try visitor.member(.zoom, &zoom, .number())
        try visitor.member(.bearing, &bearing, .number(), default: 0)
        try visitor.member(.viewingAngle, &viewingAngle, .number(), default: 0)
    }

    package func writeRounded(to line: inout LineWriter) -> Bool {
        line.write(PrintedPosition(self))
        return true
    }
}

/// A corner of bounds: here 180° is an eastern edge and not wrapped.
private struct Corner: Described {
    var place: LatLng

    static let blank = Corner(place: .blank)

    mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try place.describe(&visitor)
    }
}

extension CoordinateBounds: Described {
    package static let blank: CoordinateBounds = {
        guard let bounds = CoordinateBounds(southWest: .blank, northEast: .blank) else {
            preconditionFailure("bounds may have equal corners")
        }
        return bounds
    }()

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        var (southWest, northEast) = (Corner(place: southWest), Corner(place: northEast))
        try visitor.object(.southWest, &southWest)
        try visitor.object(.northEast, &northEast)
        let bounds = CoordinateBounds(southWest: southWest.place, northEast: northEast.place)
        try visitor.check(bounds != nil) { path in
            .wrong(path / .southWest / .latitude, "must not be north of northEast.latitude")
        }
        if let bounds { self = bounds }
    }
}

extension ScreenPoint: Described {
    package static let blank = ScreenPoint(x: 0, y: 0)

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try visitor.member(.x, &x, .number(in: .points))
        try visitor.member(.y, &y, .number(in: .points))
    }
}

extension EdgeInsets: Described {
    package static let blank = EdgeInsets()

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try visitor.member(.top, &top, .number(in: .insets), default: 0)
        try visitor.member(.left, &left, .number(in: .insets), default: 0)
        try visitor.member(.bottom, &bottom, .number(in: .insets), default: 0)
        try visitor.member(.right, &right, .number(in: .insets), default: 0)
    }
}

extension Viewport: Described {
    package static var blank: Viewport { .standard }

    package mutating func describe<V: MemberVisitor & ~Copyable>(_ visitor: inout V) throws(V.Failure) {
        try visitor.member(.width, &width, .number(in: .sizes))
        try visitor.member(.height, &height, .number(in: .sizes))
        try visitor.object(.padding, &padding, default: EdgeInsets())
    }
}
