// The one way by which text for people leaves a program, but for standard output of `gimbal`, whose lines it collects. A test
// holds the sources against that.

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
