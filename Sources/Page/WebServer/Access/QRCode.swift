// A link as a QR code, for a phone's camera. libqrencode makes it without the quiet zone, which the drawing code adds.

import CQRencode

package struct QRCode: Sendable {
    /// Rows from the top; `true` is dark.
    package let modules: [[Bool]]
    /// Modules per side.
    package var size: Int { modules.count }

    /// The most bytes of a text; a longer one's code is too fine for a phone's camera.
    private static let longest = 213

    /// Makes the code of a text, with error correction M; `nil` if it is too long.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.longest,
            let code = unsafe QRcode_encodeData(CInt(bytes.count), bytes, 0, QR_ECLEVEL_M)
        else { return nil }
        defer { unsafe QRcode_free(code) }
        let size = unsafe Int(code.pointee.width)
        // Each module is a byte whose lowest bit is set if it is dark.
        modules = (0..<size).map { y in (0..<size).map { x in unsafe code.pointee.data[y * size + x] & 1 == 1 } }
    }

    /// Rows of `0` and `1`.
    package var rows: [String] { modules.map { row in String(row.map { $0 ? "1" : "0" }) } }

    /// The code for a terminal, with two rows of modules per line: dark on light, whatever the terminal's colours.
    package var terminalText: String {
        let quiet = 2
        func isDark(_ x: Int, _ y: Int) -> Bool {
            (0..<size).contains(x) && (0..<size).contains(y) && modules[y][x]
        }
        return stride(from: -quiet, to: size + quiet, by: 2).map { y in
            let line = (-quiet..<size + quiet).map { x -> Character in
                switch (isDark(x, y), isDark(x, y + 1)) {
                case (false, false): "█"
                case (false, true): "▀"
                case (true, false): "▄"
                case (true, true): " "
                }
            }
            return "\u{1b}[97;40m" + String(line) + "\u{1b}[0m\n"
        }.joined()
    }
}
