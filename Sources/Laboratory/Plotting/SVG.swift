// An SVG document as text. Coordinates have at most two decimals, so the same timeline gives the same bytes.

import CameraStreams
import GimbalProtocol
import PictureFiles

struct SVG {
    private(set) var text = ""

    /// Formats a number with at most `places` decimals.
    static func number(_ value: Double, _ places: Int = 2) -> String { FixedDecimal(value, places: places).text }

    /// Begins a document of a size.
    init(_ width: Double, _ height: Double, title: String, description: String) {
        let (wide, high) = (Self.number(width), Self.number(height))
        add(
            #"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \#(wide) \#(high)" width="\#(wide)" height="\#(high)" "#
                + #"role="img">"#)
        add("<title>\(escapedForXML(title))</title>")
        add("<desc>\(escapedForXML(description))</desc>")
        add("<style>\n\(EmbeddedFile.pictureStyle)</style>")
    }

    mutating func add(_ markup: String) { text += markup + "\n" }

    /// Adds what `body` adds as a group.
    mutating func group(_ attributes: String, as element: String = "g", _ body: (inout SVG) -> Void) {
        add("<\(element) \(attributes)>")
        body(&self)
        add("</\(element)>")
    }

    mutating func rect(_ class: String, _ x: Double, _ y: Double, _ width: Double, _ height: Double) {
        let (x, y, width, height) = (Self.number(x), Self.number(y), Self.number(width), Self.number(height))
        add(#"<rect class="\#(`class`)" x="\#(x)" y="\#(y)" width="\#(width)" height="\#(height)"/>"#)
    }

    mutating func label(_ class: String, _ x: Double, _ y: Double, _ label: String) {
        add(#"<text class="\#(`class`)" x="\#(Self.number(x))" y="\#(Self.number(y))">\#(escapedForXML(label))</text>"#)
    }

    /// Adds a panel's title, followed by what the panel shows.
    mutating func title(_ x: Double, _ y: Double, _ title: String, _ note: String) {
        let note = note.isEmpty ? "" : #"<tspan class="note" dx="7">\#(escapedForXML(note))</tspan>"#
        add(#"<text class="title" x="\#(Self.number(x))" y="\#(Self.number(y))">\#(title)\#(note)</text>"#)
    }

    mutating func circle(_ class: String, _ x: Double, _ y: Double, _ radius: Double) {
        let (x, y, radius) = (Self.number(x), Self.number(y), Self.number(radius))
        add(#"<circle class="\#(`class`)" cx="\#(x)" cy="\#(y)" r="\#(radius)"/>"#)
    }

    mutating func cross(_ class: String, _ x: Double, _ y: Double, _ size: Double) {
        let lines = [size, -size].map { [Spot(x: x - size, y: y - $0), Spot(x: x + size, y: y + $0)] }
        self.lines(`class`, lines)
    }

    /// Adds lines, each through its points, as one path.
    mutating func lines(_ class: String, _ lines: [[Spot]], isClosed: Bool = false) {
        let course = lines.filter { !$0.isEmpty }.map { Self.course($0) + (isClosed ? "z" : "") }.joined()
        if !course.isEmpty { add(#"<path class="\#(`class`)" d="\#(course)"/>"#) }
    }

    mutating func line(_ class: String, _ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double) {
        lines(`class`, [[Spot(x: x1, y: y1), Spot(x: x2, y: y2)]])
    }

    private static func course(_ points: [Spot]) -> String {
        var course = ""
        var last = ""
        for (index, point) in points.enumerated() {
            let place = "\(number(point.x)) \(number(point.y))"
            // Points that print the same are merged, but not in a line of two, which shows as a dot.
            if place == last, index < points.count - 1 || points.count > 2 { continue }
            course += (index == 0 ? "M" : index == 1 ? "L" : " ") + place
            last = place
        }
        return course
    }
}

/// The files that are compiled in.
enum EmbeddedFile {
    static var worldMap: [UInt8] { unsafe bytes(of: world_map) }
    static var pictureStyle: String { unsafe String(decoding: bytes(of: picture_style), as: UTF8.self) }
    static var comparisonStyle: String { unsafe String(decoding: bytes(of: comparison_style), as: UTF8.self) }

    private static func bytes(of file: picture_file) -> [UInt8] {
        unsafe Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
    }
}
