// Turns lines of text into a camera's stream: events as Gimbal prints them, an app's own log in JSON, or a table with
// commas. It ignores other data in a line; if needed data is missing, the error says what would be right.
// Protocols/test-kit.md describes the formats.

import GimbalProtocol
import MapCamera

/// An error in a line of a stream.
package struct StreamError: Error, Equatable, CustomStringConvertible {
    /// The line, from 1.
    package let line: Int
    package let message: String

    package var description: String { "\(line): \(message)" }
}

/// Reads a stream line by line.
package final class StreamReader {
    private enum Field: UInt8, CaseIterable {
        case type, durationMs, position, target
    }

    /// The names of numbers, with the columns that they name.
    private static let numbers = Table.Column.allCases.flatMap { column in column.names.map { (column, $0) } }
    private static let names = WordTable(Field.allCases.map { "\($0)" } + numbers.map(\.1))

    /// The stream as far as it has been read.
    package private(set) var stream = CameraStream()
    private var tape = JSONTape(names: StreamReader.names)
    private var table: Table?
    /// The time of the first line that has one, in milliseconds.
    private var origin: Double?
    private var number = 0

    package init() {}

    /// Whether a file that begins with this line is a stream: events or a log of them, or a table.
    package static func recognizes(_ line: ArraySlice<UInt8>) -> Bool {
        if line.first == UInt8(ascii: "{") {
            guard let object = (try? JSONValue(line))?.object else { return false }
            if let type = object["type"]?.string { return streamTypes.contains(type) }
            return object["position"] != nil || Table.Column.latitude.names.contains { object[$0] != nil }
        }
        return (try? Table(String(decoding: line, as: UTF8.self), line: 1)) != nil
    }

    private static let streamTypes = Set(
        [MessageType.reset, .subscribed, .moveStarted, .cameraChanged, .idle, .traceEnded].map(\.rawValue))

    /// Reads a line without its line feed; blank lines and comments of a table are skipped.
    package func read(_ line: ArraySlice<UInt8>, number: Int) throws(StreamError) {
        self.number = number
        guard let first = line.first(where: { $0 != 0x20 && $0 != 0x09 }), first != UInt8(ascii: "#") else { return }
        if table != nil || first != UInt8(ascii: "{") { return try row(String(decoding: line, as: UTF8.self)) }
        do throws(JSONError) { try tape.read(line.span) } catch { throw wrong("\(error.message)") }
        try object(line)
    }

    private func wrong(_ message: String) -> StreamError { StreamError(line: number, message: message) }

    // MARK: JSON

    private func object(_ line: ArraySlice<UInt8>) throws(StreamError) {
        let type = child(0, .type).map { JSONText.text(line.span, tape[$0].text) }
        switch type {
        case MessageType.traceEnded.rawValue:
            if let node = child(0, .durationMs) { stream.ended(at: try number(node, "durationMs")) }
            return
        case MessageType.lagged.rawValue: throw wrong("events were missed here: the stream is incomplete")
        case MessageType.subscribed.rawValue:
            // It says where the camera is but not when; its time is that of the next line.
            if stream.last == nil, let node = child(0, .position) {
                stream.moved(at: 0, try position(node), line: number)
            }
            return
        case let type? where !Self.streamTypes.contains(type): return
        default: break
        }
        let node = child(0, .position) ?? 0
        if node == 0, try member(0, .latitude) == nil {
            throw wrong("position is missing: it is where the camera is")
        }
        guard let timeMs = try member(0, .time) else {
            throw wrong("timeMs is missing: it is the time in milliseconds")
        }
        let position = try position(node)
        let time = try since(timeMs)
        switch type {
        case MessageType.moveStarted.rawValue: stream.began(at: time, position, line: number)
        case MessageType.cameraChanged.rawValue, MessageType.reset.rawValue:
            stream.moved(at: time, position, line: number)
        case MessageType.idle.rawValue: stream.rested(at: time, position, line: number)
        default: stream.logged(at: time, position, line: number)
        }
    }

    private func child(_ object: Int, _ field: Field) -> Int? { tape.child(of: object, name: field.rawValue) }

    /// Returns a number by the names of a column of a table; `nil` if it has none of them, or they are `null`.
    private func member(_ object: Int, _ column: Table.Column) throws(StreamError) -> Double? {
        for (index, name) in Self.numbers.enumerated() where name.0 == column {
            guard let node = tape.child(of: object, name: UInt8(Field.allCases.count + index)), tape[node].kind != .null
            else { continue }
            return try number(node, name.1)
        }
        return nil
    }

    private func number(_ node: Int, _ name: String) throws(StreamError) -> Double {
        guard tape[node].kind == .number, tape[node].number.isFinite else { throw wrong("\(name) must be a number") }
        return tape[node].number
    }

    private func position(_ node: Int) throws(StreamError) -> CameraPosition {
        let place = child(node, .target) ?? node
        guard let latitude = try member(place, .latitude), let longitude = try member(place, .longitude) else {
            throw wrong("latitude and longitude must be numbers")
        }
        guard let zoom = try member(node, .zoom) else { throw wrong("zoom must be a number") }
        return CameraPosition(
            target: LatLng(latitude: latitude, longitude: longitude), zoom: zoom,
            bearing: try member(node, .bearing) ?? 0, viewingAngle: try member(node, .angle) ?? 0)
    }

    private func since(_ timeMs: Double) throws(StreamError) -> Double {
        let start = origin ?? timeMs
        origin = start
        let time = timeMs - start
        if let last = stream.last?.timeMs, time < last { throw wrong("the time goes back") }
        return time
    }

    // MARK: Tables

    private func row(_ line: String) throws(StreamError) {
        guard let table else {
            self.table = try Table(line, line: number)
            return
        }
        let (timeMs, position) = try table.read(line, line: number)
        stream.logged(at: try since(timeMs), position, line: number)
    }
}

/// The columns of a table of positions.
struct Table {
    enum Column: CaseIterable {
        case time, latitude, longitude, zoom, bearing, angle

        /// The accepted names of the column, the usual one first. A table may have them in any case.
        var names: [String] {
            switch self {
            case .time: ["timeMs", "time", "time_ms", "timestamp", "t"]
            case .latitude: ["latitude", "lat"]
            case .longitude: ["longitude", "lng", "lon", "long"]
            case .zoom: ["zoom"]
            case .bearing: ["bearing", "heading"]
            case .angle: ["viewingAngle", "angle", "viewing_angle", "tilt", "pitch"]
            }
        }

        var isNeeded: Bool { self != .bearing && self != .angle }
    }

    private let separator: Character
    private var columns: [Column: Int] = [:]

    /// Reads the first row, which names the columns.
    init(_ header: String, line: Int) throws(StreamError) {
        separator = [",", ";", "\t"].first { header.contains($0) } ?? ","
        let names = Self.cells(header.drop { $0 == "\u{feff}" }, separator).map { $0.lowercased() }
        for column in Column.allCases {
            let known = column.names.map { $0.lowercased() }
            columns[column] = names.firstIndex(where: known.contains)
        }
        for column in Column.allCases where column.isNeeded && columns[column] == nil {
            throw StreamError(
                line: line,
                message: "a table's first row names its columns, such as time,latitude,longitude,zoom,bearing,angle; "
                    + "\(column) is missing")
        }
    }

    private static func cells(_ row: Substring, _ separator: Character) -> [String] {
        row.split(separator: separator, omittingEmptySubsequences: false).map { cell in
            cell.filter { $0 != "\"" && $0 != "\r" && $0 != " " }
        }
    }

    func read(_ row: String, line: Int) throws(StreamError) -> (timeMs: Double, position: CameraPosition) {
        let cells = Self.cells(row[...], separator)
        func number(_ column: Column) throws(StreamError) -> Double {
            guard let index = columns[column] else { return 0 }
            guard index < cells.count, let number = Double(cells[index]), number.isFinite else {
                throw StreamError(line: line, message: "\(column) must be a number")
            }
            return number
        }
        let target = LatLng(latitude: try number(.latitude), longitude: try number(.longitude))
        return (
            try number(.time),
            CameraPosition(
                target: target, zoom: try number(.zoom), bearing: try number(.bearing), viewingAngle: try number(.angle)
            )
        )
    }
}
