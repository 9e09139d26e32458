// A wall of screens shows one picture: each point of a screen shows what the whole camera shows there.

import EarthViews
import MQTTBridge
import MapCamera
import TestSupport
import Testing

@Suite struct WallTests {
    private static func position(_ random: inout SystemRandomNumberGenerator) -> CameraPosition {
        let zoom = Double.random(in: 2...21, using: &random)
        return CameraPosition(
            target: LatLng(
                latitude: .random(in: -70...70, using: &random), longitude: .random(in: -180..<180, using: &random)),
            zoom: zoom, bearing: .random(in: 0..<360, using: &random), viewingAngle: .random(in: 0...60, using: &random)
        )
    }

    @Test(arguments: [(3, 1), (8, 1), (2, 2), (5, 3), (1, 1)])
    func screensStitchedTogetherAreTheWholePicture(columns: Int, rows: Int) throws {
        var random = SystemRandomNumberGenerator()
        var compared = 0
        for _ in 0..<40 {
            let position = Self.position(&random)
            for column in 0..<columns {
                for row in 0..<rows {
                    var tile = WallTile(
                        column: column, row: row, columns: columns, rows: rows, width: 1080, height: 1920)
                    (tile.horizontalBezel, tile.verticalBezel) = (44, 31)
                    let whole = Projection(position, viewport: tile.wall)
                    let own = Projection(position, viewport: tile.viewport)
                    for _ in 0..<10 {
                        let point = ScreenPoint(
                            x: .random(in: 0...tile.width, using: &random),
                            y: .random(in: 0...tile.height, using: &random))
                        let inViewport = ScreenPoint(x: point.x, y: point.y + tile.windowTop)
                        guard let expected = whole.coordinate(for: point + tile.origin) else {
                            #expect(own.coordinate(for: inViewport) == nil)
                            continue
                        }
                        let shown = try #require(own.coordinate(for: inViewport))
                        // Near the horizon a point is worth a hundred miles.
                        #expect(abs(shown.latitude - expected.latitude) < 1e-6)
                        #expect(abs(wrap180(shown.longitude - expected.longitude)) < 1e-6)
                        compared += 1
                    }
                }
            }
        }
        #expect(compared > 200)
    }

    @Test func aScreenAsHighAsItselfShowsAnotherPictureUnderTilt() throws {
        // Padding cannot express this: the eye's distance depends on the viewport's height.
        var tile = WallTile(column: 0, row: 1, columns: 1, rows: 2, width: 1000, height: 500)
        tile.verticalBezel = 0
        let position = CameraPosition(
            target: LatLng(latitude: 48, longitude: 2), zoom: 15, bearing: 0, viewingAngle: 40)
        let low = Viewport(width: 1000, height: 500, padding: EdgeInsets(bottom: 500))
        #expect(low.center == ScreenPoint(x: 500, y: 0))
        let whole = Projection(position, viewport: tile.wall)
        let expected = try #require(whole.coordinate(for: ScreenPoint(x: 100, y: 900)))
        let shown = try #require(Projection(position, viewport: low).coordinate(for: ScreenPoint(x: 100, y: 400)))
        #expect(abs(shown.latitude - expected.latitude) > 1e-5)
        var flat = position
        flat.viewingAngle = 0
        let flatWhole = try #require(Projection(flat, viewport: tile.wall).coordinate(for: ScreenPoint(x: 100, y: 900)))
        let flatShown = try #require(Projection(flat, viewport: low).coordinate(for: ScreenPoint(x: 100, y: 400)))
        #expect(abs(flatShown.latitude - flatWhole.latitude) < 1e-9)
    }

    /// The rows of the adapters' page, which their own tests compare with JavaScript.
    @Test func datagramsOfViewSyncAreThoseOfTheAdapters() throws {
        let page = try Files.text("Protocols/examples/adapters/README.md")
        let block = try #require(page.firstMatch(of: /```json earth\n([^`]*)```/)).1
        let rows = try block.split(separator: "\n").map { try JSON(String($0)) }
        #expect(rows.count > 5)
        for row in rows {
            func number(_ path: String...) -> Double { path.reduce(row) { $0[$1] ?? .null }.number ?? .nan }
            let target = LatLng(
                latitude: number("position", "target", "latitude"), longitude: number("position", "target", "longitude")
            )
            let position = CameraPosition(
                target: target, zoom: number("position", "zoom"), bearing: number("position", "bearing"),
                viewingAngle: number("position", "viewingAngle"))
            let view = EarthView(position, viewportHeight: number("viewport", "height"))
            #expect(abs(view.range - number("range")) < 1e-5 * max(view.range / 1e6, 1))
            let found = view.datagram(number: 7, unixTime: 1_795_305_600).split(separator: ",")
            let wanted = (row["viewSync"]?.string ?? "").split(separator: ",")
            #expect(found.count == 9 && found.suffix(2) == wanted.suffix(2), "\(found)")
            // A millimetre on the ground and in the air; a millionth of a degree.
            for (index, most) in [1e-8, 1e-8, 1e-3, 1e-6, 1e-6, 1e-6].enumerated() {
                let (a, b) = (Double(found[index + 1]) ?? .nan, Double(wanted[index + 1]) ?? .nan)
                #expect(abs(a - b) <= most, "\(found), and not \(wanted)")
            }
        }
    }

    @Test func aLookAtHasTheCamerasOwnNumbers() {
        let position = CameraPosition(
            target: LatLng(latitude: 0, longitude: 10), zoom: 16, bearing: 90, viewingAngle: 60)
        let view = EarthView(position, viewportHeight: 1000)
        // A point at the equator at zoom 16 is 40,075,016.7 m / (256 · 65,536).
        #expect(abs(view.range - 1500 * 2.388657133911758) < 1e-4)
        #expect(view.kml.contains("<range>3582.986</range>") && view.kml.contains("<heading>90</heading>"))
    }

    @Test func headingsOfViewSyncGoFromSouthToSouth() {
        let position = CameraPosition(target: LatLng(latitude: 40, longitude: -3), zoom: 12, bearing: 270)
        let parts = EarthView(position, viewportHeight: 844).datagram(number: 1, unixTime: 0).split(
            separator: ",", omittingEmptySubsequences: false)
        #expect(parts.count == 10 && parts[4] == "-90" && parts[1] == "40" && parts[2] == "-3" && parts[9] == "")
    }
}
