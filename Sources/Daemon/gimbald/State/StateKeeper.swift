// Keeps the cameras in a file: when to save, how to treat the file found at the start, and how to report trouble.
// Flushing always blocks, and may take a disk seconds, so a separate thread writes, one save at a time. It gets bytes
// and a descriptor, and shares nothing else with the loop. The loop itself writes only before the first turn and after
// a failed restart in place: clients are not served while the file still says that its cameras are the last.

import Glibc
import Hub
import Libevent
import Service
import UnixSocket

@safe final class StateKeeper {
    /// The current activity.
    private enum Work {
        case none
        /// The text is being brought up to date, a slice per turn.
        case collecting
        case saving(Saving)
    }

    private let path: String
    private let hub: Hub
    private let log: Log
    private var file: StateFile?
    /// Whether the file found at the start has been handled. Until then it must not be overwritten.
    private var hasRead = false

    // What is saved
    private let text = SavedText()
    private var work = Work.none
    /// The most cameras checked in a turn: half a millisecond if all have changed.
    private static let slice = 64
    /// When the first unsaved change came.
    private var changedAt: Double?
    private var lastTry = -Double.infinity
    /// The least milliseconds between two saves; also how long to wait for a moving camera to come to rest.
    private static let interval = 1000.0
    /// Whether the last attempt failed: then the log stays quiet until one succeeds.
    private var isFailing = false

    /// A pipe by which the thread reports the end of a save.
    private let pipe: (writable: CInt, readable: CInt)
    private var watcher: ClosureWatcher?

    /// Returns the folder to use if no option names one: the service manager's.
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
        hub.savedText = text
        let watcher = ClosureWatcher(loop, pipe.readable) { [unowned self] in
            saveIsOver()
        }
        try watcher.wait(for: [.read, .persist])
        self.watcher = watcher
    }

    // MARK: Start

    /// Restores the saved cameras to the hub. Whatever is wrong with the file, the daemon starts.
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

    /// Rewrites the file to say that its cameras are not the last, since they continue in this process.
    func resume() {
        hasRead = true
        // A save that was given up is still writing; the state is saved again after it.
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
        log(.warning, .stateSetAside, "the saved state cannot be used and was renamed to \(path)/\(name): \(reason)")
    }

    private func restore(_ saved: SavedState, _ file: StateFile, at now: Double) {
        var keepsEpochs = saved.isLast
        if saved.isLast {
            // From now on the saved state is not the last, and the file has to say so in case the daemon dies.
            var saved = saved
            saved.isLast = false
            do {
                try file.write(saved.bytes)
            } catch {
                keepsEpochs = false
                failed(error)
            }
        }
        hub.restore(saved, keepsEpochs: keepsEpochs, at: now)
        let state =
            saved.isLast ? "as they were when the daemon ended" : "as last saved before the daemon died"
        log(
            saved.isLast ? .info : .warning, .stateRestored,
            "\(counted(saved.count, "camera")) restored from \(path), \(state)")
    }

    /// Returns the file, whose folder stays locked. After a failure, the path may lead to another folder.
    private func openFile() throws(SystemError) -> StateFile {
        if let file, !isFailing || file.isAt(path) { return file }
        file?.close()
        file = nil
        let opened = try StateFile(folder: path)
        file = opened
        return opened
    }

    /// Returns the file to write to. A file that could not be read at the start is kept for the administrator.
    private func openFileToWrite() throws(SystemError) -> StateFile {
        let file = try openFile()
        if !hasRead, try readable(file) != nil { try setAside(file, "it could not be read when the daemon started") }
        hasRead = true
        return file
    }

    // MARK: Turns

    /// When there is something to do, in milliseconds of the loop's clock; `nil` if there is nothing.
    var due: Double? {
        switch work {
        case .collecting: return -.infinity
        case .saving: return nil
        case .none:
            guard let changedAt else { return nil }
            return max(lastTry + Self.interval, hub.isMoving ? changedAt + Self.interval : changedAt)
        }
    }

    /// Notes changes, and begins to save when it is time.
    func turn(at now: Double) {
        if case .saving(let saving) = work, saving.isOver { finish(saving) }
        if changedAt == nil, text.hasUnsaved { changedAt = now }
        guard let due, due <= now else { return }
        if case .none = work {
            (lastTry, changedAt) = (now, nil)
            text.begin()
            work = .collecting
        }
        guard hub.continueSaving(atMost: Self.slice) else { return }
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

    /// Brings the whole text up to date, including changes since its slices were collected.
    private func collectAll() {
        text.begin()
        _ = hub.continueSaving(atMost: .max)
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

    /// Notes that the writer has finished.
    private func saveIsOver() {
        var byte: UInt8 = 0
        guard unsafe read(pipe.readable, &byte, 1) == 1, case .saving(let saving) = work else { return }
        saving.isOver = true
    }

    private func succeeded() {
        if isFailing { log(.info, .stateSavedAgain, "the state is being saved again") }
        isFailing = false
    }

    private func failed(_ error: SystemError) {
        if isFailing {
            log(.debug, .stateNotSaved, "saving the state failed again: \(error)")
        } else {
            log(.warning, .stateNotSaved, "the state cannot be saved; trying again: \(error)")
        }
        isFailing = true
    }

    // MARK: End

    /// The final state of the cameras was not saved.
    struct Loss: Error, CustomStringConvertible {
        let description: String
    }

    /// How long to wait for the disk at the end, in seconds.
    private static let longestLastSave = 60

    /// Saves the final state of the cameras, and waits for that.
    ///
    /// - Parameter extendTimeout: called every second while waiting.
    func saveLast(extendTimeout: () -> Void) throws(Loss) {
        do throws(SystemError) {
            extendTimeout()
            if case .saving(let saving) = work { _ = try waitFor(saving, extendTimeout) }
            collectAll()
            let last = try Saving(text.cameras, isLast: true, in: try openFileToWrite(), pipe: pipe.writable)
            work = .saving(last)
            if let error = try waitFor(last, extendTimeout) { throw error }
            succeeded()
        } catch {
            throw Loss(description: "the state is lost: it cannot be saved in \(path): \(error)")
        }
    }

    /// Waits for a save, and returns its error; throws after a minute.
    private func waitFor(_ saving: Saving, _ extendTimeout: () -> Void) throws(SystemError) -> SystemError? {
        for _ in 0..<Self.longestLastSave where !saving.isOver {
            var end = pollfd(fd: pipe.readable, events: CShort(POLLIN), revents: 0)
            if unsafe poll(&end, 1, 1000) > 0 { saveIsOver() } else { extendTimeout() }
        }
        guard saving.isOver else { throw SystemError("write", code: ETIMEDOUT) }
        work = .none
        return saving.wait()
    }
}

/// One save on its way to the disk.
private final class Saving {
    private let cameras: SavedText.Cameras
    private let isLast: Bool
    private let file: StateFile
    private let pipe: CInt
    /// Whether the loop has read from the pipe that the save is over. Used by the loop only.
    var isOver = false
    /// The error; the thread's until it has been joined.
    private var error: SystemError?
    private var thread = pthread_t()

    init(_ cameras: SavedText.Cameras, isLast: Bool, in file: StateFile, pipe: CInt) throws(SystemError) {
        (self.cameras, self.isLast) = (cameras, isLast)
        self.file = file
        self.pipe = pipe
        // Sound: the thread has its own reference, and releases it when it has finished.
        let this = unsafe Unmanaged.passRetained(self)
        // This thread takes no signals: during a restart, the signals that the process waits for must stay pending, or
        // the next process would never get them.
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

    /// Runs on the thread.
    private func run() {
        do throws(SystemError) { try file.write(cameras.bytes(isLast: isLast)) } catch { self.error = error }
        var byte: UInt8 = 0
        _ = unsafe write(pipe, &byte, 1)
    }

    /// Waits until the thread has finished; returns its error.
    func wait() -> SystemError? {
        _ = pthread_join(thread, nil)
        return error
    }
}
