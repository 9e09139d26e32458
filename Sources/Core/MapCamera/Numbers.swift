// Values as lists of numbers, for handing them to another process: they come back equal to the last bit. A list only
// ever grows at its end, so a later version reads an earlier one's.

/// A list of numbers that is being written.
package struct NumberList: Sendable {
    package private(set) var numbers: [Double] = []

    package init() {}

    package mutating func put(_ more: Double...) { numbers += more }

    package mutating func put(_ point: ScreenPoint) { put(point.x, point.y) }

    /// A value that may be missing: 0, or 1 and the value.
    package mutating func put<Value>(_ value: Value?, _ write: (inout NumberList, Value) -> Void) {
        put(value == nil ? 0 : 1)
        if let value { write(&self, value) }
    }
}

/// A list of numbers that is being read.
package struct NumberReader: Sendable {
    private var rest: ArraySlice<Double>
    /// Whether a read went past the end, or found something impossible.
    package private(set) var isDamaged = false

    package init(_ numbers: [Double]) { rest = numbers[...] }

    package mutating func next() -> Double {
        guard let number = rest.popFirst(), !number.isNaN else {
            isDamaged = true
            return 0
        }
        return number
    }

    package mutating func flag() -> Bool { next() != 0 }

    package mutating func count() -> Int {
        let number = next()
        guard number >= 0, number < 0x1p53, let count = Int(exactly: number) else {
            isDamaged = true
            return 0
        }
        return count
    }

    package mutating func point() -> ScreenPoint {
        let x = next()
        return ScreenPoint(x: x, y: next())
    }

    package mutating func optional<Value>(_ read: (inout NumberReader) -> Value) -> Value? {
        flag() ? read(&self) : nil
    }

    /// Notes that what was read cannot be.
    package mutating func damage() { isDamaged = true }
}

extension Viewport {
    func write(to list: inout NumberList) {
        list.put(width, height, padding.top, padding.left, padding.bottom, padding.right)
    }

    init(_ numbers: inout NumberReader) {
        let (width, height) = (numbers.next(), numbers.next())
        let (top, left, bottom, right) = (numbers.next(), numbers.next(), numbers.next(), numbers.next())
        self.init(
            width: width, height: height, padding: EdgeInsets(top: top, left: left, bottom: bottom, right: right))
    }
}

extension LatLng {
    func write(to list: inout NumberList) { list.put(latitude, longitude) }

    init(_ numbers: inout NumberReader) {
        let latitude = numbers.next()
        self.init(latitude: latitude, longitude: numbers.next())
    }
}

extension MercatorPoint {
    func write(to list: inout NumberList) { list.put(x, y) }

    init(_ numbers: inout NumberReader) {
        let x = numbers.next()
        self.init(x: x, y: numbers.next())
    }
}

extension CameraPosition {
    func write(to list: inout NumberList) {
        target.write(to: &list)
        list.put(zoom, bearing, viewingAngle)
    }

    init(_ numbers: inout NumberReader) {
        let target = LatLng(&numbers)
        let (zoom, bearing) = (numbers.next(), numbers.next())
        self.init(target: target, zoom: zoom, bearing: bearing, viewingAngle: numbers.next())
    }
}

extension CameraConstraints {
    func write(to list: inout NumberList) {
        list.put(zoomRange.min, zoomRange.max)
        list.put(targetBounds) { list, bounds in
            bounds.southWest.write(to: &list)
            bounds.northEast.write(to: &list)
        }
    }

    init(_ numbers: inout NumberReader) {
        self.init()
        let min = numbers.next()
        if let range = ZoomRange(min: min, max: numbers.next()) { zoomRange = range } else { numbers.damage() }
        let corners = numbers.optional { (LatLng(&$0), LatLng(&$0)) }
        guard let corners else { return }
        targetBounds = CoordinateBounds(southWest: corners.0, northEast: corners.1)
        if targetBounds == nil { numbers.damage() }
    }
}

extension Projection {
    func write(to list: inout NumberList) {
        list.put(view.zoom, view.bearing, view.viewingAngle)
        target.write(to: &list)
        viewport.write(to: &list)
    }

    init(_ numbers: inout NumberReader) {
        let (zoom, bearing, angle) = (numbers.next(), numbers.next(), numbers.next())
        let target = MercatorPoint(&numbers)
        self.init(
            View(zoom: zoom, bearing: bearing, viewingAngle: angle), target: target, viewport: Viewport(&numbers))
    }

    /// Whether it is one of a camera at a position.
    fileprivate func isOne(of position: CameraPosition) -> Bool {
        view == View(zoom: position.zoom, bearing: position.bearing, viewingAngle: position.viewingAngle)
            && (target.x + target.y).isFinite
    }
}

extension Camera {
    package func write(to list: inout NumberList) {
        position.write(to: &list)
        constraints.write(to: &list)
        projection.write(to: &list)
    }

    package init(_ numbers: inout NumberReader) {
        let position = CameraPosition(&numbers)
        let constraints = CameraConstraints(&numbers)
        let projection = Projection(&numbers)
        if !position.isPossible || !projection.isOne(of: position) { numbers.damage() }
        self.init(position, constraints, projection)
    }
}

extension Anchor {
    func write(to list: inout NumberList) {
        switch self {
        case .target(let target):
            list.put(0)
            target.write(to: &list)
        case .place(let place, let point):
            list.put(1)
            place.write(to: &list)
            list.put(point)
        case .hold(let point):
            list.put(2)
            list.put(point)
        }
    }

    init(_ numbers: inout NumberReader) {
        switch numbers.next() {
        case 0: self = .target(LatLng(&numbers))
        case 1:
            let place = MercatorPoint(&numbers)
            self = .place(place, at: numbers.point())
        default: self = .hold(numbers.point())
        }
    }
}

extension Easing {
    func write(to list: inout NumberList) {
        let (x1, y1, x2, y2) = controlPoints
        list.put(x1, y1, x2, y2)
    }

    init(_ numbers: inout NumberReader) {
        let (x1, y1, x2) = (numbers.next(), numbers.next(), numbers.next())
        self.init(x1: x1, y1: y1, x2: x2, y2: numbers.next())
    }
}

extension Momentum {
    func write(to list: inout NumberList) {
        list.put(focus)
        list.put(pan)
        list.put(anchor) { $0.put($1) }
        list.put(zoom, bearing)
    }

    init(_ numbers: inout NumberReader) {
        let (focus, pan) = (numbers.point(), numbers.point())
        let anchor = numbers.optional { $0.point() }
        let zoom = numbers.next()
        self.init(focus: focus, pan: pan, anchor: anchor, zoom: zoom, bearing: numbers.next())
    }
}
