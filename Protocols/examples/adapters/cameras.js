// The daemon's cameras, built from its lines, whatever carries them. stream.js carries them over HTTP.
//
//     import { Cameras } from "./cameras.js";
//     const cameras = new Cameras((line) => socket.send(line));    // a bridge of your own
//     socket.onmessage = ({ data }) => cameras.read(data);
//     const camera = cameras.camera("main");
//     camera.addEventListener("change", () => console.log(camera.position, camera.viewport));
//
// The carrier of the lines subscribes: `{"type":"subscribe","camera":"*","delivery":"latest"}`, or one camera by name.
// Lines older than what is known are ignored, whichever way they came. With a subscription to the `present` events, a
// camera is in step with other screens: in each frame its position becomes the one due when that frame is seen.

import { Schedule, wallTimeOf } from "./present.js";
import { isSame } from "./projection.js";

const nextFrame = globalThis.requestAnimationFrame ?? ((draw) => setTimeout(() => draw(performance.now()), 1000 / 60));

/** One camera: `position`, `viewport`, `seq` and `epoch` as last reported, null until then; `change` on each change. */
export class Camera extends EventTarget {
    position = null;
    viewport = null;
    seq = -1;
    epoch = null;
    #cameras;
    #told = null;
    #schedule = new Schedule();
    #isDrawing = false;

    constructor(name, cameras) {
        super();
        this.name = name;
        this.#cameras = cameras;
    }

    /** Sends messages about this camera, several as one batch. Resolves to the last answer, or rejects on an error. */
    send(...messages) {
        return this.#cameras.send(...messages.map((message) => ({ ...message, camera: this.name })));
    }

    /** Takes the current position from the daemon; null also drops positions announced ahead of their time. */
    tell(position) {
        this.#told = isSame(position, this.position) ? this.position : position;
        if (!position) this.#schedule.clear();
        if (this.#schedule.isEmpty) this.position = this.#told;
    }

    /** Takes a position that the daemon announces ahead of its time; none revokes all announced before. */
    present(presentation) {
        if (presentation) this.#schedule.add(presentation); else this.#schedule.clear();
        if (!this.#isDrawing) this.#draw(performance.now(), false);
    }

    /** Sets the position due when the frame that begins at `time` is seen. */
    #draw(time, isFrame = true) {
        const shown = this.#schedule.at(wallTimeOf(time, isFrame)), position = shown ?? this.#told;
        if (position !== this.position) {
            this.position = position;
            this.dispatchEvent(new CustomEvent("change", { detail: { isForFrame: shown !== null } }));
        }
        this.#isDrawing = !this.#schedule.isEmpty;
        if (this.#isDrawing) nextFrame((next) => this.#draw(next));
    }

    /** Asks for the camera's position and viewport. */
    refresh() {
        return this.send({ type: "get-camera" });
    }
}

/** The messages at which `seq` starts afresh; their state replaces whatever was known. */
const BEGINNINGS = new Set(["subscribed", "reset", "lagged"]);

/** All cameras of a daemon. Events: `camera`, whose `detail` is the name of a new one; `error`, with its message. */
export class Cameras extends EventTarget {
    #cameras = new Map();
    #requests = new Map();
    // Other code may send on the same connection.
    #prefix = Math.random().toString(36).slice(2, 10);
    #count = 0;
    #write;
    #refresh;

    /**
     * `write` sends a line, without its LF. It may return a promise of the lines that answer, or have them read later.
     * When a camera begins, its viewport is requested; if `refresh` is false, the carrier of the lines does that.
     */
    constructor(write, { refresh = true } = {}) {
        super();
        this.#write = write;
        this.#refresh = refresh;
    }

    /** Returns the camera of that name, whether or not the daemon has reported it. */
    camera(name = "main") {
        let camera = this.#cameras.get(name);
        if (!camera) {
            this.#cameras.set(name, camera = new Camera(name, this));
            this.dispatchEvent(new CustomEvent("camera", { detail: name }));
        }
        return camera;
    }

    /** The names of all cameras reported or asked for, sorted. */
    get names() {
        return [...this.#cameras.keys()].sort();
    }

    /** Sends messages, several as one batch. Resolves to the last answer, or rejects on an error. */
    async send(...messages) {
        const id = `${this.#prefix}-${this.#count += 1}`, last = messages.length - 1;
        const lines = messages.map((message, index) => index === last ? { ...message, id } : message);
        const epoch = this.#cameras.get(lines[last].camera)?.epoch ?? null;
        const answer = new Promise((resolve, reject) => this.#requests.set(id, { resolve, reject, epoch }));
        // It may be resolved or rejected before it is awaited.
        answer.catch(() => {});
        try {
            const text = await this.#write(JSON.stringify(last ? lines : lines[0]));
            for (const line of typeof text === "string" ? text.split("\n") : []) this.read(line);
            return await answer;
        } finally {
            this.#requests.delete(id);
        }
    }

    /** Takes a line from the daemon; a blank one is ignored. */
    read(line) {
        if (!line.trim()) return;
        const message = JSON.parse(line);
        const request = this.#requests.get(message.id);
        if (message.type === "error") {
            this.dispatchEvent(new CustomEvent("error", { detail: message.message }));
            request?.reject(new Error(message.message));
            return;
        }
        if (message.camera && message.camera !== "*") this.#take(message, request);
        request?.resolve(message);
    }

    /** Rejects all unanswered requests, since the connection is lost. */
    lose(reason = "the connection is lost") {
        for (const { reject } of this.#requests.values()) reject(new Error(reason));
    }

    #take(message, request) {
        const camera = this.camera(message.camera);
        const before = [camera.position, camera.viewport];
        if (message.type === "present") {
            camera.present(message.presentation);
            return;
        }
        if (BEGINNINGS.has(message.type)) {
            camera.tell(null);
            camera.tell(message.position);
            Object.assign(camera, { seq: message.seq, epoch: message.epoch });
            // The beginning of a replay also sets the viewport, without an event.
            if (this.#refresh) camera.refresh().catch(() => {});
        } else if (message.type === "removed") {
            camera.tell(null);
            Object.assign(camera, { viewport: null, seq: -1, epoch: null });
        } else if (message.position && "seq" in message) {
            // An answer may be from an epoch that is over, since it comes another way than the events.
            const isOver = request && request.epoch !== camera.epoch;
            if (!isOver && message.seq >= camera.seq) {
                camera.seq = message.seq;
                camera.tell(message.position);
            }
        }
        if (message.viewport) camera.viewport = message.viewport;
        if (camera.position !== before[0] || camera.viewport !== before[1]) camera.dispatchEvent(new Event("change"));
    }
}
