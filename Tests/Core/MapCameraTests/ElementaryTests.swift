// Compares the elementary functions with cases computed independently in 60 digits, which `Cases/elementary.py`
// generates and checks, and tests exactness, symmetry and monotonicity.

import Foundation
import TestSupport
import Testing

@testable import MapCamera

@Suite struct ElementaryTests {
    private static let functions:
        [(name: String, leastCases: Int, mostUlps: Double, value: @Sendable ([Double]) -> Double)] = [
            ("sine", 150, 0.9, { Elementary.sine($0[0]) }),
            ("cosine", 150, 0.9, { Elementary.cosine($0[0]) }),
            ("exp2", 150, 0.54, { Elementary.exp2($0[0]) }),
            ("log2", 150, 0.53, { Elementary.log2($0[0]) }),
            ("hypot", 150, 0.501, { Elementary.hypot($0[0], $0[1]) }),
            ("atan2", 150, 0.65, { Elementary.atan2(y: $0[0], x: $0[1]) }),
            ("latitude", 150, 0.8, { Elementary.latitude(ofNorthing: $0[0]) }),
            ("northing", 150, 0.97, { Elementary.northing(ofLatitude: $0[0]) }),
        ]

    @Test func everyFunctionIsWithinItsUlpsOfSixtyDigits() throws {
        var cases: [Substring: [[Double]]] = [:]
        for line in try Files.text("Tests/Core/MapCameraTests/Cases/elementary-cases.txt").split(separator: "\n") {
            let words = line.split(separator: " ")
            cases[words[0], default: []].append(try words.dropFirst().map { try #require(Double($0)) })
        }
        #expect(cases.count == Self.functions.count)
        for (name, leastCases, mostUlps, value) in Self.functions {
            let known = try #require(cases[Substring(name)])
            #expect(known.count >= leastCases)
            for numbers in known {
                let (arguments, exact, rest) = (
                    Array(numbers.dropLast(2)), numbers[numbers.count - 2], numbers.last ?? 0
                )
                let error = abs((value(arguments) - exact) - rest) / exact.ulp
                #expect(error <= mostUlps, "\(name)\(arguments) is off by \(error) ulps")
            }
        }
    }

    // MARK: Exactness

    @Test func multiplesOfThirtyDegreesAreExactWhereTheirSineIs() {
        let sines = [0, 0.5, nil, 1, nil, 0.5, 0, -0.5, nil, -1, nil, -0.5]
        for turns in [-1e9, -1000, -1, 0, 1, 7, 1e9, 0x1p40] {
            for (index, sine) in sines.enumerated() {
                let angle = 360 * turns + 30 * Double(index)
                if let sine { #expect(Elementary.sine(angle) == sine, "\(angle)") }
                if let cosine = sines[(index + 3) % 12] { #expect(Elementary.cosine(angle) == cosine, "\(angle)") }
            }
        }
        #expect(Elementary.sine(60) == 0.75.squareRoot() && Elementary.cosine(45) == 0.5.squareRoot())
    }

    @Test func wholeNumbersHaveExactPowersAndLogarithms() {
        for exponent in -1074...1023 {
            let power = Double(sign: .plus, exponent: exponent, significand: 1)
            #expect(Elementary.exp2(Double(exponent)) == power)
            #expect(Elementary.log2(power) == Double(exponent))
        }
    }

    @Test func wholeTrianglesAndEighthsOfACircleAreExact() {
        for (a, b, c) in [(3.0, 4.0, 5.0), (5, 12, 13), (8, 15, 17), (20, 21, 29), (696, 697, 985), (119, 120, 169)] {
            for scale in [1, 0x1p-1000, 0x1p-300, 0x1p300, 0x1p1000] {
                #expect(Elementary.hypot(a * scale, -b * scale) == c * scale)
            }
        }
        for side in [0x1p-1074, 1e-300, 0.1, 1, 300, 1e300] {
            let angles = [(0, 1, 0), (1, 1, 45), (1, 0, 90), (1, -1, 135), (0, -1, 180.0)]
            for (y, x, angle) in angles {
                #expect(Elementary.atan2(y: Double(y) * side, x: Double(x) * side) == angle)
                #expect(Elementary.atan2(y: -Double(y) * side, x: Double(x) * side) == -angle)
            }
        }
    }

    // MARK: Symmetry and monotonicity

    @Test func functionsAreOddOrEvenToTheLastBit() {
        var random = Seeded(1)
        for _ in 0..<20_000 {
            let (x, y) = (random.number(-800...800), random.number(-90...90))
            #expect(Elementary.sine(-x) == -Elementary.sine(x) && Elementary.cosine(-x) == Elementary.cosine(x))
            #expect(Elementary.atan2(y: -y, x: x) == -Elementary.atan2(y: y, x: x))
            #expect(Elementary.hypot(x, y) == Elementary.hypot(-y, x))
            #expect(Elementary.latitude(ofNorthing: -y / 20) == -Elementary.latitude(ofNorthing: y / 20))
            #expect(Elementary.northing(ofLatitude: -y) == -Elementary.northing(ofLatitude: y))
        }
    }

    /// No larger argument gives a smaller result: between neighbouring numbers, and where tables and series meet.
    @Test func functionsGrowWithTheirArguments() {
        let growing: [(name: String, range: ClosedRange<Double>, seams: [Double], value: (Double) -> Double)] = [
            ("latitude", 0...40, [0.2, 3.25], Elementary.latitude(ofNorthing:)),
            ("northing", 0...89.999, (6...43).map { 2 * Double($0) - 1 } + [12, 86], Elementary.northing(ofLatitude:)),
            ("exp2", -30...30, (-960...960).map { Double($0) / 32 + 1 / 64 }, Elementary.exp2),
            ("log2", 0.01...100, (22...46).map { (Double($0) + 0.5) / 32 } + [1], Elementary.log2),
        ]
        var random = Seeded(2)
        for (name, range, seams, value) in growing {
            for start in seams.map({ $0 - 8 * $0.ulp }) + (0..<20_000).map({ _ in random.number(range) }) {
                var (x, before) = (start, value(start))
                for _ in 0..<16 {
                    x = x.nextUp
                    let next = value(x)
                    #expect(next >= before, "\(name)(\(x)) falls")
                    before = next
                }
            }
        }
    }

    @Test func aPlaceComesBackFromThePlane() {
        var random = Seeded(3)
        for latitude in (-85...85).map(Double.init) + (0..<20_000).map({ _ in random.number(-85...85) }) {
            let back = Elementary.latitude(ofNorthing: Elementary.northing(ofLatitude: latitude))
            #expect(abs(back - latitude) <= 2 * latitude.ulp, "\(latitude)")
        }
    }

    // MARK: Limits

    @Test func infinitiesZerosAndWhatIsNoNumberHaveDefinedResults() {
        let (infinity, nan) = (Double.infinity, Double.nan)
        for x in [infinity, -infinity, nan] {
            #expect(Elementary.sine(x).isNaN && Elementary.cosine(x).isNaN)
        }
        for x in [Elementary.exp2(nan), Elementary.log2(nan), Elementary.log2(-1), Elementary.log2(-infinity)] {
            #expect(x.isNaN)
        }
        #expect(Elementary.latitude(ofNorthing: nan).isNaN && Elementary.northing(ofLatitude: nan).isNaN)
        #expect(Elementary.atan2(y: nan, x: 1).isNaN && Elementary.atan2(y: 1, x: nan).isNaN)
        #expect(Elementary.hypot(nan, 1).isNaN && Elementary.hypot(nan, infinity) == infinity)

        #expect(Elementary.exp2(infinity) == infinity && Elementary.exp2(1024) == infinity)
        #expect(Elementary.exp2(-infinity) == 0 && Elementary.exp2(-1e300) == 0 && Elementary.exp2(-1076) == 0)
        #expect(
            Elementary.log2(0) == -infinity && Elementary.log2(-0.0) == -infinity
                && Elementary.log2(infinity) == infinity)
        #expect(Elementary.log2(Double.greatestFiniteMagnitude) == 1024)

        #expect(Elementary.atan2(y: -0.0, x: 1).sign == .minus && Elementary.atan2(y: -0.0, x: -1) == -180)
        #expect(Elementary.atan2(y: 0, x: 0) == 0 && Elementary.atan2(y: 0, x: -0.0) == 180)
        #expect(Elementary.atan2(y: infinity, x: -infinity) == 135 && Elementary.atan2(y: 1, x: -infinity) == 180)
        #expect(Elementary.hypot(0, 0) == 0 && Elementary.hypot(.leastNonzeroMagnitude, 0) == .leastNonzeroMagnitude)
        #expect(Elementary.hypot(.greatestFiniteMagnitude, .greatestFiniteMagnitude) == infinity)

        #expect(Elementary.latitude(ofNorthing: infinity) == 90 && Elementary.latitude(ofNorthing: -infinity) == -90)
        let pole = Elementary.northing(ofLatitude: 90)
        #expect(pole == Elementary.northing(ofLatitude: 90.0.nextDown) && pole < 38)
        #expect(Elementary.northing(ofLatitude: -infinity) == -pole)
    }
}
