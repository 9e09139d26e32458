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

    /// Reads an object; returns `nil` if it is not JSON, or not of this shape.
    init?(_ text: Span<UInt8>) {
        guard let json = try? JSONValue(reading: text), let members = json.object else { return nil }
        if members["method"] == .string(Self.viewportMethod) {
            viewport = members["params"].flatMap(Size.init)
            header = ToldHeader(members["params"]?["trace"])
            return
        }
        if let method = members["method"] {
            guard method == .string(Self.dispatchMethod) else { return }
            guard let dispatch = members["params"].flatMap(Dispatch.init), json.mayHaveNumbers("requestTime") else {
                return nil
            }
            self.dispatch = dispatch
            requestTime = members["requestTime"]?.number
            return
        }
        type = members["type"]?.string
        viewport = members["viewport"].flatMap(Size.init)
        header = ToldHeader(members["trace"])
        if let actions = members["actions"] {
            // A script's sources are in an object, or in an array whose elements come here one at a time.
            if let type {
                let isOther = Self.otherSources.contains(type)
                guard let sources = isOther ? [] : Source(json).map({ [$0] }) else { return nil }
                self.sources = sources
            } else {
                guard let sources = actions.all(Source.init) else { return nil }
                self.sources = sources
            }
            return
        }
        guard json.mayHaveNumbers("timeStamp", "pointerId", "clientX", "clientY") else { return nil }
        timeStamp = members["timeStamp"]?.number
        touches = members["touches"]?.all(Touch.init)
        pointerId = members["pointerId"]?.number
        x = members["clientX"]?.number
        y = members["clientY"]?.number
    }
}

// MARK: Parts: each is `nil` if a required member is missing

extension JSONValue {
    /// Returns the values of an array; `nil` if it is not an array, or one of them cannot be read.
    fileprivate func all<Value>(_ read: (JSONValue) -> Value?) -> [Value]? {
        guard let array else { return nil }
        let values = array.compactMap(read)
        return values.count == array.count ? values : nil
    }

    /// Returns whether members are numbers or missing.
    fileprivate func mayHaveNumbers(_ names: String...) -> Bool {
        names.allSatisfy { name in
            guard let value = self[name], value != .null else { return true }
            return value.number != nil
        }
    }
}

extension WebValue.Touch {
    fileprivate init?(_ json: JSONValue) {
        guard let identifier = json["identifier"]?.number, let x = json["clientX"]?.number,
            let y = json["clientY"]?.number
        else { return nil }
        (self.identifier, self.x, self.y) = (identifier, x, y)
    }
}

extension WebValue.Size {
    fileprivate init?(_ json: JSONValue) {
        guard let object = json.object, json.mayHaveNumbers("width", "height") else { return nil }
        (width, height) = (object["width"]?.number, object["height"]?.number)
    }
}

extension WebValue.Dispatch {
    fileprivate init?(_ json: JSONValue) {
        var index = 0.0
        let read = json["touchPoints"]?.all { point -> WebValue.Touch? in
            defer { index += 1 }
            guard let x = point["x"]?.number, let y = point["y"]?.number, point.mayHaveNumbers("id") else { return nil }
            return WebValue.Touch(identifier: point["id"]?.number ?? index, x: x, y: y)
        }
        guard let type = json["type"]?.string, let points = read, json.mayHaveNumbers("timestamp") else { return nil }
        (self.type, touchPoints, timestamp) = (type, points, json["timestamp"]?.number)
    }
}

extension WebValue.Source {
    fileprivate init?(_ json: JSONValue) {
        guard let type = json["type"]?.string, let id = json["id"]?.string,
            let actions = json["actions"]?.all(WebValue.Action.init)
        else { return nil }
        (self.type, self.id, self.actions) = (type, id, actions)
    }
}

extension WebValue.Action {
    fileprivate init?(_ json: JSONValue) {
        guard let type = json["type"]?.string, json.mayHaveNumbers("duration", "x", "y") else { return nil }
        self.type = type
        (duration, x, y) = (json["duration"]?.number, json["x"]?.number, json["y"]?.number)
        origin = json["origin"].map { $0.string ?? "element" } ?? "viewport"
    }
}
