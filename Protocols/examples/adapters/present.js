// Where a camera is due at times of the wall clock, as the daemon's `present` lines announce it. A map that draws each
// frame for the time at which the frame is seen shows what all other screens show then, whatever the network does.
//
//     import { Schedule, wallTimeOf } from "./present.js";
//     const schedule = new Schedule();
//     const position = { target: { latitude: 48.86, longitude: 2.29 }, zoom: 14, bearing: 0, viewingAngle: 0 };
//     schedule.add({ presentAt: 1764115264123.5, position, moving: true });    // `presentation` of the daemon's line
//     requestAnimationFrame((time) => schedule.at(wallTimeOf(time)));          // null: the camera's own counts

import { latitudeOf, longitudeOf, mercatorX, mercatorY, nearest } from "./projection.js";

/** The longest way from one position to the next, and how long the last one counts where the next is missing; in ms. */
const LONGEST_WAY = 50, PATIENCE = 1000;

/** The most positions that are kept. */
const MOST = 512;

/** From a frame's begin until it is seen, about; in ms. */
const FRAME = 1000 / 60;

/** When a frame is seen that begins at `frameTime`, on the wall clock, which may be set: it is asked for each frame. */
export function wallTimeOf(frameTime) {
    return frameTime + wallClockAhead() + FRAME;
}

/** How far the wall clock is ahead of the page's own. Another process may have had the processor between the two: then again. */
function wallClockAhead() {
    for (let tries = 1; ; tries++) {
        const [before, wallTime, after] = [performance.now(), Date.now(), performance.now()];
        if (after - before < 0.5 || tries === 5) return wallTime - before;
    }
}

/** The positions of one camera that were told ahead. */
export class Schedule {
    #positions = [];

    get isEmpty() { return this.#positions.length === 0; }

    /** Takes a position, in place of all that were to be shown at its time or later. */
    add({ presentAt, position, moving = false }) {
        this.#positions = this.#positions.filter((known) => known.presentAt < presentAt).slice(1 - MOST);
        this.#positions.push({ presentAt, position, moving });
    }

    clear() { this.#positions = []; }

    /** Where the camera is at a time; null where that is not known. What is over then is forgotten. */
    at(time) {
        const index = this.#positions.findLastIndex(({ presentAt }) => presentAt <= time);
        if (index < 0) return null;
        this.#positions.splice(0, index);
        const [here, next] = this.#positions;
        if (!next) {
            const isLost = here.moving && time > here.presentAt + PATIENCE;
            if (!here.moving || isLost) this.clear();
            return isLost ? null : here.position;
        }
        const start = Math.max(here.presentAt, next.presentAt - LONGEST_WAY);
        if (!here.moving || time <= start) return here.position;
        return between(here.position, next.position, (time - start) / (next.presentAt - start));
    }
}

/** The position that far, from 0 to 1, on the straight way of a linear animation. */
function between(from, to, share) {
    const mix = (a, b) => a + (b - a) * share;
    const longitude = nearest(to.target.longitude, from.target.longitude);
    return {
        target: {
            latitude: latitudeOf(mix(mercatorY(from.target.latitude), mercatorY(to.target.latitude))),
            longitude: nearest(longitudeOf(mix(mercatorX(from.target.longitude), mercatorX(longitude))), 0),
        },
        zoom: mix(from.zoom, to.zoom), bearing: (mix(from.bearing, nearest(to.bearing, from.bearing)) + 360) % 360,
        viewingAngle: mix(from.viewingAngle, to.viewingAngle),
    };
}
