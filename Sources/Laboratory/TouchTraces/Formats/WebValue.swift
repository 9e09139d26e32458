// Reads one object of a JSON recording, of any known shape: only the members that matter.

import JSONLines

struct WebValue {
    /// A touch of a TouchEvent, or of a message to Chrome.
    struct Touch {
        var identifier: Double
        var x: Double
        var y: Double
    }

    /// The parameters of `Input.dispatchTouchEvent`, and when Chrome saw it, in milliseconds.
    typealias Dispatch = (type: String, touchPoints: [Touch], timeMs: Double?)

    /// A source of a WebDriver script: everything one finger does, an action for each tick.
    struct Source {
        var type: String
        var id: String
        var actions: [Action]

        fileprivate init(_ json: JSONValue) throws(Damaged) {
            (type, id) = (try json.member("type", \.string), try json.member("id", \.string))
            actions = try json.all("actions", Action.init)
        }
    }

    struct Action {
        var type: String
        /// Milliseconds.
        var duration: Double?
        var x: Double?
        var y: Double?
        /// `viewport`, `pointer`, or else an element of the page, whose position is unknown.
        var origin: String

        fileprivate init(_ json: JSONValue) throws(Damaged) {
            (type, duration) = (try json.member("type", \.string), try json.number("duration"))
            (x, y) = (try json.number("x"), try json.number("y"))
            origin = json["origin"].map { $0.string ?? "element" } ?? "viewport"
        }
    }

    // Members of a page's event.
    var type: String?
    var timeStamp: Double?
    var touches: [Touch]?
    var pointerId: Double?
    var x: Double?
    var y: Double?
    /// The viewport, from a script or an object of its own.
    var viewport: (width: Double?, height: Double?)?
    /// The header of the trace that was exported, besides the viewport.
    var header: ToldHeader?
    /// A message to Chrome.
    var dispatch: Dispatch?
    // Members of a WebDriver script.
    var sources: [Source]?

    private static let dispatchMethod = "Input.dispatchTouchEvent"
    /// Chrome's message that sets the viewport.
    private static let viewportMethod = "Emulation.setDeviceMetricsOverride"
    /// The sources of a script that are not fingers.
    private static let otherSources: Set = ["key", "wheel", "none"]

    /// Reads an object; throws if it is not JSON, or not of this shape.
    init(_ text: Span<UInt8>) throws(Damaged) {
        guard let json = try? JSONValue(reading: text), let members = json.object else { throw Damaged() }
        if members["method"] == .string(Self.viewportMethod) {
            viewport = Self.size(members["params"])
            header = ToldHeader(members["params"]?["trace"])
            return
        }
        if let method = members["method"] {
            guard method == .string(Self.dispatchMethod) else { return }
            dispatch = try Self.dispatch(members["params"] ?? .null, seenMs: try json.number("requestTime"))
            return
        }
        type = members["type"]?.string
        viewport = Self.size(members["viewport"])
        header = ToldHeader(members["trace"])
        if members["actions"] != nil {
            // A script's sources are in an object, or in an array whose elements come here one at a time.
            if let type {
                sources = try Self.otherSources.contains(type) ? [] : [Source(json)]
            } else {
                sources = try json.all("actions", Source.init)
            }
            return
        }
        timeStamp = try json.number("timeStamp")
        touches = try? json.all("touches", Touch.init)
        pointerId = try json.number("pointerId")
        x = try json.number("clientX")
        y = try json.number("clientY")
    }

    /// Reads a size, whose members may be missing.
    private static func size(_ json: JSONValue?) -> (width: Double?, height: Double?)? {
        guard let json, json.object != nil else { return nil }
        return try? (json.number("width"), json.number("height"))
    }

    /// - Parameter seenMs: when Chrome's own protocol monitor saw the message; its own time is in seconds since 1970.
    private static func dispatch(_ json: JSONValue, seenMs: Double?) throws(Damaged) -> Dispatch {
        var index = 0.0
        let points = try json.all("touchPoints") { point throws(Damaged) in
            defer { index += 1 }
            let (x, y) = (try point.member("x", \.number), try point.member("y", \.number))
            return Touch(identifier: try point.number("id") ?? index, x: x, y: y)
        }
        let timeMs = try json.number("timestamp").map { $0 * 1000 }
        return (try json.member("type", \.string), points, timeMs ?? seenMs)
    }
}

// MARK: Parts: a required member that is missing, or any that is of another kind, throws

extension JSONValue {
    fileprivate func member<Value>(_ name: String, _ read: (JSONValue) -> Value?) throws(Damaged) -> Value {
        guard let value = self[name].flatMap(read) else { throw Damaged() }
        return value
    }

    /// Returns a member that may be missing or `null`.
    fileprivate func number(_ name: String) throws(Damaged) -> Double? {
        self[name] ?? .null == .null ? nil : try member(name, \.number)
    }

    /// Returns the values of an array.
    fileprivate func all<Value>(
        _ name: String, _ read: (JSONValue) throws(Damaged) -> Value
    ) throws(Damaged) -> [Value] {
        try member(name, \.array).map(read)
    }
}

extension WebValue.Touch {
    fileprivate init(_ json: JSONValue) throws(Damaged) {
        identifier = try json.member("identifier", \.number)
        (x, y) = (try json.member("clientX", \.number), try json.member("clientY", \.number))
    }
}
