// Makes a Google Maps JS vector map follow a camera, and with `lead` move it, by the documented `moveCamera`.
//
//     import { follow } from "./google.js";
//     const map = new google.maps.Map(element, {
//         mapId, center: { lat: 0, lng: 0 }, zoom: 2, isFractionalZoomEnabled: true,
//         tiltInteractionEnabled: true, headingInteractionEnabled: true });
//     follow(map, camera, { lead: true });
//
// `camera` has `position`, `viewport` and the event `change`: see cameras.js. The viewport's height fills the map.
//
// Limitations:
// - A raster map has only integer zooms and neither tilt nor bearing. A vector map requires a `mapId` and WebGL.
// - Under tilt only the target is where it belongs: Google's eye is farther away. How far is not documented; deck.gl
//   draws over such maps with a field of view of 25° instead of 36.87°, and so does this file where padding needs it.
// - Google limits the tilt by the zoom, and the zoom by the element's height; the camera is not informed.
// - Padding has no counterpart: the centre is moved so that the target is seen at the right point.
// - Google does not tell what moved a map: only movements after a pointer, a wheel or a key on its element lead.
//
// Its numbers are tested against a stand-in that behaves as documented, not against Google's servers.

import { link } from "./link.js";
import { anglesOf, DEGREE, groundUnder, paddingOffset, positionOf, scaleOf, shifted } from "./projection.js";

/** The distance from the eye to the middle of a vector map, in heights of the map. */
const EYE_DISTANCE = 0.5 / Math.tan(12.5 * DEGREE);

/** Returns the way on the ground from the middle of the map to the target: east and south, in pixels. */
function padded(position, viewport, height) {
    const offset = paddingOffset(viewport, scaleOf(viewport, height));
    const view = { ...anglesOf(position), distance: EYE_DISTANCE * height };
    return groundUnder(offset, view) ?? { east: 0, south: 0 };
}

/** Returns the options with which `moveCamera` shows a camera on a map `height` pixels high. */
export function cameraOptions({ position, viewport }, height) {
    const zoom = position.zoom + Math.log2(scaleOf(viewport, height));
    const { east, south } = padded(position, viewport, height);
    const { latitude, longitude } = shifted(position.target, { east: -east, south: -south }, 256 * 2 ** zoom);
    return { center: { lat: latitude, lng: longitude }, zoom, heading: position.bearing, tilt: position.viewingAngle };
}

/** Returns the position of a map with these options. */
export function positionFrom({ center, zoom, heading = 0, tilt = 0 }, viewport, height) {
    const view = { bearing: heading, viewingAngle: tilt };
    const target = shifted(
        { latitude: center.lat, longitude: center.lng }, padded(view, viewport, height), 256 * 2 ** zoom);
    return positionOf({ ...target, ...view, zoom: zoom - Math.log2(scaleOf(viewport, height)) });
}

/** Makes a map follow a camera; returns a function that stops it. */
export function follow(map, camera, { lead = false } = {}) {
    const element = map.getDiv();
    let height = element.clientHeight, viewport = null;
    return link({
        show(camera) {
            [height, viewport] = [element.clientHeight, camera.viewport];
            map.moveCamera(cameraOptions(camera, height));
        },
        read() {
            const options = { zoom: map.getZoom(), heading: map.getHeading(), tilt: map.getTilt() };
            return positionFrom({ ...options, center: map.getCenter().toJSON() }, viewport, height);
        },
        surface: element,
        listen({ moved, rested, resized }) {
            // Events of what was shown may come late. Only input on the map moves it.
            let isTouched = false;
            const touch = () => { isTouched = true; };
            const touches = ["pointerdown", "wheel", "keydown"];
            for (const type of touches) element.addEventListener(type, touch, true);
            const listeners = ["center_changed", "zoom_changed", "heading_changed", "tilt_changed"].map((type) =>
                map.addListener(type, () => { if (isTouched) moved(); }));
            listeners.push(map.addListener("idle", () => {
                // A map is also idle while a finger rests on it.
                if (isTouched) isTouched = !rested();
            }));
            const observer = new ResizeObserver(resized);
            observer.observe(element);
            return () => {
                for (const type of touches) element.removeEventListener(type, touch, true);
                for (const listener of listeners) listener.remove();
                observer.disconnect();
            };
        },
    }, camera, { lead });
}
