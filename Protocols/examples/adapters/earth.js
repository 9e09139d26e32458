// A camera over the real earth, for engines that draw it round: how far the eye is from the target, and where it is.
// Pure functions, in metres and degrees. The earth is WGS 84's ellipsoid; the camera's map is flat, so only the target,
// and what is near it, is where the camera shows it: README.md says by how many pixels.

import { anglesOf, DEGREE, EYE_DISTANCE, NEW_VIEWPORT, positionOf } from "./projection.js";

/** The length of the equator in metres: the width of a map of the whole world. */
const CIRCUMFERENCE = 40_075_016.686;
const EQUATORIAL_RADIUS = 6_378_137, ECCENTRICITY_SQUARED = 6.69437999014e-3;

/** Returns the distance from the eye to the target, in metres: 1.5 · H · 40,075,016.686 · cos φ / (256 · 2^zoom). */
export function rangeOf({ position, viewport }) {
    const { height } = viewport ?? NEW_VIEWPORT, { target, zoom } = position;
    return EYE_DISTANCE * height * CIRCUMFERENCE * Math.cos(target.latitude * DEGREE) / (256 * 2 ** zoom);
}

/** Returns the position of a camera that looks at a target from that range. */
export function positionAt({ latitude, longitude, heading = 0, tilt = 0, range }, viewport = NEW_VIEWPORT) {
    const width = EYE_DISTANCE * viewport.height * CIRCUMFERENCE * Math.cos(latitude * DEGREE) / range;
    return positionOf({ latitude, longitude, zoom: Math.log2(width / 256), bearing: heading, viewingAngle: tilt });
}

/** Returns the angle between the left and the right edge of the viewport, in degrees. */
export function horizontalFieldOfView({ viewport }) {
    const { width, height } = viewport ?? NEW_VIEWPORT;
    return 2 * Math.atan(width / (2 * EYE_DISTANCE * height)) / DEGREE;
}

const sum = (...vectors) => [0, 1, 2].map((axis) => vectors.reduce((total, [factor, vector]) =>
    total + factor * vector[axis], 0));
const dot = (one, other) => one[0] * other[0] + one[1] * other[1] + one[2] * other[2];

/** Returns the unit vectors east, north and up at a place. */
export function axesAt({ latitude, longitude }) {
    const [sinLat, cosLat] = [Math.sin(latitude * DEGREE), Math.cos(latitude * DEGREE)];
    const [sinLng, cosLng] = [Math.sin(longitude * DEGREE), Math.cos(longitude * DEGREE)];
    return {
        east: [-sinLng, cosLng, 0], north: [-sinLat * cosLng, -sinLat * sinLng, cosLat],
        up: [cosLat * cosLng, cosLat * sinLng, sinLat],
    };
}

/** Returns the point of a place, in metres from the earth's centre. */
export function pointAt({ latitude, longitude, altitude = 0 }) {
    const { up } = axesAt({ latitude, longitude });
    const normal = EQUATORIAL_RADIUS / Math.sqrt(1 - ECCENTRICITY_SQUARED * up[2] ** 2);
    return [
        (normal + altitude) * up[0], (normal + altitude) * up[1],
        (normal * (1 - ECCENTRICITY_SQUARED) + altitude) * up[2],
    ];
}

/** Returns the place of a point, by Bowring's formula, repeated until it converges. */
export function placeOf([x, y, z]) {
    const aside = Math.hypot(x, y), flat = Math.sqrt(1 - ECCENTRICITY_SQUARED);
    let reduced = Math.atan2(z, aside * flat), latitude = 0;
    for (let round = 0; round < 4; round += 1) {
        latitude = Math.atan2(
            z + ECCENTRICITY_SQUARED / flat * EQUATORIAL_RADIUS * Math.sin(reduced) ** 3,
            aside - ECCENTRICITY_SQUARED * EQUATORIAL_RADIUS * Math.cos(reduced) ** 3);
        reduced = Math.atan2(flat * Math.sin(latitude), Math.cos(latitude));
    }
    const [sine, cosine] = [Math.sin(latitude), Math.cos(latitude)];
    const altitude = aside * cosine + z * sine - EQUATORIAL_RADIUS * Math.sqrt(1 - ECCENTRICITY_SQUARED * sine ** 2);
    return { latitude: latitude / DEGREE, longitude: Math.atan2(y, x) / DEGREE, altitude };
}

/**
 * Returns where the eye is, and where it looks, with the target at its `altitude` (default 0): latitude, longitude, and
 * altitude in metres; heading, tilt (0 looks straight down) and roll in degrees, at the eye. There, north and the
 * vertical differ from those at the target. If the eye is near, heading and tilt are the camera's bearing and viewing
 * angle, and roll is 0.
 */
export function eyeOf({ position, viewport }) {
    const { sinTilt, cosTilt, sinTurn, cosTurn } = anglesOf(position);
    const range = rangeOf({ position, viewport }), target = pointAt(position.target);
    const { east, north, up } = axesAt(position.target);
    const ahead = sum([sinTurn, east], [cosTurn, north]), right = sum([cosTurn, east], [-sinTurn, north]);
    const look = sum([sinTilt, ahead], [-cosTilt, up]);
    const place = placeOf(sum([1, target], [-range, look]));

    const there = axesAt(place);
    const tilt = Math.acos(Math.min(1, Math.max(-1, -dot(look, there.up))));
    // Straight down has no heading: then the screen's right edge defines it.
    const heading = Math.sin(tilt) > 1e-6 ?
        Math.atan2(dot(look, there.east), dot(look, there.north)) :
        Math.atan2(-dot(right, there.north), dot(right, there.east));
    const level = sum([Math.cos(heading), there.east], [-Math.sin(heading), there.north]);
    const above = sum([Math.cos(tilt) * Math.sin(heading), there.east],
        [Math.cos(tilt) * Math.cos(heading), there.north], [Math.sin(tilt), there.up]);
    const roll = Math.atan2(dot(right, above), dot(right, level));
    return { ...place, heading: ((heading / DEGREE) + 360) % 360, tilt: tilt / DEGREE, roll: roll / DEGREE };
}
