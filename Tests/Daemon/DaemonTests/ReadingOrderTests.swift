// Which client the daemon reads first: one that sent much at its last read waits until the others have been read.

import Foundation
import TestSupport
import Testing

@Suite struct ReadingOrderTests {
    /// Stops a process and waits until it has stopped.
    private func stop(_ pid: pid_t) {
        kill(pid, SIGSTOP)
        var info = siginfo_t()
        #expect(waitid(P_PID, id_t(pid), &info, WSTOPPED | WNOWAIT) == 0)
    }

    /// Returns a ping of this many bytes, including the LF.
    private func ping(_ count: Int) -> [UInt8] {
        let (start, end) = (#"{"type":"ping","id":1,"x":""#, "\"}\n")
        return Array((start + String(repeating: "x", count: count - start.utf8.count - end.utf8.count) + end).utf8)
    }

    @Test func whoSendsLittleIsReadBeforeWhoSentMuch() throws {
        let daemon = try DaemonProcess()
        let pid = daemon.process.processIdentifier
        let (reader, flood) = (try SocketClient(daemon.socket), try SocketClient(daemon.socket))
        let others = try (0..<5).map { _ in try SocketClient(daemon.socket) }
        try reader.send(#"{"type":"subscribe","events":["camera-changed"]}"#)
        #expect(reader.receive()?.contains("subscribed") == true)
        for round in 1...3 {
            // All of it is there when the daemon reads, so that the amount read is always the same.
            stop(pid)
            try flood.send(ping(8192))
            kill(pid, SIGCONT)
            #expect(flood.receive()?.contains("pong") == true)
            // A turn with little work: no client is in debt any more.
            try others[0].send(ping(64))
            #expect(others[0].receive()?.contains("pong") == true)
            stop(pid)
            try flood.send(#"{"type":"move","update":{"kind":"zoom-to","zoom":\#(15 + round)}}"#)
            for (index, other) in others.enumerated() {
                try other.send(#"{"type":"move","update":{"kind":"zoom-to","zoom":\#(2 + 2 * index + round % 2)}}"#)
            }
            kill(pid, SIGCONT)
            for _ in others { #expect(reader.receive()?.contains(#""zoom":\#(15 + round),"#) == false) }
            #expect(reader.receive()?.contains(#""zoom":\#(15 + round),"#) == true)
        }
    }
}
