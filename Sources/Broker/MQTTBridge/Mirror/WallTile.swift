// A screen's part of a picture that many screens show together. All screens have the whole picture's camera, each seen
// through another part of the viewport: an off-centre projection.
//
// A viewport's padding moves the target on the screen, so it carries any offset to the left or right. The eye's
// distance is 1.5 times the viewport's height, so the height must be the whole picture's: in a wall of several rows,
// the viewport is as high as the wall, and the screen shows the part of it that begins at `windowTop`.

import MapCamera

/// A screen of a wall. Lengths are points.
package struct WallTile: Equatable, Sendable {
    /// The column from the left and the row from the top, counted from 0.
    package var column: Int
    package var row: Int
    package var columns: Int
    package var rows: Int
    /// The size of each screen.
    package var width: Double
    package var height: Double
    /// How much of the picture the frames between two screens hide: from left to right, and from top to bottom.
    package var horizontalBezel = 0.0
    package var verticalBezel = 0.0

    package init(column: Int, row: Int, columns: Int, rows: Int, width: Double, height: Double) {
        (self.column, self.row, self.columns, self.rows) = (column, row, columns, rows)
        (self.width, self.height) = (width, height)
    }

    package var wallWidth: Double { Double(columns) * width + Double(columns - 1) * horizontalBezel }
    package var wallHeight: Double { Double(rows) * height + Double(rows - 1) * verticalBezel }

    /// The viewport of the whole picture.
    package var wall: Viewport { Viewport(width: wallWidth, height: wallHeight) }

    /// The screen's top left corner in the whole picture.
    package var origin: ScreenPoint {
        ScreenPoint(x: Double(column) * (width + horizontalBezel), y: Double(row) * (height + verticalBezel))
    }

    /// The viewport of this screen's camera: as wide as the screen, as high as the wall, with padding that puts the
    /// target where it is in the whole picture.
    package var viewport: Viewport {
        let offset = 2 * (wallWidth / 2 - origin.x) - width
        return Viewport(
            width: width, height: wallHeight, padding: EdgeInsets(left: max(offset, 0), right: max(-offset, 0)))
    }

    /// Where the screen's part of the viewport begins, from the top; it is as high as the screen.
    package var windowTop: Double { origin.y }
}
