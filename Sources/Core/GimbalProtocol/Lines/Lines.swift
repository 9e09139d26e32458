// The lines of the protocol: they end with LF and are limited in length. The JSON reader and writer are imported here for
// all files of this module, and for everything that imports it.

@_exported import JSONLines

extension LineFramer {
    /// Creates a framer, possibly resuming another one, with the protocol's default length limit.
    package init(lineNumber: UInt64 = 0, isSkipping: Bool = false) {
        self.init(lineNumber: lineNumber, isSkipping: isSkipping, longest: RequestDecoder.longestLine)
    }
}
