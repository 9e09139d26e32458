// All possible differences between cameras, as requests that cause them: settings from the schema, so that a new one is
// included automatically, and everything that can move or be held at a time. Tests take a changed camera through a
// restart, a recording, a mirror and so on, and compare its state and behaviour with a camera that was left alone.

import Foundation
import Testing

/// Requests that make a camera differ from a new one.
public struct CameraChange: Sendable, CustomTestStringConvertible {
    /// Requests to the camera `main`, in order; 8 ms pass after each.
    public let lines: [String]
    /// Whether something moves or is held after the last one.
    public let isInMotion: Bool

    public var testDescription: String { lines.joined(separator: " ") }

    fileprivate init(_ lines: [String], isInMotion: Bool = true) { (self.lines, self.isInMotion) = (lines, isInMotion) }

    /// All changes.
    public static let all = settings + positions + motions

    /// Every member of every command that is a setting, with both values of those that are on or off.
    public static let settings: [CameraChange] = {
        let schema = RequestSchema()
        return schema.settings.flatMap { schema.lines(of: $0) }.map { CameraChange([$0], isInMotion: false) }
    }()

    private static let positions = [
        CameraChange(
            [
                #"{"type":"move","update":{"kind":"set-camera","position":{"target":{"latitude":48.123456789012,"#
                    + #""longitude":-122.98765432101},"zoom":11.3,"bearing":77.7,"viewingAngle":22.2}}}"#
            ], isInMotion: false),
        CameraChange(
            [
                #"{"type":"marker","label":"here"}"#,
                #"{"type":"animate","update":{"kind":"zoom-to","zoom":9},"durationMs":50}"#,
                #"{"type":"stop"}"#,
            ], isInMotion: false),
    ]

    /// Motions and held gestures: each kind of gesture begun, changed and ended, and fingers likewise.
    private static let motions: [CameraChange] = {
        let held: [(type: String, values: [String])] = [
            ("pan", [#""translation":{"x":30,"y":9}"#, #""translation":{"x":71,"y":20}"#]),
            ("pinch", [#""scale":1.2,"focus":{"x":50,"y":60}"#, #""scale":1.7,"focus":{"x":50,"y":60}"#]),
            ("rotate", [#""rotationDeg":9,"focus":{"x":50,"y":60}"#, #""rotationDeg":31,"focus":{"x":50,"y":60}"#]),
            ("tilt", [#""translation":{"x":0,"y":-40}"#, #""translation":{"x":0,"y":-90}"#]),
            ("one-finger-zoom", [#""translation":{"x":0,"y":30}"#, #""translation":{"x":0,"y":80}"#]),
            ("position", [8, 9].map { #""position":{"target":{"latitude":4\#($0),"longitude":7},"zoom":\#($0)}"# }),
        ]
        let place =
            #"{"type":"move","update":{"kind":"set-camera","position":{"target":{"latitude":48,"longitude":11},"#
            + #""zoom":9}}}"#
        let inertia = #"{"type":"set-gestures","inertia":true}"#
        func report(_ type: String, _ phase: String, _ value: String?) -> String {
            #"{"type":"\#(type)","phase":"\#(phase)"\#(value.map { "," + $0 } ?? "")}"#
        }
        let gestures = held.flatMap { type, values in
            let began = [place, inertia, report(type, "began", nil)]
            let changed = began + values.map { report(type, "changed", $0) }
            return [began, changed, changed + [report(type, "ended", nil)]]
        }
        let taps = ["double-tap", "two-finger-tap"].map { [place, report($0, "ended", #""focus":{"x":31,"y":42}"#)] }
        let fingers = (0...3).map { step in
            let (one, other) = (100 - step * 9, 300 + step * 9)
            return #"{"type":"touch","surface":"table","touches":[{"id":1,"x":\#(one),"y":200},"#
                + #"{"id":2,"x":\#(other),"y":\#(250 + step)}]}"#
        }
        let lifted = #"{"type":"touch","surface":"table","touches":[]}"#
        let animations = ["linear", "ease-in-out"].map {
            [
                place,
                #"{"type":"animate","update":{"kind":"zoom-by","amount":2,"focus":{"x":9,"y":8}},"easing":"\#($0)"}"#,
            ]
        }
        let keyframes = [
            (49, 8, #""durationMs":900"#), (50, 9, #""durationMs":700,"turns":1"#), (47, 7, #""waitMs":30"#),
        ].map {
            #"{"position":{"target":{"latitude":\#($0),"longitude":\#($1)},"zoom":\#($1)},\#($2)}"#
        }
        let tours = [
            [place, #"{"type":"tour","keyframes":[\#(keyframes.joined(separator: ","))]}"#],
            [
                place,
                #"{"type":"animate","path":"flight","curve":2,"update":{"kind":"set-target","target":{"latitude":8,"longitude":9}}}"#,
            ],
        ]
        let touches = (1...4).map { [place, inertia] + fingers.prefix($0) } + [[place, inertia] + fingers + [lifted]]
        return (gestures + taps + touches + animations + tours).map { CameraChange($0) }
    }()

    // MARK: Probing

    /// Requests after a change: every difference of the camera shows in the answer or in its movements.
    public static let probe = [
        #"{"type":"pan","phase":"changed","translation":{"x":90,"y":33}}"#,
        #"{"type":"pinch","phase":"changed","scale":2,"focus":{"x":70,"y":20}}"#,
        #"{"type":"rotate","phase":"changed","rotationDeg":40}"#,
        #"{"type":"pan","phase":"ended"}"#,
        #"{"type":"pinch","phase":"ended"}"#,
        #"{"type":"rotate","phase":"ended"}"#,
        #"{"type":"tilt","phase":"began"}"#,
        #"{"type":"tilt","phase":"changed","translation":{"x":0,"y":-60}}"#,
        #"{"type":"tilt","phase":"ended"}"#,
        #"{"type":"touch","surface":"table","touches":[]}"#,
        #"{"type":"double-tap","phase":"ended","focus":{"x":31,"y":42}}"#,
        #"{"type":"move","update":{"kind":"scroll-by","x":100,"y":-31.7}}"#,
        #"{"type":"move","update":{"kind":"zoom-to","zoom":21}}"#,
        #"{"type":"animate","update":{"kind":"set-viewing-angle","viewingAngle":45},"durationMs":40}"#,
    ]
}

/// The schema's requests that may be in traces.
private struct RequestSchema {
    private let definitions: [String: JSON]
    /// The members that every request may have.
    private static let common: Set<String> = ["type", "id", "camera", "timeMs", "create"]

    init() {
        guard let schema = try? JSON(Files.text("Protocols/gimbal.schema.json")),
            case .object(let definitions)? = schema["$defs"]
        else { preconditionFailure("the schema cannot be read") }
        self.definitions = definitions
    }

    /// The types of commands that are settings of a camera, by their names in the schema.
    var settings: [String] {
        let names = definitions.keys.filter { name in
            name.hasPrefix("client.set-") && definitions[name]?["properties"]?["timeMs"] != nil
        }
        precondition(names.count >= 4, "the schema has too few settings")
        return names.sorted()
    }

    /// Returns a line for each member of a request, with the required ones; two lines for one that is on or off.
    func lines(of name: String) -> [String] {
        guard case .object(let members)? = definitions[name]?["properties"] else { return [] }
        let required = Set(definitions[name]?["required"]?.array?.compactMap(\.string) ?? []).subtracting(Self.common)
        let own = members.keys.filter { !Self.common.contains($0) }.sorted()
        return own.filter { !required.contains($0) || own.count == required.count }.flatMap { name in
            [false, true].compactMap { isOn -> String? in
                var count = 0
                let all: [(String, JSON)] = (required.sorted() + [name]).reduce(into: []) { all, name in
                    if all.contains(where: { $0.0 == name }) { return }
                    all.append((name, value(members[name] ?? .null, isOn, &count)))
                }
                let isSwitch = all.contains { $0.1.bool != nil }
                guard isOn || isSwitch else { return nil }
                var request = members.filter { $0.key == "type" }.mapValues { $0["const"] ?? .null }
                for (name, value) in all { request[name] = value }
                return JSON.object(request).text
            }
        }
    }

    /// Returns a valid value; numbers differ, and later ones are greater.
    private func value(_ schema: JSON, _ isOn: Bool, _ count: inout Int) -> JSON {
        if let name = schema["$ref"]?.string?.split(separator: "/").last, let found = definitions[String(name)] {
            return value(found, isOn, &count)
        }
        if schema["if"] != nil, let other = schema["else"] { return value(other, isOn, &count) }
        if let constant = schema["const"] { return constant }
        if let last = schema["enum"]?.array?.last { return last }
        // The first type of those of a value that may be null.
        switch schema["type"]?.string ?? schema["type"]?.array?.first?.string {
        case "boolean": return .bool(isOn)
        case "string": return .string("changed \(isOn)")
        case "number", "integer":
            count += 1
            // Delays of seconds must not elapse: they have their own tests.
            if let least = schema["minimum"]?.number, least >= 1000, let most = schema["maximum"] { return most }
            let (least, most) = (schema["minimum"]?.number ?? -50, schema["maximum"]?.number ?? 50)
            let number = least + (min(most, least + 400) - least) * (0.4 + 0.05 * Double(count))
            return .number((number * 16).rounded() / 16)
        default:
            guard case .object(let members)? = schema["properties"] else { preconditionFailure("\(schema)") }
            // The south west before the north east.
            let names = members.keys.sorted { ($0 == "southWest" ? "" : $0) < ($1 == "southWest" ? "" : $1) }
            return .object(
                names.reduce(into: [:]) { object, name in
                    object[name] = value(members[name] ?? .null, isOn, &count)
                })
        }
    }
}

extension JSON {
    /// The values that are not objects, by the dotted paths of their members.
    public var leaves: [String: JSON] {
        guard case .object(let members) = self else { return ["": self] }
        return members.reduce(into: [:]) { leaves, member in
            for (path, value) in member.value.leaves {
                leaves[path.isEmpty ? member.key : "\(member.key).\(path)"] = value
            }
        }
    }
}
