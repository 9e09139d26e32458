// What the process before left, as far as it is understood. The rest is closed: an unknown descriptor must not keep a
// client waiting or a lock locked.

import Glibc
import Hub
import Service
import UnixSocket

struct Inheritance {
    /// `nil` if there was no process before, or its handover cannot be read.
    private(set) var handover: Handover?
    /// The memory of long histories from now on; `nil` if the system cannot share memory.
    private(set) var file: HandoverFile?

    init(_ manager: ServiceManager, _ log: Log) {
        let known = manager.descriptors
        let own = Handover.inherited(environment: SocketPath.environmentValue).flatMap { known.contains($0) ? nil : $0 }
        let stored = manager.stored.filter { $0.name == .state }.map(\.descriptor)
        do {
            try (own ?? stored.last).map { try adopt($0) }
        } catch {
            log(.warning, .clientsLost, "the state handed over by the previous process cannot be read: \(error)")
            (handover, file) = (nil, nil)
            if own != nil { Self.closeInherited() }
        }
        for descriptor in (own.map { [$0] } ?? []) + stored where descriptor != file?.descriptor {
            _ = close(descriptor)
        }
        let clients = manager.stored.filter { $0.name == .client }.map(\.descriptor)
        if handover == nil {
            for descriptor in clients { _ = close(descriptor) }
        } else if !manager.stored.isEmpty {
            handover?.renumber(clients)
        }
        for descriptor in handover?.descriptors ?? [] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        if file == nil { file = try? HandoverFile() }
    }

    /// Reads a handover file of the process before.
    private mutating func adopt(_ descriptor: CInt) throws {
        guard let (file, bytes) = HandoverFile.open(descriptor) else { throw StateDecoder.Damage() }
        self.file = file
        handover = try Handover(bytes)
    }

    /// Closes what the process before left open. What this process has opened, or knows already, has FD_CLOEXEC.
    private static func closeInherited() {
        var limit = rlimit()
        _ = unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let end = CInt(min(limit.rlim_cur, 1 << 20))
        for descriptor in (STDERR_FILENO + 1)..<end where fcntl(descriptor, F_GETFD) == 0 {
            _ = close(descriptor)
        }
    }
}
