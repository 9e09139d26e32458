// Maps that lead and follow a daemon's cameras, in a browser page: adapters.py drags them and checks what was sent.
// Also the code shared by all adapters, with an engine and a camera that are set by hand.

import * as cesium from "/adapters/cesium.js";
import * as deckgl from "/adapters/deck.js";
import * as google from "/adapters/google.js";
import * as leaflet from "/adapters/leaflet.js";
import { link } from "/adapters/link.js";
import * as maplibre from "/adapters/maplibre.js";
import { positionOf } from "/adapters/projection.js";
import { connect } from "/adapters/stream.js";

const frame = () => new Promise(requestAnimationFrame);

/** What this page has sent, and the errors it received. */
const sent = [];
const told = [];
export const connections = [];
let cameras;

/** Connects to the server's daemon, and waits for a camera's state. */
export async function begin(token, name, refresh) {
    const original = window.fetch;
    window.fetch = (address, options) => {
        if (String(address).endsWith("/lines"))
            for (const line of options.body.trim().split("\n")) sent.push(...[JSON.parse(line)].flat());
        return original(address, options);
    };
    ({ cameras } = connect({ base: "/gimbal", token, refresh }));
    cameras.addEventListener("error", ({ detail }) => told.push(detail));
    cameras.addEventListener("connection", ({ detail }) => connections.push(detail));
    await new Promise((resolve) => cameras.addEventListener("connection", resolve, { once: true }));
    await cameras.camera(name).refresh();
}

/** Puts an element of this size at the top of the page. */
export function box(left, width, height) {
    const element = document.createElement("div");
    element.style.cssText = `position: absolute; left: ${left}px; top: 0; width: ${width}px; height: ${height}px`;
    document.body.append(element);
    return element;
}

const makers = {
    async maplibre(element) {
        const map = new maplibregl.Map({
            container: element, style: { version: 8, sources: {}, layers: [] }, attributionControl: false,
            pixelRatio: 0.25,
        });
        await map.once("load");
        return { map, follow: maplibre.follow, position: () => positionOf({
            latitude: map.getCenter().lat, longitude: map.getCenter().lng, zoom: map.getZoom() + 1,
            bearing: map.getBearing(), viewingAngle: map.getPitch() }) };
    },
    async leaflet(element) {
        const map = L.map(element, {
            zoomSnap: 0, zoomControl: false, attributionControl: false, zoomAnimation: false,
        }).setView([0, 0], 3);
        return { map, follow: leaflet.follow, position: () => positionOf({
            latitude: map.getCenter().lat, longitude: map.getCenter().lng, zoom: map.getZoom() }) };
    },
    async deck(element) {
        let drawn;
        const map = await new Promise((resolve) => {
            const view = new deck.Deck({
                onAfterRender: () => { drawn = view.getViewports()[0]?.longitude; },
                parent: element, views: new deck.MapView({ repeat: true }), useDevicePixels: 0.25, layers: [],
                controller: { inertia: 200 }, initialViewState: { longitude: 0, latitude: 0, zoom: 1 },
                onLoad: () => resolve(view),
            });
        });
        while (map.height !== element.clientHeight) await frame();
        return { map, follow: deckgl.follow, drawn: () => drawn, position: () => {
            const { latitude, longitude, zoom, bearing, pitch } = map.getViewports()[0];
            return positionOf({ latitude, longitude, zoom: zoom + 1, bearing, viewingAngle: pitch });
        } };
    },
    async google(element) {
        const map = new GoogleMap(element);
        return { map, follow: google.follow, position: () => positionOf({
            latitude: map.getCenter().lat(), longitude: map.getCenter().lng(), zoom: map.getZoom(),
            bearing: map.getHeading(), viewingAngle: map.getTilt() }) };
    },
};

/**
 * A stand-in for google.maps.Map, as slow as its documentation allows: it sets a camera some time after the request,
 * and reports it later still; fingers can scroll it.
 */
class GoogleMap {
    #camera = { center: { lat: 0, lng: 0 }, zoom: 2, heading: 0, tilt: 0 };
    #listeners = {};
    waiting = 0;

    constructor(element) {
        this.element = element;
        let from = null;
        element.addEventListener("pointerdown", ({ clientX, clientY }) => { from = [clientX, clientY]; });
        element.addEventListener("pointermove", ({ clientX, clientY }) => {
            if (!from) return;
            const degrees = 360 / (256 * 2 ** this.#camera.zoom);
            this.#move({ center: {
                lat: this.#camera.center.lat + (clientY - from[1]) * degrees,
                lng: this.#camera.center.lng - (clientX - from[0]) * degrees } });
            from = [clientX, clientY];
        });
        window.addEventListener("pointerup", () => { from = null; });
    }

    getDiv() { return this.element; }
    getZoom() { return this.#camera.zoom; }
    getHeading() { return this.#camera.heading; }
    getTilt() { return this.#camera.tilt; }
    getCenter() {
        const { lat, lng } = this.#camera.center;
        return { lat: () => lat, lng: () => lng, toJSON: () => ({ lat, lng }) };
    }
    moveCamera(options) {
        this.waiting += 1;
        setTimeout(() => {
            this.waiting -= 1;
            this.#move(options);
        }, 30);
    }
    addListener(type, listener) {
        (this.#listeners[type] ??= new Set()).add(listener);
        return { remove: () => this.#listeners[type].delete(listener) };
    }

    #move(options) {
        this.#camera = { ...this.#camera, ...options };
        // In no guaranteed order, and not at once.
        setTimeout(() => {
            for (const type of ["center_changed", "zoom_changed", "idle"])
                for (const listener of this.#listeners[type] ?? []) listener();
        }, 20);
    }
}

/** A stand-in for Cesium that records what it is asked for. */
const Cesium = {
    Viewer: class {
        canvas = Object.assign(document.createElement("canvas"), { style: "width: 200px; height: 100px" });
        looked = [];
        drawn = 0;

        constructor() { document.body.append(this.canvas); }
        render() { this.drawn = this.looked.length; }

        camera = {
            frustum: {}, lookAtTransform() {}, lookAt: (target, { heading, pitch, range }) =>
                this.looked.push([target, heading, pitch, range, this.camera.frustum.fov]),
        };
    },
    Cartesian3: { fromRadians: (longitude, latitude) => ({ longitude, latitude }) },
    HeadingPitchRange: class {
        constructor(heading, pitch, range) { Object.assign(this, { heading, pitch, range }); }
    },
    Matrix4: { IDENTITY: {} },
};

/**
 * Runs an example of the documentation, and waits until it listens to `camera`, if it follows that. The names it
 * uses are those of a user's page.
 */
export async function example(text, token, base) {
    const failures = [];
    addEventListener("error", ({ message }) => failures.push(message));
    addEventListener("unhandledrejection", ({ reason }) => failures.push(String(reason)));
    let isFollowed = false;
    const camera = new class extends EventTarget {
        position = positionOf({ latitude: 48.8584, longitude: 2.2945, zoom: 14 });
        viewport = { width: 390, height: 844 };
        async send() {}
        addEventListener(...listener) {
            isFollowed = true;
            super.addEventListener(...listener);
        }
    }();
    const element = box(0, 300, 300);
    element.id = "map";
    Object.assign(window, {
        camera, element, base, token, Cesium, google: { maps: { Map: GoogleMap } }, layers: [], mapId: "id", send() {},
        style: { version: 8, sources: {}, layers: [] }, socket: { send() {} },
    });
    const code = text.replaceAll("http://127.0.0.1:8117", base).replaceAll(/from "\.\/(.*)"/g, (_, file) => `from "${location.origin}/adapters/${file}"`);
    await import(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
    // An example that does not connect by itself follows the daemon's camera.
    const follows = code.includes("follow(") && !code.includes("connect(");
    while (follows && !isFollowed && !failures.length) await frame();
    return failures;
}

/**
 * Returns what a viewer that follows this camera asks of Cesium, and how much of that is drawn after an event that is
 * not for a frame, and after one that is.
 */
export function cesiumShown(camera) {
    const viewer = new Cesium.Viewer(), source = Object.assign(new EventTarget(), camera);
    cesium.follow(viewer, source, Cesium);
    const drawn = [false, true].map((isForFrame) => {
        source.dispatchEvent(new CustomEvent("change", { detail: { isForFrame } }));
        return viewer.drawn;
    });
    return [viewer.looked, drawn];
}

const maps = {};

/** Puts a map that leads and follows a camera on the page. */
export async function add(name, kind, cameraName, { left = 0, width = 400, height = 400, lead = true } = {}) {
    const element = box(left, width, height), made = await makers[kind](element);
    maps[name] = { ...made, element, end: made.follow(made.map, cameras.camera(cameraName), { lead }) };
}

/** Changes the height of all maps, and waits until they show their camera at that size. */
export async function resize(height, zoom) {
    for (const { map, element } of Object.values(maps)) {
        element.style.height = `${height}px`;
        // Leaflet notices only resized windows, not elements.
        map.invalidateSize?.();
    }
    for (const { position } of Object.values(maps)) while (Math.abs(position().zoom - zoom) > 1e-5) await frame();
}

/** Removes a map from the page. */
export function remove(name) {
    maps[name].end();
    maps[name].element.remove();
    delete maps[name];
}

/** Disconnects a map from its camera. */
export const end = (name) => maps[name].end();

export const camera = (name) => {
    const { position, viewport, seq } = cameras.camera(name);
    return { position, viewport, seq };
};

export const position = (name) => maps[name].position();

/** Returns the longitude that a map has drawn, or shows if it does not say. */
export const drawn = (name) => maps[name].drawn?.() ?? maps[name].position().target.longitude;

/** Whether a gesture of a map has begun and not ended. */
export const isLeading = () => sent.findLast(({ type }) => type === "position")?.phase === "changed";

/** Whether this page has sent a position since the last `takeSent`. */
export const hasLed = () => sent.some(({ phase }) => phase === "changed");

/** Returns what this page has sent since the last call. */
export const takeSent = () => sent.splice(0);
export const takeErrors = () => told.splice(0);

/** Waits until a camera's viewport or zoom has this value. */
export async function known(name, { height, zoom }) {
    const camera = cameras.camera(name);
    while (height && camera.viewport?.height !== height || zoom && camera.position?.zoom !== zoom) await frame();
}

/** Sends a message about a camera, and returns its answer. */
export const ask = (name, message) => cameras.camera(name).send(message);

/** Waits until a camera rests, and this page knows where, and has nothing more to send. */
export async function rest(name) {
    const camera = cameras.camera(name);
    for (let count = -1; count !== sent.length;) {
        // A map reports finger movements in its next frames; inertia ends within a few tenths of a second.
        for (let frames = 0; frames < 3; frames += 1) await frame();
        while (sent.findLast(({ type }) => type === "position")?.phase.match(/began|changed/)) await frame();
        const { seq } = await camera.send({ type: "await-idle", timeoutMs: 10_000 });
        while (camera.seq < seq) await frame();
        sent.splice(0, sent.length, ...sent.filter(({ type }) => type !== "await-idle"));
        count = sent.length;
        for (let frames = 0; frames < 3; frames += 1) await frame();
        while (Object.values(maps).some(({ map }) => map.waiting)) await frame();
    }
    return camera.position;
}

// MARK: Code shared by all adapters

/** Returns an engine and a camera that are set by hand; messages wait until they are answered. */
function linked({ lead = true } = {}) {
    const surface = document.createElement("div"), shown = [], frames = [], answers = [];
    const at = (zoom) => positionOf({ latitude: 0, longitude: 0, zoom });
    const camera = Object.assign(new EventTarget(), {
        position: at(2), viewport: null,
        send: (...messages) => new Promise((resolve, reject) => {
            frames.push(messages);
            answers.push({ resolve, reject });
        }),
    });
    let listeners, current;
    const engine = {
        show: ({ position }) => { shown.push(position.zoom); current = position; },
        read: () => current, surface, listen: (given) => { listeners = given; return () => { listeners = null; }; },
    };
    const stop = link(engine, camera, { lead });
    const words = ({ type, phase, position }) =>
        type === "position" ? phase + (position ? ` ${position.zoom}` : "") : type;
    return {
        shown, camera, stop, listening: () => listeners !== null,
        /** Moves the engine, as fingers would. */
        move: (zoom) => { current = at(zoom); listeners.moved(); },
        rest: () => listeners.rested(), resize: () => listeners.resized(),
        /** Sets the camera, as the daemon would. */
        tell: (zoom) => { camera.position = at(zoom); camera.dispatchEvent(new Event("change")); },
        press: (pointerId = 1) => surface.dispatchEvent(new PointerEvent("pointerdown", { pointerId })),
        lift: (pointerId = 1, type = "pointerup") => window.dispatchEvent(new PointerEvent(type, { pointerId })),
        frames: () => frames.splice(0).map((messages) => messages.map(words).join(", ")),
        async answer(error) {
            const { resolve, reject } = answers.shift();
            error ? reject(new Error(error)) : resolve();
            await new Promise((resume) => setTimeout(resume));
        },
    };
}

/** Each returns what happened, and what must. */
export const shared = {
    async "a camera that moves is shown, and nothing is sent"() {
        const it = linked();
        it.tell(3);
        it.tell(4);
        return [[it.shown, it.frames()], [[2, 3, 4], []]];
    },
    async "what the engine does while it shows a camera is no gesture of its own"() {
        const it = linked();
        it.move(2);
        it.rest();
        return [it.frames(), []];
    },
    async "a gesture of the engine's is began, changed, ended and a question"() {
        const it = linked(), frames = [];
        for (const zoom of [3, 4]) {
            it.move(zoom);
            frames.push(...it.frames());
            await it.answer();
            frames.push(...it.frames());
        }
        await it.answer();
        it.rest();
        frames.push(...it.frames());
        return [frames, ["began", "changed 3", "changed 4", "ended, get-camera"]];
    },
    async "one frame is on its way at a time, and what waits is the newest"() {
        const it = linked();
        for (const zoom of [3, 4, 5, 6]) it.move(zoom);
        const first = it.frames();
        await it.answer();
        return [[first, it.frames()], [["began"], ["changed 6"]]];
    },
    async "the echo of a gesture is not shown, but what comes with its answer is"() {
        const it = linked();
        it.move(5);
        it.tell(3);
        await it.answer();
        it.rest();
        it.tell(4);
        await it.answer();
        const before = [...it.shown];
        it.tell(4.5);
        await it.answer();
        it.tell(6);
        return [[before, it.shown], [[2], [2, 4.5, 6]]];
    },
    async "a gesture that is refused goes back to where the camera is"() {
        const it = linked();
        it.move(5);
        await it.answer("busy");
        await it.answer("busy");
        it.rest();
        await it.answer("busy");
        return [it.shown, [2, 2]];
    },
    async "a finger that lands stops the camera, and what it does while it rests is not shown"() {
        const it = linked();
        it.press();
        it.tell(3);
        const frames = it.frames();
        await it.answer();
        it.lift();
        frames.push(...it.frames());
        await it.answer();
        return [[frames, it.shown], [["began", "ended, get-camera"], [2, 3]]];
    },
    async "an engine that goes on by itself when the last finger has lifted ends when it rests"() {
        const it = linked(), frames = [];
        it.press(1);
        it.press(2);
        it.move(3);
        it.lift(1);
        it.lift(2, "pointercancel");
        it.move(4);
        frames.push(...it.frames());
        await it.answer();
        it.rest();
        frames.push(...it.frames());
        await it.answer();
        frames.push(...it.frames());
        return [frames, ["began", "changed 4", "ended, get-camera"]];
    },
    async "a window that loses its focus has no finger any more"() {
        const it = linked();
        it.press(1);
        it.press(2);
        await it.answer();
        window.dispatchEvent(new Event("blur"));
        const frames = it.frames();
        await it.answer();
        it.tell(3);
        return [[frames, it.shown], [["began", "ended, get-camera"], [2, 2, 3]]];
    },
    async "a gesture goes on if the next one begins before its end is sent"() {
        const it = linked(), frames = [];
        it.move(3);
        for (const zoom of [4, 5, 6]) {
            it.rest();
            it.move(zoom);
        }
        frames.push(...it.frames());
        await it.answer();
        frames.push(...it.frames());
        it.rest();
        await it.answer();
        frames.push(...it.frames());
        await it.answer();
        return [[frames, it.shown], [["began", "changed 6", "ended, get-camera"], [2, 2]]];
    },
    async "who ends in the middle of a gesture cancels it, and shows nothing more"() {
        const it = linked();
        it.move(3);
        await it.answer();
        it.stop();
        await it.answer();
        it.tell(4);
        return [[it.frames(), it.shown, it.listening()], [["began", "changed 3", "cancelled, get-camera"], [2], false]];
    },
    async "a map that only follows sends nothing, and is shown again when it is resized"() {
        const it = linked({ lead: false });
        it.move(3);
        it.press();
        it.rest();
        it.resize();
        return [[it.frames(), it.shown], [[], [2, 2]]];
    },
};

/** A camera fed with lines, some of which must be ignored. */
export async function lines() {
    const { Cameras } = await import("/adapters/cameras.js");
    const results = {}, written = [];
    const it = new Cameras((line) => { written.push(JSON.parse(line)); }, { refresh: false });
    const camera = it.camera("main");
    const at = (zoom) => positionOf({ latitude: 0, longitude: 0, zoom });
    const read = (message) => it.read(JSON.stringify({ camera: "main", ...message }));
    let changes = 0;
    camera.addEventListener("change", () => { changes += 1; });

    read({ type: "subscribed", epoch: "a", seq: 4, position: at(3) });
    read({ type: "camera-changed", seq: 6, position: at(4) });
    read({ type: "camera-changed", seq: 5, position: at(9) });
    read({ type: "idle", seq: 7, position: at(4) });
    results.events = [camera.position.zoom, camera.seq, changes];

    const asked = camera.refresh();
    read({ type: "camera", id: written[0].id, seq: 9, position: at(5), viewport: { width: 10, height: 20 } });
    results.answer = [(await asked).seq, camera.position.zoom, camera.viewport.height];

    const late = camera.refresh();
    read({ type: "reset", epoch: "b", seq: 0, position: at(7) });
    read({ type: "camera", id: written[1].id, seq: 9, position: at(5), viewport: { width: 10, height: 20 } });
    await late;
    read({ type: "camera-changed", seq: 1, position: at(8) });
    results.reset = [camera.position.zoom, camera.seq, camera.epoch];

    const refused = camera.send({ type: "position", phase: "began" }, { type: "get-camera" });
    results.frame = [Array.isArray(written[2]), "id" in written[2][0], written[2][1].camera];
    read({ type: "error", id: written[2][1].id, code: "busy", message: "a replay runs" });
    results.error = await refused.catch((error) => error.message);

    const lost = camera.refresh();
    it.lose("gone");
    results.lost = await lost.catch((error) => error.message);
    read({ type: "removed" });
    results.removed = [camera.position, camera.seq];
    read({ type: "subscribed", camera: "*", cameras: 1 });
    results.names = it.names;
    return results;
}
