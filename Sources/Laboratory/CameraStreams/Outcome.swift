// The outcome of an expectation: fulfilled, or a report of at most ten lines that says where it failed, by how much and
// in which units. Pure: the same streams give the same words.

import GimbalProtocol
import MapCamera

/// The outcome of one expectation.
package struct Outcome: Equatable, Sendable {
    /// Why an expectation is not fulfilled.
    package struct Failure: Equatable, Sendable {
        /// One line.
        package let summary: String
        /// The lines below it.
        package let details: [String]
        /// Where in the stream the failure is, in milliseconds; `nil` if nowhere in particular.
        package let timeMs: Double?

        package init(_ summary: String, _ details: [String] = [], at timeMs: Double? = nil) {
            (self.summary, self.details, self.timeMs) = (summary, details, timeMs)
        }
    }

    /// What was expected.
    package let name: String
    /// `nil` if the expectation is fulfilled.
    package let failure: Failure?

    package init(_ name: String, _ failure: Failure? = nil) { (self.name, self.failure) = (name, failure) }
}

extension Comparison {
    /// The failure if the streams diverge.
    package var failure: Outcome.Failure? {
        guard let first, let worst, let end else { return nil }
        var details = [
            "expected  \(first.expected.position.words)", "found     \(first.found.position.words)",
            "apart by  \(first.difference.text)", "allowed   \(tolerance.text)",
        ]
        if worst.timeMs != first.timeMs {
            details.append("most apart at \(seconds(worst.timeMs)): \(worst.difference.text)")
        }
        details.append("at the end, \(seconds(end.timeMs)): \(end.difference.text)")
        details.append("apart for \(seconds(apartMs)) of \(seconds(lengthMs))")
        let lines = "line \(first.expected.line) of what was expected, line \(first.found.line) of what was found"
        return Outcome.Failure("first apart at \(seconds(first.timeMs)), \(lines)", details, at: first.timeMs)
    }
}

/// Returns the failure if lines are not the same bytes.
///
/// - Parameters:
///   - expected: the golden lines, without line feeds.
///   - found: the printed lines.
///   - comparison: how the streams in the lines differ.
package func exactFailure(
    expected: [ArraySlice<UInt8>], found: [ArraySlice<UInt8>], _ comparison: Comparison
) -> Outcome.Failure? {
    let index = zip(expected, found).prefix { $0 == $1 }.count
    guard index < max(expected.count, found.count) else { return nil }
    func text(_ lines: [ArraySlice<UInt8>]) -> String {
        guard index < lines.count else { return "nothing more" }
        return String(decoding: lines[index].prefix(300), as: UTF8.self)
    }
    let details = ["expected  \(text(expected))", "found     \(text(found))"]
    guard let failure = comparison.failure else {
        return Outcome.Failure("first apart in line \(index + 1), although the camera is always the same", details)
    }
    // The lines themselves contain the numbers of the first difference.
    let rest = failure.details.filter { ["apart by", "most apa", "at the e", "apart fo"].contains($0.prefix(8)) }
    let time = comparison.first?.timeMs
    return Outcome.Failure(
        "first apart in line \(index + 1)\(time.map { ", at \(seconds($0))" } ?? "")", details + rest, at: time)
}

extension Statement {
    /// Checks the statement against a stream; a golden file needs a caller that can read files.
    package func outcome(of stream: CameraStream) -> Outcome { Outcome(text, failure(of: stream)) }

    private func failure(of stream: CameraStream) -> Outcome.Failure? {
        guard let first = stream.samples.first, let last = stream.last else {
            return Outcome.Failure("no position of the camera was found")
        }
        switch kind {
        case .at(.start, let view): return view.failure(first, stream)
        case .at(.end, let view): return view.failure(last, stream)
        case .at(.time(let time), let view):
            guard time <= stream.endMs else {
                return Outcome.Failure("it ended at \(seconds(stream.endMs))", at: stream.endMs)
            }
            return view.failure(stream.sample(at: time) ?? first, stream, at: time)
        case .idleBy(let time):
            guard let late = stream.movements.first(where: { $0.endMs.map { $0 > time } ?? true }) else { return nil }
            let end = late.endMs.map { "until \(seconds($0)), \(number($0 - time, 3)) ms too late" } ?? "to the end"
            return Outcome.Failure("it moved from \(seconds(late.startMs)) \(end)", at: late.startMs)
        case .neverOutside(let bounds):
            guard let out = stream.samples.first(where: { !bounds.contains($0.position.target) }) else { return nil }
            return Outcome.Failure(
                "outside at \(seconds(out.timeMs)), line \(out.line)", ["found     \(out.position.words)"],
                at: out.timeMs)
        case .zoomBetween(let low, let high):
            // Half of the last decimal that the daemon prints.
            let range = (low - 5e-7)...(high + 5e-7)
            guard let out = stream.samples.first(where: { !range.contains($0.position.zoom) }) else { return nil }
            let by = max(low - out.position.zoom, out.position.zoom - high)
            return Outcome.Failure(
                "zoom \(number(out.position.zoom, 6)) at \(seconds(out.timeMs)), line \(out.line): "
                    + "\(number(by, 6)) zoom beyond", at: out.timeMs)
        case .moves(let count):
            guard stream.movements.count != count else { return nil }
            let times = stream.movements.prefix(6).map { movement in
                "from \(seconds(movement.startMs)) to \(movement.endMs.map(seconds) ?? "the end")"
            }
            let more = stream.movements.count > 6 ? ["and \(stream.movements.count - 6) more"] : []
            return Outcome.Failure(
                "it made \(counted("\(stream.movements.count)", "movement")), not \(count)", times + more,
                at: stream.movements.last?.startMs)
        case .golden: return nil
        }
    }
}

extension Statement.View {
    fileprivate func failure(_ sample: CameraSample, _ stream: CameraStream, at time: Double? = nil) -> Outcome.Failure?
    {
        let found = sample.position
        let wanted = CameraPosition(
            target: target ?? found.target, zoom: zoom ?? found.zoom, bearing: bearing ?? found.bearing,
            viewingAngle: angle ?? found.viewingAngle)
        let difference = Difference(from: wanted, to: found, viewport: stream.viewport)
        guard !within.allows(difference) else { return nil }
        return Outcome.Failure(
            "apart at \(seconds(time ?? sample.timeMs)), line \(sample.line), by \(difference.text)",
            ["expected  \(wanted.words)", "found     \(found.words)", "allowed   \(within.text)"],
            at: time ?? sample.timeMs)
    }
}

extension CoordinateBounds {
    /// Whether a place is inside or on the edge, to the precision of what is printed.
    fileprivate func contains(_ place: LatLng) -> Bool {
        let margin = 1e-9
        guard (southWest.latitude - margin)...(northEast.latitude + margin) ~= place.latitude else { return false }
        return wrap360(place.longitude - southWest.longitude + margin) <= width + 2 * margin
    }
}
