// What statements and options write in the same words, and what reports write into XML.

import MapCamera

/// Numbers with commas between them; none if one of them is no number.
package func numbers(of text: String) -> [Double] {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    let numbers = parts.compactMap { Double($0) }.filter(\.isFinite)
    return numbers.count == parts.count ? numbers : []
}

extension CoordinateBounds {
    /// Bounds that are written as south,west,north,east.
    package init?(edges text: String) {
        let edges = numbers(of: text)
        guard edges.count == 4 else { return nil }
        self.init(
            southWest: LatLng(latitude: edges[0], longitude: edges[1]),
            northEast: LatLng(latitude: edges[2], longitude: edges[3]))
    }
}

/// Text with what means something in XML spelt out; what XML has not becomes a space.
///
/// - Parameter keepsLines: whether line feeds and tabs stay as they are. Other control characters never do.
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
