// A screen's part of a picture that many screens show together. The whole picture has one camera; each screen's is the same
// one, seen through another part of the viewport: the projection is the whole's, off-centre.
//
// A viewport's padding moves the target's place on the screen, so it carries any part to the left or to the right. The eye's
// distance is 1.5 times the viewport's height, so the height must be the whole's: of a wall with several rows the viewport is
// as high as the wall, and the screen shows `window` of it.

import MapCamera

/// A screen of a wall. Lengths are points.
package struct WallTile: Equatable, Sendable {
    /// Counts columns from the left and rows from the top, from 0.
    package var column: Int
    package var row: Int
    package var columns: Int
    package var rows: Int
    /// The size of each screen.
    package var width: Double
    package var height: Double
    /// What the frames between two screens hide of the picture: from left to right, and from top to bottom.
    package var horizontalBezel = 0.0
    package var verticalBezel = 0.0

    package init(column: Int, row: Int, columns: Int, rows: Int, width: Double, height: Double) {
        (self.column, self.row, self.columns, self.rows) = (column, row, columns, rows)
        (self.width, self.height) = (width, height)
    }

    package var wallWidth: Double { Double(columns) * width + Double(columns - 1) * horizontalBezel }
    package var wallHeight: Double { Double(rows) * height + Double(rows - 1) * verticalBezel }

    /// The whole picture's viewport.
    package var wall: Viewport { Viewport(width: wallWidth, height: wallHeight) }

    /// Where the screen's top left corner is in the whole picture.
    package var origin: ScreenPoint {
        ScreenPoint(x: Double(column) * (width + horizontalBezel), y: Double(row) * (height + verticalBezel))
    }

    /// The viewport of this screen's camera: as wide as the screen, as high as the wall, with the padding that puts the
    /// target where it is in the whole picture.
    package var viewport: Viewport {
        let offset = 2 * (wallWidth / 2 - origin.x) - width
        return Viewport(
            width: width, height: wallHeight, padding: EdgeInsets(left: max(offset, 0), right: max(-offset, 0)))
    }

    /// What the screen shows of its viewport: from this y on, as high as the screen is.
    package var windowTop: Double { origin.y }
}
