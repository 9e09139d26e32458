// What is wrong with a text that should be JSON. The protocol decides what that means to its sender.

/// Why a text was not read.
package struct JSONError: Error, Equatable, Sendable {
    package enum Kind: Sendable {
        /// It is not JSON (RFC 8259).
        case malformed
        /// It may be JSON, but is larger or more deeply nested than what is read.
        case limitReached
    }

    package let kind: Kind
    package let message: String

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }
}
