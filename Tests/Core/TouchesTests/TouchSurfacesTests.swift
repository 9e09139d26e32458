// How many surfaces are followed, whatever is told.

import Gestures
import MapCamera
import Testing
import Touches

@Suite struct TouchSurfacesTests {
    @Test func aSurfaceTooManyIsNotFollowedUntilAnotherHasNoFingers() {
        var surfaces = TouchSurfaces(limit: 3)
        func touch(_ name: String, _ isDown: Bool) -> Bool {
            let touches = isDown ? [Touch(id: 1, position: .init(x: 1, y: 1))] : []
            return surfaces.handle(touches, of: SurfaceKey(feed: 1, label: .text(name)), at: 0) != nil
        }
        for name in ["a", "b", "c"] { #expect(touch(name, true)) }
        #expect(!touch("d", true) && surfaces.all.count == 3)
        #expect(touch("b", false) && touch("d", true) && surfaces.all.count == 3)
    }
}
