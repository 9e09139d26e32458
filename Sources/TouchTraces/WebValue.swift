// One object of a recording in JSON, of whichever shape: the members that count, and no others.

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The members of an object that count.
struct WebValue: Decodable {
    /// A touch of a TouchEvent.
    struct Touch: Decodable {
        var identifier: Double
        var x: Double
        var y: Double

        private enum CodingKeys: String, CodingKey {
            case identifier
            case x = "clientX"
            case y = "clientY"
        }
    }

    struct Size: Decodable {
        var width: Double?
        var height: Double?
    }

    /// What `Input.dispatchTouchEvent` is told.
    struct Dispatch: Decodable {
        struct Point: Decodable {
            var id: Double?
            var x: Double
            var y: Double
        }

        var type: String
        var touchPoints: [Point]
        /// Seconds since 1970.
        var timestamp: Double?
    }

    /// A source of a WebDriver script: all that one finger does, an action for each tick.
    struct Source: Decodable {
        var type: String
        var id: String
        var actions: [Action]
    }

    struct Action: Decodable {
        var type: String
        /// Milliseconds.
        var duration: Double?
        var x: Double?
        var y: Double?
        var origin: Origin?
    }

    /// What the position of a move counts from.
    enum Origin: Decodable {
        case viewport, pointer
        /// An element of the page, wherever that was.
        case element

        init(from decoder: any Decoder) throws {
            switch try? decoder.singleValueContainer().decode(String.self) {
            case "viewport": self = .viewport
            case "pointer": self = .pointer
            default: self = .element
            }
        }
    }

    // Of a page's event.
    var type: String?
    var timeStamp: Double?
    var touches: [Touch]?
    var pointerId: Double?
    var x: Double?
    var y: Double?
    /// The viewport, which an object of its own may tell.
    var viewport: Size?
    // Of a message to Chrome.
    var dispatch: Dispatch?
    /// When Chrome's own protocol monitor saw the message, in milliseconds.
    var requestTime: Double?
    // Of a WebDriver script.
    var sources: [Source]?

    private enum CodingKeys: String, CodingKey {
        case type, timeStamp, touches, pointerId, viewport, method, params, requestTime, actions
        case x = "clientX"
        case y = "clientY"
    }

    private static let dispatchMethod = "Input.dispatchTouchEvent"
    /// The sources of a script that are no fingers.
    private static let otherSources: Set = ["key", "wheel", "none"]

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        if members.contains(.method) {
            guard try members.decode(String.self, forKey: .method) == Self.dispatchMethod else { return }
            dispatch = try members.decode(Dispatch.self, forKey: .params)
            requestTime = try members.decodeIfPresent(Double.self, forKey: .requestTime)
            return
        }
        type = try members.decodeIfPresent(String.self, forKey: .type)
        if members.contains(.actions) {
            // A script has its sources in an object; or an array has them, and then this is one.
            if let type {
                sources = Self.otherSources.contains(type) ? [] : [try Source(from: decoder)]
            } else {
                sources = try members.decode([Source].self, forKey: .actions)
            }
            return
        }
        timeStamp = try members.decodeIfPresent(Double.self, forKey: .timeStamp)
        touches = try members.decodeIfPresent([Touch].self, forKey: .touches)
        pointerId = try members.decodeIfPresent(Double.self, forKey: .pointerId)
        x = try members.decodeIfPresent(Double.self, forKey: .x)
        y = try members.decodeIfPresent(Double.self, forKey: .y)
        viewport = try members.decodeIfPresent(Size.self, forKey: .viewport)
    }

    /// Reads an object; `nil` if it is no JSON, or not of this shape.
    init?(_ text: Span<UInt8>) {
        let bytes = unsafe text.withUnsafeBytes { unsafe Data($0) }
        guard let value = try? JSONDecoder().decode(WebValue.self, from: bytes) else { return nil }
        self = value
    }
}
