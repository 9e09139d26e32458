// Where clients look for a daemon.

import Foundation
import Service
import TestSupport
import Testing
import UnixSocket

@Suite struct SocketPathTests {
    private func candidates(_ option: String? = nil, _ environment: [String: String] = [:]) -> [String] {
        SocketPath.candidates(option) { environment[$0] }
    }

    @Test func anOptionOrAVariableIsTheOnlyPlace() {
        let all = ["GIMBAL_SOCKET": "/a.sock", "XDG_RUNTIME_DIR": "/run/user/7"]
        #expect(candidates("/b.sock", all) == ["/b.sock"])
        #expect(candidates(nil, all) == ["/a.sock"])
    }

    @Test func theSystemsSocketsComeAfterTheUsersOwn() {
        let system = ["/run/gimbal/gimbal.sock", "/run/gimbal/watch.sock"]
        let own = "/tmp/gimbal-\(getuid())/gimbal.sock"
        #expect(candidates() == [own] + system)
        #expect(candidates(nil, ["GIMBAL_SOCKET": "", "XDG_RUNTIME_DIR": ""]) == [own] + system)
        #expect(
            candidates(nil, ["XDG_RUNTIME_DIR": "/run/user/7", "RUNTIME_DIRECTORY": "/run/gimbal:/run/x"])
                == ["/run/gimbal/gimbal.sock", "/run/user/7/gimbal.sock", own, "/run/gimbal/watch.sock"])
    }

    @Test func placesWhereNobodyListensArePassedOver() throws {
        let daemon = try DaemonProcess()
        let folder = URL(fileURLWithPath: daemon.socket).deletingLastPathComponent()
        // A socket without a listener, and a path through a file.
        let stale = folder.appendingPathComponent("stale.sock").path
        let listening = try ListeningSocket(path: stale, mode: 0o600)
        close(listening.descriptor)
        let paths = ["/nonexistent/gimbal.sock", stale, "/etc/passwd/gimbal.sock"]
        let connected = try UnixSocket.connect(toFirstOf: paths + [daemon.socket])
        close(connected.descriptor)
        #expect(connected.path == daemon.socket)
        let error = #expect(throws: NoConnection.self) { try UnixSocket.connect(toFirstOf: paths) }
        #expect(error?.attempts.map(\.path) == paths)
    }

    @Test func connectionsOfOneClientGoToOneDaemonAsLongAsItListens() throws {
        let later = try DaemonProcess()
        let folder = URL(fileURLWithPath: later.socket).deletingLastPathComponent()
        let first = folder.path + "/first.sock"
        let socket = DaemonSocket(candidates: [first, later.socket])
        #expect(socket.path == first)
        func path() throws -> String {
            let connected = try socket.connect()
            close(connected.descriptor)
            return connected.path
        }
        #expect(try path() == later.socket)
        // A daemon that starts at an earlier path is not this client's as long as the client's own is there.
        let other = try DaemonProcess(socket: first)
        #expect(try path() == later.socket)
        #expect(later.end(SIGTERM) == 0)
        // It may be restarting.
        for _ in 0..<5 { #expect(throws: NoConnection.self) { try path() } }
        #expect(try path() == first && socket.path == first)
        withExtendedLifetime(other) {}
    }
}
