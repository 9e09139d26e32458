// The result of `gimbal expect` as one page: every expectation and, for each golden file, the picture, the numbers, and
// both streams around their first difference. A pure function; the page has no scripts and loads nothing else.
// Invariant: text from files or names is printable and escaped.

import CameraStreams
import GimbalProtocol
import MapCamera

/// A camera's stream compared with a golden file, for a page.
package struct ComparedStreams {
    fileprivate let subject: String
    fileprivate let expectation: String
    private let comparison: Comparison
    private let expectedLines: [ArraySlice<UInt8>]
    private let foundLines: [ArraySlice<UInt8>]
    /// Whether the bytes have to be the same.
    private let isExact: Bool

    /// - Parameters:
    ///   - subject: what was tested, as its report calls it.
    ///   - expectation: what was expected, as its outcome calls it.
    ///   - expectedLines: all lines of the golden file, including blank ones, without line feeds.
    ///   - foundLines: the lines of the found stream; empty if it is not known by lines.
    package init(
        subject: String, expectation: String, _ comparison: Comparison, isExact: Bool,
        expectedLines: [ArraySlice<UInt8>], foundLines: [ArraySlice<UInt8>]
    ) {
        (self.subject, self.expectation) = (subject, expectation)
        (self.comparison, self.isExact) = (comparison, isExact)
        (self.expectedLines, self.foundLines) = (expectedLines, foundLines)
    }

    /// Returns the section of the page.
    fileprivate func section(_ number: Int) -> String {
        """
        <section id="\(number)"><h2>\(safe(subject)): \(safe(expectation))</h2>
        \(numbers)
        \(Picture(title: subject, of: comparison).svg(isWide: true, name: "\(number)"))
        \(lines)
        </section>

        """
    }

    private var numbers: String {
        let moments = [
            ("first apart", comparison.first), ("most apart", comparison.worst), ("at the end", comparison.end),
        ]
        let rows = moments.map { name, moment -> String in
            guard let moment else { return "" }
            let (expected, found) = (moment.expected.position, moment.found.position)
            return """
                <tr><th rowspan="3">\(name)<br>\(seconds(moment.timeMs))</th>\(cells("expected", expected))</tr>
                <tr>\(cells("found", found))</tr>
                <tr><td>apart by</td><td colspan="5">\(moment.difference.text)</td></tr>

                """
        }
        let durations = "\(seconds(comparison.apartMs)) of \(seconds(comparison.lengthMs))"
        let apart = comparison.isSame ? "Nowhere apart" : "Apart for \(durations)"
        let allowed = isExact ? "the same bytes are expected" : "allowed: \(comparison.tolerance.text)"
        return """
            <p>\(apart); \(allowed).</p>
            <table><tr><th></th><th></th><th>latitude</th><th>longitude</th><th>zoom</th><th>bearing</th><th>angle</th></tr>
            \(rows.joined())</table>
            """
    }

    private func cells(_ name: String, _ position: CameraPosition) -> String {
        let numbers = [
            (position.target.latitude, 9), (position.target.longitude, 9), (position.zoom, 6), (position.bearing, 6),
            (position.viewingAngle, 6),
        ]
        return "<td>\(name)</td>" + numbers.map { "<td>\(SVG.number($0, $1))</td>" }.joined()
    }

    /// Both streams around the place where they first differ; empty if they do not.
    private var lines: String {
        var place = comparison.first.map { ($0.expected.line, $0.found.line) }
        if isExact, !foundLines.isEmpty {
            let shared = zip(expectedLines, foundLines).prefix { $0 == $1 }.count
            place = expectedLines == foundLines ? nil : (shared + 1, shared + 1)
        }
        guard let place else { return "" }
        return """
            <div class="streams">
            \(excerpt("expected", expectedLines, around: place.0))
            \(excerpt("found", foundLines, around: place.1))
            </div>
            """
    }

    /// How many lines are shown before and after a place, and how many bytes of each.
    private static let (linesAround, longestLine) = (6, 2000)

    private func excerpt(_ name: String, _ lines: [ArraySlice<UInt8>], around line: Int) -> String {
        let range = max(line - Self.linesAround, 1)...line + Self.linesAround
        let rows = range.filter { $0 <= lines.count }.map { number -> String in
            let text = String(decoding: lines[number - 1].prefix(Self.longestLine), as: UTF8.self)
            let mark = number == line ? " class=\"there\"" : ""
            return "<tr\(mark)><th>\(number)</th><td><code>\(safe(text))</code></td></tr>\n"
        }
        let end = line > lines.count ? "<tr class=\"there\"><th></th><td>nothing more</td></tr>\n" : ""
        return "<table><caption>\(name)</caption>\n\(rows.joined())\(end)</table>"
    }
}

/// The page.
package enum ComparisonPage {
    package static func text(of reports: [TestReport], _ compared: [ComparedStreams]) -> String {
        let all = reports.flatMap(\.outcomes)
        let failed = all.count { $0.failure != nil }
        let title = failed == 0 ? "all \(all.count) as expected" : "\(failed) of \(all.count) not as expected"
        let rows = reports.map { report in
            "<tr><td colspan=\"3\"><b>\(safe(report.subject))</b></td></tr>\n"
                + report.outcomes.map { row($0, of: report.subject, compared) }.joined()
        }
        return """
            <!DOCTYPE html>
            <html lang="en">
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
            <meta name="viewport" content="width=device-width">
            <title>gimbal expect: \(title)</title>
            <style>
            \(EmbeddedFile.comparisonStyle)</style>
            <h1>gimbal expect: \(title)</h1>
            <table class="outcomes">
            \(rows.joined())</table>
            \(compared.enumerated().map { $1.section($0 + 1) }.joined())</html>

            """
    }

    private static func row(_ outcome: Outcome, of subject: String, _ compared: [ComparedStreams]) -> String {
        let details = outcome.failure.map { [$0.summary] + $0.details } ?? []
        let section = compared.firstIndex { $0.subject == subject && $0.expectation == outcome.name }
        let link = section.map { "<br><a href=\"#\($0 + 1)\">more</a>" } ?? ""
        return """
            <tr class="\(outcome.failure == nil ? "fulfilled" : "missed")"><th>\(outcome.failure == nil ? "ok" : "not ok")</th>\
            <td>\(safe(outcome.name))\(link)</td><td><pre>\(details.map(safe).joined(separator: "\n"))</pre></td></tr>

            """
    }
}

/// Makes text from elsewhere printable, and escapes it.
private func safe(_ text: String) -> String { escapedForXML(PrintableText(text).description) }
