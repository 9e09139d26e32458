// The Swift code of the documentation is the code of these tests: each block is in a file of the folder Examples, word
// for word, and does what it says.

import Foundation
import TestSupport
import Testing

@testable import GimbalClient

@Suite struct DocumentationTests {
    private let documents = [
        "README.md", "Sources/Client/GimbalClient/GimbalClient.docc/GimbalClient.md",
        "Sources/Core/MapCamera/MapCamera.docc/MapCamera.md",
    ]

    @Test func everyBlockIsAnExampleAndEveryExampleABlock() throws {
        let examples = try Files.list("Tests/Client/GimbalClientTests/Examples", "swift").map {
            // The file's header and the blank line after it are not part of the example.
            try String(contentsOf: $0, encoding: .utf8).split(separator: "\n").map(String.init).drop {
                $0.hasPrefix("// ")
            }
        }
        var blocks = Set<[String]>()
        for document in documents {
            for block in try Files.text(document).split(separator: "\n```swift\n").dropFirst() {
                let end = try #require(block.range(of: "\n```\n"))
                blocks.insert(block[..<end.lowerBound].split(separator: "\n").map(String.init))
            }
            #expect(try !Files.fenced("swift", in: document).isEmpty, "\(document) has no example")
        }
        #expect(blocks == Set(examples.map(Array.init)))
    }

    @Test func everyPublicTypeIsATopic() throws {
        let others = ["GimbalProtocol", "Gestures"].map { "Sources/Core/\($0)/\($0).docc/\($0).md" }
        for document in documents.dropFirst() + others {
            let page = try Files.text(document)
            let target = Files.root.appending(path: document).deletingLastPathComponent().deletingLastPathComponent()
            let files = Files.list(target, "swift")
            #expect(!files.isEmpty, "\(target.path) has no sources")
            for file in files {
                let source = try String(contentsOf: file, encoding: .utf8)
                for match in source.matches(
                    of: /^public (?:final )?(?:struct|enum|class) (\w+)/.anchorsMatchLineEndings())
                {
                    #expect(page.contains("\n- ``\(match.1)``"), "\(match.1) is no topic of \(document)")
                }
            }
        }
    }

    // MARK: Behaviour of the examples

    @Test func theFlightArrives() async throws {
        let daemon = try DaemonProcess()
        let place = LatLng(latitude: 48.8584, longitude: 2.2945)
        let position = try await fly(to: place, with: Gimbal(path: daemon.socket))
        #expect(position == CameraPosition(target: place, zoom: 15))
        #expect(try await fly(to: place, with: Gimbal(path: daemon.socket)) == position)
    }

    @Test func theConnectionIsShown() async throws {
        let gimbal = Gimbal(path: "/nonexistent/gimbal.sock")
        let (shown, show) = AsyncStream.makeStream(of: String.self)
        let task = Task { await showConnection(of: gimbal) { show.yield($0) } }
        var texts = shown.makeAsyncIterator()
        #expect(await texts.next() == "not connected")
        await #expect(throws: GimbalConnectionError.self) { try await gimbal.ping() }
        #expect(await texts.next()?.hasPrefix("lost: no daemon: connect /nonexistent/gimbal.sock") == true)
        task.cancel()
        await task.value
    }

    @Test func theDragMovesTheMapByTheFinger() async throws {
        let daemon = try DaemonProcess()
        let camera = Gimbal(path: daemon.socket).camera()
        let place = try await camera.coordinate(for: ScreenPoint(x: 195 + 120, y: 422))
        try await drag(camera)
        let end = try await camera.rest().position
        #expect(abs(end.target.longitude - place.longitude) < 1e-6)
    }

    @Test func theTwistKeepsThePlaceUnderTheFingers() async throws {
        let daemon = try DaemonProcess()
        let camera = Gimbal(path: daemon.socket).camera("left")
        let focus = ScreenPoint(x: 100, y: 300)
        let before = try await camera.coordinate(for: focus)
        try await twist(camera, about: focus)
        let (after, state) = (try await camera.coordinate(for: focus), try await camera.state())
        #expect(abs(after.latitude - before.latitude) < 1e-6 && abs(after.longitude - before.longitude) < 1e-6)
        #expect(state.position.zoom == 3 && state.position.bearing == 330)
        // One per array, and two for the beginning and the end.
        #expect(state.seq == 12)
    }

    @Test func nothingIsCountedTwice() async throws {
        let daemon = try DaemonProcess()
        let camera = Gimbal(path: daemon.socket).camera()
        let nothing = try await movements(of: camera, since: nil)
        #expect(nothing.ended == 0)
        for _ in 0..<3 { try await camera.move(.zoomIn) }
        let first = try await movements(of: camera, since: nothing.point)
        #expect(first.ended == 3 && first.point?.seq == 9)
        try await camera.move(.zoomIn)
        #expect(try await movements(of: camera, since: first.point).ended == 1)
        #expect(try await setLowestZoom(4, of: camera) == nil)
        #expect(try await setLowestZoom(1, of: camera)?.hasPrefix("minZoom: ") == true)
    }

    @Test func thePlaceComesNearer() throws {
        let place = LatLng(latitude: 48.8584, longitude: 2.2945)
        let region = try #require(
            CoordinateBounds(
                southWest: LatLng(latitude: 41, longitude: -5), northEast: LatLng(latitude: 51.5, longitude: 10)))
        let (camera, point) = approach(place, in: region)
        let shown = try #require(point)
        #expect((320...1280).contains(shown.x) && (0...720).contains(shown.y))
        #expect(camera.position.zoom > 6 && camera.position.viewingAngle == 30)
        #expect(region.clamp(camera.position.target) == camera.position.target)
    }
}
