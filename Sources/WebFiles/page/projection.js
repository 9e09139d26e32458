// The protocol's projection between places, the ground and the screen (Protocols/README.md, "Projection").
// Web Mercator is told in turns of the world: X and Y from 0 to 1. Points are CSS pixels from the viewport's top left.

const RADIANS = Math.PI / 180;

export const mercatorX = (longitude) => (longitude + 180) / 360;

export function mercatorY(latitude) {
    const sine = Math.sin(Math.min(Math.max(latitude, -90 + 1e-9), 90 - 1e-9) * RADIANS);
    return 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI);
}

export const longitudeOf = (x) => x * 360 - 180;

export const latitudeOf = (y) => Math.atan(Math.sinh((0.5 - y) * 2 * Math.PI)) / RADIANS;

// A longitude in [-180, 180).
export function wrap(longitude) {
    const turned = (longitude + 180) % 360;
    return (turned < 0 ? turned + 360 : turned) - 180;
}

export class Projection {
    constructor(position, viewport) {
        const padding = viewport.padding ?? {};
        const {top = 0, left = 0, bottom = 0, right = 0} = padding;
        this.width = viewport.width;
        this.height = viewport.height;
        this.centerX = (left + this.width - right) / 2;
        this.centerY = (top + this.height - bottom) / 2;
        // The eye is so many points from the target.
        this.distance = 1.5 * this.height;
        // The world's width in points.
        this.scale = 256 * 2 ** position.zoom;
        const bearing = position.bearing * RADIANS;
        const tilt = position.viewingAngle * RADIANS;
        this.sinBearing = Math.sin(bearing);
        this.cosBearing = Math.cos(bearing);
        this.sinTilt = Math.sin(tilt);
        this.cosTilt = Math.cos(tilt);
        this.x = mercatorX(position.target.longitude);
        this.y = mercatorY(position.target.latitude);
    }

    // The offset on the ground of a place in Mercator turns, right and down the screen; not brought near.
    ground(x, y) {
        const east = (x - this.x) * this.scale;
        const south = (y - this.y) * this.scale;
        return {
            u: east * this.cosBearing + south * this.sinBearing,
            v: south * this.cosBearing - east * this.sinBearing,
        };
    }

    // The screen point of an offset on the ground; null beside or behind the eye.
    screen({u, v}) {
        const depth = this.distance - v * this.sinTilt;
        if (depth <= 0) return null;
        return {
            x: this.centerX + (this.distance * u) / depth,
            y: this.centerY + (this.distance * v * this.cosTilt) / depth,
        };
    }

    // The offset on the ground under a screen point; null at the horizon and above it.
    groundUnder(point) {
        const x = point.x - this.centerX;
        const y = point.y - this.centerY;
        const depth = this.distance * this.cosTilt + y * this.sinTilt;
        if (depth <= 0) return null;
        const v = (this.distance * y) / depth;
        return {u: (x * (this.distance - v * this.sinTilt)) / this.distance, v};
    }

    // A place in Mercator turns, of an offset on the ground; beyond the edges of the world it goes on.
    place({u, v}) {
        return {
            x: this.x + (u * this.cosBearing - v * this.sinBearing) / this.scale,
            y: this.y + (u * this.sinBearing + v * this.cosBearing) / this.scale,
        };
    }

    // The screen point of a place, of its copy that is nearest to the target; null behind the eye.
    project({latitude, longitude}) {
        const east = wrap((mercatorX(longitude) - this.x) * 360) / 360;
        return this.screen(this.ground(this.x + east, mercatorY(latitude)));
    }

    // The place under a screen point; null in the sky.
    unproject(point) {
        const ground = this.groundUnder(point);
        if (!ground) return null;
        const {x, y} = this.place(ground);
        return {latitude: latitudeOf(y), longitude: wrap(longitudeOf(x))};
    }

    // The y of the horizon; far above where there is none.
    get horizon() {
        return this.sinTilt > 1e-9 ? this.centerY - (this.distance * this.cosTilt) / this.sinTilt : -Infinity;
    }

    // The corners of a part of the screen on the ground, in Mercator turns, from the top left clockwise. What is above the
    // horizon is lowered to just below it.
    outline(left = 0, top = 0, right = this.width, bottom = this.height) {
        const lowest = this.horizon + 0.02 * this.distance;
        return [[left, top], [right, top], [right, bottom], [left, bottom]].map(([x, y]) =>
            this.place(this.groundUnder({x, y: Math.max(y, lowest)})));
    }
}
