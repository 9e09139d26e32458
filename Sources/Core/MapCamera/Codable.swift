// The Codable conformances of types with an invariant, which is checked on decoding, whatever the source. The other
// types of this target use the synthesized conformance.

#if hasFeature(Embedded)
/// A stand-in: embedded Swift has no `Codable`.
public protocol Codable {}
#else
extension Decoder {
    /// Returns the error for members that decode but do not form a valid value.
    package func impossible(_ type: Any.Type) -> DecodingError {
        .dataCorrupted(.init(codingPath: codingPath, debugDescription: "not a valid \(type)"))
    }
}

extension ZoomRange: Codable {
    /// Encodes both ends.
    public func encode(to encoder: any Encoder) throws { try [min, max].encode(to: encoder) }

    /// Decodes a range; throws where ``init(min:max:)`` would return `nil`.
    public init(from decoder: any Decoder) throws {
        let ends = try [Double](from: decoder)
        guard ends.count == 2, let range = Self(min: ends[0], max: ends[1]) else { throw decoder.impossible(Self.self) }
        self = range
    }
}

extension CoordinateBounds: Codable {
    /// Encodes both corners.
    public func encode(to encoder: any Encoder) throws { try [southWest, northEast].encode(to: encoder) }

    /// Decodes bounds; throws where ``init(southWest:northEast:)`` would return `nil`.
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

    /// Encodes the view, target and viewport.
    public func encode(to encoder: any Encoder) throws {
        try Members(view: view, target: target, viewport: viewport).encode(to: encoder)
    }

    /// Decodes the view, target and viewport.
    public init(from decoder: any Decoder) throws {
        let members = try Members(from: decoder)
        self.init(members.view, target: members.target, viewport: members.viewport)
    }
}

extension Tour: Codable {
    /// Encodes the legs.
    public func encode(to encoder: any Encoder) throws { try legs.encode(to: encoder) }

    /// Decodes a tour; throws if it has no legs or its times are impossible.
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

    /// Encodes the position, constraints and projection.
    public func encode(to encoder: any Encoder) throws {
        try Members(position: position, constraints: constraints, projection: projection).encode(to: encoder)
    }

    /// Decodes a camera; throws if its position or viewport is impossible, or its projection does not match.
    public init(from decoder: any Decoder) throws {
        let members = try Members(from: decoder)
        let (position, projection) = (members.position, members.projection)
        guard position.isPossible, projection.viewport.isPossible, projection.view == position.view,
            (projection.target.x + projection.target.y).isFinite
        else { throw decoder.impossible(Self.self) }
        self.init(position, members.constraints, projection)
    }
}
#endif
