// Expectations of a camera: one statement per line in an .expect file, in the same words as the options of `gimbal
// expect`. Protocols/test-kit.md describes the words.

import MapCamera

/// Why a statement cannot be read.
package struct StatementError: Error, Equatable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

/// An expectation of what a camera did.
package struct Statement: Equatable, Sendable {
    /// A moment of a stream.
    package enum Moment: Equatable, Sendable {
        case start, end
        /// Milliseconds since the stream began.
        case time(Double)
    }

    /// Where the camera has to be; members that are `nil` are not checked.
    package struct View: Equatable, Sendable {
        var target: LatLng?
        var zoom: Double?
        var bearing: Double?
        var angle: Double?
        var within = Tolerance()
    }

    package enum Kind: Equatable, Sendable {
        case at(Moment, View)
        /// The camera is at rest from this time on, in milliseconds.
        case idleBy(Double)
        /// The target never leaves these bounds.
        case neverOutside(CoordinateBounds)
        /// The zoom is never lower or higher.
        case zoomBetween(Double, Double)
        /// There are exactly this many movements.
        case moves(Int)
        /// The whole path matches a golden file; without a tolerance, byte for byte.
        case golden(file: String, Tolerance?)
    }

    package let kind: Kind
    /// The statement as it was written.
    package let text: String

    package init(_ kind: Kind, text: String) { (self.kind, self.text) = (kind, text) }

    /// Reads the statements of a file; `#` begins a comment.
    ///
    /// - Throws: `StatementError` that names the line.
    package static func read(file text: String) throws(StatementError) -> [Statement] {
        var statements: [Statement] = []
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            let words = line.prefix { $0 != "#" }.split { $0 == " " || $0 == "\t" }.map(String.init)
            guard !words.isEmpty else { continue }
            do throws(StatementError) {
                statements.append(try Statement(words))
            } catch {
                throw StatementError("\(index + 1): \(error)")
            }
        }
        return statements
    }

    /// Reads one statement, such as `at end zoom 14.3 within 2pt`.
    package init(_ words: [String]) throws(StatementError) {
        var words = words[...]
        text = words.joined(separator: " ")
        let verb = words.removeFirst()
        switch verb {
        case "at": kind = .at(try Self.moment(Self.next(&words, "at")), try Self.view(&words))
        case "idle-by": kind = .idleBy(try Self.milliseconds(Self.next(&words, verb)))
        case "never-outside":
            kind = .neverOutside(try Self.bounds(Self.next(&words, verb)))
        case "zoom-between":
            let ends = CameraStreams.numbers(of: try Self.next(&words, verb))
            guard ends.count == 2, ends[0] <= ends[1] else {
                throw StatementError("write the lowest and the highest zoom, such as zoom-between 3,15")
            }
            kind = .zoomBetween(ends[0], ends[1])
        case "moves":
            guard let count = Int(try Self.next(&words, verb)), count >= 0 else {
                throw StatementError("write how many movements there are, such as moves 2")
            }
            kind = .moves(count)
        case "golden":
            let file = try Self.next(&words, verb)
            if words.first == "within" {
                words.removeFirst()
                kind = .golden(file: file, try Self.tolerance(Self.next(&words, "within")))
            } else {
                kind = .golden(file: file, nil)
            }
        default:
            throw StatementError(
                "\"\(verb)\" is not a statement: write at, idle-by, never-outside, zoom-between, moves or golden")
        }
        if let more = words.first { throw StatementError("unexpected \"\(more)\" after \(verb)") }
    }

    // MARK: Words

    private static func next(_ words: inout ArraySlice<String>, _ before: String) throws(StatementError) -> String {
        guard let word = words.popFirst() else { throw StatementError("a value is missing after \(before)") }
        return word
    }

    /// Reads a time, which must not be negative.
    static func milliseconds(_ text: String) throws(StatementError) -> Double {
        guard let time = WrittenTime.milliseconds(text), time >= 0 else {
            throw StatementError("write a time, such as 800ms, 1.5s or 1:05, not \"\(text)\"")
        }
        return time
    }

    private static func moment(_ text: String) throws(StatementError) -> Moment {
        switch text {
        case "start": .start
        case "end": .end
        default: .time(try milliseconds(text))
        }
    }

    private static func place(_ text: String) throws(StatementError) -> LatLng {
        let numbers = numbers(of: text)
        guard numbers.count == 2, numbers[0].magnitude <= 90 else {
            throw StatementError("write degrees north and degrees east, such as 48.8584,2.2945, not \"\(text)\"")
        }
        return LatLng(latitude: numbers[0], longitude: numbers[1])
    }

    private static func bounds(_ text: String) throws(StatementError) -> CoordinateBounds {
        guard let bounds = CoordinateBounds(edges: text) else {
            throw StatementError("write south,west,north,east, such as 48.8,2.2,48.9,2.4, not \"\(text)\"")
        }
        return bounds
    }

    private static func number(_ text: String) throws(StatementError) -> Double {
        let numbers = numbers(of: text)
        guard numbers.count == 1 else { throw StatementError("write a number, not \"\(text)\"") }
        return numbers[0]
    }

    private static func tolerance(_ text: String) throws(StatementError) -> Tolerance {
        guard let tolerance = Tolerance(text) else { throw StatementError("\(Tolerance.usage), not \"\(text)\"") }
        return tolerance
    }

    private static func view(_ words: inout ArraySlice<String>) throws(StatementError) -> View {
        var view = View()
        while let word = words.popFirst() {
            let value = try next(&words, word)
            switch word {
            case "target": view.target = try place(value)
            case "zoom": view.zoom = try number(value)
            case "bearing": view.bearing = try number(value)
            case "angle": view.angle = try number(value)
            case "within": view.within = try tolerance(value)
            default: throw StatementError("\"\(word)\" is none of target, zoom, bearing, angle and within")
            }
        }
        guard view.target != nil || view.zoom != nil || view.bearing != nil || view.angle != nil else {
            throw StatementError("say where the camera must be: target, zoom, bearing or angle")
        }
        return view
    }
}
