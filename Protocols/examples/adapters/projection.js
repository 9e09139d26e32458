// The protocol's projection (Protocols/README.md, "Projection"): places to points of a camera's viewport and back,
// and what adapters share: how large a map shows a camera, and a position as the daemon prints it. Pure functions, no
// engine.
//
//     import { project, unproject } from "./projection.js";
//     const target = { latitude: 48.86, longitude: 2.29 };
//     const position = { target, zoom: 14, bearing: 0, viewingAngle: 30 };
//     const camera = { position, viewport: { width: 390, height: 844 } };
//     const point = project(camera, { latitude: 48.87, longitude: 2.3 });   // in points; null behind the camera
//     const place = unproject(camera, { x: 195, y: 100 });                  // null at or above the horizon

/** In radians. */
export const DEGREE = Math.PI / 180;

/** The eye is so many heights of the viewport from the target: a vertical field of view of 36.87°. */
export const EYE_DISTANCE = 1.5;

/** A new camera's viewport: what holds until the camera's own is known. */
export const NEW_VIEWPORT = { width: 390, height: 844 };

/** A place on Mercator's plane: the world from 0 to 1, x to the east and y to the south. */
export function mercator({ latitude, longitude }) {
    const sine = Math.sin(latitude * DEGREE);
    return { x: (longitude + 180) / 360, y: 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI) };
}

/** The place at a point of Mercator's plane. Its longitude is not wrapped. */
export function placeAt({ x, y }) {
    return { latitude: Math.atan(Math.sinh(Math.PI * (1 - 2 * y))) / DEGREE, longitude: x * 360 - 180 };
}

/** The same longitude, in the turn around the world that is nearest to `to`. */
export function nearest(longitude, to) {
    return longitude + 360 * Math.round((to - longitude) / 360);
}

/** How many pixels of a map that is `height` pixels high are one point of the viewport. */
export function scaleOf(viewport, height) {
    return height / (viewport ?? NEW_VIEWPORT).height;
}

/** The padding of a viewport, all four sides, in pixels of a map of that scale. */
export function paddingOf(viewport, scale = 1) {
    const { top = 0, left = 0, bottom = 0, right = 0 } = viewport?.padding ?? {};
    return { top: top * scale, left: left * scale, bottom: bottom * scale, right: right * scale };
}

/** From the middle of the viewport to that of what its padding leaves, where the target is; in pixels of that scale. */
export function paddingOffset(viewport, scale = 1) {
    const { top, left, bottom, right } = paddingOf(viewport, scale);
    return { x: (left - right) / 2, y: (top - bottom) / 2 };
}

/** A camera's numbers, ready to use: where its target is on the screen, and what turns and tilts it. */
function viewOf({ position, viewport }) {
    const { width, height } = viewport ?? NEW_VIEWPORT;
    const offset = paddingOffset(viewport);
    return {
        ...anglesOf(position), center: { x: width / 2 + offset.x, y: height / 2 + offset.y },
        distance: EYE_DISTANCE * height, size: 256 * 2 ** position.zoom,
    };
}

/** Sines and cosines of a position's angles. */
export function anglesOf({ bearing = 0, viewingAngle = 0 }) {
    const [tilt, turn] = [viewingAngle * DEGREE, bearing * DEGREE];
    return { sinTilt: Math.sin(tilt), cosTilt: Math.cos(tilt), sinTurn: Math.sin(turn), cosTurn: Math.cos(turn) };
}

/** The point of the viewport where a place, its nearest copy, is seen; null if it is behind the camera. */
export function project(camera, place) {
    const view = viewOf(camera), { target } = camera.position;
    const from = mercator(target);
    const to = mercator({ latitude: place.latitude, longitude: nearest(place.longitude, target.longitude) });
    const [east, south] = [(to.x - from.x) * view.size, (to.y - from.y) * view.size];
    const [u, v] = [east * view.cosTurn + south * view.sinTurn, south * view.cosTurn - east * view.sinTurn];
    const depth = view.distance - v * view.sinTilt;
    if (!(depth > 0)) return null;
    return {
        x: view.center.x + view.distance * u / depth, y: view.center.y + view.distance * v * view.cosTilt / depth,
    };
}

/** The place under a point of the viewport, or null at or above the horizon. */
export function unproject(camera, point) {
    const view = viewOf(camera), { target } = camera.position;
    const ground = groundUnder({ x: point.x - view.center.x, y: point.y - view.center.y }, view);
    const place = ground && shifted(target, ground, view.size);
    return place && { latitude: place.latitude, longitude: wrapped(place.longitude, -180) };
}

/** What is under a point so far from where the target is seen: from the target to the east and south, in points. */
export function groundUnder({ x, y }, { distance, sinTilt, cosTilt, sinTurn, cosTurn }) {
    const depth = distance * cosTilt + y * sinTilt;
    if (!(depth > 0)) return null;
    const v = distance * y / depth, u = x * (distance - v * sinTilt) / distance;
    return { east: u * cosTurn - v * sinTurn, south: u * sinTurn + v * cosTurn };
}

/** The place that is so many points to the east and south of another, where the world is `size` points wide. */
export function shifted(place, { east, south }, size) {
    const from = mercator(place);
    return placeAt({ x: from.x + east / size, y: from.y + south / size });
}

/** An angle, within 360° from `least`. */
function wrapped(angle, least) {
    return angle - 360 * Math.floor((angle - least) / 360);
}

/** A position as the daemon prints it: wrapped, with 9 decimals of latitude and longitude and 6 of everything else. */
export function positionOf({ latitude, longitude, zoom, bearing = 0, viewingAngle = 0 }) {
    const rounded = (value, digits) => Number(value.toFixed(digits)) || 0;
    return {
        target: {
            latitude: rounded(latitude, 9), longitude: wrapped(rounded(wrapped(longitude, -180), 9), -180),
        },
        zoom: rounded(zoom, 6), bearing: wrapped(rounded(wrapped(bearing, 0), 6), 0),
        viewingAngle: rounded(viewingAngle, 6),
    };
}

/** Whether two positions print the same. */
export function isSame(one, other) {
    return one?.zoom === other?.zoom && one?.bearing === other?.bearing && one?.viewingAngle === other?.viewingAngle &&
        one?.target.latitude === other?.target.latitude && one?.target.longitude === other?.target.longitude;
}
