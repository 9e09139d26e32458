// Values to bytes and back: equal to the last bit; truncated or altered bytes are refused, never trusted.

import Hub
import TestSupport
import Testing

private struct Sample: Codable, Equatable {
    enum Choice: Codable, Equatable {
        case none, one(Double), two(x: Int, [String])
    }

    enum Word: String, Codable { case left, right }

    var doubles: [Double] = []
    var double = 0.0
    var single: Float = 0
    var bytes: [UInt8] = []
    var lengths: [UInt32] = []
    var text = ""
    var number = 0
    var small: Int8 = 0
    var unsigned: UInt64 = 0
    var flag = false
    var missing: Double?
    var there: Double? = 1
    var holes: [Int?] = []
    var nested: [[Int]?] = []
    var choices: [Choice] = []
    var word = Word.left
    var byNumber: [Int: Int] = [:]
    var byText: [String: Bool] = [:]
    var byWord: [Word: [Double]] = [:]
    var words: Set<String> = []
    var samples: [Sample] = []
    var empty: [Sample] = []

    static let full = {
        var sample = Sample()
        sample.doubles = [
            0, -0.0, .infinity, -.infinity, .leastNonzeroMagnitude, -.leastNormalMagnitude / 3, 1.7e308, .pi,
        ]
        (sample.double, sample.single) = (.leastNonzeroMagnitude, 0.1)
        (sample.bytes, sample.lengths) = ([0, 255, 7], [0, .max])
        (sample.text, sample.number, sample.small) = ("a \u{1f600} \0", -(1 << 53) + 1, -128)
        (sample.unsigned, sample.flag) = (1 << 53 - 1, true)
        (sample.holes, sample.nested) = ([nil, 1, nil], [nil, [], [1, 2]])
        (sample.choices, sample.word) = ([.none, .one(-0.0), .two(x: 3, ["", "b"])], .right)
        (sample.byNumber, sample.byText, sample.byWord) = ([-1: 1, 2: 3], ["": true], [.left: [], .right: [1]])
        (sample.words, sample.samples) = (["x", "y"], [Sample(), Sample()])
        return sample
    }()
}

/// A list that contains itself.
private struct Nest: Codable {
    var inner: [Nest] = []

    init(depth: Int) { if depth > 1 { inner = [Nest(depth: depth - 1)] } }
}

private struct Later: Codable { var (double, added) = (1.0, [1, 2, 3]) }
private struct Earlier: Codable { var double = 2.0, removed: Int? }
private struct Stricter: Codable { var double = 2.0, needed = 1 }

@Suite struct StateCoderTests {
    private func decoded<Value: Codable>(_ value: Value) throws -> Value {
        try StateDecoder.decode(Value.self, from: StateEncoder.encode(value))
    }

    @Test(arguments: [Sample(), .full]) private func valuesComeBack(_ sample: Sample) throws {
        let again = try decoded(sample)
        #expect(again == sample)
        #expect(again.doubles.map(\.bitPattern) == sample.doubles.map(\.bitPattern))
        #expect(again.double.bitPattern == sample.double.bitPattern)
    }

    @Test func whatStandsAloneComesBack() throws {
        #expect(try decoded(7) == 7 && decoded("x") == "x" && decoded([1.5]) == [1.5] && decoded([Int]()) == [])
        #expect(try decoded(Double?.none) == nil && decoded(true))
    }

    @Test func membersAreKnownByTheirNames() throws {
        let later = try StateEncoder.encode(Later())
        #expect(try StateDecoder.decode(Earlier.self, from: later).double == 1)
        #expect(throws: (any Error).self) { try StateDecoder.decode(Stricter.self, from: later) }
    }

    // MARK: Invalid bytes

    @Test func whatIsNoNumberIsRefused() throws {
        #expect(throws: StateDecoder.Damage.self) { try decoded(Double.nan) }
        #expect(throws: StateDecoder.Damage.self) { try decoded([1, -Double.nan]) }
        #expect(throws: StateDecoder.Damage.self) { try decoded(Sample.Choice.one(.nan)) }
    }

    @Test(arguments: [1 << 53, -(1 << 53), .max, .min]) func numberThatIsTooLargeIsRefused(_ number: Int) throws {
        #expect(throws: StateDecoder.Damage.self) { try decoded(number) }
    }

    @Test func numberThatItsTypeDoesNotHoldIsRefused() throws {
        let (negative, large) = (try StateEncoder.encode(-1), try StateEncoder.encode(256))
        #expect(throws: StateDecoder.Damage.self) { try StateDecoder.decode(UInt64.self, from: negative) }
        #expect(throws: StateDecoder.Damage.self) { try StateDecoder.decode(UInt8.self, from: large) }
        #expect(throws: StateDecoder.Damage.self) { try StateDecoder.decode(Double.self, from: large) }
    }

    @Test func whatIsTooDeepIsRefused() throws {
        #expect(try decoded(Nest(depth: 30)).inner.count == 1)
        #expect(throws: StateDecoder.Damage.self) { try decoded(Nest(depth: 2000)) }
    }

    @Test func whatIsCutOrLongerIsRefused() throws {
        let bytes = try StateEncoder.encode(Sample.full)
        for count in bytes.indices {
            #expect(throws: (any Error).self, "\(count)") {
                try StateDecoder.decode(Sample.self, from: Array(bytes[..<count]))
            }
        }
        #expect(throws: StateDecoder.Damage.self) { try StateDecoder.decode(Sample.self, from: bytes + [0]) }
    }

    /// Any change is refused or gives a valid value, even counts that claim the maximum.
    @Test(arguments: UInt64(1)...4) func whatIsAlteredIsRefusedOrAnotherValue(seed: UInt64) throws {
        let bytes = try StateEncoder.encode(Sample.full)
        var random = Seeded(seed)
        var (refused, taken) = (0, 0)
        for _ in 0..<5000 {
            var altered = bytes
            for _ in 0..<random.integer(1...3) {
                let place = random.integer(0...(bytes.count - 9))
                switch random.integer(0...2) {
                case 0: altered[place] ^= 1 << UInt8(random.integer(0...7))
                case 1: altered[place] = UInt8(random.integer(0...255))
                default: for index in place..<(place + 8) { altered[index] = random.chance(0.5) ? 0x7f : 0xff }
                }
            }
            do {
                _ = try decoded(StateDecoder.decode(Sample.self, from: altered))
                taken += 1
            } catch {
                refused += 1
            }
        }
        #expect(refused > 1000 && taken > 100, "\(refused) refused, \(taken) taken")
    }
}
