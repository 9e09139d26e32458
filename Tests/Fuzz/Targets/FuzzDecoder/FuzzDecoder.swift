// From bytes to lines to requests: the result depends neither on how the bytes are cut nor on what was decoded before,
// and everything accepted is also JSON to Foundation.

import Foundation
import FuzzSupport
import GimbalProtocol

/// A line's requests or its error.
private struct Meaning: Equatable {
    var requests: [Request] = []
    var error: String?

    init(_ line: [UInt8], _ decoder: inout RequestDecoder) {
        do throws(Rejection) {
            requests = try decoder.decode(line.span)
        } catch {
            self.error = "\(error)"
        }
    }
}

/// Checks that Foundation reads an accepted line. It refuses only numbers that no double holds, even in an unknown
/// member.
private func checkJSON(_ line: [UInt8]) {
    let isHuge = line.contains { $0 | 0x20 == UInt8(ascii: "e") } || line.count > 300
    let isJSON = (try? JSONSerialization.jsonObject(with: Data(line), options: .fragmentsAllowed)) != nil
    check(isJSON || isHuge, "taken, and no JSON to Foundation")
}

private struct Line: Equatable {
    var number: UInt64
    /// The line, or `nil` if it is too long.
    var bytes: [UInt8]?
}

/// Returns the lines of a stream that arrives in pieces.
private func lines(_ pieces: [ArraySlice<UInt8>]) -> [Line] {
    var framer = LineFramer()
    var waiting: [UInt8] = []
    var found: [Line] = []
    func take(_ line: LineFramer.Line) {
        switch line {
        case .line(let range): found.append(Line(number: framer.lineNumber, bytes: Array(waiting[range])))
        case .tooLong: found.append(Line(number: framer.lineNumber))
        }
    }
    for piece in pieces {
        waiting += piece
        var position = 0
        while let line = framer.next(in: waiting.span, at: &position) { take(line) }
        waiting.removeFirst(position)
    }
    var position = 0
    if let line = framer.last(in: waiting.span, at: &position) { take(line) }
    return found
}

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = input(start, count)
    let whole = lines([bytes[...]])
    check(lines(bytes.inPieces()) == whole, "cut, they are other lines")
    var used = RequestDecoder()
    for case let line? in whole.map(\.bytes) {
        let isTaken = (try? used.decode(line.span)) != nil
        if isTaken { checkJSON(line) }
        // Wording an error takes far longer than decoding a line.
        guard line.digest.isMultiple(of: 16) else { continue }
        var fresh = RequestDecoder()
        check(Meaning(line, &used) == Meaning(line, &fresh), "what was decoded before counts")
    }
    return 0
}
