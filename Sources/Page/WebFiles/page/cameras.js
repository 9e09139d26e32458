// What is known of each camera: the newest that the stream has told. Views ask here when they draw; no other file keeps a state
// of a camera's. Invariant: a camera is there from its `subscribed` to its `removed`.

import {Projection} from "./projection.js";

// Colours tell cameras apart on the overview and in the tabs; the first is the page's own accent.
export const COLORS = 6;

// A way and a timeline go back so far.
export const HISTORY_MS = 60_000;
const MOST_SAMPLES = 4000;
const TRAIL_MS = 700;

export class Camera {
    constructor(name, color) {
        this.name = name;
        this.color = color;
        this.seq = 0;
        this.epoch = "";
        this.position = {target: {latitude: 0, longitude: 0}, zoom: 2, bearing: 0, viewingAngle: 0};
        this.viewport = {width: 390, height: 844, padding: {top: 0, left: 0, bottom: 0, right: 0}};
        this.settings = null;
        this.isMoving = false;
        this.reason = null;
        this.timeMs = null;
        // What the camera did, for the timeline and the way: {timeMs, position}.
        this.samples = [];
        // Gestures that are active, and those that were: {kind, from, to}.
        this.bars = [];
        this.markers = [];
        // Fingers by surface: Map of number to {surface, touches, trails}.
        this.surfaces = new Map();
        this.replay = null;
    }

    get projection() { return new Projection(this.position, this.viewport); }

    move(message) {
        this.position = message.position;
        this.seq = message.seq;
        if (message.timeMs === undefined) return;
        this.timeMs = message.timeMs;
        this.samples.push({timeMs: message.timeMs, position: message.position});
        if (this.samples.length > MOST_SAMPLES) this.samples.splice(0, MOST_SAMPLES / 4);
    }

    begin(timeMs) {
        this.samples = [];
        this.bars = [];
        this.markers = [];
        this.surfaces.clear();
        this.timeMs = timeMs ?? null;
    }

    setGestures(kinds, timeMs) {
        for (const bar of this.bars) {
            if (bar.to === null && !kinds.includes(bar.kind)) bar.to = timeMs;
        }
        for (const kind of kinds) {
            if (!this.bars.some((bar) => bar.kind === kind && bar.to === null)) {
                this.bars.push({kind, from: timeMs, to: null});
            }
        }
        if (this.bars.length > 500) this.bars.splice(0, 100);
        this.timeMs = Math.max(this.timeMs ?? timeMs, timeMs);
    }

    get activeGestures() { return this.bars.filter((bar) => bar.to === null).map((bar) => bar.kind); }

    // Who touches, where a surface has a name of its own; a page's fingers have no name in particular.
    get touching() {
        const names = [...this.surfaces.values()].filter(({touches}) => touches.length).map(({surface}) => surface);
        return [...new Set(names)].filter((name) => name !== undefined && name !== "page").map(String);
    }

    touch(message, now) {
        const before = this.surfaces.get(message.number);
        const trails = before?.trails ?? new Map();
        for (const finger of message.touches) {
            const trail = trails.get(finger.id) ?? [];
            trail.push({x: finger.x, y: finger.y, at: now});
            while (trail.length > 2 && now - trail[0].at > TRAIL_MS) trail.shift();
            trails.set(finger.id, trail);
        }
        this.surfaces.set(message.number, {
            surface: message.surface, touches: message.touches, isCancelled: message.cancelled === true, trails, at: now,
        });
    }

    // Forgets what has faded away; whether something is still to be drawn that fades.
    fade(now) {
        let isFading = false;
        for (const [number, surface] of this.surfaces) {
            const down = new Set(surface.touches.map((finger) => finger.id));
            for (const [id, trail] of surface.trails) {
                while (trail.length && now - trail[0].at > TRAIL_MS) trail.shift();
                if (!trail.length && !down.has(id)) surface.trails.delete(id);
                if (trail.length) isFading = true;
            }
            if (!surface.trails.size && !surface.touches.length) this.surfaces.delete(number);
        }
        return isFading;
    }
}

export class Cameras {
    constructor() {
        this.byName = new Map();
    }

    get names() { return [...this.byName.keys()].sort((a, b) => (a < b ? -1 : 1)); }

    get all() { return this.names.map((name) => this.byName.get(name)); }

    get(name) { return this.byName.get(name); }

    // Brings the cameras up to date with a message of the stream; says what it has changed: "list", "state", or nothing.
    update(message, now) {
        const {type, camera: name} = message;
        if (type === "daemon") {
            if (message.connected) this.byName.clear();
            return "list";
        }
        if (type === "removed") {
            this.byName.delete(name);
            return "list";
        }
        if (!name || name === "*") return null;
        let camera = this.byName.get(name);
        if (!camera) {
            if (!["subscribed", "reset", "lagged"].includes(type)) return null;
            camera = new Camera(name, this.freeColor());
            this.byName.set(name, camera);
            this.apply(camera, message, now);
            return "list";
        }
        return this.apply(camera, message, now) ? "state" : null;
    }

    freeColor() {
        const taken = [...this.byName.values()].map((camera) => camera.color);
        for (let color = 0; color < COLORS; color++) if (!taken.includes(color)) return color;
        return this.byName.size % COLORS;
    }

    apply(camera, message, now) {
        switch (message.type) {
        case "subscribed":
            if (camera.epoch && camera.epoch !== message.epoch) camera.begin();
            camera.epoch = message.epoch;
            camera.move(message);
            camera.surfaces.clear();
            return true;
        case "camera":
            camera.settings = message;
            camera.viewport = message.viewport;
            if (message.seq >= camera.seq) camera.move({position: message.position, seq: message.seq});
            return true;
        case "move-started":
            camera.isMoving = true;
            camera.reason = message.reason;
            camera.move(message);
            return true;
        case "camera-changed":
            camera.isMoving = true;
            camera.reason = message.reason;
            camera.move(message);
            return true;
        case "idle":
            camera.isMoving = false;
            camera.move(message);
            return true;
        case "reset":
            camera.begin(message.timeMs);
            camera.epoch = message.epoch ?? camera.epoch;
            camera.isMoving = Boolean(message.moving);
            camera.move(message);
            return true;
        case "lagged":
            // The fingers that are down come next, and a replay if there is one.
            camera.surfaces.clear();
            camera.replay = null;
            camera.isMoving = false;
            camera.epoch = message.epoch ?? camera.epoch;
            camera.move(message);
            return true;
        case "active-gestures":
            camera.setGestures(message.gestures, message.timeMs);
            return true;
        case "touch":
            camera.touch(message, now);
            return true;
        case "replay":
            camera.replay = message.state === "ended" ? null : {
                ...message, at: now, markers: message.markers ?? camera.replay?.markers ?? [],
                // While it seeks it is what it was, and will be.
                isPaused: message.state === "seeking" ? Boolean(camera.replay?.isPaused) : message.state === "paused",
            };
            return true;
        case "marker":
            camera.markers.push({timeMs: message.timeMs, label: message.label});
            if (camera.markers.length > 200) camera.markers.shift();
            return true;
        default:
            return false;
        }
    }
}
