// A tour as files contain it: its name and its keyframes.

import GimbalProtocol
import MapCamera

/// A camera's path through keyframes, as a file contains it.
package struct NamedTour: Equatable, Sendable {
    /// The display name.
    package var name: String?
    package var keyframes: [TourKeyframe]

    package init(name: String? = nil, _ keyframes: [TourKeyframe]) {
        (self.name, self.keyframes) = (name, keyframes)
    }
}

extension NamedTour {
    /// The tour rounded to the digits that matter on the screen, so that the request of a tour with all the keyframes
    /// allowed is not too long for a line. The zoom keeps a KML range accurate to a millimetre.
    var rounded: NamedTour {
        func rounded(_ value: Double, _ power: Double) -> Double { (value * power).rounded() / power }
        var tour = self
        for index in tour.keyframes.indices {
            let position = tour.keyframes[index].position
            tour.keyframes[index].position = CameraPosition(
                target: LatLng(
                    latitude: rounded(position.target.latitude, 1e9),
                    longitude: wrap180(rounded(position.target.longitude, 1e9))),
                zoom: rounded(position.zoom, 1e12), bearing: wrap360(rounded(position.bearing, 1e6)),
                viewingAngle: rounded(position.viewingAngle, 1e6))
        }
        return tour
    }
}

/// The format of a file.
package enum TourFormat: String, CaseIterable, Sendable {
    case json, kml, gpx, geojson

    /// Recognizes the format of a file by its content.
    ///
    /// - Throws: `TourFileError` if it is none of these.
    package static func recognized(_ bytes: [UInt8]) throws(TourFileError) -> TourFormat {
        let start = bytes.starts(with: [0xef, 0xbb, 0xbf]) ? 3 : 0
        let first = bytes[start...].first { ![0x20, 0x09, 0x0a, 0x0d].contains($0) }
        switch first {
        case UInt8(ascii: "{"):
            let line = bytes[start...].prefix { $0 != 0x0a }
            if case .trace? = try? RequestDecoder.requests(of: line.span).first?.body {
                throw TourFileError("this is a trace: \"gimbal replay\" plays it")
            }
            return JSONTour.recognizes(bytes) ? .json : .geojson
        case UInt8(ascii: "<"), 0xff, 0xfe:
            guard let root = try XMLReader(bytes).nextChild() else { break }
            switch root.name {
            case "kml": return .kml
            case "gpx": return .gpx
            default: throw TourFileError(line: root.line, "<\(root.name)> is neither <kml> nor <gpx>")
            }
        case UInt8(ascii: "P") where bytes.starts(with: [0x50, 0x4b, 0x03, 0x04]):
            throw TourFileError("a zip file cannot be read from a pipe: name the KMZ file itself, or unpack it first")
        case nil: throw TourFileError("the file is empty")
        default: break
        }
        throw TourFileError("this is not a tour: it is neither Gimbal's JSON, KML, GPX nor GeoJSON")
    }
}

/// How a file is read as a tour.
package struct TourOptions: Sendable {
    /// The name of one of several tours or lines; `nil` for the first.
    package var name: String?
    /// The height of the viewport in points; the distance of an eye depends on it.
    package var viewportHeight = Viewport.standard.height
    /// Whether the file's line is followed even if it has a tour.
    package var followsPath = false
    package var following = Following()

    package init() {}
}

/// The content of a file: a tour, and notes on what was omitted.
package struct TourFile: Sendable {
    package let tour: NamedTour
    package let notes: TourNotes

    /// The maximum size of a file, in bytes.
    package static let largest = 32 << 20

    /// Reads a file.
    ///
    /// - Throws: `TourFileError` if the file is not a tour, or is one that no camera can fly.
    package init(_ bytes: [UInt8], as format: TourFormat, _ options: TourOptions) throws(TourFileError) {
        guard bytes.count <= Self.largest else {
            throw TourFileError("the file is larger than \(Self.largest >> 20) MiB, the limit")
        }
        var notes = TourNotes()
        switch format {
        case .json: tour = try Self.chosen([try JSONTour.read(bytes)], "tour", options.name, nameOf: \.name)
        case .kml:
            let file = try KMLReader(bytes, viewportHeight: options.viewportHeight)
            notes = file.notes
            if options.followsPath || file.tours.isEmpty {
                guard options.followsPath || file.lines.isEmpty else {
                    throw TourFileError("the file has no <gx:Tour>; --follow-path follows its line")
                }
                tour = try Self.follow(file.lines, options, &notes)
            } else {
                let tour = try Self.chosen(file.tours, "tour", options.name, nameOf: \.name)
                guard !tour.keyframes.isEmpty else { throw TourFileError("the tour has no <gx:FlyTo>") }
                guard tour.keyframes.count <= TourKeyframe.most else {
                    throw TourFileError(
                        "the tour has \(tour.keyframes.count) places to fly to; the limit is \(TourKeyframe.most)"
                    )
                }
                guard TourKeyframe.lastingMs(tour.keyframes) <= TourKeyframe.longestMs else {
                    throw TourFileError("the tour takes more than an hour, the limit")
                }
                self.tour = tour.rounded
            }
        case .gpx:
            let file = try GPXReader(bytes)
            tour = try Self.follow(file.tracks + file.routes, options, &notes)
        case .geojson: tour = try Self.follow(try GeoJSON.lines(bytes), options, &notes)
        }
        self.notes = notes
    }

    private static func follow(
        _ lines: [FollowedLine], _ options: TourOptions, _ notes: inout TourNotes
    ) throws(TourFileError) -> NamedTour {
        let line = try chosen(lines, "line", options.name, nameOf: \.name)
        let keyframes = try options.following.keyframes(
            along: line, viewportHeight: options.viewportHeight, &notes)
        return NamedTour(name: line.name, keyframes).rounded
    }

    private static func chosen<Item>(
        _ items: [Item], _ noun: String, _ name: String?, nameOf path: KeyPath<Item, String?>
    ) throws(TourFileError) -> Item {
        guard let name else {
            if let first = items.first { return first }
            throw TourFileError("the file has no \(noun)")
        }
        if let item = items.first(where: { $0[keyPath: path] == name }) { return item }
        let names = items.compactMap { $0[keyPath: path] }.prefix(20)
        let others = names.isEmpty ? "none has a name" : "there are: \(names.joined(separator: ", "))"
        throw TourFileError("the file has no \(noun) named \(name); \(others)")
    }
}
