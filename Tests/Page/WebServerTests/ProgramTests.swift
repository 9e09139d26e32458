// `gimbal web` as a program: its child processes end with it, whatever ends it.

import Foundation
import TestSupport
import Testing

@Suite struct ProgramTests {
    @Test(arguments: [SIGKILL, SIGTERM])
    func whatGimbalWebHasStartedEndsWithIt(signal: CInt) throws {
        let socket = TemporaryPath.fresh("sock")
        defer { for name in [socket, socket + ".lock"] { unlink(name) } }
        let (web, port) = try start(DaemonProcess.gimbal, ["web", "--no-open", "--socket", socket])
        _ = try HTTPClient(port)
        _ = try SocketClient(socket)
        kill(web.process.processIdentifier, signal)
        web.process.waitUntilExit()
        try waitUntil("the page's server has ended") { (try? HTTPClient(port)) == nil }
        try waitUntil("the daemon has ended") { (try? SocketClient(socket)) == nil }
    }

    @Test func gimbalWebEndsInOrderWhileClientsConnect() throws {
        let program = DaemonProcess.gimbal.deletingLastPathComponent().appendingPathComponent("gimbal-web")
        for round in 0..<UInt32(8) {
            let (web, port) = try start(program, ["--socket", TemporaryPath.fresh("sock")])
            let clients = try (0..<3).map { _ in try HTTPClient(port) }
            usleep(round * 200)
            let (status, _, errors) = web.end(SIGTERM)
            #expect(status == 0 && errors == "")
            withExtendedLifetime(clients) {}
        }
    }

    @Test func whatThePagesServerRefusesIsToldOnce() throws {
        let socket = TemporaryPath.fresh("sock")
        defer { for name in [socket, socket + ".lock"] { unlink(name) } }
        let (status, _, errors) = try DaemonProcess.run(
            DaemonProcess.gimbal, ["web", "--no-open", "--socket", socket, "--port", "99999"])
        #expect(status == 64 && errors.hasPrefix("Error: --port must be from 0 to 65535."), "\(errors)")
        #expect(errors.components(separatedBy: "Error:").count == 2, "\(errors)")
    }

    /// Starts a program; returns it and the port of the link that it prints.
    private func start(_ program: URL, _ arguments: [String]) throws -> (web: RunningProgram, port: Int) {
        let web = try RunningProgram(arguments, of: program)
        var link = ""
        while !link.hasSuffix("\n") {
            let data = web.output.fileHandleForReading.availableData
            try #require(!data.isEmpty)
            link += String(decoding: data, as: UTF8.self)
        }
        return (web, try #require(URL(string: link.trimmingCharacters(in: .whitespacesAndNewlines))?.port))
    }
}
