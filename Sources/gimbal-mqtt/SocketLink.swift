// A connection to the daemon in the program's loop. Rule of the loop: nothing is freed inside a callback, so what was closed
// is let go of between turns.

import GimbalClient
import Glibc
import Libevent
import MQTTBridge
import UnixSocket

final class SocketLink: Watcher, DaemonLink {
    private static let piece = 64 << 10

    private let descriptor: CInt
    private weak var reader: (any LinkReader)?
    private let program: Program
    private var incoming = LineBuffer()
    private var outgoing: [UInt8] = []
    private var sent = 0
    private var isClosed = false
    private var isDelivering = false

    init(_ loop: EventLoop, path: String, _ reader: any LinkReader, _ program: Program) throws {
        descriptor = try UnixSocket.connect(path, flags: CInt(SOCK_NONBLOCK.rawValue))
        self.reader = reader
        self.program = program
        super.init(loop, descriptor)
        watch()
    }

    var isReading = true {
        didSet {
            guard isReading != oldValue, !isClosed else { return }
            watch()
            // Lines that had been read before are delivered in the next turn.
            if isReading, !isDelivering { program.later(self) }
        }
    }

    var unsentBytes: Int { outgoing.count - sent }

    private func watch() {
        guard !isClosed else { return }
        var what: Readiness = isReading ? .read : []
        if unsentBytes > 0 { what.insert(.write) }
        if what.isEmpty { return stop() }
        do {
            try wait(for: what.union(.persist))
        } catch {
            program.fail("\(error)")
        }
    }

    override func ready(_ what: Readiness) {
        if what.contains(.write) {
            flush()
            watch()
        }
        if what.contains(.read) { receive() }
    }

    private func receive() {
        guard !isClosed, isReading else { return }
        let count = unsafe incoming.append(upTo: Self.piece) { [descriptor] room in
            unsafe recv(descriptor, room.baseAddress, room.count, 0)
        }
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        let reason = count < 0 ? unsafe String(cString: strerror(errno)) : "it has ended the connection"
        deliver()
        if count <= 0, !isClosed { end(reason) }
    }

    /// Gives out the lines that are there whole.
    func deliver() {
        isDelivering = true
        defer { isDelivering = false }
        while isReading, !isClosed {
            do {
                guard let line = try incoming.next() else { return }
                reader?.received(line, at: program.now)
            } catch {
                return end("\(error)")
            }
        }
    }

    private func end(_ reason: String) {
        close()
        reader?.ended(reason, at: program.now)
    }

    func send(_ bytes: [UInt8]) {
        guard !isClosed else { return }
        let wasWaiting = unsentBytes > 0
        outgoing += bytes
        if !wasWaiting { flush() }
        if unsentBytes > 0, !wasWaiting { watch() }
    }

    private func flush() {
        while unsentBytes > 0 {
            let count = unsafe outgoing.withUnsafeBytes { all in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: all[sent...])
                return unsafe Glibc.send(descriptor, rest.baseAddress, rest.count, CInt(MSG_NOSIGNAL))
            }
            if count >= 0 {
                sent += count
            } else if errno == EAGAIN {
                return
            } else if errno != EINTR {
                // That the daemon is gone shows in reading.
                break
            }
        }
        outgoing.removeAll(keepingCapacity: true)
        sent = 0
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        stop()
        _ = Glibc.close(descriptor)
        program.bury(self)
    }
}
