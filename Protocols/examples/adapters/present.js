// Where a camera is due at times of the wall clock, as the daemon's `present` lines announce it. A map that draws each
// frame for the time at which the frame is seen shows what all other screens show then, whatever the network does.
//
//     import { Schedule, wallTimeOf } from "./present.js";
//     const schedule = new Schedule();
//     const position = { target: { latitude: 48.86, longitude: 2.29 }, zoom: 14, bearing: 0, viewingAngle: 0 };
//     schedule.add({ presentAt: 1764115264123.5, position, moving: true });    // `presentation` of the daemon's line
//     requestAnimationFrame((time) => schedule.at(wallTimeOf(time)));          // null: the camera's own counts

import { latitudeOf, longitudeOf, mercatorX, mercatorY, nearest } from "./projection.js";

/** The longest movement to a next position, and how long the last one holds if the next is missing; in ms. */
const LONGEST_WAY = 50, PATIENCE = 1000;

/** The most positions kept. */
const MOST = 512;

/** The shortest and the longest interval of a screen's frames, in ms: 500 and 23 a second. */
const SHORTEST = 2, LONGEST = 1000 / 23;

/** The latest differences of frame times, and the interval of frames that follows from them; in ms. */
const differences = Array(64).fill(1000 / 60);
let latestFrame = -Infinity, interval = 1000 / 60;

/**
 * Returns the wall-clock time at which a frame that begins at `frameTime` is seen: about one interval later. Call it in
 * each frame, since clocks may jump and windows move to other screens; between frames, with `isFrame` false.
 */
export function wallTimeOf(frameTime, isFrame = true) {
    if (isFrame && frameTime !== latestFrame) {
        measure(frameTime - latestFrame);
        latestFrame = frameTime;
    }
    return frameTime + wallClockAhead() + interval;
}

/** Takes a difference of frame times: several intervals if frames were left out. A few may be too short. */
function measure(difference) {
    if (!(difference >= SHORTEST && difference <= LONGEST)) return;
    differences.shift();
    differences.push(difference);
    interval = [...differences].sort((a, b) => a - b)[3];
}

/** Returns how far the wall clock is ahead of the page's own. Reads again if a pause came between the two clocks. */
export function wallClockAhead() {
    for (let tries = 1; ; tries++) {
        const [before, wallTime, after] = [performance.now(), Date.now(), performance.now()];
        if (after - before < 0.5 || tries === 5) return wallTime - before;
    }
}

/** The positions of one camera that were announced ahead of their time. */
export class Schedule {
    #positions = [];

    get isEmpty() { return this.#positions.length === 0; }

    /** Adds a position, which replaces all that are due at its time or later. */
    add({ presentAt, position, moving = false }) {
        this.#positions = this.#positions.filter((known) => known.presentAt < presentAt).slice(1 - MOST);
        this.#positions.push({ presentAt, position, moving });
    }

    clear() { this.#positions = []; }

    /** Returns where the camera is at a time, or null if unknown, and forgets what is over by then. */
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

/** Returns the position at a share, 0 to 1, of the straight way of a linear animation. */
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
