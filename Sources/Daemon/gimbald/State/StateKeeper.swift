// Keeps the cameras in a file: when to save, how to treat the file found at the start, and how to report trouble. A
// disk may take seconds to flush, and flushing always blocks: so a thread of its own writes, one save at a time. It
// gets bytes and a descriptor, and shares nothing else with the loop. Only before the first turn, and where a restart in
// place has failed, does the loop itself write: no client is served while the file still says that its cameras are the last.

import Glibc
import Hub
import Libevent
import Service
import UnixSocket

@safe final class StateKeeper {
    /// What is being done.
    private enum Work {
        case none
        /// The text is being brought up to date, a slice in every turn.
        case collecting
        case saving(Saving)
    }

    private let path: String
    private let hub: Hub
    private let log: Log
    private var file: StateFile?
    /// Whether it is known what was there at the start. What is not, is not written over.
    private var hasRead = false

    // What is saved
    private var text = SavedText()
    private var work = Work.none
    /// The most cameras checked in a turn: half a millisecond if all have changed.
    private static let slice = 64
    /// When the first change came that is not saved.
    private var changedAt: Double?
    private var lastTry = -Double.infinity
    /// Milliseconds from one save to the next, at the least; also how long a moving camera is waited for to come to rest.
    private static let interval = 1000.0
    /// Whether the last attempt failed: then the log stays quiet until one succeeds.
    private var isFailing = false

    /// A pipe by which the thread tells that a save is over.
    private let pipe: (writable: CInt, readable: CInt)
    private var watcher: ClosureWatcher?

    /// The folder where no option names one: the service manager's.
    static func standardFolder(environment: (String) -> String?) -> String? {
        environment("STATE_DIRECTORY")?.split(separator: ":").first.map(String.init)
    }

    /// - Parameter path: the folder.
    init(_ path: String, of hub: Hub, _ loop: EventLoop, _ log: Log) throws {
        self.path = path
        self.hub = hub
        self.log = log
        var ends: [CInt] = [-1, -1]
        guard unsafe pipe2(&ends, O_CLOEXEC | O_NONBLOCK) == 0 else { throw SystemError("pipe2") }
        pipe = (ends[1], ends[0])
        hub.tracksChanges = true
        let watcher = ClosureWatcher(loop, pipe.readable) { [unowned self] in
            saveIsOver()
        }
        try watcher.wait(for: [.read, .persist])
        self.watcher = watcher
    }

    // MARK: At the start

    /// Gives the hub what was kept. No file that is found here keeps the daemon from starting.
    ///
    /// - Throws: `EADDRINUSE` if another daemon keeps its state there: one of the two would be lost.
    func restore(at now: Double) throws(SystemError) {
        do throws(SystemError) {
            let file = try openFile()
            if let bytes = try readable(file) {
                do {
                    restore(try SavedState(bytes), file, at: now)
                } catch {
                    try setAside(file, "\(error)")
                }
            }
            hasRead = true
        } catch {
            if error.code == EADDRINUSE { throw error }
            failed(error)
        }
    }

    /// Has the file say that its cameras are not the last, since they go on in this process.
    func resume() {
        hasRead = true
        // One that was given up is still writing; it is saved anew when that is over.
        if case .saving = work {
            (changedAt, text.hasChanged) = (-.infinity, true)
            return
        }
        do throws(SystemError) {
            collectAll()
            try openFile().write(text.cameras.bytes(isLast: false))
            text.hasChanged = false
        } catch {
            changedAt = -.infinity
            failed(error)
        }
    }

    private func readable(_ file: StateFile) throws(SystemError) -> [UInt8]? {
        do {
            return try file.read()
        } catch {
            try setAside(file, "\(error)")
            return nil
        }
    }

    private func setAside(_ file: StateFile, _ reason: String) throws(SystemError) {
        let name = try file.setAside()
        log(.warning, .stateSetAside, "the saved state cannot be taken and is now \(path)/\(name): \(reason)")
    }

    private func restore(_ saved: SavedState, _ file: StateFile, at now: Double) {
        var keepsEpochs = saved.isLast
        if saved.isLast {
            // From now on it is not the last any more, and if the daemon dies the file has to say so.
            var saved = saved
            saved.isLast = false
            do {
                try file.write(saved.bytes)
            } catch {
                keepsEpochs = false
                failed(error)
            }
        }
        let count = hub.restore(saved, keepsEpochs: keepsEpochs, at: now)
        let state =
            saved.isLast ? "as when the daemon ended" : "as last saved before the daemon died"
        log(
            saved.isLast ? .info : .warning, .stateRestored,
            "\(counted(count, "camera")) restored from \(path), \(state)")
        if count < saved.count {
            log(.warning, "\(counted(saved.count - count, "saved camera")) left out: beyond the limit")
        }
    }

    private func openFile() throws(SystemError) -> StateFile {
        if let file { return file }
        let opened = try StateFile(folder: path)
        file = opened
        return opened
    }

    private func closeFile() {
        // A save that was given up is still at it: the thread's descriptor must not become another file's.
        if case .saving = work { return }
        file?.close()
        file = nil
    }

    /// The file to write to. What was there at the start and could not be read then is kept for the administrator to look at.
    private func openFileToWrite() throws(SystemError) -> StateFile {
        let file = try openFile()
        if !hasRead, try readable(file) != nil { try setAside(file, "it could not be read when the daemon started") }
        hasRead = true
        return file
    }

    // MARK: In every turn

    /// When there is something to do, in milliseconds of the loop's clock; `nil` if nothing is.
    var due: Double? {
        switch work {
        case .collecting: return -.infinity
        case .saving: return nil
        case .none:
            guard let changedAt else { return nil }
            return max(lastTry + Self.interval, hub.isAtRest ? changedAt : changedAt + Self.interval)
        }
    }

    /// Notes what has changed, and begins to save when it is time.
    func turn(at now: Double) {
        if case .saving(let saving) = work, saving.isOver { finish(saving) }
        if changedAt == nil, hub.hasUnsaved { changedAt = now }
        guard let due, due <= now else { return }
        if case .none = work {
            (lastTry, changedAt) = (now, nil)
            hub.beginSaving(&text)
            work = .collecting
        }
        guard hub.continueSaving(&text, atMost: Self.slice) else { return }
        work = .none
        guard text.hasChanged else { return }
        do throws(SystemError) {
            work = .saving(try Saving(text.cameras, isLast: false, in: try openFileToWrite(), pipe: pipe.writable))
            text.hasChanged = false
        } catch {
            changedAt = now
            failed(error)
        }
    }

    /// Brings the whole text up to date, with what has changed since a slice of it was.
    private func collectAll() {
        hub.beginSaving(&text)
        _ = hub.continueSaving(&text, atMost: .max)
    }

    private func finish(_ saving: Saving) {
        work = .none
        if let error = saving.wait() {
            text.hasChanged = true
            changedAt = changedAt ?? lastTry
            failed(error)
        } else {
            succeeded()
        }
    }

    /// Takes note that the writer is through.
    private func saveIsOver() {
        var byte: UInt8 = 0
        guard unsafe read(pipe.readable, &byte, 1) == 1, case .saving(let saving) = work else { return }
        saving.isOver = true
    }

    private func succeeded() {
        if isFailing { log(.info, .stateSavedAgain, "the state is saved again") }
        isFailing = false
    }

    private func failed(_ error: SystemError) {
        closeFile()  // The folder may be another by the next attempt.
        if isFailing {
            log(.debug, .stateNotSaved, "saving the state failed again: \(error)")
        } else {
            log(.warning, .stateNotSaved, "the state cannot be saved, and is tried again: \(error)")
        }
        isFailing = true
    }

    // MARK: At the end

    /// What the cameras have come to in the end is not saved.
    struct Loss: Error, CustomStringConvertible {
        let description: String
    }

    /// How long a disk is waited for in the end, in seconds.
    private static let longestLastSave = 60

    /// Saves what the cameras have come to in the end, and waits for it.
    ///
    /// - Parameter extendTimeout: is called every second as long as that takes.
    func saveLast(extendTimeout: () -> Void) throws(Loss) {
        do throws(SystemError) {
            extendTimeout()
            if case .saving(let saving) = work { try waitFor(saving, extendTimeout) }
            collectAll()
            let last = try Saving(text.cameras, isLast: true, in: try openFileToWrite(), pipe: pipe.writable)
            work = .saving(last)
            try waitFor(last, extendTimeout)
            succeeded()
        } catch {
            closeFile()
            throw Loss(description: "the state is lost, it cannot be saved in \(path): \(error)")
        }
    }

    /// Waits for a save. What a disk does not take in a minute is given up.
    private func waitFor(_ saving: Saving, _ extendTimeout: () -> Void) throws(SystemError) {
        for _ in 0..<Self.longestLastSave where !saving.isOver {
            var end = pollfd(fd: pipe.readable, events: CShort(POLLIN), revents: 0)
            if unsafe poll(&end, 1, 1000) > 0 { saveIsOver() } else { extendTimeout() }
        }
        guard saving.isOver else { throw SystemError("write", code: ETIMEDOUT) }
        work = .none
        if let error = saving.wait() { throw error }
    }
}

/// One save on its way to the disk.
private final class Saving {
    private let cameras: SavedText.Cameras
    private let isLast: Bool
    private let file: StateFile
    private let pipe: CInt
    /// Whether the loop has read from the pipe that it is over. The loop's, not the thread's.
    var isOver = false
    /// The thread's until it has been joined.
    private var error: SystemError?
    private var thread = pthread_t()

    init(_ cameras: SavedText.Cameras, isLast: Bool, in file: StateFile, pipe: CInt) throws(SystemError) {
        (self.cameras, self.isLast) = (cameras, isLast)
        self.file = file
        self.pipe = pipe
        // Sound: the thread has a reference of its own, and lets go of it when it is through.
        let this = unsafe Unmanaged.passRetained(self)
        // No signal is this thread's: while the process restarts those that it waits for have to stay pending, or the next
        // process never hears of them.
        var (all, before) = (sigset_t(), sigset_t())
        _ = unsafe sigfillset(&all)
        _ = unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
        let code = unsafe pthread_create(
            &thread, nil,
            { context in
                guard let context = unsafe context else { return nil }
                unsafe Unmanaged<Saving>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, this.toOpaque())
        _ = unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
        guard code == 0 else {
            unsafe this.release()
            throw SystemError("pthread_create", code: code)
        }
    }

    /// The thread's work.
    private func run() {
        do throws(SystemError) { try file.write(cameras.bytes(isLast: isLast)) } catch { self.error = error }
        var byte: UInt8 = 0
        _ = unsafe write(pipe, &byte, 1)
    }

    /// Waits until the thread is through; says what went wrong.
    func wait() -> SystemError? {
        _ = pthread_join(thread, nil)
        return error
    }
}
