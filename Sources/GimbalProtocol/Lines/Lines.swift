// The lines of the protocol: LF, and no longer than a request may be. What reads and writes them as JSON knows no message;
// whoever uses messages gets it along with them.

@_exported import JSONLines

extension LineFramer {
    /// Begins, or goes on where another left off, with lines that are as long as the protocol allows by default.
    package init(lineNumber: UInt64 = 0, isSkipping: Bool = false) {
        self.init(lineNumber: lineNumber, isSkipping: isSkipping, longest: RequestDecoder.longestLine)
    }
}
