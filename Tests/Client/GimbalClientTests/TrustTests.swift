// Which daemon a client trusts to be its user's. Below /tmp any user may make a folder of any name.

import Foundation
import TestSupport
import Testing

@testable import GimbalClient
@testable import UnixSocket

@Suite struct TrustTests {
    private static let setpriv = URL(fileURLWithPath: "/usr/bin/setpriv")

    /// Two unassigned user IDs.
    private static let (user, other): (uid_t, uid_t) = (54_323, 54_324)

    private func folder(_ mode: mode_t) -> Folder {
        let folder = Folder()
        #expect(chmod(folder.path, mode) == 0)
        return folder
    }

    private func refusal(_ folder: String) -> SystemError? {
        do {
            try System.checkIsPrivate(folder)
            return nil
        } catch {
            return error
        }
    }

    @Test func aFolderOfOnesOwnIsTrusted() throws {
        let own = folder(0o700)
        #expect(refusal(own.path) == nil)
        #expect(refusal(own.path + "/nothing")?.code == ENOENT)
    }

    @Test(arguments: [0o755, 0o770, 0o707, 0o1777] as [mode_t])
    func aFolderThatOthersMayEnterIsRefused(_ mode: mode_t) throws {
        let open = folder(mode)
        #expect(refusal(open.path)?.code == EPERM)
        #expect(refusal(open.path)?.description.contains("0700") == true)
    }

    @Test func aLinkToAFolderOfOnesOwnIsRefused() throws {
        let own = folder(0o700)
        #expect(symlink(own.path, own.path + ".link") == 0)
        defer { unlink(own.path + ".link") }
        #expect(refusal(own.path + ".link")?.code == EPERM)
    }

    @Test(.needsRoot, .needs("setpriv")) func aFolderOfAnotherUserIsRefused() throws {
        let foreign = folder(0o700)
        #expect(chown(foreign.path, Self.other, Self.other) == 0)
        #expect(refusal(foreign.path)?.code == EPERM)
        #expect(refusal(foreign.path)?.description.contains("\(Self.other)") == true)
    }

    @Test(.needsRoot, .needs("setpriv")) func theCommandLineDoesNotSpeakToADaemonOfAnotherUser() throws {
        // The program is in a folder where that user may run it.
        let place = folder(0o755)
        let program = place.path("gimbal")
        // By a separate process: another test's child could inherit a descriptor that writes here, and a file that is
        // open for writing cannot be run.
        #expect(
            try DaemonProcess.run(URL(fileURLWithPath: "/bin/cp"), [DaemonProcess.gimbal.path, program]).status == 0)
        let trap = "/tmp/gimbal-\(Self.user)"
        #expect(mkdir(trap, 0o755) == 0)
        defer { try? FileManager.default.removeItem(atPath: trap) }
        let daemon = try DaemonProcess(["--socket-group", "\(Self.user)"], socket: trap + "/gimbal.sock")
        func get() throws -> (status: CInt, output: String, errors: String) {
            try DaemonProcess.run(
                Self.setpriv,
                ["--reuid", "\(Self.user)", "--regid", "\(Self.user)", "--clear-groups", program, "get", "--json"],
                environment: ["GIMBAL_SOCKET": "", "XDG_RUNTIME_DIR": "", "RUNTIME_DIRECTORY": ""])
        }
        for (owner, mode) in [(0, 0o755), (Self.other, 0o755), (Self.user, 0o777)] as [(uid_t, mode_t)] {
            #expect(chown(trap, owner, owner) == 0 && chmod(trap, mode) == 0)
            let refused = try get()
            #expect(refused.status == 77 && refused.output == "", "\(refused)")
            #expect(refused.errors.contains(trap))
        }
        // In the user's own folder it is the user's own daemon.
        #expect(chown(trap, Self.user, Self.user) == 0 && chmod(trap, 0o700) == 0)
        #expect(try get().status == 0)
        #expect(daemon.end(SIGTERM) == 0)
    }
}
