// Whether the daemon can be reached, as a program can follow it, and how many threads that takes.

import Foundation
import TestSupport
import Testing
import UnixSocket

@testable import GimbalClient

@Suite struct ConnectionStateTests {
    private let hasty = Reconnection(firstDelay: .milliseconds(1), longestDelay: .milliseconds(5))

    @Test func anOutageIsToldOnceAndThatItIsOver() async throws {
        let daemon = try DaemonProcess()
        let gimbal = Gimbal(path: daemon.socket)
        var states = gimbal.connectionStates.makeAsyncIterator()
        #expect(await states.next() == .idle)
        try await gimbal.ping()
        #expect(await states.next() == .connected)
        #expect(gimbal.connectionState == .connected)
        // Each reconnects by itself, and reports it.
        let (subscribed, subscribe) = AsyncStream.makeStream(of: Void.self)
        let loops = (0..<3).map { number in
            Task {
                var subscriptions = 0
                for try await event in gimbal.camera("c\(number)").events(reconnecting: hasty) {
                    if case .subscribed = event { subscriptions += 1 }
                    subscribe.yield()
                    if subscriptions == 2 { return }
                }
            }
        }
        var subscriptions = subscribed.makeAsyncIterator()
        for _ in loops { await subscriptions.next() }
        #expect(daemon.end(SIGKILL) == -SIGKILL)
        guard case .lost(.ended)? = await states.next() else { return #expect(Bool(false)) }
        let next = try DaemonProcess(socket: daemon.socket)
        #expect(await states.next() == .connected)
        for loop in loops { try await loop.value }
        #expect(next.end(SIGTERM) == 0)
    }

    @Test func aRequestFindsOutThatTheDaemonIsBack() async throws {
        let daemon = try DaemonProcess()
        let gimbal = Gimbal(path: daemon.socket)
        try await gimbal.ping()
        var states = gimbal.connectionStates.makeAsyncIterator()
        #expect(await states.next() == .connected)
        #expect(daemon.end(SIGTERM) == 0)
        guard case .lost? = await states.next() else { return #expect(Bool(false)) }
        let next = try DaemonProcess(socket: daemon.socket)
        // The end of the previous connection may not have reached the callers yet.
        while (try? await gimbal.ping()) == nil { await Task.yield() }
        #expect(await states.next() == .connected)
        #expect(next.end(SIGTERM) == 0)
    }

    @Test func whereThereIsNoDaemonItIsLost() async throws {
        let gimbal = Gimbal(path: "/nonexistent/gimbal.sock")
        #expect(gimbal.connectionState == .idle)
        await #expect(throws: GimbalConnectionError.self) { try await gimbal.ping() }
        guard case .lost(.unreachable("/nonexistent/gimbal.sock", _)) = gimbal.connectionState else {
            return #expect(Bool(false))
        }
    }

    @Test func whatThisSideEndsIsNotLost() async throws {
        let daemon = try DaemonProcess()
        let gimbal = Gimbal(path: daemon.socket)
        try await gimbal.ping()
        var loop: CameraEvents.AsyncIterator? = gimbal.camera().events().makeAsyncIterator()
        _ = try await loop?.next()
        gimbal.close()
        #expect(gimbal.connectionState == .connected)
        loop = nil
        #expect(gimbal.connectionState == .idle)
    }

    @Test func theStatesEndWithTheGimbal() async throws {
        var gimbal: Gimbal? = Gimbal(path: "/nonexistent/gimbal.sock")
        let states = try #require(gimbal?.connectionStates)
        gimbal = nil
        var told: [Gimbal.ConnectionState] = []
        for await state in states { told.append(state) }
        #expect(told == [.idle])
    }

    // MARK: What counts as news

    @Test func whatAnOldConnectionTellsIsNoNews() {
        let monitor = ConnectionMonitor()
        let (first, second, third) = (monitor.begin(), monitor.begin(), monitor.begin())
        for id in [first, second] { monitor.answered(id) }
        monitor.lost(second, .ended)
        let new = monitor.begin()
        monitor.answered(new)
        // These had not been read since.
        for id in [first, third] { monitor.lost(id, .ended) }
        #expect(monitor.state == .connected)
        monitor.lost(new, .ended)
        #expect(monitor.state == .lost(.ended))
        // A failed attempt is no news.
        monitor.lost(monitor.begin(), .lineTooLong)
        #expect(monitor.state == .lost(.ended))
    }

    @Test func anAttemptBeforeTheOneThatAnsweredIsOld() {
        let monitor = ConnectionMonitor()
        let (slow, quick) = (monitor.begin(), monitor.begin())
        monitor.answered(quick)
        monitor.lost(slow, .ended)
        #expect(monitor.state == .connected)
    }

    @Test func anAnswerThatIsReadAfterTheConnectionWasClosedIsOld() throws {
        let daemon = try DaemonProcess()
        let monitor = ConnectionMonitor()
        let connection = try LineConnection(DaemonSocket(candidates: [daemon.socket]), monitor: monitor)
        connection.close()
        connection.noteAnswer()
        #expect(monitor.state == .idle)
    }

    @Test func aSlowFollowerGetsTheNewest() async {
        let monitor = ConnectionMonitor()
        let states = monitor.states
        for _ in 0..<100 {
            let id = monitor.begin()
            monitor.answered(id)
            monitor.lost(id, .ended)
        }
        var follower = states.makeAsyncIterator()
        for number in 0..<16 { #expect(await follower.next() == (number % 2 == 0 ? .connected : .lost(.ended))) }
        monitor.answered(monitor.begin())
        #expect(await follower.next() == .connected)
    }

    // MARK: Threads

    @Test func aLoopThatDoesNotReadDelaysNoOther() async throws {
        let daemon = try DaemonProcess()
        let gimbal = Gimbal(path: daemon.socket)
        var (idle, busy) = (gimbal.camera().events().makeAsyncIterator(), gimbal.camera().events().makeAsyncIterator())
        _ = try await idle.next()
        _ = try await busy.next()
        // Three events each.
        for bearing in 1...300 { try await gimbal.camera().move(.setBearing(Double(bearing))) }
        for seq in 1...900 { #expect(try await busy.next()?.seq == seq) }
        // They have waited in the meantime.
        for seq in 1...900 { #expect(try await idle.next()?.seq == seq) }
    }

    @Test func fiveHundredSequencesTakeAHandfulOfThreads() async {
        // In a separate process, where no other test has threads.
        await #expect(processExitsWith: .success) {
            func threads() throws -> Int {
                let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
                let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("Threads:") })
                return try #require(Int(line.split(whereSeparator: \.isWhitespace)[1]))
            }
            let (count, cameras) = (500, 100)
            let daemon = try DaemonProcess()
            let gimbal = Gimbal(path: daemon.socket)
            var most = 0
            let (subscribed, subscribe) = AsyncStream.makeStream(of: Void.self)
            try await withThrowingTaskGroup { group in
                for number in 0..<count {
                    group.addTask {
                        for try await event in gimbal.camera("c\(number % cameras)").events() {
                            if case .subscribed = event { subscribe.yield() }
                            if event.seq == 24 { return }
                        }
                    }
                }
                var subscriptions = subscribed.makeAsyncIterator()
                for _ in 0..<count { await subscriptions.next() }
                // All wake at once, repeatedly.
                for bearing in 1...8 {
                    for camera in 0..<cameras {
                        try await gimbal.camera("c\(camera)").move(.setBearing(Double(bearing)))
                    }
                    most = max(most, try threads())
                }
                try await group.waitForAll()
            }
            most = max(most, try threads())
            print("\(most) threads for \(count) sequences")
            #expect(most <= ProcessInfo.processInfo.activeProcessorCount + 8)
        }
    }
}
