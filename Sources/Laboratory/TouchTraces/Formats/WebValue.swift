// Reads one object of a JSON recording, of any known shape: only the members that matter.

import JSONLines

/// The members that matter of an object.
struct WebValue {
    /// A touch of a TouchEvent, or of a message to Chrome.
    struct Touch {
        var identifier: Double
        var x: Double
        var y: Double
    }

    struct Size {
        var width: Double?
        var height: Double?
    }

    /// The parameters of `Input.dispatchTouchEvent`.
    struct Dispatch {
        var type: String
        var touchPoints: [Touch]
        /// Seconds since 1970.
        var timestamp: Double?
    }

    /// A source of a WebDriver script: everything one finger does, an action for each tick.
    struct Source {
        var type: String
        var id: String
        var actions: [Action]
    }

    struct Action {
        var type: String
        /// Milliseconds.
        var duration: Double?
        var x: Double?
        var y: Double?
        /// `viewport`, `pointer`, or else an element of the page, whose position is unknown.
        var origin: String
    }

    // Members of a page's event.
    var type: String?
    var timeStamp: Double?
    var touches: [Touch]?
    var pointerId: Double?
    var x: Double?
    var y: Double?
    /// The viewport, from a script or an object of its own.
    var viewport: Size?
    /// The header of the trace that was exported, besides the viewport.
    var header: ToldHeader?
    // Members of a message to Chrome.
    var dispatch: Dispatch?
    /// When Chrome's own protocol monitor saw the message, in milliseconds.
    var requestTime: Double?
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
            viewport = try? Size(members["params"])
            header = ToldHeader(members["params"]?["trace"])
            return
        }
        if let method = members["method"] {
            guard method == .string(Self.dispatchMethod) else { return }
            dispatch = try Dispatch(members["params"] ?? .null)
            requestTime = try json.number("requestTime")
            return
        }
        type = members["type"]?.string
        viewport = try? Size(members["viewport"])
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

extension WebValue.Size {
    fileprivate init(_ json: JSONValue?) throws(Damaged) {
        guard let json, json.object != nil else { throw Damaged() }
        (width, height) = (try json.number("width"), try json.number("height"))
    }
}

extension WebValue.Dispatch {
    fileprivate init(_ json: JSONValue) throws(Damaged) {
        var index = 0.0
        touchPoints = try json.all("touchPoints") { point throws(Damaged) in
            defer { index += 1 }
            let (x, y) = (try point.member("x", \.number), try point.member("y", \.number))
            return WebValue.Touch(identifier: try point.number("id") ?? index, x: x, y: y)
        }
        (type, timestamp) = (try json.member("type", \.string), try json.number("timestamp"))
    }
}

extension WebValue.Source {
    fileprivate init(_ json: JSONValue) throws(Damaged) {
        (type, id) = (try json.member("type", \.string), try json.member("id", \.string))
        actions = try json.all("actions", WebValue.Action.init)
    }
}

extension WebValue.Action {
    fileprivate init(_ json: JSONValue) throws(Damaged) {
        (type, duration) = (try json.member("type", \.string), try json.number("duration"))
        (x, y) = (try json.number("x"), try json.number("y"))
        origin = json["origin"].map { $0.string ?? "element" } ?? "viewport"
    }
}
