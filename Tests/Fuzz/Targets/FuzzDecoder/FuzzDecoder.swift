// From bytes to lines to requests: the result depends neither on how the bytes are cut nor on what was decoded before,
// and everything accepted is also JSON to Foundation.

import Foundation
import FuzzSupport
import GimbalProtocol
import TestSupport

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

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = input(start, count)
    let whole = FramedLine.lines([bytes[...]], LineFramer())
    check(FramedLine.lines(bytes.inPieces(), LineFramer()) == whole, "cut, they are other lines")
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
