// A tour edited on the page: keyframes as bars over time, and as marks on the overview. The chosen camera plays it.
// Only the daemon knows the path between keyframes. Invariant: keyframes are as the command `tour` takes them.

import {fillCircle, strokeDashed} from "./theme.js";
import {PATHS, pathOf, read, written} from "./tour-file.js";

// The duration of a new keyframe, and the length shown for a flight that finds its own duration, in milliseconds.
const USUAL_MS = 2000;
const UNKNOWN_MS = 3000;
// The most pixels per millisecond, and the pixels of the overview per press of an arrow key.
const MOST_SCALE = 0.15;
const STEP = 10;

const lengthOf = ({durationMs = UNKNOWN_MS}) => durationMs;
const seconds = (milliseconds) => `${+(milliseconds / 1000).toFixed(2)} s`;

export class Tour {
    // `ask` sends a request to the chosen camera, or the one it names, and waits for its answer; `tell` shows an error;
    // `changed` is called when something has to be redrawn.
    constructor(root, opener, {ask, camera, tell, changed}) {
        Object.assign(this, {root, opener, ask, camera, tell, changed});
        this.keyframes = [];
        this.name = undefined;
        this.chosen = -1;
        // The names of the cameras playing it.
        this.playing = new Set();
        // Where the marks were drawn, and on which map.
        this.marks = [];
        this.map = null;
        this.strip = root.querySelector("ol");
        this.parts = Object.fromEntries([...root.querySelectorAll("[data-tour]")].map((part) => [part.dataset.tour, part]));
        for (const name of ["add", "remove", "play", "set", "go", "save"]) this.parts[name].onclick = () => this[name]();
        for (const name of ["path", "time", "wait"]) this.parts[name].onchange = () => this.edit();
        this.parts.path.append(...PATHS.map((path) => new Option(path)));
        this.parts.close.onclick = () => this.toggle(false);
        opener.onclick = () => this.toggle(!this.isOpen);
        new ResizeObserver(() => this.update()).observe(this.strip);
    }

    get isOpen() { return !this.root.hidden; }

    toggle(isOpen) {
        this.root.hidden = !isOpen;
        this.opener.setAttribute("aria-expanded", String(isOpen));
        (isOpen ? this.parts.add : this.opener).focus();
        this.update();
    }

    // MARK: Keyframes

    choose(index) {
        this.chosen = index;
        this.update();
        this.strip.children[index]?.scrollIntoView({block: "nearest", inline: "nearest"});
    }

    // Adds a keyframe after the chosen one.
    add() {
        const position = this.position;
        if (!position) return;
        const way = this.keyframes.length ? {durationMs: USUAL_MS, path: "smooth"} : {path: "flight"};
        this.keyframes.splice(this.chosen + 1, 0, {position, ...way});
        this.choose(this.chosen + 1);
    }

    remove() {
        this.keyframes.splice(this.chosen, 1);
        this.choose(Math.min(this.chosen, this.keyframes.length - 1));
    }

    // The places of the keyframes, for a map that shows them.
    get places() { return this.isOpen ? this.keyframes.map(({position}) => position.target) : []; }

    // Where the camera is.
    get position() { return structuredClone(this.camera()?.position); }

    set() {
        this.keyframes[this.chosen].position = this.position ?? this.keyframes[this.chosen].position;
        this.update();
    }

    edit() {
        const keyframe = this.keyframes[this.chosen];
        const {path: {value: path}, time, wait} = this.parts;
        if (![time, wait].every((field) => field.reportValidity())) return;
        // Only a flight finds its own duration.
        const durationMs = time.value ? Number(time.value) : path === "flight" ? undefined : keyframe.durationMs ?? USUAL_MS;
        Object.assign(keyframe, {path, durationMs, waitMs: Number(wait.value) || undefined});
        this.update();
    }

    setTime(index, milliseconds) {
        const keyframe = this.keyframes[index];
        keyframe.path = pathOf(keyframe);
        keyframe.durationMs = Math.min(Math.max(Math.round(milliseconds / 50) * 50, 0), 3_600_000);
        this.update();
    }

    // MARK: The camera

    // Sends a request and shows its error, if any; returns whether it succeeded.
    async do(request) {
        const {type, message} = await this.ask(request);
        if (type === "error") this.tell(message);
        return type !== "error";
    }

    go() {
        const {position} = this.keyframes[this.chosen];
        this.do({type: "animate", update: {kind: "set-camera", position}, durationMs: 600, easing: "ease-in-out"});
    }

    // Plays the tour, or stops it. The overview shows the camera's path from now on.
    async play() {
        const camera = this.camera();
        if (!camera || this.playing.has(camera.name)) return this.do({type: "stop"});
        camera.wayFrom = camera.timeMs ?? 0;
        if (!await this.do({type: "tour", keyframes: this.keyframes})) return;
        this.playing.add(camera.name);
        this.changed();
        await this.ask({type: "await-idle", camera: camera.name});
        this.playing.delete(camera.name);
        this.changed();
    }

    // MARK: Files

    save() {
        const link = document.createElement("a");
        link.href = URL.createObjectURL(new Blob([written(this)], {type: "application/json"}));
        link.download = `${this.name ?? "tour"}.json`;
        link.click();
        setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    }

    // Opens a file if it is a tour; returns whether it is one.
    async open(file) {
        const tour = await read(file);
        if (!tour) return false;
        if (tour.message) {
            this.tell(`${file.name}: ${tour.message}`);
            return true;
        }
        Object.assign(this, tour, {chosen: 0});
        this.toggle(true);
        return true;
    }

    // MARK: Bars

    bar(index) {
        const bar = document.createElement("li");
        const [button, edge] = ["button", "span"].map((name) => document.createElement(name));
        edge.className = "edge";
        button.append(document.createElement("b"), document.createElement("span"));
        button.title = "Arrow keys move it, with Shift change its time; Delete removes it";
        button.onclick = () => this.choose(index);
        button.onkeydown = (event) => this.key(event, index);
        edge.onpointerdown = (event) => {
            edge.setPointerCapture(event.pointerId);
            this.choose(index);
            this.edge = {x: event.clientX, from: lengthOf(this.keyframes[index])};
        };
        edge.onpointermove = (event) => {
            if (this.edge) this.setTime(index, this.edge.from + (event.clientX - this.edge.x) / this.scale);
        };
        edge.onpointerup = edge.onpointercancel = () => {
            this.edge = null;
            this.update();
        };
        bar.append(button, edge);
        return bar;
    }

    key(event, index) {
        const way = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[event.key];
        if (event.key === "Delete" || event.key === "Backspace") {
            this.chosen = index;
            this.remove();
            (this.strip.children[this.chosen]?.firstChild ?? this.parts.add).focus();
        } else if (way && event.shiftKey) {
            this.setTime(index, lengthOf(this.keyframes[index]) + 100 * (way[0] - way[1]));
        } else if (way && this.marks[index]) {
            this.chosen = index;
            this.drag({x: this.marks[index].x + STEP * way[0], y: this.marks[index].y + STEP * way[1]});
        } else {
            return;
        }
        event.preventDefault();
    }

    // Updates everything that is shown.
    update() {
        const {strip, keyframes, parts} = this;
        while (strip.children.length > keyframes.length) strip.lastChild.remove();
        while (strip.children.length < keyframes.length) strip.append(this.bar(strip.children.length));
        const all = keyframes.reduce((sum, keyframe) => sum + lengthOf(keyframe) + (keyframe.waitMs ?? 0), 0);
        // The scale stays while an edge is dragged.
        if (!this.edge) this.scale = Math.min((strip.clientWidth - 8) / Math.max(all, 1), MOST_SCALE);
        for (const [index, keyframe] of keyframes.entries()) {
            const [bar, path, wait] = [strip.children[index], pathOf(keyframe), keyframe.waitMs ?? 0];
            const [button, length] = [bar.firstChild, lengthOf(keyframe) + wait];
            const words = path + (keyframe.durationMs === undefined ? "" : ` ${seconds(keyframe.durationMs)}`)
                + (wait ? `, wait ${seconds(wait)}` : "");
            bar.style.width = `${length * this.scale}px`;
            bar.style.setProperty("--there", `${length ? (100 * lengthOf(keyframe)) / length : 100}%`);
            bar.dataset.path = path;
            button.setAttribute("aria-pressed", String(index === this.chosen));
            button.setAttribute("aria-label", `Keyframe ${index + 1}: ${words}`);
            button.firstChild.textContent = index + 1;
            button.lastChild.textContent = words;
        }
        const keyframe = keyframes[this.chosen];
        for (const name of ["remove", "set", "go", "path", "time", "wait"]) parts[name].disabled = !keyframe;
        for (const name of ["play", "save"]) parts[name].disabled = !keyframes.length;
        parts.path.value = keyframe ? pathOf(keyframe) : "";
        parts.time.value = keyframe?.durationMs ?? "";
        parts.wait.value = keyframe?.waitMs ?? "";
        this.changed();
    }

    // Updates what differs while a camera plays the tour.
    show(camera) {
        const action = this.playing.has(camera?.name) ? "Stop" : "Play";
        if (this.parts.play.textContent !== action) this.parts.play.textContent = action;
    }

    // MARK: Marks

    // Draws the keyframes on a map, connected by straight lines.
    paint(context, map, theme, color) {
        this.map = map;
        this.marks = this.places.map((place) => map.project(place));
        context.beginPath();
        for (const [index, {x, y}] of this.marks.entries()) {
            const before = this.marks[index - 1];
            if (!before) continue;
            // The short way around the world, which is then visible at both edges.
            const turns = Math.round((x - before.x) / map.scale) * map.scale;
            for (const shift of new Set([0, turns])) {
                context.moveTo(before.x + shift, before.y);
                context.lineTo(x - turns + shift, y);
            }
        }
        strokeDashed(context, [3, 5], color, 2);
        context.font = `600 11px ${theme.font}`;
        context.textAlign = "center";
        context.textBaseline = "middle";
        const isChosen = (index) => index === this.chosen;
        for (const index of [...this.marks.keys()].sort((a, b) => isChosen(a) - isChosen(b))) {
            const {x, y} = this.marks[index];
            fillCircle(context, x, y, 10, isChosen(index) ? color : theme.panel);
            context.stroke();
            context.fillStyle = isChosen(index) ? theme.panel : theme.ink;
            context.fillText(index + 1, x, y + 0.5);
        }
    }

    // Chooses the mark at a point and returns its offset from there; of several, the chosen one. Null if there is none.
    take(point, reach) {
        const near = this.marks.map(({x, y}, index) => ({index, x: x - point.x, y: y - point.y}))
            .filter(({x, y}) => Math.hypot(x, y) <= reach)
            .sort((a, b) => (b.index === this.chosen) - (a.index === this.chosen) || Math.hypot(a.x, a.y) - Math.hypot(b.x, b.y));
        if (!near.length) return null;
        this.choose(near[0].index);
        return near[0];
    }

    // Moves the chosen keyframe to a point of the map.
    drag({x, y}) {
        const rounded = (value) => Number(value.toFixed(6));
        const {latitude, longitude} = this.map.unproject({x, y});
        this.keyframes[this.chosen].position.target = {
            latitude: Math.min(Math.max(rounded(latitude), -85), 85), longitude: rounded(longitude),
        };
        this.update();
    }
}
