// The protocol's projection (Protocols/README.md, "Projection"), from places to points of a camera's viewport and back;
// and what adapters share: the scale of a map that shows a camera, and positions as the daemon prints them. Pure
// functions, without an engine. The page of gimbal-web also draws with it.
//
//     import { project, unproject } from "./projection.js";
//     const target = { latitude: 48.86, longitude: 2.29 };
//     const position = { target, zoom: 14, bearing: 0, viewingAngle: 30 };
//     const camera = { position, viewport: { width: 390, height: 844 } };
//     const point = project(camera, { latitude: 48.87, longitude: 2.3 });   // in points; null behind the camera
//     const place = unproject(camera, { x: 195, y: 100 });                  // null at or above the horizon

/** One degree, in radians. */
export const DEGREE = Math.PI / 180;

/** The distance from the eye to the target, in heights of the viewport: a vertical field of view of 36.87°. */
export const EYE_DISTANCE = 1.5;

/** The viewport of a new camera, used until the camera's own is known. */
export const NEW_VIEWPORT = { width: 390, height: 844 };

/** The Mercator plane: the world from 0 to 1, x to the east and y to the south. The poles are far, but finite. */
export const mercatorX = (longitude) => (longitude + 180) / 360;

export function mercatorY(latitude) {
    const sine = Math.sin(Math.min(Math.max(latitude, -90 + 1e-9), 90 - 1e-9) * DEGREE);
    return 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI);
}

/** Returns the longitude of an x on the Mercator plane, not wrapped. */
export const longitudeOf = (x) => x * 360 - 180;

export const latitudeOf = (y) => Math.atan(Math.sinh(Math.PI * (1 - 2 * y))) / DEGREE;

/** Returns the same longitude, in the turn around the world nearest to `to`. */
export function nearest(longitude, to) {
    return longitude + 360 * Math.round((to - longitude) / 360);
}

/** Returns how many pixels of a map `height` pixels high make one point of the viewport. */
export function scaleOf(viewport, height) {
    return height / (viewport ?? NEW_VIEWPORT).height;
}

/** Returns all four sides of a viewport's padding, in pixels of a map of that scale. */
export function paddingOf(viewport, scale = 1) {
    const { top = 0, left = 0, bottom = 0, right = 0 } = viewport?.padding ?? {};
    return { top: top * scale, left: left * scale, bottom: bottom * scale, right: right * scale };
}

/** Returns the way from the middle of the viewport to the middle less its padding, where the target is; in pixels. */
export function paddingOffset(viewport, scale = 1) {
    const { top, left, bottom, right } = paddingOf(viewport, scale);
    return { x: (left - right) / 2, y: (top - bottom) / 2 };
}

/** Returns the sines and cosines of a position's angles. */
export function anglesOf({ bearing = 0, viewingAngle = 0 }) {
    const [tilt, turn] = [viewingAngle * DEGREE, bearing * DEGREE];
    return { sinTilt: Math.sin(tilt), cosTilt: Math.cos(tilt), sinTurn: Math.sin(turn), cosTurn: Math.cos(turn) };
}

/** A camera's projection, for use with many places. Offsets `{ u, v }` are points on the ground, from the target. */
export class Projection {
    constructor(position, viewport) {
        const { width, height } = viewport ?? NEW_VIEWPORT, offset = paddingOffset(viewport);
        Object.assign(this, anglesOf(position), { width, height });
        // Where the target is seen.
        this.centerX = width / 2 + offset.x;
        this.centerY = height / 2 + offset.y;
        // The distance from the eye to the target, and the width of the world, in points.
        this.distance = EYE_DISTANCE * height;
        this.scale = 256 * 2 ** position.zoom;
        this.x = mercatorX(position.target.longitude);
        this.y = mercatorY(position.target.latitude);
    }

    /** Returns a point of the Mercator plane as an offset, right and down the screen; it does not choose a copy. */
    ground(x, y) {
        const east = (x - this.x) * this.scale, south = (y - this.y) * this.scale;
        return { u: east * this.cosTurn + south * this.sinTurn, v: south * this.cosTurn - east * this.sinTurn };
    }

    /** Returns the point of the Mercator plane at an offset; it may be beyond the edges of the world. */
    place(ground) {
        const { east, south } = turned(ground, this);
        return { x: this.x + east / this.scale, y: this.y + south / this.scale };
    }

    /** Returns the point of the viewport where an offset is seen, or null beside and behind the eye. */
    screen({ u, v }) {
        const depth = this.distance - v * this.sinTilt;
        if (!(depth > 0)) return null;
        return {
            x: this.centerX + this.distance * u / depth, y: this.centerY + this.distance * v * this.cosTilt / depth,
        };
    }

    /** Returns the offset under a point of the viewport, or null at or above the horizon. */
    groundUnder({ x, y }) {
        return under({ x: x - this.centerX, y: y - this.centerY }, this);
    }

    /** Returns the point of the viewport where a place's nearest copy is seen, or null behind the camera. */
    project({ latitude, longitude }) {
        const east = wrapped((mercatorX(longitude) - this.x) * 360, -180) / 360;
        return this.screen(this.ground(this.x + east, mercatorY(latitude)));
    }

    /** Returns the place under a point of the viewport, or null at or above the horizon. */
    unproject(point) {
        const ground = this.groundUnder(point);
        if (!ground) return null;
        const { x, y } = this.place(ground);
        return { latitude: latitudeOf(y), longitude: wrapped(longitudeOf(x), -180) };
    }

    /** The y of the horizon, or -Infinity if there is none. */
    get horizon() {
        return this.sinTilt > 1e-9 ? this.centerY - this.distance * this.cosTilt / this.sinTilt : -Infinity;
    }

    /**
     * Returns the corners of a part of the viewport on the Mercator plane, clockwise from the top left. A corner above
     * the horizon is lowered to just below it.
     */
    outline(left = 0, top = 0, right = this.width, bottom = this.height) {
        const lowest = this.horizon + 0.02 * this.distance;
        return [[left, top], [right, top], [right, bottom], [left, bottom]].map(([x, y]) =>
            this.place(this.groundUnder({ x, y: Math.max(y, lowest) })));
    }
}

/** `Projection.project` for one place. */
export const project = ({ position, viewport }, place) => new Projection(position, viewport).project(place);

/** `Projection.unproject` for one point. */
export const unproject = ({ position, viewport }, point) => new Projection(position, viewport).unproject(point);

/** Returns the offset under a point given relative to where the target is seen, or null at or above the horizon. */
function under({ x, y }, { distance, sinTilt, cosTilt }) {
    const depth = distance * cosTilt + y * sinTilt;
    if (!(depth > 0)) return null;
    const v = distance * y / depth;
    return { u: x * (distance - v * sinTilt) / distance, v };
}

/** Returns an offset as points to the east and south. */
function turned({ u, v }, { sinTurn, cosTurn }) {
    return { east: u * cosTurn - v * sinTurn, south: u * sinTurn + v * cosTurn };
}

/** Returns the ground under a point given relative to where the target is seen: points east and south of the target. */
export function groundUnder(point, view) {
    const ground = under(point, view);
    return ground && turned(ground, view);
}

/** Returns the place that many points east and south of another, on a world `size` points wide. */
export function shifted({ latitude, longitude }, { east, south }, size) {
    const x = mercatorX(longitude) + east / size, y = mercatorY(latitude) + south / size;
    return { latitude: latitudeOf(y), longitude: longitudeOf(x) };
}

/** Returns an angle wrapped to the 360° from `least` on. */
export function wrapped(angle, least = -180) {
    return angle - 360 * Math.floor((angle - least) / 360);
}

/** Returns a position as the daemon prints it: wrapped, latitude and longitude with 9 decimals, the rest with 6. */
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
