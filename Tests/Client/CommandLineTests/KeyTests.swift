// Keys decoded from the bytes that terminals send.

import Testing

@testable import gimbal

@Suite struct KeyTests {
    private func keys(_ text: String) -> [Key] {
        var decoder = KeyDecoder()
        return decoder.read(text.utf8)
    }

    @Test func charactersAreKeysAndControlCharactersAreNone() {
        #expect(keys(" .[q7\n\r\u{7f}\t?") == [" ", ".", "[", "q", "7", "?"].map { .character($0) })
    }

    @Test func arrowsAreKnownAsEveryTerminalSendsThem() {
        #expect(keys("\u{1b}[A\u{1b}[B\u{1b}[C\u{1b}[D") == [.up, .down, .right, .left])
        #expect(keys("\u{1b}OA\u{1b}OB\u{1b}OC\u{1b}OD") == [.up, .down, .right, .left])
        #expect(keys("\u{1b}[1;2C\u{1b}[1;2D\u{1b}[c\u{1b}[d") == [.shiftRight, .shiftLeft, .shiftRight, .shiftLeft])
        #expect(keys("\u{1b}[1;5C") == [.right])
    }

    @Test func otherSequencesAreSwallowedWhole() {
        #expect(keys("\u{1b}[200~\u{1b}[15;2~\u{1b}[<0;12;7M\u{1b}OPq") == [.character("q")])
        #expect(keys("\u{1b}x\u{1b}\u{1b}[Cq") == [.right, .character("q")])
    }

    @Test func aSequenceMayBeCutAnywhere() {
        let bytes = Array("a\u{1b}[1;2C\u{1b}OD.".utf8)
        for cut in 0...bytes.count {
            var decoder = KeyDecoder()
            let found = decoder.read(bytes[..<cut]) + decoder.read(bytes[cut...])
            #expect(found == [.character("a"), .shiftRight, .left, .character(".")], "cut at \(cut)")
        }
    }

    @Test func anEscapeThatNothingFollowsIsNoPartOfTheNextKey() {
        var decoder = KeyDecoder()
        #expect(decoder.read("\u{1b}".utf8) == [] && decoder.isUndecided)
        decoder.forget()
        #expect(decoder.read("[".utf8) == [.character("[")] && !decoder.isUndecided)
    }

    @Test func aSequenceWithoutAnEndIsGivenUp() {
        #expect(keys("\u{1b}[" + String(repeating: "1", count: 100) + "q").last == .character("q"))
    }
}
