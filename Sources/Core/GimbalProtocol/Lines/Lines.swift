// The lines of the protocol: they end with LF, and are no longer than a request may be. The JSON reader and writer know
// no message; importers of messages get them as well.

@_exported import JSONLines

extension LineFramer {
    /// Begins, or goes on where another left off, with lines that are as long as the protocol allows by default.
    package init(lineNumber: UInt64 = 0, isSkipping: Bool = false) {
        self.init(lineNumber: lineNumber, isSkipping: isSkipping, longest: RequestDecoder.longestLine)
    }
}
