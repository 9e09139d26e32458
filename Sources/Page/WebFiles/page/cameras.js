// The latest known state of each camera, from the stream. Views read it when they draw; no other file keeps state of a
// camera. Invariant: a camera is here from its `subscribed` to its `removed`.

import {Schedule} from "./present.js";
import {Projection} from "./projection.js";

// Colours tell cameras apart on the overview and in the tabs; the first is the page's own accent.
export const COLORS = 6;

const MOST_SAMPLES = 12_000;
const TRAIL_MS = 700;

export class Camera {
    constructor(name, color) {
        this.name = name;
        this.color = color;
        this.seq = 0;
        this.epoch = "";
        this.position = {target: {latitude: 0, longitude: 0}, zoom: 2, bearing: 0, viewingAngle: 0};
        this.viewport = {width: 390, height: 844, padding: {top: 0, left: 0, bottom: 0, right: 0}};
        // The current position as last reported, and the positions announced ahead of their time.
        this.told = this.position;
        this.schedule = new Schedule();
        this.settings = null;
        this.isMoving = false;
        this.reason = null;
        this.timeMs = null;
        // The time from which the overview shows the whole path while a tour is open.
        this.wayFrom = Infinity;
        // The camera's past by time, for the timeline and the path: {timeMs, position, isFirst}. The gap before an
        // `isFirst` is unknown.
        this.samples = [];
        // The latest sample; null if events have been missed since.
        this.last = null;
        // Active and past gestures, in sequence for each kind: {kind, from, to, isActive}.
        this.bars = [];
        this.markers = [];
        // Fingers by surface: Map of number to {surface, touches, trails}.
        this.surfaces = new Map();
        this.replay = null;
        // The current lease, as in `lease-taken`; `endsAt` is when it ends, in the page's time.
        this.lease = null;
    }

    get projection() { return new Projection(this.position, this.viewport); }

    // Adds a position announced ahead of its time; without one, drops all announced positions.
    tellAhead(presentation) {
        if (presentation) return this.schedule.add(presentation);
        this.schedule.clear();
        this.position = this.told;
    }

    // Moves it to its position at the time a frame is seen; returns whether it will move after that.
    present(wallTime) {
        if (this.schedule.isEmpty) return false;
        this.position = this.schedule.at(wallTime) ?? this.told;
        return !this.schedule.isEmpty;
    }

    move(message) {
        this.told = message.position;
        if (this.schedule.isEmpty) this.position = this.told;
        this.seq = message.seq;
        if (message.timeMs === undefined) return;
        this.timeMs = message.timeMs;
        this.keep({timeMs: message.timeMs, position: message.position, isFirst: false});
    }

    // Stores a sample. A replay may revisit times, with the same positions.
    keep(sample) {
        const {samples} = this;
        const index = this.indexAt(sample.timeMs);
        const same = samples[index]?.timeMs === sample.timeMs ? samples[index] : null;
        if (this.last !== null && this.last.timeMs <= sample.timeMs) {
            for (let i = index; i >= 0 && samples[i].timeMs > this.last.timeMs; i--) samples[i].isFirst = false;
            sample.isFirst = same !== null && same.isFirst;
        } else {
            sample.isFirst = same ? same.isFirst : samples[index + 1]?.isFirst !== false;
        }
        if (same) samples[index] = sample; else samples.splice(index + 1, 0, sample);
        this.last = sample;
        if (samples.length > MOST_SAMPLES) this.samples = samples.filter(({isFirst}, i) => isFirst || i % 2 || i > MOST_SAMPLES - 600);
    }

    // Returns the index of the last sample not after a time; -1 if there is none.
    indexAt(timeMs) {
        let [low, high] = [0, this.samples.length];
        while (low < high) {
            const middle = (low + high) >> 1;
            if (this.samples[middle].timeMs <= timeMs) low = middle + 1; else high = middle;
        }
        return low - 1;
    }

    // Returns where the camera was at a time, or null if that is unknown.
    positionAt(timeMs) {
        const index = this.indexAt(timeMs);
        return index < 0 || this.samples[index + 1]?.isFirst ? null : this.samples[index].position;
    }

    begin(timeMs) {
        this.schedule.clear();
        // A replay's history stays valid wherever the replay seeks.
        if (!this.replay) {
            this.samples = [];
            this.bars = [];
            this.markers = [];
        }
        for (const bar of this.bars) bar.isActive = false;
        this.last = null;
        this.surfaces.clear();
        this.timeMs = timeMs ?? null;
    }

    setGestures(kinds, timeMs) {
        for (const bar of this.bars) {
            if (!bar.isActive) continue;
            bar.to = Math.max(bar.to, timeMs);
            bar.isActive = kinds.includes(bar.kind);
            // A part that is replayed again must not add its gestures twice.
            this.bars = this.bars.filter((other) => other === bar || other.kind !== bar.kind || other.from > bar.to || other.to < bar.from);
        }
        for (const kind of kinds) {
            if (this.bars.some((bar) => bar.kind === kind && bar.isActive)) continue;
            const known = this.bars.find((bar) => bar.kind === kind && bar.from <= timeMs && bar.to > timeMs);
            if (known) known.isActive = true;
            else this.bars.push({kind, from: timeMs, to: timeMs, isActive: true});
        }
        if (this.bars.length > 500) this.bars.splice(0, 100);
        this.timeMs = Math.max(this.timeMs ?? timeMs, timeMs);
    }

    get activeGestures() { return this.bars.filter((bar) => bar.isActive).map((bar) => bar.kind); }

    // The length of the replayed trace, if known; what moves at its end comes to rest after its last line.
    get durationMs() {
        const {durationMs, timeMs} = this.replay ?? {};
        return durationMs ? Math.max(durationMs, timeMs, this.samples.at(-1)?.timeMs ?? 0) : undefined;
    }

    // The names of the surfaces being touched; a page's fingers have no particular name.
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

    // Forgets what has faded; returns whether anything still fading has to be drawn.
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

    // Applies a message of the stream; returns whether it may have changed the list of cameras.
    update(message, now) {
        const {type, camera: name} = message;
        if (type === "daemon") {
            if (message.connected) this.byName.clear();
            return true;
        }
        if (type === "removed") {
            this.byName.delete(name);
            return true;
        }
        if (!name || name === "*") return false;
        const isNew = !this.byName.has(name);
        if (isNew && !["subscribed", "reset", "lagged"].includes(type)) return false;
        if (isNew) this.byName.set(name, new Camera(name, this.freeColor()));
        this.apply(this.byName.get(name), message, now);
        return isNew;
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
            camera.last = null;
            camera.schedule.clear();
            camera.surfaces.clear();
            camera.lease = null;
            return camera.move(message);
        case "camera":
            camera.settings = message;
            camera.viewport = message.viewport;
            if (message.seq >= camera.seq) camera.move({position: message.position, seq: message.seq});
            break;
        case "move-started":
            camera.isMoving = true;
            camera.reason = message.reason;
            // The camera was at its start until just before the move.
            return camera.move({...message, timeMs: message.timeMs - 0.001});
        case "camera-changed":
            camera.isMoving = true;
            camera.reason = message.reason;
            return camera.move(message);
        case "idle":
            camera.isMoving = false;
            return camera.move(message);
        case "reset":
            camera.begin(message.timeMs);
            camera.epoch = message.epoch ?? camera.epoch;
            camera.isMoving = Boolean(message.moving);
            return camera.move(message);
        case "lagged":
            // The fingers that are down are sent next, and a replay and a lease if there are any.
            camera.surfaces.clear();
            camera.replay = null;
            camera.lease = null;
            camera.last = null;
            camera.isMoving = false;
            camera.schedule.clear();
            camera.epoch = message.epoch ?? camera.epoch;
            return camera.move(message);
        case "active-gestures": return camera.setGestures(message.gestures, message.timeMs);
        case "touch": return camera.touch(message, now);
        case "replay":
            camera.replay = message.state === "ended" ? null : {
                ...message, at: now, markers: message.markers ?? camera.replay?.markers ?? [],
                // A seek does not change whether the replay is paused.
                isPaused: message.state === "seeking" ? Boolean(camera.replay?.isPaused) : message.state !== "playing",
            };
            break;
        case "present": return camera.tellAhead(message.presentation);
        case "lease-taken":
            camera.lease = {...message, endsAt: now + message.untilMs - message.timeMs};
            break;
        case "lease-ended":
            camera.lease = null;
            break;
        case "marker":
            if (!camera.markers.some(({timeMs, label}) => timeMs === message.timeMs && label === message.label)) {
                camera.markers.push({timeMs: message.timeMs, label: message.label});
            }
            if (camera.markers.length > 200) camera.markers.shift();
        }
    }
}
