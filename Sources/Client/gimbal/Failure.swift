// Failures and their exit statuses. The numbers are those of sysexits.h, and part of the interface.

import ArgumentParser
import CameraStreams
import GimbalProtocol
import TouchTraces
import Tours
import Traces

/// The exit status of the process.
enum ExitStatus: CInt {
    case rejected = 1
    case usage = 64
    case dataError = 65
    case noInput = 66
    case unavailable = 69
    case cannotCreate = 73
    case ioError = 74
    case busy = 75
    case noPermission = 77

    /// The table of statuses in the help.
    static let help = """
          0    everything was accepted
          1    the daemon rejected a line, the camera does not exist, or what was compared differs
          64   wrong usage
          65   not a trace, or the daemon refused its header
          66   a file cannot be read
          69   there is no daemon, it went away, or it does not answer in time; another client ended the replay; the \
        camera that is watched or recorded was removed; or a program cannot be started
          73   the output file exists; see --force
          74   the output cannot be written
          75   the camera is busy (playing another trace, leased to another client, still moving), or what the command \
        does or waits for takes longer than --timeout
          77   no permission to use the socket
        """
}

/// An error that ends the program with one line on standard error.
struct Failure: Error {
    let status: ExitStatus
    let message: PrintableText

    init(_ status: ExitStatus, _ message: PrintableText) {
        self.status = status
        self.message = message
    }

    /// The failure for an error that the daemon reported.
    init(_ error: GimbalError) {
        let status: ExitStatus =
            switch error.code {
            case _ where error.isOfConnection: .unavailable
            case .removed: .unavailable
            case .busy, .leased, .timeout: .busy
            default: .rejected
            }
        self.init(status, "\(error)")
    }

    static let daemonWentAway = Failure(.unavailable, "the daemon ended the connection")
}

/// Runs `body`, which reads the contents of a file.
///
/// - Throws: what `body` throws, with errors in the file turned into a `Failure` that names it.
func about<Value>(_ file: String, _ body: () throws -> Value) throws -> Value {
    do {
        return try body()
    } catch let error as TraceError {
        throw Failure(.dataError, "\(file) \(error)")
    } catch let error as RecordingError {
        throw Failure(.dataError, "\(file): \(error)")
    } catch let error as StreamError {
        throw Failure(.dataError, "\(file):\(error)")
    } catch let error as StatementError {
        throw Failure(.dataError, "\(file):\(error)")
    } catch let error as TourFileError {
        throw Failure(.dataError, "\(file)\(error)")
    }
}

extension ExitCode {
    /// An exit without a message, when the reason has already been printed.
    init(_ status: ExitStatus) { self.init(status.rawValue) }
}
