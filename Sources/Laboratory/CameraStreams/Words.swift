// The notation that statements and options share, and the escaping in reports as XML.

import MapCamera

/// Parses numbers separated by commas; returns none if one of them is invalid.
package func numbers(of text: String) -> [Double] {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    let numbers = parts.compactMap { Double($0) }.filter(\.isFinite)
    return numbers.count == parts.count ? numbers : []
}

extension CoordinateBounds {
    /// Parses bounds written as south,west,north,east.
    package init?(edges text: String) {
        let edges = numbers(of: text)
        guard edges.count == 4 else { return nil }
        self.init(
            southWest: LatLng(latitude: edges[0], longitude: edges[1]),
            northEast: LatLng(latitude: edges[2], longitude: edges[3]))
    }
}

/// Returns text with XML's special characters escaped; characters that XML does not allow become spaces.
///
/// - Parameter keepsLines: whether line feeds and tabs stay. Other control characters never do.
package func escapedForXML(_ text: String, keepsLines: Bool = false) -> String {
    text.unicodeScalars.reduce(into: "") { escaped, scalar in
        switch scalar {
        case "&": escaped += "&amp;"
        case "<": escaped += "&lt;"
        case ">": escaped += "&gt;"
        case "\"": escaped += "&quot;"
        case "\n" where keepsLines, "\t" where keepsLines: escaped.unicodeScalars.append(scalar)
        case "\u{fffe}", "\u{ffff}": escaped += " "
        case _ where scalar.properties.generalCategory == .control: escaped += " "
        default: escaped.unicodeScalars.append(scalar)
        }
    }
}
