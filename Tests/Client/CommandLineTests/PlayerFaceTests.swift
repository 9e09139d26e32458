// The player's line at every width: what it shows, and that it is never wider than the terminal.

import GimbalClient
import GimbalProtocol
import TestSupport
import Testing

@testable import gimbal

@Suite struct PlayerFaceTests {
    private let plain = Style(isOn: false)

    private func line(_ face: PlayerFace, _ columns: Int, isUTF8: Bool = true) -> String {
        face.lines(columns: columns, rows: 24, isUTF8: isUTF8, style: plain).last?.description ?? ""
    }

    private var face: PlayerFace {
        var face = PlayerFace()
        (face.name, face.timeMs, face.durationMs) = ("pan.ndjson", 12_340, 65_000)
        return face
    }

    @Test func timeLengthSpeedAndStateFitFortyColumns() {
        let text = line(face, 39)
        #expect(text.hasPrefix("playing 0:12.3/1:05.0 ") && text.hasSuffix(" ×1 ?"))
        #expect(text.count == 39 && text.contains("━━─"))
    }

    @Test func aWideTerminalAlsoShowsTheNameAndWhereTheKeysAre() {
        let text = line(face, 199)
        #expect(text.hasPrefix("pan.ndjson playing 0:12.3/1:05.0 ") && text.hasSuffix(" ×1 ? keys"))
        #expect(text.count == 199)
    }

    @Test func theBarIsAsFullAsTheTraceIsPlayed() {
        for (time, share) in [(0.0, 0.0), (32_500, 0.5), (65_000, 1), (70_000, 1)] {
            var face = face
            face.timeMs = time
            let bar = line(face, 79).filter { "━─".contains($0) }
            let done = bar.count { $0 == "━" }
            #expect(Double(done) == (share * Double(bar.count)).rounded(.down), "at \(time)")
        }
    }

    @Test func aReplayThatGoesOnAfterTheLastLineIsAsLongAsItHasPlayed() {
        var face = face
        face.timeMs = 70_000
        #expect(line(face, 39).hasPrefix("playing 1:10.0/1:10.0 "))
    }

    @Test func markersAreTicksWhereTheyAre() {
        var face = face
        face.markers = [0, 32_500, 65_000, 65_000]
        let text = Array(line(face, 79))
        let bar = text.indices.filter { "━─┃".contains(text[$0]) }
        let ticks = bar.indices.filter { text[bar[$0]] == "┃" }
        #expect(ticks == [0, bar.count / 2, bar.count - 1])
    }

    @Test func withoutUnicodeTheLineIsASCII() {
        var face = face
        face.markers = [30_000]
        face.showsKeys = true
        let lines = face.lines(columns: 39, rows: 24, isUTF8: false, style: plain).map(\.description)
        #expect(lines.allSatisfy { $0.utf8.allSatisfy { $0 < 0x80 } } && lines.last?.contains("#-") == true)
        #expect(lines.last?.contains("|") == true && lines.last?.hasSuffix(" x1 ?") == true)
    }

    @Test func aTraceOfUnknownLengthHasNoBar() {
        var face = face
        face.durationMs = nil
        #expect(line(face, 39) == "playing 0:12.3 ×1 ? keys")
    }

    @Test(arguments: [
        (0.25, "×0.25"), (1, "×1"), (2, "×2"), (1.0 / 64, "×0.016"), (.infinity, "×max"), (1.0 / 3, "×0.33"),
    ])
    func theSpeedIsShown(speed: Double, text: String) {
        var face = face
        face.speed = speed
        #expect(line(face, 39).hasSuffix(" \(text) ?"))
    }

    @Test func theRoundIsShownWhereThereAreSeveral() {
        var face = face
        (face.round, face.rounds) = (2, .times(3))
        #expect(line(face, 60).contains(" 2 of 3"))
        face.rounds = .forever
        #expect(line(face, 60).contains(" round 2"))
    }

    @Test func aNoteTakesThePlaceOfTheBar() {
        var face = face
        let why = "no marker behind this one\u{7}"
        (face.state, face.note) = (.paused, PrintableText(why))
        #expect(line(face, 39) == "paused  no marker behind this one\\u{07}".prefix(39))
    }

    @Test func theKeysFitFortyColumnsAndStandAboveTheLine() {
        var face = face
        face.showsKeys = true
        for isUTF8 in [true, false] {
            let lines = face.lines(columns: 39, rows: 24, isUTF8: isUTF8, style: plain)
            #expect(lines.count == 10 && lines.allSatisfy { width($0) <= 39 })
            #expect(lines.dropLast() == PlayerFace.keys(isUTF8: isUTF8)[...], "nothing of them is cut")
        }
    }

    @Test func noLineIsWiderThanTheTerminalWhateverItShows() {
        var random = Seeded(1)
        for columns in 0...240 {
            var face = PlayerFace()
            let names: [PrintableText] = ["a", "地図の操作.ndjson", PrintableText(repeating: "long", count: 20)]
            face.name = names.randomElement(using: &random)!
            face.state = [.playing, .paused, .seeking, .atEnd].randomElement(using: &random)!
            face.timeMs = .random(in: 0...1e8, using: &random)
            face.durationMs = Bool.random(using: &random) ? .random(in: 0...1e8, using: &random) : nil
            face.speed = [0.25, 1, 1e9, .infinity].randomElement(using: &random)!
            face.rounds = [.times(1), .times(1000), .forever].randomElement(using: &random)!
            face.round = .random(in: 1...1000, using: &random)
            face.markers = (0..<5).map { _ in .random(in: -1...2e8, using: &random) }
            face.note = Bool.random(using: &random) ? nil : "地図 is busy: another trace is playing"
            face.showsKeys = .random(using: &random)
            let far = LatLng(latitude: -84.99999, longitude: -179.99999)
            face.position = CameraPosition(target: far, zoom: 14, bearing: 359.99, viewingAngle: 45)
            face.gestures = Bool.random(using: &random) ? [] : [.pinch, .rotate, .oneFingerZoom]
            let rows = Int.random(in: 1...12, using: &random)
            let lines = face.lines(columns: columns, rows: rows, isUTF8: .random(using: &random), style: plain)
            #expect(!lines.isEmpty && lines.count <= rows)
            for line in lines { #expect(width(line) <= columns, "\(columns): \(line)") }
        }
    }

    @Test(arguments: 19...240)
    func whereTheKeysAreIsShownAtEveryWidth(columns: Int) {
        #expect(line(face, columns).contains("?"), "\(line(face, columns))")
    }

    @Test func theCameraStandsAboveTheLineWhereThereIsRoom() {
        var face = face
        face.position = CameraPosition(target: LatLng(latitude: 48.8584, longitude: 2.2945), zoom: 14, bearing: 90)
        face.gestures = [.pinch, .rotate]
        func camera(_ columns: Int, rows: Int = 24) -> String? {
            let lines = face.lines(columns: columns, rows: rows, isUTF8: true, style: plain)
            return lines.count == 2 ? lines[0].description : nil
        }
        #expect(camera(39) == "48.8584, 2.2945 zoom 14.00 pinch")
        #expect(camera(79) == " 48.8584,    2.2945 zoom 14.00 bearing  90.0 angle  0.0 pinch + rotate")
        #expect(camera(159) == " 48.858400,    2.294500 zoom 14.00 bearing  90.0 angle  0.0 pinch + rotate")
        #expect(camera(31) == nil && camera(79, rows: 1) == nil)
    }

    @Test func aSummaryBreaksBetweenItsWordsAlone() {
        let words: [PrintableText] = ["pan.ndjson:", "1,234 lines,", "0 rejected,", "1,200 frames,", "0:12.345"]
        for columns in 15...80 {
            let lines = folded(words.map { Piece($0) }, columns)
            #expect(lines.allSatisfy { width($0) <= columns })
            #expect(
                lines.map { $0.description.trimmingPrefix { $0 == " " } }.joined(separator: " ")
                    == words.map(\.description).joined(separator: " "))
        }
        #expect(folded(words.map { Piece($0) }, 80).count == 1)
        #expect(folded([Piece("地図の操作.ndjson:")], 8).map(\.description) == ["地図の操"])
    }

    @Test func whatSteersIsOfOurOwnColoursAlone() {
        let hostile = "a\u{1b}[2J\u{9b}1m\u{7f}\n\u{202e}\u{200b}"
        var face = face
        (face.name, face.markers) = (PrintableText(hostile), [0, 32_500])
        for note in [nil, PrintableText(hostile)] {
            face.note = note
            for columns in 0...200 {
                for line in face.lines(columns: columns, rows: 24, isUTF8: true, style: Style(isOn: true)) {
                    let text = line.description.replacing(#/\u{1b}\[(0|1|2|32|33)m/#, with: "")
                    #expect(text == PrintableText(text).description, "\(columns)")
                }
            }
        }
    }

    // MARK: Drawing

    @Test func whatHasNotChangedIsNotDrawnAgain() {
        var status = StatusLines()
        #expect(status.draw(["a"], columns: 40) == "\ra\u{1b}[J\r")
        #expect(status.draw(["a"], columns: 40) == "")
        #expect(status.draw(["b"], columns: 40) == "\rb\u{1b}[J\r", "nothing is removed before it is drawn over")
    }

    @Test func linesAreRemovedFirstOnlyWhereTheWidthIsAnother() {
        var status = StatusLines()
        _ = status.draw(["a"], columns: 80)
        #expect(status.draw(["a"], columns: 40) == "\r\u{1b}[J\ra\u{1b}[J\r")
        #expect(status.clear() == "\r\u{1b}[J" && status.clear() == "")
    }

    @Test func theCursorStaysWhereTheLinesBegin() {
        var status = StatusLines()
        #expect(status.draw(["a", "b", "c"], columns: 40) == "\ra\u{1b}[K\r\nb\u{1b}[K\r\nc\u{1b}[J\u{1b}[2A\r")
    }
}
