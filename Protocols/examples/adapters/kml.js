// Converts a camera for Google Earth: to KML, and to the datagrams by which its screens follow each other (ViewSync).
//
//     import { lookAtElement, viewSync } from "./kml.js";
//     const kml = lookAtElement(camera);          // <LookAt> for a placemark, a tour or a network link
//     let count = 0;
//     camera.addEventListener("change", () => send(viewSync(++count, camera)));   // `send`: UDP, which no browser has
//
// `camera` has `position` and `viewport`: see cameras.js.
//
// Limitations:
// - The earth is round: the target is in the middle, and only what is near it is where the camera shows it. README.md
//   lists the errors in pixels.
// - Padding is ignored: the target is in the middle of the screen.
// - A LookAt has no field of view unless the reader supports `<gx:horizFov>`; a screen that follows by ViewSync has its
//   own, the setting `ViewSync/horizFov`: `horizontalFieldOfView` of earth.js returns the right one.
// - A datagram's eye is above the ellipsoid, at worst inside a mountain: where the ground is higher, set its height in
//   metres as the `altitude` of the position's target. A LookAt is relative to the ground anyway.

import { eyeOf, horizontalFieldOfView, rangeOf } from "./earth.js";

/** Returns the numbers of a LookAt, by the names of its elements, in degrees and metres. */
export function lookAt(camera) {
    const { target, bearing = 0, viewingAngle = 0 } = camera.position;
    const { latitude, longitude } = target;
    return { longitude, latitude, altitude: 0, heading: bearing, tilt: viewingAngle, range: rangeOf(camera) };
}

// Not every reader understands exponents.
const decimal = (value, digits) => value.toFixed(digits).replace(/\.?0+$/, "").replace(/^-0$/, "0");

/** Returns a `<LookAt>`; its prefix `gx` is Google's namespace `http://www.google.com/kml/ext/2.2`. */
export function lookAtElement(camera) {
    const { longitude, latitude, altitude, heading, tilt, range } = lookAt(camera);
    // In the order of KML's schema.
    const elements = {
        "gx:horizFov": decimal(horizontalFieldOfView(camera), 6),
        longitude: decimal(longitude, 9), latitude: decimal(latitude, 9), altitude: decimal(altitude, 3),
        heading: decimal(heading, 6), tilt: decimal(tilt, 6), range: decimal(range, 3),
        altitudeMode: "relativeToGround",
    };
    const lines = Object.entries(elements).map(([name, value]) => `<${name}>${value}</${name}>`);
    return `<LookAt>${lines.join("")}</LookAt>`;
}

/** The beginning of Unix time in ViewSync's seconds, which count from the year 1. */
const UNIX_EPOCH = 62_135_596_800;

/**
 * Returns a ViewSync datagram: counter, latitude, longitude, altitude, heading, tilt, roll, begin and end of the time
 * shown, and the planet, which is empty for the earth.
 */
export function viewSync(counter, camera, date = new Date()) {
    const { latitude, longitude, altitude, heading, tilt, roll } = eyeOf(camera);
    const numbers = [
        [latitude, 12], [longitude, 12], [altitude, 6],
        [heading > 180 ? heading - 360 : heading, 9], [tilt, 9], [roll, 9],
    ];
    const seconds = UNIX_EPOCH + Math.floor(date.getTime() / 1000);
    return [counter, ...numbers.map(([value, digits]) => decimal(value, digits)), seconds, seconds, ""].join(",");
}
