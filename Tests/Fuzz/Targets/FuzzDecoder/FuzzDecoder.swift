// Bytes to lines to requests: what comes out does not depend on how the bytes are cut, nor on what was decoded before;
// and what is taken is JSON to Foundation as well.

import Foundation
import FuzzSupport
import GimbalProtocol

/// What a line says, or what is wrong with it.
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

/// Foundation refuses numbers that no double holds, also where a member that nobody knows has them; nothing else of
/// what is taken.
private func checkJSON(_ line: [UInt8]) {
    let isHuge = line.contains { $0 | 0x20 == UInt8(ascii: "e") } || line.count > 300
    let isJSON = (try? JSONSerialization.jsonObject(with: Data(line), options: .fragmentsAllowed)) != nil
    check(isJSON || isHuge, "taken, and no JSON to Foundation")
}

private struct Line: Equatable {
    var number: UInt64
    /// `nil` is a line that is too long.
    var bytes: [UInt8]?
}

/// The lines of a stream that comes in pieces.
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
        // Putting an error into words takes far longer than decoding a line.
        guard line.digest.isMultiple(of: 16) else { continue }
        var fresh = RequestDecoder()
        check(Meaning(line, &used) == Meaning(line, &fresh), "what was decoded before counts")
    }
    return 0
}
