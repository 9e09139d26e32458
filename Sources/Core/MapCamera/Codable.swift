// What is Codable in this target is so as its members are. What has an invariant of its own stands here: it is looked at when
// it is decoded, whatever it is decoded from.

#if hasFeature(Embedded)
/// The standard library has none there.
public protocol Codable {}
#else
extension Decoder {
    /// What is thrown where the members of a value could be read, and make none.
    package func impossible(_ type: Any.Type) -> DecodingError {
        .dataCorrupted(.init(codingPath: codingPath, debugDescription: "no \(type) has such members"))
    }
}

extension ZoomRange: Codable {
    /// Writes both ends.
    public func encode(to encoder: any Encoder) throws { try [min, max].encode(to: encoder) }

    /// Reads a range; throws where ``init(min:max:)`` would give none.
    public init(from decoder: any Decoder) throws {
        let ends = try [Double](from: decoder)
        guard ends.count == 2, let range = Self(min: ends[0], max: ends[1]) else { throw decoder.impossible(Self.self) }
        self = range
    }
}

extension CoordinateBounds: Codable {
    /// Writes both corners.
    public func encode(to encoder: any Encoder) throws { try [southWest, northEast].encode(to: encoder) }

    /// Reads bounds; throws where ``init(southWest:northEast:)`` would give none.
    public init(from decoder: any Decoder) throws {
        let corners = try [LatLng](from: decoder)
        guard corners.count == 2, let bounds = Self(southWest: corners[0], northEast: corners[1]) else {
            throw decoder.impossible(Self.self)
        }
        self = bounds
    }
}

extension Projection: Codable {
    private struct Members: Codable {
        let view: View
        let target: MercatorPoint
        let viewport: Viewport
    }

    /// Writes what it is made of.
    public func encode(to encoder: any Encoder) throws {
        try Members(view: view, target: target, viewport: viewport).encode(to: encoder)
    }

    /// Reads what it is made of.
    public init(from decoder: any Decoder) throws {
        let members = try Members(from: decoder)
        self.init(members.view, target: members.target, viewport: members.viewport)
    }
}

extension Tour: Codable {
    /// Writes the legs.
    public func encode(to encoder: any Encoder) throws { try legs.encode(to: encoder) }

    /// Reads a tour; throws for one without legs, or with times that none has.
    public init(from decoder: any Decoder) throws {
        let legs = try [Leg](from: decoder)
        var last = 0.0
        for leg in legs {
            guard last...1e10 ~= leg.start, leg.start...1e10 ~= leg.arrival, leg.arrival...1e10 ~= leg.end else {
                throw decoder.impossible(Self.self)
            }
            last = leg.end
        }
        guard !legs.isEmpty else { throw decoder.impossible(Self.self) }
        self.init(legs: legs)
    }
}

extension Camera: Codable {
    private struct Members: Codable {
        let position: CameraPosition
        let constraints: CameraConstraints
        let projection: Projection
    }

    /// Writes all that it is.
    public func encode(to encoder: any Encoder) throws {
        try Members(position: position, constraints: constraints, projection: projection).encode(to: encoder)
    }

    /// Reads a camera; throws if none can be there, or be seen so.
    public init(from decoder: any Decoder) throws {
        let members = try Members(from: decoder)
        let (position, projection) = (members.position, members.projection)
        let view = View(zoom: position.zoom, bearing: position.bearing, viewingAngle: position.viewingAngle)
        guard position.isPossible, projection.viewport.isPossible, projection.view == view,
            (projection.target.x + projection.target.y).isFinite
        else { throw decoder.impossible(Self.self) }
        self.init(position, members.constraints, projection)
    }
}
#endif
