// The names that lines are made of.

/// Every member name that some request knows; the case's name is the member's.
enum Field: UInt8, CaseIterable, Sendable {
    case type, id, camera, timeMs, version
    case phase, gesture, focus, translation, scale, rotationDeg, velocity, x, y
    case position, target, latitude, longitude, zoom, bearing, viewingAngle
    case update, kind, amount, padding, insets, bounds, durationMs, easing
    case southWest, northEast, top, left, bottom, right
    case minZoom, maxZoom, targetBounds, viewport, width, height
    case scroll, rotate, tilt, scrollDuringRotateOrZoom, fling, inertia
    case events, delivery, since, epoch, seq, timeoutMs, after
    case coordinate, point, speed, gestures
    case create

    var name: String { "\(self)" }
}

/// Where a field stands in its request, for error messages.
struct FieldPath: CustomStringConvertible, Sendable {
    private var fields: (Field?, Field?, Field?, Field?)

    init(_ field: Field) { fields = (field, nil, nil, nil) }

    static func / (path: FieldPath, field: Field) -> FieldPath {
        var path = path
        if path.fields.1 == nil {
            path.fields.1 = field
        } else if path.fields.2 == nil {
            path.fields.2 = field
        } else {
            path.fields.3 = field
        }
        return path
    }

    var description: String {
        [fields.0, fields.1, fields.2, fields.3].compactMap { $0?.name }.joined(separator: ".")
    }
}
