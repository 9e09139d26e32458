// MapLibre GL JS, 5.24 or later, follows a camera, and with `lead` moves it.
//
//     import { follow } from "./maplibre.js";
//     const map = new maplibregl.Map({ container: "map", style });
//     follow(map, camera, { lead: true });
//
// `camera` has `position`, `viewport` and the event `change`: see cameras.js. The map shows the viewport as high as
// itself; what is beyond its sides is seen, too, or cut.
//
// What it cannot do:
// - Globe and terrain have a projection of their own: the camera is Mercator's.
// - `map.unproject` above the horizon and `map.project` behind the camera give plausible numbers that mean nothing:
//   ask `unproject` and `project` of projection.js. And `map.project` of a place a world away does not take the
//   nearest copy: `nearest` of projection.js does.
// - The field of view must be as MapLibre makes it: a page that sets it, even to 36.87°, is up to 0.4 px off.
// - A map that leads may show for as long as it is moved what the camera's constraints forbid; then it comes back.

import { link } from "./link.js";
import { paddingOf, positionOf, scaleOf } from "./projection.js";

/** What `jumpTo` wants to show a camera on a map that is `height` pixels high. */
export function jumpOptions({ position, viewport }, height) {
    const scale = scaleOf(viewport, height);
    return {
        center: [position.target.longitude, position.target.latitude],
        // The world is 512 pixels wide at MapLibre's zoom 0.
        zoom: position.zoom - 1 + Math.log2(scale), bearing: position.bearing, pitch: position.viewingAngle, roll: 0,
        padding: paddingOf(viewport, scale),
    };
}

/** Makes a map follow a camera until the function that comes back is called. */
export function follow(map, camera, { lead = false } = {}) {
    // The camera has constraints of its own, and MapLibre's would move it away: some 600 px, near the world's edge.
    map.setTransformConstrain((lngLat, zoom) => ({ center: lngLat, zoom: zoom ?? 0 }));
    map.setMaxPitch(Math.max(65, map.getMaxPitch()));
    let scale = 1;
    const height = () => map.getContainer().clientHeight;
    return link({
        show(camera) {
            scale = scaleOf(camera.viewport, height());
            map.jumpTo(jumpOptions(camera, height()));
        },
        read() {
            const { lng, lat } = map.getCenter();
            return positionOf({
                latitude: lat, longitude: lng, zoom: map.getZoom() + 1 - Math.log2(scale), bearing: map.getBearing(),
                viewingAngle: map.getPitch(),
            });
        },
        draw() { map.redraw(); },
        surface: map.getCanvasContainer(),
        listen({ moved, rested, resized }) {
            const listeners = [["movestart", moved], ["move", moved], ["moveend", rested], ["resize", resized]];
            for (const [type, listener] of listeners) map.on(type, listener);
            return () => listeners.forEach(([type, listener]) => map.off(type, listener));
        },
    }, camera, { lead });
}
