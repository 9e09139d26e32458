// Text that comes from elsewhere, on its way to a log or a terminal.

extension String {
    /// The text with its control characters written out: it stays on its line, and steers no terminal.
    package var printable: String {
        let isPlain = unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        if isPlain { return self }
        return unicodeScalars.reduce(into: "") { text, scalar in
            text += scalar.properties.generalCategory == .control ? scalar.escaped(asASCII: true) : String(scalar)
        }
    }
}
