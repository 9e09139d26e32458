// A connection to the daemon in the program's loop: node and mirrors get lines in its turns, where the client library's
// connection wakes tasks. Both are built on the library's `LineSocket`. Rule of the loop: nothing is freed inside a
// callback, so closed connections are released between turns.

import GimbalClient
import Glibc
import Libevent
import MQTTBridge
import UnixSocket

final class SocketConnection: Watcher, DaemonConnection {
    private static let piece = 64 << 10

    private var socket: LineSocket
    private weak var reader: (any DaemonReader)?
    private let program: Program
    private var isClosed = false
    private var isDelivering = false

    init(_ loop: EventLoop, _ daemon: DaemonSocket, _ reader: any DaemonReader, _ program: Program) throws {
        socket = LineSocket(try daemon.connect().descriptor)
        self.reader = reader
        self.program = program
        super.init(loop, socket.descriptor)
        watch()
    }

    var isReading = true {
        didSet {
            guard isReading != oldValue, !isClosed else { return }
            watch()
            // Lines read before are delivered in the next turn.
            if isReading, !isDelivering { program.later(self) }
        }
    }

    var unsentBytes: Int { socket.unsent }

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
            socket.send()
            watch()
        }
        if what.contains(.read) { receive() }
    }

    private func receive() {
        guard !isClosed, isReading else { return }
        switch socket.receive(upTo: Self.piece) {
        case .bytes: deliver()
        case .nothing: break
        case .end(let error):
            deliver()
            if !isClosed { end(error.map { "\($0)" } ?? "the daemon ended the connection") }
        }
    }

    /// Delivers the complete lines.
    func deliver() {
        isDelivering = true
        defer { isDelivering = false }
        while isReading, !isClosed {
            do {
                guard let line = try socket.nextLine() else { return }
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
        socket.queue(bytes)
        if !wasWaiting { socket.send() }
        if unsentBytes > 0, !wasWaiting { watch() }
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        stop()
        _ = Glibc.close(socket.descriptor)
        program.retire(self)
    }
}
