// A line of the daemon's that tells a step of a movement, as nearly every line is, read straight from its bytes: what is told to
// the broker is cut out of it, digit for digit. Whatever else there is, it leaves to the general way. Invariant: what it reads,
// `ServerLine` reads the same; a test holds each against the other.

import GimbalProtocol
import MapCamera

/// A step of a movement as the daemon has written it.
package struct MoveLine: Equatable, Sendable {
    package enum Kind: Sendable { case moveStarted, cameraChanged, idle }

    package let kind: Kind
    /// The camera's name.
    package let camera: String
    package let seq: Int
    /// Numbers and words as they are written.
    package let timeMs: ArraySlice<UInt8>
    package let reason: ArraySlice<UInt8>
    package let position: ArraySlice<UInt8>
    /// The position, read.
    package let place: CameraPosition

    /// Reads a line without its LF; `nil` if it may be something else.
    package init?(_ line: [UInt8]) {
        var reader = LineReader(line)
        if reader.skip("{\"type\":\"camera-changed\",\"camera\":\"") {
            kind = .cameraChanged
        } else if reader.skip("{\"type\":\"idle\",\"camera\":\"") {
            kind = .idle
        } else if reader.skip("{\"type\":\"move-started\",\"camera\":\"") {
            kind = .moveStarted
        } else {
            return nil
        }
        let name = reader.word(upTo: "\"")
        guard NodeTopics.isName(name), reader.skip("\",\"seq\":"), let seq = reader.count(),
            reader.skip(",\"timeMs\":")
        else { return nil }
        (camera, self.seq) = (String(decoding: name, as: UTF8.self), seq)
        timeMs = reader.word(upTo: ",")
        guard reader.skip(",\"reason\":\"") else { return nil }
        reason = reader.word(upTo: "\"")
        guard reader.skip("\",\"position\":"), let place = reader.place(), reader.skip("}"), reader.isAtEnd else {
            return nil
        }
        self.place = place
        // The text of the position is all between its name and the last brace.
        let length = line.count - 1 - (reason.endIndex + "\",\"position\":".utf8.count)
        position = line[line.count - 1 - length..<line.count - 1]
    }
}
