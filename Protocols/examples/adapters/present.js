// Where a camera is to be at times of the wall clock, as lines `present` tell it ahead: a map draws each frame for the time at
// which the frame is seen, and so do the maps of other screens, whatever the network does.
//
//     import { Schedule, wallTimeOf } from "./present.js";
//     const schedule = new Schedule();
//     schedule.add({ presentAt: 1764115264123.5, position, moving: true });     // as the daemon's line has it
//     requestAnimationFrame((time) => schedule.at(wallTimeOf(time)));           // a position, or null: the camera's own counts

import { latitudeOf, longitudeOf, mercatorX, mercatorY, nearest } from "./projection.js";

/** How long a camera is on its way from one position to the next at the most, and how long the last one counts; in ms. */
const LONGEST_WAY = 50, KEPT = 1000;

/** A frame is seen so long after it has begun, about. */
const FRAME = 1000 / 60;

/** The time of the wall clock at which a frame is seen that begins then. Clocks are set: it is measured for each frame. */
export function wallTimeOf(frameTime) {
    return Date.now() + (frameTime - performance.now()) + FRAME;
}

/** The positions of one camera. */
export class Schedule {
    #positions = [];

    /** Takes a position, in place of all that were to be there at its time or later. */
    add({ presentAt, position, moving = false }) {
        this.#positions = this.#positions.filter((known) => known.presentAt < presentAt).slice(-512);
        this.#positions.push({ presentAt, position, moving });
    }

    /** Whether there is one to show. */
    get isEmpty() { return this.#positions.length === 0; }

    clear() { this.#positions = []; }

    /** Where the camera is at a time; null where that is not told. What is over is forgotten: times do not go back. */
    at(time) {
        const index = this.#positions.findLastIndex(({ presentAt }) => presentAt <= time);
        if (index < 0) return null;
        this.#positions.splice(0, index);
        const [here, next] = this.#positions;
        if (!next && (!here.moving || time > here.presentAt + KEPT)) this.clear();
        if (!next || !here.moving) return here.position;
        const start = Math.max(here.presentAt, next.presentAt - LONGEST_WAY);
        return time <= start ? here.position : between(here.position, next.position, (time - start) / (next.presentAt - start));
    }
}

/** A part of a linear animation, from 0 to 1. */
function between(from, to, share) {
    const mix = (a, b) => a + (b - a) * share;
    const turn = nearest(to.bearing, from.bearing), longitude = nearest(to.target.longitude, from.target.longitude);
    return {
        target: {
            latitude: latitudeOf(mix(mercatorY(from.target.latitude), mercatorY(to.target.latitude))),
            longitude: nearest(longitudeOf(mix(mercatorX(from.target.longitude), mercatorX(longitude))), 0),
        },
        zoom: mix(from.zoom, to.zoom), bearing: (mix(from.bearing, turn) + 360) % 360,
        viewingAngle: mix(from.viewingAngle, to.viewingAngle),
    };
}
