// Codes are checked with an independent reader: zbar, which is similar to those of phones.

import Foundation
import TestSupport
import Testing

@testable import WebServer

@Suite struct QRCodeTests {
    @Test(arguments: [1, 14, 15, 26, 42, 62, 84, 106, 122, 152, 180, 213])
    func aCodeHasItsPatternsAndItsSize(_ count: Int) throws {
        let code = try #require(QRCode(String(repeating: "a", count: count)))
        #expect(code.modules.count == code.size && code.modules.allSatisfy { $0.count == code.size })
        #expect((code.size - 17) % 4 == 0)
        let finder = ["1111111", "1000001", "1011101", "1011101", "1011101", "1000001", "1111111"]
        for (y, row) in finder.enumerated() {
            #expect(code.rows[y].hasPrefix(row) && code.rows[y].hasSuffix(row))
            #expect(code.rows[code.size - 7 + y].hasPrefix(row))
        }
    }

    @Test func whatIsTooLongHasNoCode() {
        #expect(QRCode(String(repeating: "a", count: 214)) == nil)
    }

    @Test(.needs("zbarimg"), arguments: [1, 20, 40, 60, 80, 100, 120, 150, 180, 213])
    func aForeignReaderReadsIt(_ count: Int) throws {
        // All kinds of bytes in a link.
        let letters = Array("https://maps.example.org:8443/#token=AZaz09-_&surface".utf8)
        let text = String(decoding: (0..<count).map { letters[$0 % letters.count] }, as: UTF8.self)
        let code = try #require(QRCode(text))
        let path = TemporaryPath.fresh("code.pgm")
        defer { unlink(path) }
        let (quiet, scale) = (4, 6)
        let side = (code.size + 2 * quiet) * scale
        var bytes = Array("P5\n\(side) \(side)\n255\n".utf8)
        for y in 0..<side {
            for x in 0..<side {
                let (row, column) = (y / scale - quiet, x / scale - quiet)
                let isDark =
                    (0..<code.size).contains(row) && (0..<code.size).contains(column) && code.modules[row][column]
                bytes.append(isDark ? 0 : 255)
            }
        }
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        let read = try DaemonProcess.run(
            URL(fileURLWithPath: "/usr/bin/zbarimg"), ["--quiet", "--raw", "-Sdisable", "-Sqrcode.enable", path])
        #expect(read.output == text + "\n")
    }
}
