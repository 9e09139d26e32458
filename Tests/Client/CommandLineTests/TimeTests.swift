// Times as users type them.

import ArgumentParser
import Testing

@testable import gimbal

@Suite struct TimeTests {
    @Test(arguments: [
        ("0", 0), ("90", 90), ("250ms", 250), ("1.5s", 1500), ("2m", 120_000), ("2min", 120_000), ("1h", 3_600_000),
        ("1:05", 65_000), ("0:00", 0), ("90:00", 5_400_000), ("1:02:03.5", 3_723_500), ("0:01.250", 1250),
        ("\u{2212}1:05", -65_000), ("-1:02:03.5", -3_723_500), ("-5s", -5000), ("+5s", 5000), ("+1:00", 60_000),
    ])
    func aTimeIsReadInEachOfItsForms(text: String, milliseconds: Double) throws {
        #expect(try Milliseconds(typed: text).milliseconds == milliseconds)
    }

    @Test(arguments: [
        "", ":", "1:", ":05", "1:60", "1:2:60", "1:60:00", "1:2:3:4", "1.5:00", "1:05s", "1:-5", "1:+5", "1::5", "soon",
        "5 s", "1:0x1f", "1:5.", "s", "1:nan", "1:5:", "1.5:10", "x", "inf", "1e999", "1e308h",
    ])
    func whatIsNoTimeIsAnErrorThatShowsOne(text: String) {
        #expect {
            try Milliseconds(typed: text)
        } throws: {
            "\($0)".contains("1:05")
        }
    }
}
