import Foundation
import Glibc
import Libevent
import Testing

@Suite struct EventLoopTests {
    /// A callback that does not read its input is called again in the next turn, not endlessly in the same one.
    @Test(arguments: [true, false]) func aTurnEndsThoughWhatHasComeIsNotRead(waits: Bool) throws {
        let loop = try EventLoop()
        var ends: [CInt] = [-1, -1]
        #expect(unsafe pipe(&ends) == 0 && write(ends[1], "x", 1) == 1)
        defer { for end in ends { close(end) } }
        var calls = 0
        let watcher = ClosureWatcher(loop, ends[0]) {
            calls += 1
            var byte: UInt8 = 0
            if calls == 10 { _ = unsafe read(ends[0], &byte, 1) }
        }
        try watcher.wait(for: [.read, .persist])
        defer { watcher.stop() }
        for turn in 1...3 {
            try loop.turn(waits: waits)
            #expect(calls == turn)
        }
    }

    @Test func aTurnThatDoesNotWaitEndsWhereNothingHasCome() throws {
        let loop = try EventLoop()
        let watcher = ClosureWatcher(loop) { Issue.record("it came") }
        try watcher.wait(for: .timeout, milliseconds: 3_600_000)
        try loop.turn(waits: false)
        watcher.stop()
    }

    /// Without the kernel's timer, libevent rounds each wait up to a millisecond.
    @Test func aLoopHasATimerOfTheKernel() throws {
        func timers() throws -> Int {
            let (files, folder) = (FileManager.default, "/proc/self/fd/")
            return try files.contentsOfDirectory(atPath: folder).count {
                (try? files.destinationOfSymbolicLink(atPath: folder + $0)) == "anon_inode:[timerfd]"
            }
        }
        let before = try timers()
        let loops = try (0..<16).map { _ in try EventLoop() }
        // Some of those before may belong to loops that other tests have ended.
        #expect(try timers() >= before + 8)
        withExtendedLifetime(loops) {}
    }
}
