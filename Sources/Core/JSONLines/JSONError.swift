// Errors in text that should be JSON. The protocol decides what they mean to the sender.

/// Why a text was rejected.
package struct JSONError: Error, Equatable, Sendable {
    package enum Kind: Sendable {
        /// The text is not JSON (RFC 8259).
        case malformed
        /// The text may be JSON, but is larger or more deeply nested than the reader accepts.
        case limitReached
    }

    package let kind: Kind
    package let message: String

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }
}
