// The camera's values as the protocol writes them. The conformances stand here and not in MapCamera, which knows no
// message. Invariant: what is written reads back as the same value.

import MapCamera

extension LatLng: Codable {
    /// Reads `latitude` and `longitude`, in degrees.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.members()
        self.init(latitude: try members.get("latitude"), longitude: try members.get("longitude"))
    }

    /// Writes `latitude` and `longitude`, in degrees.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.members()
        try members.put("latitude", latitude)
        try members.put("longitude", longitude)
    }
}

extension CameraPosition: Codable {
    /// Reads `target`, `zoom`, `bearing` and `viewingAngle`; the last two are 0 where they are left out.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.members()
        self.init(
            target: try members.get("target"), zoom: try members.get("zoom"),
            bearing: try members.get(ifPresent: "bearing") ?? 0,
            viewingAngle: try members.get(ifPresent: "viewingAngle") ?? 0)
    }

    /// Writes `target`, `zoom`, `bearing` and `viewingAngle`.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.members()
        try members.put("target", target)
        try members.put("zoom", zoom)
        try members.put("bearing", bearing)
        try members.put("viewingAngle", viewingAngle)
    }
}

extension CoordinateBounds: Codable {
    /// Reads `southWest` and `northEast`.
    ///
    /// - Throws: `DecodingError` if the southern edge is north of the northern one.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.members()
        guard let bounds = Self(southWest: try members.get("southWest"), northEast: try members.get("northEast")) else {
            throw DecodingError.dataCorruptedError(
                forKey: "southWest", in: members, debugDescription: "it is north of northEast")
        }
        self = bounds
    }

    /// Writes `southWest` and `northEast`.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.members()
        try members.put("southWest", southWest)
        try members.put("northEast", northEast)
    }
}

extension ScreenPoint: Codable {
    /// Reads `x` and `y`, in points.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.members()
        self.init(x: try members.get("x"), y: try members.get("y"))
    }

    /// Writes `x` and `y`, in points.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.members()
        try members.put("x", x)
        try members.put("y", y)
    }
}

extension EdgeInsets: Codable {
    /// Reads `top`, `left`, `bottom` and `right`, in points; what is left out is 0.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.members()
        self.init(
            top: try members.get(ifPresent: "top") ?? 0, left: try members.get(ifPresent: "left") ?? 0,
            bottom: try members.get(ifPresent: "bottom") ?? 0, right: try members.get(ifPresent: "right") ?? 0)
    }

    /// Writes `top`, `left`, `bottom` and `right`, in points.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.members()
        try members.put("top", top)
        try members.put("left", left)
        try members.put("bottom", bottom)
        try members.put("right", right)
    }
}

extension Viewport: Codable {
    /// Reads `width`, `height` and `padding`; no padding where it is left out.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.members()
        self.init(
            width: try members.get("width"), height: try members.get("height"),
            padding: try members.get(ifPresent: "padding") ?? EdgeInsets())
    }

    /// Writes `width`, `height` and `padding`.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.members()
        try members.put("width", width)
        try members.put("height", height)
        try members.put("padding", padding)
    }
}

extension VisibleRegion: Decodable {
    /// Reads the four corners: `nearLeft`, `nearRight`, `farLeft` and `farRight`.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.members()
        self.init(
            nearLeft: try members.get("nearLeft"), nearRight: try members.get("nearRight"),
            farLeft: try members.get("farLeft"), farRight: try members.get("farRight"))
    }
}

extension GestureSettings: Decodable {
    /// Reads the switches; one that is left out has the value that a new camera's has.
    public init(from decoder: any Decoder) throws {
        self = try GestureSwitches(from: decoder).applied(to: GestureSettings())
    }
}

extension CameraUpdate: Encodable {
    /// Writes `kind` and what belongs to it.
    ///
    /// - Throws: `EncodingError` for the three that fingers make (``pan(from:to:)``, ``rotateBy(_:focus:)`` and
    ///   ``tiltBy(_:)``): over the protocol they are gestures.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.members()
        switch self {
        case .zoomIn: try members.put("kind", "zoom-in")
        case .zoomOut: try members.put("kind", "zoom-out")
        case .zoomTo(let zoom):
            try members.put("kind", "zoom-to")
            try members.put("zoom", zoom)
        case .zoomBy(let amount, let focus):
            try members.put("kind", "zoom-by")
            try members.put("amount", amount)
            try members.put("focus", focus)
        case .setTarget(let target, let zoom):
            try members.put("kind", "set-target")
            try members.put("target", target)
            try members.put("zoom", zoom)
        case .setCamera(let position):
            try members.put("kind", "set-camera")
            try members.put("position", position)
        case .scrollBy(let x, let y):
            try members.put("kind", "scroll-by")
            try members.put("x", x)
            try members.put("y", y)
        case .fitBounds(let bounds, let insets):
            try members.put("kind", "fit-bounds")
            try members.put("bounds", bounds)
            try members.put("insets", insets)
        case .setBearing(let bearing):
            try members.put("kind", "set-bearing")
            try members.put("bearing", bearing)
        case .setViewingAngle(let angle):
            try members.put("kind", "set-viewing-angle")
            try members.put("viewingAngle", angle)
        case .pan, .rotateBy, .tiltBy:
            throw encoder.inexpressible(self, "only gestures pan, rotate and tilt by differences")
        }
    }
}
