// What a camera did, from a file of any kind: a stream that the file contains, or the stream of a camera of this
// process into which a trace or a recording is played.

import CameraStreams
import GimbalProtocol
import Traces

/// A stream, and the lines that contain it.
struct LoadedStream {
    /// The file's name as it was given.
    let name: String
    var stream = CameraStream()
    /// The lines as `gimbal run` prints them, each with its line feed.
    private(set) var bytes: [UInt8] = []
    /// Whether the stream comes from a trace played in this process; only then are its bytes the same every time.
    private(set) var isRun = false
    /// The number of rejected lines of a trace.
    private(set) var rejected = 0

    private init(_ name: String) { self.name = name }

    /// Takes the stream of a camera of the daemon so far.
    init(_ name: String, _ stream: CameraStream) { (self.name, self.stream) = (name, stream) }

    /// The lines without their line feeds.
    var lines: [ArraySlice<UInt8>] { bytes.split(separator: 0x0a) }

    /// The same, including blank lines: the first is line 1 of the file.
    var allLines: [ArraySlice<UInt8>] { bytes.split(separator: 0x0a, omittingEmptySubsequences: false).dropLast() }

    /// Reads a stream, or plays a trace or a recording; `-` is standard input.
    ///
    /// - Throws: a `Failure` for a file that is none of these, or is damaged.
    init(_ name: String, _ options: RecordingOptions, number: Int? = nil) throws {
        let file = try InputFile(name)
        if Self.isStream(try file.peek(while: { Self.firstLine(of: $0) == nil })) {
            try self.init(reading: file)
            if let viewport = options.viewport { stream.viewport = viewport }
        } else {
            try self.init(playing: file, options, number)
        }
    }

    /// Returns whether a file with this beginning contains a stream.
    static func isStream(_ beginning: [UInt8]) -> Bool {
        // The last line of a file may lack its line feed.
        firstLine(of: beginning.withoutByteOrderMark + [0x0a]).map(StreamReader.recognizes) ?? false
    }

    /// Returns the first complete line that is neither a comment nor blank.
    private static func firstLine(of bytes: [UInt8]) -> ArraySlice<UInt8>? {
        let lines = bytes.split(omittingEmptySubsequences: false) { $0 == 0x0a || $0 == 0x0d }.dropLast()
        return lines.first { $0.first != UInt8(ascii: "#") && !$0.allSatisfy { $0 <= 0x20 } }
    }

    /// Reads a stream from a file.
    init(reading file: InputFile) throws {
        self.init(file.name)
        let reader = StreamReader()
        var splitter = LineSplitter()
        func read(_ line: LineSplitter.Line) throws {
            try about(file.name) { try reader.read(line.text, number: line.number) }
            bytes += ReceivedLine(line.text).withoutEpoch + [0x0a]
        }
        var piece = try file.read().withoutByteOrderMark
        while !piece.isEmpty {
            try splitter.read(piece, read)
            piece = try file.read()
        }
        try splitter.finish(read)
        stream = reader.stream
        guard stream.last != nil else { throw Failure(.dataError, "\(file.name) contains no camera positions") }
    }

    private init(playing file: InputFile, _ options: RecordingOptions, _ number: Int?) throws {
        self.init(file.name)
        isRun = true
        let session = try RunSession(file, options, number: number, isOnce: true)
        let reader = StreamReader()
        var line = 0
        try session.play { played in
            for message in played.messages where message.isOfStream || message.type == .traceEnded {
                line += 1
                try reader.read(message.bytes, number: line)
                bytes += message.withoutEpoch + [0x0a]
            }
        }
        if number == nil { try session.checkIsAlone() }
        stream = reader.stream
        if let header = session.opening.header.header { stream.viewport = header.viewport }
        rejected = session.rejected
    }
}
