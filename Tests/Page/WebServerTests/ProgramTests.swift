// `gimbal web` as a program: its child processes end with it, whatever ends it.

import Foundation
import TestSupport
import Testing

@Suite struct ProgramTests {
    @Test(arguments: [SIGKILL, SIGTERM])
    func whatGimbalWebHasStartedEndsWithIt(signal: CInt) throws {
        let socket = TemporaryPath.fresh("sock")
        defer { for name in [socket, socket + ".lock"] { unlink(name) } }
        let (process, output) = (Process(), Pipe())
        process.executableURL = DaemonProcess.gimbal
        process.arguments = ["web", "--no-open", "--socket", socket]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        var link = ""
        while !link.hasSuffix("\n") {
            let data = output.fileHandleForReading.availableData
            try #require(!data.isEmpty)
            link += String(decoding: data, as: UTF8.self)
        }
        let port = try #require(URL(string: link.trimmingCharacters(in: .whitespacesAndNewlines))?.port)
        _ = try HTTPClient(port)
        _ = try SocketClient(socket)
        kill(process.processIdentifier, signal)
        process.waitUntilExit()
        try waitUntil("the page's server has ended") { (try? HTTPClient(port)) == nil }
        try waitUntil("the daemon has ended") { (try? SocketClient(socket)) == nil }
    }
}
