// A daemon's socket file and its lock.

import Glibc
import Service
import TestSupport
import Testing

@Suite struct ListeningSocketTests {
    @Test func aSocketThatAnotherDaemonHasReplacedStaysWhenTheFirstEnds() throws {
        let folder = Folder()
        let path = folder.path("gimbal.sock")
        let first = try ListeningSocket(path: path, mode: 0o600)
        for name in [path, path + ".lock"] { #expect(unlink(name) == 0) }
        let second = try ListeningSocket(path: path, mode: 0o600)
        first.remove()
        #expect(folder.names.sorted() == ["gimbal.sock", "gimbal.sock.lock"])
        second.remove()
        #expect(folder.names == [])
        for socket in [first, second] { close(socket.descriptor) }
    }
}
