// The only way for text for people to leave a program, except for standard output of `gimbal`, which collects its
// lines. A test checks the sources for that.

import GimbalProtocol
import Glibc

extension PrintableText {
    /// Writes the text. What the descriptor does not take, because it is closed or full, is lost.
    package func write(to descriptor: CInt) {
        var rest = Array(description.utf8)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}
