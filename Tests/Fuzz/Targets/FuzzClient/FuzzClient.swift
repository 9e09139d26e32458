// Lines that a daemon might write, read by the client: at worst an error, and the same line always gives the same
// value.

import FuzzSupport
import GimbalClient

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = input(start, count)
    guard let line = try? ServerLine(line: bytes) else { return 0 }
    check((try? ServerLine(line: bytes)) == line, "read again, it is another message")
    // Unknown members are skipped; no name may appear twice.
    let name = "fuzz-\(bytes.count)"
    guard let start = bytes.firstIndex(of: UInt8(ascii: "{")), !String(decoding: bytes, as: UTF8.self).contains(name)
    else { return 0 }
    let more = bytes[...start] + Array(#""\#(name)":[{"type":1}],"#.utf8) + bytes[(start + 1)...]
    check((try? ServerLine(line: more)) == line, "a member that nobody knows counts")
    return 0
}
