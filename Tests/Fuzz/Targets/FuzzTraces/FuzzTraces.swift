// From a recording of any format to a trace: the result does not depend on how the bytes are cut, and input that is not
// yet a trace becomes one that the daemon accepts line by line, from header to end.

import FuzzSupport
import TouchTraces
import GimbalProtocol

private struct Conversion: Equatable {
    var trace: [UInt8] = []
    var isRefused = false
    var format: RecordingFormat?
    var notes: RecordingNotes

    init(_ pieces: [ArraySlice<UInt8>]) {
        let converter = TraceConverter()
        var trace: [UInt8] = []
        func take(_ bytes: Span<UInt8>) { for index in bytes.indices { trace.append(bytes[index]) } }
        do {
            for piece in pieces { try converter.read(Array(piece).span, take) }
            try converter.finish(take)
        } catch {
            isRefused = true
        }
        (self.trace, format, notes) = (trace, converter.reader.format, converter.reader.notes)
    }
}

/// Returns the requests of each line of a trace.
private func decoded(_ trace: [UInt8]) -> [[Request]] {
    var framer = LineFramer()
    var decoder = RequestDecoder()
    var lines: [[Request]] = []
    var position = 0
    while let line = framer.next(in: trace.span, at: &position) {
        guard case .line(let range) = line else { fatalError("a line that is too long") }
        do throws(Rejection) {
            lines.append(try decoder.decode(trace.span.extracting(range)))
        } catch {
            fatalError("\(error.error.message): \(String(decoding: trace[range], as: UTF8.self))")
        }
    }
    check(position == trace.count, "a last line without LF")
    return lines
}

private func checkTrace(_ lines: [[Request]]) {
    guard case .trace? = lines.first?.first?.body else { fatalError("no header") }
    guard case .traceEnd? = lines.last?.first?.body else { fatalError("no end") }
    var time = -Double.infinity
    for line in lines.dropFirst().dropLast() {
        guard let timeMs = line.first?.timeMs else { fatalError("no time") }
        check(timeMs >= time, "time \(timeMs) after \(time)")
        check(line.allSatisfy { $0.timeMs == nil || $0.timeMs == timeMs }, "two times in a frame")
        time = timeMs
    }
}

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = input(start, count)
    let whole = Conversion([bytes[...]])
    check(Conversion(bytes.inPieces()) == whole, "cut, it is another trace")
    if !whole.isRefused, whole.format != .trace { checkTrace(decoded(whole.trace)) }
    return 0
}
