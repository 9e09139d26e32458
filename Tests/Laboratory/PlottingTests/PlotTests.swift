// `gimbal plot` as a user's shell sees it; its picture, read back, shows what the camera did.

import Foundation
import TestSupport
import Testing

#if canImport(FoundationXML)
import FoundationXML
#endif

/// A picture that is read back.
private final class ReadPicture: NSObject, XMLParserDelegate {
    struct Element {
        let name: String
        let attributes: [String: String]
        var text = ""

        func number(_ name: String) -> Double? { attributes[name].flatMap(Double.init) }
    }

    /// All elements except the legend, which has a sample of everything.
    private(set) var elements: [Element] = []
    private var open: [Int] = []
    private var legendDepth = 0

    init(_ svg: String) throws {
        super.init()
        let parser = XMLParser(data: Data(svg.utf8))
        parser.delegate = self
        try #require(parser.parse(), "\(parser.parserError.map { "\($0)" } ?? "no XML")")
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        if legendDepth > 0 || attributes["class"] == "legend" {
            legendDepth += 1
            return
        }
        open.append(elements.count)
        elements.append(Element(name: name, attributes: attributes))
    }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        if legendDepth > 0 { legendDepth -= 1 } else { open.removeLast() }
    }

    func parser(_ parser: XMLParser, foundCharacters text: String) {
        if legendDepth == 0, let last = open.last { elements[last].text += text }
    }

    func all(_ class: String) -> [Element] { elements.filter { $0.attributes["class"] == `class` } }

    /// Returns the lines of all paths of a class, each with its points.
    func lines(_ class: String) -> [[(x: Double, y: Double)]] {
        all(`class`).flatMap { path in
            (path.attributes["d"] ?? "").split(separator: "M").map { line in
                let numbers = line.split { "Lz ".contains($0) }.compactMap { Double($0) }
                return stride(from: 0, to: numbers.count - 1, by: 2).map { (numbers[$0], numbers[$0 + 1]) }
            }
        }
    }

    var texts: [String] { elements.filter { $0.name == "text" || $0.name == "tspan" }.map(\.text) }

    /// Returns a place on the map in degrees; the longitude is not wrapped.
    func place(_ spot: (x: Double, y: Double)) throws -> (latitude: Double, longitude: Double) {
        let map = try #require(all("map").first)
        func fact(_ name: String) throws -> Double { try #require(map.number("data-\(name)")) }
        let scale = try fact("units-per-radian")
        let north = asinh(tan(try fact("north") * .pi / 180))
        let y = north - (spot.y - (try fact("top"))) / scale
        let x = try fact("west") * .pi / 180 + (spot.x - (try fact("left"))) / scale
        return (atan(sinh(y)) * 180 / .pi, x * 180 / .pi)
    }
}

@Suite struct PlotTests {
    private func plot(
        _ arguments: [String], input: String = "", environment: [String: String] = [:]
    ) throws -> (status: CInt, output: String, errors: String) {
        try DaemonProcess.run(
            DaemonProcess.gimbal, ["plot"] + arguments, input: Array(input.utf8), environment: environment)
    }

    private static let samples = Files.list("Protocols/examples/traces", "ndjson")

    /// Returns the events of a hub that plays a trace.
    private func events(_ trace: URL) throws -> [JSON] {
        let host = HubHost()
        let (watcher, feeder) = (host.connect(), host.connect())
        watcher.send(#"{"type":"subscribe"}"#)
        let bytes = Array(try Data(contentsOf: trace))
        feeder.send(
            Array(String(decoding: bytes, as: UTF8.self).replacing(#""speed":1"#, with: #""speed":"max""#).utf8))
        host.pass(60_000)
        return try watcher.lines().map { try JSON($0) }
    }

    @Test(arguments: samples) func thePictureIsXMLAndTheSameEachTime(_ trace: URL) throws {
        let first = try plot([trace.path])
        #expect(first.status == 0 && first.errors.isEmpty, "\(first.errors)")
        #expect(try plot([trace.path]).output == first.output)
        let picture = try ReadPicture(first.output)
        #expect(picture.elements.first?.name == "svg")
        #expect(picture.texts.contains(trace.lastPathComponent))
    }

    @Test(arguments: samples) func theWayIsWhereTheEventsSay(_ trace: URL) throws {
        let picture = try ReadPicture(try plot([trace.path]).output)
        let targets = try events(trace).compactMap { event -> (latitude: Double, longitude: Double)? in
            guard let target = event["position"]?["target"] else { return nil }
            return (try #require(target["latitude"]?.number), try #require(target["longitude"]?.number))
        }
        #expect(targets.count > 100)
        let spots = ["fingers", "glide"].flatMap { picture.lines("way \($0)") }.flatMap { $0 }
        #expect(spots.count > 2)
        let scale = try #require(picture.all("map").first?.number("data-units-per-radian"))
        for spot in spots {
            let place = try picture.place(spot)
            // In units of the picture, which prints hundredths of them.
            let nearest =
                targets.map { target in
                    let east = (target.longitude - place.longitude).remainder(dividingBy: 360) * .pi / 180
                    let north = asinh(tan(target.latitude * .pi / 180)) - asinh(tan(place.latitude * .pi / 180))
                    return hypot(east, north) * scale
                }.min() ?? .infinity
            #expect(nearest < 0.02)
        }
        let last = try #require(targets.last)
        let dot = try #require(picture.all("dot").last)
        let end = try picture.place((#require(dot.number("cx")), #require(dot.number("cy"))))
        #expect(abs(end.latitude - last.latitude) < 0.03 / scale * 180 / .pi)
    }

    @Test func noLineGoesAcrossTheMapAtTheAntimeridian() throws {
        let picture = try ReadPicture(try plot([Files.sample("antimeridian")]).output)
        #expect(picture.all("bounds").count == 1)
        let longitudes = try picture.lines("way fingers").flatMap { $0 }.map { try picture.place($0).longitude }
        // On both sides of 180°, within the bounds, on one sheet.
        #expect(longitudes.contains { $0 < 179 } && longitudes.contains { $0 > 181 })
        #expect(longitudes.allSatisfy { (164.9...185.1).contains($0) })
    }

    @Test func aWayRoundTheGlobeGoesOutAtOneEdgeAndComesInAtTheOther() throws {
        let pans = (1...200).map {
            #"{"type":"pan","phase":"changed","timeMs":\#($0 * 10),"translation":{"x":\#($0 * -30),"y":0}}"#
        }
        let trace =
            [#"{"type":"trace","version":1,"position":{"target":{"latitude":0,"longitude":0},"zoom":3}}"#] + pans
        let picture = try ReadPicture(try plot(["-"], input: trace.joined(separator: "\n")).output)
        let lines = picture.lines("way fingers")
        // 5,970 points in a world of 2,048: from 0° eastwards to 329° for the third time.
        #expect(lines.count == 4)
        for line in lines {
            let longitudes = try line.map { try picture.place($0).longitude }
            #expect(longitudes.allSatisfy { (-180.5...180.5).contains($0) })
            #expect(longitudes == longitudes.sorted())
        }
    }

    @Test func coastsLieUnderAWayWhereTheyAreFineEnough() throws {
        func picture(zoom: Double, longitude: Double) throws -> ReadPicture {
            let position = #"{"target":{"latitude":46,"longitude":\#(longitude)},"zoom":\#(zoom)}"#
            let trace = [
                #"{"type":"trace","version":1,"position":\#(position)}"#,
                #"{"type":"animate","timeMs":0,"durationMs":500,"update":{"kind":"scroll-by","x":200,"y":0}}"#,
            ]
            return try ReadPicture(try plot(["-"], input: trace.joined(separator: "\n")).output)
        }
        let world = try JSON(Files.text("Sources/Page/WebFiles/page/world.json"))
        var corners: Set<[Int]> = []
        for country in try #require(world["countries"]?.array) {
            for ring in country.array?[1].array ?? [] {
                var corner = [0, 0]
                for (index, difference) in (ring.array ?? []).enumerated() {
                    corner[index % 2] += Int(difference.number ?? 0)
                    if index % 2 == 1 { corners.insert(corner) }
                }
            }
        }
        #expect(corners.count > 7000)
        for longitude in [8.0, 178] {
            let far = try picture(zoom: 4, longitude: longitude)
            let places = try far.lines("coast").flatMap { $0 }.map { try far.place($0) }
            #expect(places.count > 10)
            for place in places {
                let near = [
                    Int((place.longitude.remainder(dividingBy: 360) * 100).rounded()),
                    Int((place.latitude * 100).rounded()),
                ]
                // A picture prints hundredths of its units.
                let isThere = (-3...3).contains { east in
                    (-3...3).contains { north in
                        [0, -36_000, 36_000].contains { corners.contains([near[0] + east + $0, near[1] + north]) }
                    }
                }
                #expect(isThere, "\(place)")
            }
        }
        #expect(try picture(zoom: 12, longitude: 8).lines("coast").isEmpty)
    }

    @Test func aBearingThatGoesThroughNorthIsOneLine() throws {
        let trace = """
            {"type":"trace","version":1,"position":{"target":{"latitude":0,"longitude":0},"zoom":9,"bearing":350}}
            {"type":"animate","timeMs":0,"durationMs":1000,"update":{"kind":"set-bearing","bearing":10}}
            """
        let picture = try ReadPicture(try plot(["-"], input: trace).output)
        let curves = picture.lines("curve")
        #expect(curves.count == 3)
        let bearing = curves[1]
        #expect(bearing.map(\.y) == bearing.map(\.y).sorted(by: >))
        for (one, next) in zip(bearing, bearing.dropFirst()) { #expect(abs(next.y - one.y) < 20) }
    }

    @Test func limitsAreDrawnWhereTheyAre() throws {
        let trace = """
            {"type":"trace","version":1,"position":{"target":{"latitude":0,"longitude":0},"zoom":12,"viewingAngle":37},"minZoom":11,"maxZoom":13}
            {"type":"move","timeMs":0,"update":{"kind":"zoom-to","zoom":20}}
            {"type":"set-zoom-range","timeMs":500,"maxZoom":12.5}
            {"type":"move","timeMs":1000,"update":{"kind":"zoom-to","zoom":1}}
            """
        let picture = try ReadPicture(try plot(["-"], input: trace).output)
        #expect(picture.texts.contains("allowed: 11 to 13, then 11 to 12.5"))
        let zoom = picture.lines("curve")[0].map(\.y)
        let limits = picture.lines("limit").dropLast().flatMap { $0.map(\.y) }
        // The camera reaches both limits.
        #expect(Set(limits).count == 3)
        #expect(zoom.min() == limits.min() && zoom.max() == limits.max())
        let ceiling = try #require(picture.lines("limit").last).map(\.y)
        #expect(try #require(ceiling.max()) - (try #require(ceiling.min())) > 1)
    }

    @Test func aStripInWhichNothingChangesIsLow() throws {
        let trace = """
            {"type":"trace","version":1,"position":{"target":{"latitude":0,"longitude":0},"zoom":12,"bearing":90}}
            {"type":"move","timeMs":0,"update":{"kind":"zoom-to","zoom":14}}
            """
        let picture = try ReadPicture(try plot(["-"], input: trace).output)
        let heights = picture.all("frame").compactMap { $0.number("height") }
        // The map, the three strips, the rows.
        #expect(heights.count == 5 && heights[1] == 74 && heights[2] == 18 && heights[3] == 18)
        #expect(picture.texts.contains("90°") && picture.texts.count { $0 == "stays as it is" } == 2)
    }

    @Test func noLineGoesThroughATitle() throws {
        let picture = try ReadPicture(try plot([Self.samples[0].path]).output)
        let frames = try picture.all("frame").map { frame in
            let y = try #require(frame.number("y"))
            return try y...y + #require(frame.number("height"))
        }
        let lines = picture.lines("moment")
        #expect(!lines.isEmpty)
        for line in lines { #expect(frames.contains { $0.contains(line[0].y) && $0.contains(line[1].y) }) }
    }

    @Test func aWidePictureHasTheTimesBesideTheMap() throws {
        let trace = Self.samples[0].path
        let (plain, wide) = (try plot([trace]).output, try plot([trace, "--wide"]).output)
        for (svg, offset) in [(plain, 0.0), (wide, 560)] {
            let picture = try ReadPicture(svg)
            let lefts = ["map", "times"].map { picture.all($0).first?.number("data-left") }
            #expect(try #require(lefts[1]) - #require(lefts[0]) == offset)
        }
    }

    @Test func timesCountFromWhereTheReplayDoes() throws {
        let trace = """
            {"type":"trace","version":1}
            {"type":"pan","phase":"began","timeMs":9800}
            {"type":"pan","phase":"ended","timeMs":10000,"translation":{"x":50,"y":0},"velocity":{"x":0,"y":0}}
            """
        let picture = try ReadPicture(try plot(["-"], input: trace).output)
        #expect(picture.texts.contains("time, seconds; 0 is 9.8 s of the file"))
        let bar = try #require(picture.all("gesture").first?.attributes)
        let times = try #require(picture.all("times").first?.attributes)
        #expect(bar["x"] == times["data-left"])
    }

    /// Each finger has a line from where it landed to where it lifted; a lost finger ends with a cross.
    @Test func theFingersOfARecordingAreDrawn() throws {
        func touches(_ type: String, _ time: Int, _ fingers: [(Int, Int, Int)]) -> String {
            let touches = fingers.map { #"{"identifier":\#($0.0),"clientX":\#($0.1),"clientY":\#($0.2)}"# }
            return #"{"type":"\#(type)","timeStamp":\#(time),"touches":[\#(touches.joined(separator: ","))]}"# + "\n"
        }
        var recording = #"{"viewport":{"width":400,"height":800}}"# + "\n"
        for step in 0...20 { recording += touches("touchmove", step * 10, [(1, 100 + step * 10, 200), (2, 100, 700)]) }
        recording += touches("touchmove", 210, [(1, 300, 200)]) + touches("touchcancel", 220, [])
        let picture = try ReadPicture(try plot(["-"], input: recording).output)
        let scale = try #require(picture.all("fingers").first?.number("data-units-per-point"))
        let drag = picture.lines("track t0")
        #expect(drag.count == 3 && abs(abs(drag[0][0].x - (drag[0].last?.x ?? 0)) - 200 * scale) < 0.02)
        #expect(picture.all("landed t0").count == 1 && picture.all("lifted t0").isEmpty)
        #expect(picture.all("landed t1").count == 1 && picture.all("lifted t1").count == 1)
        #expect(picture.texts.contains { $0.contains("400 by 800 points") })
    }

    @Test(arguments: samples) func theFocusOfATraceIsDrawn(_ trace: URL) throws {
        let hasFocus = try String(contentsOf: trace, encoding: .utf8).contains("\"focus\"")
        let picture = try ReadPicture(try plot([trace.path]).output)
        #expect(picture.all("fingers").count == (hasFocus ? 1 : 0))
        #expect(picture.lines("track t0").isEmpty != hasFocus)
    }

    @Test func aTraceWithNothingInItIsAPictureToo() throws {
        let (status, output, errors) = try plot(["-"], input: #"{"type":"trace","version":1}"#)
        #expect(status == 0 && errors.isEmpty)
        let picture = try ReadPicture(output)
        #expect(picture.texts.contains("0 s · 0 lines · 0 frames"))
        #expect(picture.all("dot").count == 1 && picture.lines("view").count == 1)
    }

    @Test func gesturesThatTheHeaderSwitchesOffAreNotDrawn() throws {
        let trace = """
            {"type":"trace","version":1,"gestures":{"zoom":false}}
            {"type":"pinch","phase":"began","timeMs":0}
            {"type":"pan","phase":"began","timeMs":0}
            {"type":"pinch","phase":"ended","timeMs":90,"scale":4}
            {"type":"pan","phase":"ended","timeMs":99,"translation":{"x":50,"y":0}}
            """
        let (status, output, _) = try plot(["-"], input: trace)
        #expect(status == 0)
        let picture = try ReadPicture(output)
        #expect(picture.all("gesture").count == 1)
    }

    @Test func rejectedLinesAreNamedAndTheRestIsDrawn() throws {
        let trace = """
            {"type":"trace","version":1}

            {"type":"pinch","phase":"changed","timeMs":0,"scale":1}
            {"type":"pinch","phase":"changed","timeMs":10,"scale":0}
            {"type":"pinch","phase":"changed","timeMs":20,"scale":4}
            \(String(repeating: "x", count: 100_000))
            {"type":"pinch","phase":"ended","timeMs":5}
            """
        let (status, output, errors) = try plot(["-"], input: trace)
        #expect(status == 1)
        let named = errors.split(separator: "\n").compactMap { $0.firstMatch(of: #/^-:(\d+): /#)?.1 }
        #expect(named == ["4", "6", "7"])
        let picture = try ReadPicture(output)
        #expect(picture.texts.contains { $0.hasSuffix("2 lines · 1 frame · 3 rejected") }, "\(picture.texts)")
        #expect(picture.lines("cancelled").count == 2)
    }

    @Test func whatIsNoTraceIsNoPicture() throws {
        for input in ["", "hello", #"{"type":"trace","version":2}"#] {
            let (status, output, errors) = try plot(["-"], input: input)
            #expect(status == 65 && output.isEmpty && !errors.isEmpty, "\(input): \(errors)")
        }
    }

    @Test func aPNGWithoutAProgramForItSaysWhatToInstall() throws {
        let file = Files.temporary(".png")
        let (status, _, errors) = try plot(
            ["-", "-o", file.path], input: #"{"type":"trace","version":1}"#, environment: ["PATH": "/nonexistent"])
        #expect(status == 69 && errors.contains("librsvg2-bin"), "\(errors)")
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    @Test func aLongTraceIsASmallPicture() throws {
        var random = Seeded(11)
        var lines = [#"{"type":"trace","version":1,"position":{"target":{"latitude":0,"longitude":0},"zoom":10}}"#]
        for index in 0..<20_000 {
            let (x, y) = (random.number(-300...300), random.number(-300...300))
            let phase = index % 100 == 99 ? "ended" : "changed"
            lines.append(
                #"{"type":"pan","phase":"\#(phase)","timeMs":\#(index * 180),"translation":{"x":\#(x),"y":\#(y)}}"#)
        }
        let (status, output, errors) = try plot(["-"], input: lines.joined(separator: "\n"))
        #expect(status == 0 && errors.isEmpty, "\(errors)")
        #expect(output.utf8.count < 300_000)
        let clocks = try ReadPicture(output).texts.filter { $0.wholeMatch(of: /\d+:\d\d/) != nil }
        #expect(clocks.contains("30:00"), "\(clocks)")
    }
}
