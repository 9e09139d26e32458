// The code, the JSON Schema and the specification's tables know the same messages and members, in both directions. The
// code is probed for what it reads: a member that is read cannot be `[[]]`, which is no member's value.

import Foundation
import Gestures
import MapCamera
import TestSupport
import Testing
import Touches

@testable import GimbalProtocol

/// The schema, as a description of the members of objects.
private struct Members {
    let schema: JSON

    init() throws { schema = try JSON(Files.text("Protocols/gimbal.schema.json")) }

    func definition(_ name: String) -> JSON { schema["$defs"]?[name] ?? .null }

    /// Returns the schemas that apply to a value: the given one, those it refers to, and those its conditions select.
    private func parts(_ schema: JSON, _ value: JSON) -> [JSON] {
        var parts = [schema]
        if let name = schema["$ref"]?.string?.split(separator: "/").last {
            parts += self.parts(definition(String(name)), value)
        }
        for part in schema["allOf"]?.array ?? [] { parts += self.parts(part, value) }
        if let condition = schema["if"] {
            if holds(condition, value) { parts.append(condition) }
            if let chosen = holds(condition, value) ? schema["then"] : schema["else"] {
                parts += self.parts(chosen, value)
            }
        }
        return parts
    }

    /// Evaluates the schema's conditions: a member that is a word, or the type of a value.
    private func holds(_ condition: JSON, _ value: JSON) -> Bool {
        if let type = condition["type"]?.string {
            switch value {
            case .null: return type == "null"
            case .bool: return type == "boolean"
            case .string: return type == "string"
            case .array: return type == "array"
            default: return false
            }
        }
        guard case .object(let wanted)? = condition["properties"] else { return false }
        return wanted.allSatisfy { name, rule in rule["const"] == value[name] }
    }

    func properties(_ schema: JSON, _ value: JSON) -> [String: JSON] {
        parts(schema, value).reduce(into: [:]) { all, part in
            guard case .object(let properties)? = part["properties"] else { return }
            all.merge(properties) { first, _ in first }
        }
    }

    func required(_ schema: JSON, _ value: JSON) -> Set<String> {
        // Conditions, which are parts, too, say what they require along with a constant.
        let parts = parts(schema, value).filter { $0["type"] != nil || $0["properties"] == nil }
        return Set(parts.flatMap { $0["required"]?.array ?? [] }.compactMap(\.string))
    }

    /// Returns values that a member may have, and some that it may not have, as far as they depend on nothing else.
    func samples(_ schema: JSON, _ value: JSON) -> (allowed: [JSON], refused: [JSON]) {
        var (allowed, refused): ([JSON], [JSON]) = ([], [])
        for part in parts(schema, value) {
            if let words = part["enum"]?.array {
                allowed += words
                refused += [.string("no-word"), .number(1)]
            }
            if let least = part["minimum"]?.number {
                allowed.append(.number(least))
                refused.append(.number(least - max(abs(least) / 1e6, 0.01)))
            }
            if let most = part["maximum"]?.number {
                allowed.append(.number(most))
                refused.append(.number(most + max(abs(most) / 1e6, 0.01)))
            }
            if let least = part["exclusiveMinimum"]?.number { refused.append(.number(least)) }
            if let most = part["maxLength"]?.number {
                allowed.append(.string(String(repeating: "a", count: Int(most))))
                refused.append(.string(String(repeating: "a", count: Int(most) + 1)))
            }
            if part["minLength"]?.number == 1 { refused.append(.string("")) }
        }
        let ofEachType: [(String, JSON)] = [
            ("null", .null), ("boolean", .bool(true)), ("integer", .number(7)), ("number", .number(0.5)),
            ("string", .string("a")), ("array", .array([])), ("object", .object([:])),
        ]
        for (type, value) in ofEachType {
            let types = parts(schema, value).compactMap { $0["type"].map { $0.array ?? [$0] } }
            let isAllowed = types.allSatisfy {
                $0.contains(.string(type)) || type == "integer" && $0.contains(.string("number"))
            }
            if !isAllowed { refused.append(value) }
        }
        return (allowed, refused)
    }

    /// Calls a body with every object in a value: its path, its schema, and a function that sets one of its members in
    /// the whole, or removes it.
    func visit(
        _ schema: JSON, _ value: JSON, at path: String = "", _ rebuild: @escaping (JSON) -> JSON = { $0 },
        _ body: (_ path: String, _ schema: JSON, _ object: [String: JSON], _ with: (String, JSON?) -> JSON) -> Void
    ) {
        switch value {
        case .object(let object):
            let properties = properties(schema, value)
            body(path, schema, object) { name, member in
                var changed = object
                changed[name] = member
                return rebuild(.object(changed))
            }
            for (name, member) in object {
                guard let inner = properties[name] else { continue }
                visit(
                    inner, member, at: "\(path)/\(name)",
                    { changed in
                        var whole = object
                        whole[name] = changed
                        return rebuild(.object(whole))
                    }, body)
            }
        case .array(let items):
            guard let inner = parts(schema, value).lazy.compactMap({ $0["items"] }).first else { return }
            for (index, item) in items.enumerated() {
                visit(
                    inner, item, at: "\(path)/*",
                    { changed in
                        var whole = items
                        whole[index] = changed
                        return rebuild(.array(whole))
                    }, body)
            }
        default: break
        }
    }
}

/// A value that is wrong for every member.
private let wrong = JSON.array([.array([])])
/// The names of all members that code can read.
private let fields = Field.allCases.map(\.name)

@Suite struct SchemaMembersTests {
    private func meaning(of request: JSON) -> String {
        let line = Array(request.text.utf8)
        do {
            return try RequestDecoder.requests(of: line.span).map { request in
                let id = request.id.map { String(decoding: line[$0.range], as: UTF8.self) } ?? "none"
                let body = String(decoding: try request.body.line(), as: UTF8.self)
                return "\(id) \(request.camera ?? "none") \(request.timeMs ?? 0) \(request.creates) \(body)"
            }.joined()
        } catch {
            return "\(error)"
        }
    }

    @Test func theSchemaAndTheDecoderKnowTheSameMembersOfRequests() throws {
        let members = try Members()
        var known: [String: Set<String>] = [:]
        var wanted: [String: Set<String>] = [:]
        for request in everyRequest {
            let line = try request.line(camera: "left", id: 1, timeMs: 2, creates: false)
            let json = try JSON(String(decoding: line, as: UTF8.self))
            let normal = meaning(of: json)
            #expect(normal.hasPrefix("1 "), "\(json.text): \(normal)")
            members.visit(members.definition("clientMessage"), json) { path, schema, object, with in
                let properties = Set(members.properties(schema, .object(object)).keys)
                let place = "\(request.type)\(path)\(object["kind"]?.string.map { "(\($0))" } ?? "")"
                #expect(Set(object.keys).isSubset(of: properties), "\(place) is written with more than the schema has")
                wanted[place, default: []].formUnion(properties)
                let read = fields.filter { meaning(of: with($0, wrong)) != normal }
                known[place, default: []].formUnion(read)
            }
        }
        #expect(known.count > 60)
        for (place, properties) in wanted {
            let read = known[place] ?? []
            #expect(read.subtracting(properties) == [], "\(place): code reads what the schema does not have")
            #expect(properties.subtracting(read) == [], "\(place): the schema has what code does not read")
        }
    }

    /// Returns the member that an error about a request names, without its path; `nil` if the request is right.
    private func refused(_ request: JSON) -> String? {
        let line = Array(request.text.utf8)
        do {
            _ = try RequestDecoder.requests(of: line.span)
            return nil
        } catch {
            return error.error.field?.split(separator: ".").last.map(String.init) ?? ""
        }
    }

    /// Values that another member of every request in these tests forbids: the other end of a range, another way to say
    /// the same, or the same again.
    private static let excluded: Set = [
        "animate/maxDurationMs", "animate/curve", "seek-replay/byMs", "seek-replay/marker", "set-zoom-range/minZoom",
        "touch/touches/*/id", "trace/minZoom", "trace/untilMs",
    ]

    @Test func theSchemaAndTheDecoderAllowTheSameValues() throws {
        let members = try Members()
        // Some members count only in some requests of a type: what matters is whether a value is ever taken, or refused.
        var (allowed, refused): ([String: Bool], [String: Bool]) = ([:], [:])
        func note(_ sample: String, in all: inout [String: Bool], _ isRight: Bool) {
            all[sample] = isRight || all[sample] ?? false
        }
        for request in everyRequest {
            let line = try request.line(camera: "left", id: 1, timeMs: 2, creates: false)
            let json = try JSON(String(decoding: line, as: UTF8.self))
            members.visit(members.definition("clientMessage"), json) { path, schema, object, with in
                let required = members.required(schema, .object(object))
                for (name, schema) in members.properties(schema, .object(object)) where name != "type" {
                    let place = "\(request.type)\(path)/\(name)"
                    let samples = members.samples(schema, object[name] ?? .null)
                    for value in samples.allowed where !Self.excluded.contains(place) {
                        note("\(place): \(value.text)", in: &allowed, self.refused(with(name, value)) != name)
                    }
                    for value in samples.refused {
                        note("\(place): \(value.text)", in: &refused, self.refused(with(name, value)) != nil)
                    }
                    if required.contains(name) {
                        note("\(place) left out", in: &refused, self.refused(with(name, nil)) != nil)
                    }
                }
            }
        }
        #expect(allowed.filter { !$0.value }.map(\.key) == [], "in the schema, and refused")
        #expect(refused.filter { !$0.value }.map(\.key) == [], "not in the schema, and taken")
        #expect(allowed.count > 200 && refused.count > 1000)
    }

    // MARK: Answers

    /// Returns lines of every type, together with every member of each.
    private func everyAnswer() throws -> [String] {
        let id: [UInt8] = Array("\"a\"".utf8)
        let position = CameraPosition(target: LatLng(latitude: 1, longitude: 2), zoom: 3, bearing: 4, viewingAngle: 5)
        let bounds = try #require(
            CoordinateBounds(
                southWest: LatLng(latitude: -1, longitude: 5), northEast: LatLng(latitude: 1, longitude: 6)))
        let home = IdleAction(afterMs: 1000, .flyHome(position, durationMs: 5))
        let setup = CameraSetup(targetBounds: bounds, idleAction: home)
        let playing = CameraSetup(
            targetBounds: bounds, idleAction: IdleAction(afterMs: 1000, .play(trace: "a", loop: false)))
        var client = Client(number: 7)
        (client.isSelf, client.user, client.process) = (true, 8, 9)
        (client.about, client.replay, client.followsAll) = ("a \"wall\"", "left", true)
        client.subscriptions = [Client.Following(camera: "left", delivery: .latest, behind: 3)]
        let place = position.target
        let region = VisibleRegion(nearLeft: place, nearRight: place, farLeft: place, farRight: place)
        let touch = Touch(id: 1, position: ScreenPoint(x: 2, y: 3))
        let fingers = Fingers([touch], surface: .text("a"), isCancelled: true)
        let status = ReplayStatus(
            camera: "left", state: .paused, timeMs: 4.5, durationMs: 60, speed: 2, round: 1, trace: "a.b",
            markers: [ReplayMarker(timeMs: 1, label: "a")])
        let noon = WallTime(microseconds: 1_764_158_400_000_001)
        let tour = MotionCause.request(.tour([TourKeyframe(position, durationMs: 5)]))
        let glide = MotionCause.glide(Momentum(anchor: touch.position, zoom: 1))
        let move = CameraMove(camera: "left", seq: 3, timeMs: 4.5, reason: .animation, position: position)
        let presentation = Presentation(position, at: noon, isMoving: true)
        func start(_ cause: MotionCause) -> MotionStart { MotionStart(at: noon, position, setup, cause) }
        let messages: [ServerMessage] = [
            .ok, .error(GimbalError(.busy, field: "camera", "wait").at(line: 3)),
            .hello(DaemonHello(server: "gimbald")), .pong,
            .event(.subscribed(Subscribed(camera: "left", epoch: "e", seq: 3, position: position))),
            .event(.subscribedToAll(cameras: 3)),
            .event(.lagged(Lagged(camera: "left", missed: 2, position: position, seq: 3, epoch: "e"))),
            .event(.removed(camera: "left")),
            .traceEnded(
                TraceEnded(events: 1, rejected: 2, frames: 3, durationMs: 4.5, position: position, cut: true)),
            .atRest(CameraRest(camera: "left", epoch: "e", seq: 3, position: position)),
            .camera(CameraState(camera: "left", seq: 3, position: position, setup: setup, wallTime: noon)),
            .cameraForBounds(BoundsFit(position: position, fits: true)), .point(ScreenPoint(x: 1, y: 2)),
            .camera(CameraState(camera: "left", seq: 3, position: position, setup: playing, wallTime: noon)),
            .traces([StoredTraceInfo(trace: "a", lines: 1, durationMs: 2.5)]), .coordinate(place),
            .visibleRegion(region), .cameras(["left"]),
            .clients(ClientPage(clients: [client], hasMore: true)), .event(.moveStarted(move)),
            .event(.cameraChanged(move)), .event(.idle(move)),
            .event(.touch(SurfaceTouches(fingers, number: 1, camera: "left", timeMs: 5))),
            .event(
                .reset(
                    CameraReset(camera: "left", seq: 3, timeMs: 4.5, position: position, moving: .gesture, epoch: "e"))),
            .replay(status), .event(.marker(CameraMarker(camera: "left", timeMs: 4.5, label: "a"))),
            .lease(CameraLease(camera: "left", timeMs: 4.5, lease: 7, untilMs: 5004.5, label: "guide")),
            .event(.leaseTaken(CameraLease(camera: "left", timeMs: 4.5, lease: 7, untilMs: 5004.5, label: "guide"))),
            .event(.leaseEnded(LeaseEnd(camera: "left", timeMs: 4.5, lease: 7, reason: .disconnected))),
            .event(.clock(CameraClock(camera: "left", timeMs: 4.5, wallTime: noon))),
            .event(.motion(CameraMotion(camera: "left", timeMs: 4.5, motion: start(tour)))),
            .event(.motion(CameraMotion(camera: "left", timeMs: 4.5, motion: start(glide)))),
            .event(.present(CameraPresentation(camera: "left", presentation: presentation))),
        ]
        var line = LineWriter()
        for message in messages {
            // Of all events only `subscribed` answers a request.
            let isAnswer = message.event == nil || message.type == .subscribed
            line.answer(message, isAnswer ? id.span : Span())
        }
        line.input([.stop], camera: "left", timeMs: 5)
        line.input(TraceHeader(), camera: "left", timeMs: 5)
        let written = String(decoding: line.bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        // The hub names its counters, which are in the specification.
        let stats = try Files.fenced("json server", in: "Protocols/README.md").filter { $0.contains("\"stats\"") }
        return written + stats
    }

    @Test func theSchemaAndTheCodeKnowTheSameMembersOfAnswers() throws {
        let members = try Members()
        var types: Set<String> = []
        for line in try everyAnswer() {
            let json = try JSON(line)
            let type = try #require(json["type"]?.string)
            types.insert(type)
            let normal = try ServerLine(line: json.text.utf8)
            members.visit(members.definition("serverLine"), json) { path, schema, object, with in
                let properties = Set(members.properties(schema, .object(object)).keys)
                // The input to a camera is a request, and so is the cause of its motion.
                guard !(type + path).hasPrefix("gesture/line"), !path.hasPrefix("/motion/request") else { return }
                let place = "\(type)\(path)"
                let other: Set = place == "motion/motion" ? ["request", "glide"] : []
                #expect(Set(object.keys).union(other) == properties, "\(place): written and in the schema")
                let read = Set(fields.filter { (try? ServerLine(line: with($0, wrong).text.utf8)) != normal })
                // Any line may carry the id of a request.
                let more = read.subtracting(properties).subtracting(path.isEmpty ? ["id"] : [])
                #expect(more == [], "\(place): code reads what the schema does not have")
                #expect(properties.subtracting(read) == [], "\(place): the schema has what code does not read")
            }
        }
        #expect(types == Set(MessageType.allCases.map(\.rawValue)))
        let enumerated = members.definition("serverLine")["properties"]?["type"]?["enum"]?.array ?? []
        #expect(Set(enumerated.compactMap(\.string)) == types)
    }

    // MARK: Tables of the specification

    /// Returns the rows of the table whose heading begins with this, as the words in backquotes of each cell.
    private func table(_ heading: String) throws -> [[[String]]] {
        let lines = try Files.text("Protocols/README.md").split(separator: "\n", omittingEmptySubsequences: false)
        let start = try #require(lines.firstIndex { $0.hasPrefix(heading) }, "there is no table \(heading)")
        return lines[(start + 2)...].prefix { $0.hasPrefix("|") }.map { row in
            row.split(separator: "|").map { cell in
                cell.split(separator: "`", omittingEmptySubsequences: false).enumerated()
                    .filter { !$0.offset.isMultiple(of: 2) }.map { String($0.element) }
            }
        }
    }

    private func firstWords(_ heading: String) throws -> Set<String> { Set(try table(heading).flatMap(\.[0])) }

    /// Compares the words of a table with those of the code.
    private func expect(_ words: Set<String>, in table: String, are code: some Sequence<String>) {
        for word in Set(code).subtracting(words).sorted() {
            Issue.record("\(word) is missing in the table \(table)… of Protocols/README.md")
        }
        for word in words.subtracting(code).sorted() {
            Issue.record("\(word) stands in the table \(table)… of Protocols/README.md, and the code does not know it")
        }
    }

    @Test func theTablesHaveWhatTheCodeHas() throws {
        expect(try firstWords("| Code |"), in: "| Code |", are: ErrorCode.known.map(\.rawValue))
        expect(try firstWords("| Type | Value"), in: "| Type | Value", are: GestureKind.allCases.map(\.type))
        expect(
            try firstWords("| `kind` |").subtracting(["kind"]), in: "| `kind` |",
            are: CameraUpdate.blanks.compactMap(\.kind))
        let gestures = GestureKind.allCases.map(\.type)
        // Each of these has its own section.
        let told: Set = [
            "move", "animate", "tour", "subscribe", "unsubscribe", "hello", "trace", "trace-end", "touch", "marker",
            "await-idle", "present",
        ]
        let asked = try [
            "| Command |", "| Request | Fields | Reply |", "| Request | Fields | What", "| Of a lease |",
        ].map(firstWords)
        expect(
            asked.reduce(told) { $0.union($1) }, in: "| Request |, or | Command |",
            are: ClientRequest.blanks.map(\.type).filter { !gestures.contains($0) })
        let answers = Set(try table("| Request | Fields | Reply |").compactMap { $0.last?.first })
        #expect(answers.subtracting(MessageType.allCases.map(\.rawValue)) == [])
    }

    @Test func everyKindOfEventIsInTheSchemaAndTheSpecification() throws {
        let kinds = Set(EventKind.allCases.map(\.rawValue))
        #expect(try Set(Members().definition("eventKind")["enum"]?.array?.compactMap(\.string) ?? []) == kinds)
        let text = try Files.text("Protocols/README.md").replacing("\n", with: " ")
        let told = try #require(text.firstMatch(of: /names the kinds wanted(.*?)One connection/)?.1)
        #expect(Set(told.matches(of: /`([a-z-]+)`/).map { String($0.1) }) == kinds)
    }

    @Test func everyMessageStandsInAConformanceCase() throws {
        let folder = "Protocols/conformance"
        let cases = try FileManager.default.contentsOfDirectory(atPath: Files.root.appendingPathComponent(folder).path)
            .filter { $0.hasSuffix(".json") }.map { try Files.text("\(folder)/\($0)") }
        // Some are in a text within a text.
        let words = Set(cases.flatMap { $0.matches(of: /"type\\?"\s*:\s*\\?"([a-z-]+)/).map { String($0.1) } })
        for word in ClientRequest.blanks.map(\.type) + MessageType.allCases.map(\.rawValue) where !words.contains(word)
        {
            Issue.record("no case in \(folder) has a message \(word)")
        }
    }

    @Test func theTablesHaveTheMembersOfTheSchema() throws {
        let members = try Members()
        let common: Set = ["type", "id", "camera", "timeMs", "create"]
        func properties(_ name: String) -> Set<String> {
            Set(members.properties(members.definition(name), .object([:])).keys)
        }
        for row in try table("| `kind` |") {
            for kind in row[0] { #expect(properties("update.\(kind)").subtracting(["kind"]) == Set(row[1]), "\(kind)") }
        }
        for row in try table("| Command |") {
            for command in row[0] where command != "set-gestures" {
                let fields = Set(row[1]).subtracting(["null"])
                #expect(properties("client.\(command)").subtracting(common) == fields, "\(command)")
            }
        }
        for row in try table("| Request |") {
            for request in row[0] where !["subscribe", "trace"].contains(request) {
                #expect(properties("client.\(request)").subtracting(common) == Set(row[1]), "\(request)")
            }
        }
        #expect(try firstWords("| Switch |") == properties("gestures"))
        #expect(try firstWords("| Field | Meaning |") == properties("server.trace-ended").subtracting(common))
    }
}
