// Fingers over time, to be performed: from a recording, from a trace's gestures, or made up. The recognizer that reads
// recordings also turns a script into a trace, so its result is known beforehand.

import GimbalProtocol
import MapCamera
import TouchTraces
import Touches

/// Fingers on a screen, frame by frame.
package struct FingerScript: Equatable, Sendable {
    /// The screen, in points.
    package var viewport: Viewport
    /// The header of the trace that the fingers make, included in the output for readers.
    package var header: ToldHeader?
    /// The fingers that are down at each time; one that is missing from the next frame has lifted.
    package var frames: [TouchFrame] = []

    package init(viewport: Viewport, frames: [TouchFrame] = []) { (self.viewport, self.frames) = (viewport, frames) }

    /// Reads the fingers of a recording; a Gimbal trace has none.
    ///
    /// - Throws: `RecordingError` if it is not a recording.
    package init(recording bytes: [UInt8], _ options: TraceOptions) throws {
        var reader = RecordingReader(options)
        var script = FingerScript(viewport: options.viewport ?? .standard)
        var surface: Surface?
        var frame = TouchFrame(timeMs: 0, touches: [])
        func handle(_ recorded: RecordedFrame) {
            switch recorded {
            case .surface(let found, _):
                surface = found
                script.viewport = found.viewport
            case .touches(let contacts):
                surface?.map(contacts, into: &frame)
                script.frames.append(frame)
            case .gestures, .trace: break
            }
        }
        try reader.read(bytes.span, handle)
        try reader.finish(handle)
        self = script
    }

    /// The members of the script in JSON, besides its fingers.
    var told: String {
        #""viewport":{"width":\#(json(viewport.width)),"height":\#(json(viewport.height))}\#(toldHeader)"#
    }

    /// The member with the header, after another one; empty without a header.
    var toldHeader: String { header.map { #","trace":\#(json(.object($0.members)))"# } ?? "" }

    /// The script as touches of a web page, one event per line.
    package var webTouches: String {
        var text = "{\(told)}\n"
        var before: [Touch] = []
        for frame in frames where frame.touches != before {
            let ids = (before: Set(before.map(\.id)), now: Set(frame.touches.map(\.id)))
            let type =
                !ids.now.isSubset(of: ids.before)
                ? "touchstart"
                : ids.before.isSubset(of: ids.now) ? "touchmove" : frame.isCancelled ? "touchcancel" : "touchend"
            let touches = frame.touches.map { touch in
                let (x, y) = (json(touch.position.x), json(touch.position.y))
                return #"{"identifier":\#(touch.id),"clientX":\#(x),"clientY":\#(y)}"#
            }
            let timeMs = json((frame.timeMs * 1000).rounded() / 1000)
            text += #"{"type":"\#(type)","timeStamp":\#(timeMs),"touches":[\#(touches.joined(separator: ","))]}"# + "\n"
            before = frame.touches
        }
        return text
    }

    /// Returns the trace that a recording of this script makes.
    ///
    /// - Throws: `RecordingError` if the script has no finger.
    package func trace(from position: CameraPosition) throws -> [UInt8] {
        try TraceConverter(TraceOptions(viewport: viewport, position: position)).trace(of: Array(webTouches.utf8))
    }
}

/// Returns a value as JSON text; a number has all its digits.
func json(_ value: JSONValue) -> String { String(decoding: value.bytes, as: UTF8.self) }

func json(_ number: Double) -> String { json(.number(number)) }
