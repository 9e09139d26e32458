// Lines that a daemon might write, as the client reads them: an error at worst, and the same line is always the same
// value.

import FuzzSupport
import GimbalClient

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = input(start, count)
    guard let line = try? ServerLine(line: bytes) else { return 0 }
    check((try? ServerLine(line: bytes)) == line, "read again, it is another message")
    // A member that nobody knows is passed over. Foundation takes UTF-16 as well, whose brace would be another.
    guard !bytes.contains(0), let start = bytes.firstIndex(of: UInt8(ascii: "{")) else { return 0 }
    let more = bytes[...start] + Array(#""fuzz":[{"type":1}],"#.utf8) + bytes[(start + 1)...]
    check((try? ServerLine(line: more)) == line, "a member that nobody knows counts")
    return 0
}
