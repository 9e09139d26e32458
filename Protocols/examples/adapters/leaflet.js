// Makes Leaflet, 1.7 or later, follow a flat camera, and with `lead` move it.
//
//     import { follow } from "./leaflet.js";
//     const map = L.map("map", { zoomSnap: 0, zoomAnimation: false }).setView([0, 0], 1);
//     follow(map, camera, { lead: true });
//
// `camera` has `position`, `viewport` and the event `change`: see cameras.js. The viewport's height fills the map.
//
// Limitations:
// - No tilt or rotation: of a camera with these it shows target and zoom, north up. A map that leads makes it flat.
// - No fractions of a pixel: what it shows is up to 0.71 px off. `zoomSnap` must be 0, or it is whole zooms off.
// - Places a world away: bring them near with `nearest` of projection.js. Places beyond 85.0511° are shown at the edge.
// - With `zoomAnimation` the browser draws the steps of a wheel: the camera learns only where each has ended.
// - The `minZoom`, `maxZoom` and `maxBounds` of the map and its layers hold it back: the camera has its own.

import { link } from "./link.js";
import { paddingOffset, positionOf, scaleOf } from "./projection.js";

/** Makes a map follow a camera; returns a function that stops it. */
export function follow(map, camera, { lead = false } = {}) {
    let scale = 1, offset = { x: 0, y: 0 };
    return link({
        show({ position, viewport }) {
            const size = map.getSize(), { latitude, longitude } = position.target;
            scale = scaleOf(viewport, size.y);
            offset = paddingOffset(viewport, scale);
            const zoom = position.zoom + Math.log2(scale);
            // Leaflet has no centre beyond the edge of the world: padding that leads there is scrolled, in whole
            // pixels.
            const [x, y] = [Math.round(offset.x), Math.round(offset.y)];
            const target = map.project([latitude, longitude], zoom);
            map.setView(map.unproject(target.subtract([offset.x - x, offset.y - y]), zoom), zoom, { animate: false });
            if (x || y) map.panBy([-x, -y], { animate: false });
        },
        read() {
            const { lat, lng } = map.containerPointToLatLng(map.getSize().divideBy(2).add([offset.x, offset.y]));
            return positionOf({ latitude: lat, longitude: lng, zoom: map.getZoom() - Math.log2(scale) });
        },
        surface: map.getContainer(),
        listen({ moved, rested, resized }) {
            // A `move` without a `movestart` comes from a change of the window's size.
            let isMoving = false;
            const listeners = {
                movestart() { isMoving = true; },
                move() { if (isMoving) moved(); },
                moveend() {
                    if (isMoving) rested();
                    isMoving = false;
                },
                resize: resized,
            };
            map.on(listeners);
            return () => map.off(listeners);
        },
    }, camera, { lead });
}
