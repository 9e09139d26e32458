// Reports of gestures as a trace has them: what the decoder reads, written.

import Gestures
import MapCamera

extension LineWriter {
    /// Writes the header of a trace, LF included.
    public mutating func traceHeader(viewport: Viewport, position: CameraPosition) {
        write("{\"type\":\"trace\",\"version\":1,\"viewport\":{\"width\":")
        write(Decimal(viewport.width, places: 6))
        write(",\"height\":")
        write(Decimal(viewport.height, places: 6))
        write("},\"position\":")
        PrintedPosition(position).write(to: &self)
        write("}\n")
    }

    /// Writes the reports of one frame as a line of a trace, LF included. Coordinates and degrees are rounded to 6 decimals,
    /// a scale to 9.
    ///
    /// - Parameter timeMs: the frame's time, rounded to 3 decimals.
    public mutating func frame(_ events: [GestureEvent], timeMs: Double) {
        if events.count > 1 { write("[") }
        for index in events.indices {
            if index > 0 { write(",") }
            gesture(events[index], timeMs: index == 0 ? timeMs : nil)
        }
        write(events.count > 1 ? "]\n" : "\n")
    }

    private mutating func gesture(_ event: GestureEvent, timeMs: Double?) {
        switch event.kind {
        case .pan: write("{\"type\":\"pan\"")
        case .pinch: write("{\"type\":\"pinch\"")
        case .rotate: write("{\"type\":\"rotate\"")
        case .tilt: write("{\"type\":\"tilt\"")
        case .oneFingerZoom: write("{\"type\":\"one-finger-zoom\"")
        case .doubleTap: write("{\"type\":\"double-tap\"")
        case .twoFingerTap: write("{\"type\":\"two-finger-tap\"")
        }
        switch event.phase {
        case .began: write(",\"phase\":\"began\"")
        case .changed: write(",\"phase\":\"changed\"")
        case .ended: write(",\"phase\":\"ended\"")
        case .cancelled: write(",\"phase\":\"cancelled\"")
        }
        if let timeMs {
            write(",\"timeMs\":")
            write(Decimal(timeMs, places: 3))
        }
        if let focus = event.focus {
            write(",\"focus\":")
            point(focus)
        }
        value(event.value)
        if let velocity = event.velocity {
            write(",\"velocity\":")
            point(velocity)
        }
        write("}")
    }

    private mutating func value(_ value: GestureEvent.Value?) {
        switch value {
        case .pan(let translation):
            write(",\"translation\":")
            point(translation)
        case .pinch(let scale):
            write(",\"scale\":")
            write(Decimal(scale, places: 9))
        case .rotate(let degrees):
            write(",\"rotationDeg\":")
            write(Decimal(degrees, places: 6))
        case .tilt(let y), .oneFingerZoom(let y):
            write(",\"translation\":{\"y\":")
            write(Decimal(y, places: 6))
            write("}")
        case nil: break
        }
    }

    private mutating func point(_ point: ScreenPoint) {
        write("{\"x\":")
        write(Decimal(point.x, places: 6))
        write(",\"y\":")
        write(Decimal(point.y, places: 6))
        write("}")
    }
}
