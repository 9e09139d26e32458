// Makes MapLibre GL JS, 5.24 or later, follow a camera, and with `lead` move it.
//
//     import { follow } from "./maplibre.js";
//     const map = new maplibregl.Map({ container: "map", style });
//     follow(map, camera, { lead: true });
//
// `camera` has `position`, `viewport` and the event `change`: see cameras.js. The viewport's height fills the map; what
// is beyond its sides is visible, too, or cut off.
//
// Limitations:
// - Globe and terrain have projections of their own; the camera's is Mercator.
// - `map.unproject` above the horizon and `map.project` behind the camera return plausible numbers that mean nothing:
//   use `unproject` and `project` of projection.js. And `map.project` of a place a world away does not choose the
//   nearest copy: `nearest` of projection.js does.
// - The field of view must be MapLibre's own: a page that sets it, even to 36.87°, is up to 0.4 px off.
// - While a map that leads is being moved, it may show what the camera's constraints forbid; then it comes back.

import { link } from "./link.js";
import { paddingOf, positionOf, scaleOf } from "./projection.js";

/** Returns the options with which `jumpTo` shows a camera on a map `height` pixels high. */
export function jumpOptions({ position, viewport }, height) {
    const scale = scaleOf(viewport, height);
    return {
        center: [position.target.longitude, position.target.latitude],
        // The world is 512 pixels wide at MapLibre's zoom 0.
        zoom: position.zoom - 1 + Math.log2(scale), bearing: position.bearing, pitch: position.viewingAngle, roll: 0,
        padding: paddingOf(viewport, scale),
    };
}

/** Makes a map follow a camera; returns a function that stops it. */
export function follow(map, camera, { lead = false } = {}) {
    // The camera has its own constraints, and MapLibre's would move it away: some 600 px, near the world's edge.
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
