// Sends fingers, pens and the mouse on an element to the daemon as touches: the daemon recognizes the gestures. Input
// without fingers, the wheel and a drag with Ctrl, is sent as gestures; keys are commands. Invariant: however a finger
// disappears, its end is sent.

const WHEEL_END = 200;
const DEGREES_PER_POINT = 0.4;

export class Hands {
    // `toPoint` converts a point of the page to one of the camera's screen; `send` sends a line to the camera.
    constructor(element, toPoint, send, {surface = "page", isTouchOnly = false} = {}) {
        this.element = element;
        this.toPoint = toPoint;
        this.send = send;
        this.surface = surface;
        this.fingers = new Map();
        this.samples = [];
        this.turn = null;
        this.wheel = null;
        element.addEventListener("pointerdown", (event) => this.down(event));
        element.addEventListener("pointermove", (event) => this.move(event));
        element.addEventListener("pointerup", (event) => this.up(event));
        element.addEventListener("pointercancel", () => this.cancel());
        element.addEventListener("contextmenu", (event) => event.preventDefault());
        // Only these keep Safari from zooming the page.
        element.addEventListener("gesturestart", (event) => event.preventDefault());
        element.addEventListener("touchstart", (event) => event.preventDefault(), {passive: false});
        if (!isTouchOnly) element.addEventListener("wheel", (event) => this.scroll(event), {passive: false});
        document.addEventListener("visibilitychange", () => { if (document.hidden) this.cancel(); });
        addEventListener("pagehide", () => this.cancel());
        addEventListener("blur", () => { if (this.fingers.size && this.isMouse) this.cancel(); });
    }

    get isMouse() { return [...this.fingers.values()].every(({isMouse}) => isMouse); }

    // MARK: Fingers

    down(event) {
        const isMouse = event.pointerType === "mouse";
        if (isMouse && event.button !== 0 && event.button !== 2) return;
        this.element.focus({preventScroll: true});
        this.element.setPointerCapture(event.pointerId);
        if (isMouse && (event.ctrlKey || event.metaKey || event.button === 2)) return this.beginTurn(event);
        this.flush();
        this.fingers.set(event.pointerId, {...this.toPoint(event.clientX, event.clientY), isMouse});
        this.tell(event.timeStamp);
    }

    move(event) {
        if (this.turn?.pointer === event.pointerId) return this.goTurn(event);
        if (!this.fingers.has(event.pointerId)) return;
        const all = event.getCoalescedEvents?.() ?? [];
        for (const part of all.length ? all : [event]) {
            this.samples.push({
                id: event.pointerId, at: part.timeStamp || event.timeStamp, ...this.toPoint(part.clientX, part.clientY),
            });
        }
        // The fingers of one frame are reported one after another: they are sent together.
        if (this.isDue) return;
        this.isDue = true;
        const timer = setTimeout(() => this.flush(), 40);
        requestAnimationFrame(() => {
            clearTimeout(timer);
            this.flush();
        });
    }

    flush() {
        this.isDue = false;
        const samples = this.samples.splice(0).sort((a, b) => a.at - b.at);
        for (const [index, {id, at, x, y}] of samples.entries()) {
            const finger = this.fingers.get(id);
            if (finger) Object.assign(finger, {x, y});
            const next = samples[index + 1];
            // Samples of one instant are one frame of fingers.
            if (!next || next.at - at > 1 || next.id === id) this.tell(at);
        }
    }

    up(event) {
        if (this.turn?.pointer === event.pointerId) return this.endTurn("ended");
        if (!this.fingers.has(event.pointerId)) return;
        this.flush();
        this.fingers.delete(event.pointerId);
        this.tell(event.timeStamp);
    }

    cancel() {
        this.samples = [];
        if (this.fingers.size) {
            this.fingers.clear();
            this.send({type: "touch", touches: [], cancelled: true, surface: this.surface});
        }
        if (this.turn) this.endTurn("cancelled");
        if (this.wheel) this.endWheel();
    }

    tell(timeMs) {
        const touches = [...this.fingers].map(([id, {x, y}]) => ({id, x: rounded(x), y: rounded(y)}));
        this.send({type: "touch", timeMs: rounded(timeMs), touches, surface: this.surface});
    }

    // MARK: Mouse and wheel

    beginTurn(event) {
        event.preventDefault();
        this.turn = {pointer: event.pointerId, x: event.clientX, y: event.clientY};
        this.sendTurn("began", 0, 0);
    }

    goTurn(event) {
        this.sendTurn("changed", (event.clientX - this.turn.x) * DEGREES_PER_POINT, event.clientY - this.turn.y);
    }

    sendTurn(phase, rotationDeg, y) {
        this.send([
            {type: "rotate", phase, rotationDeg: rounded(rotationDeg), gesture: "mouse"},
            {type: "tilt", phase, translation: {y: rounded(y)}, gesture: "mouse"},
        ]);
    }

    endTurn(phase) {
        this.turn = null;
        this.send(["rotate", "tilt"].map((type) => ({type, phase, gesture: "mouse"})));
    }

    scroll(event) {
        event.preventDefault();
        const amount = -event.deltaY * (event.deltaMode === 1 ? 1 / 12 : event.ctrlKey ? 1 / 60 : 1 / 300);
        const focus = this.toPoint(event.clientX, event.clientY);
        if (!this.wheel) {
            this.wheel = {zoom: 0};
            this.send({type: "pinch", phase: "began", focus, gesture: "wheel"});
        }
        this.wheel.zoom = Math.min(Math.max(this.wheel.zoom + amount, -28), 28);
        this.send({type: "pinch", phase: "changed", focus, scale: 2 ** this.wheel.zoom, gesture: "wheel"});
        clearTimeout(this.wheel.timer);
        this.wheel.timer = setTimeout(() => this.endWheel(), WHEEL_END);
    }

    endWheel() {
        clearTimeout(this.wheel.timer);
        this.wheel = null;
        this.send({type: "pinch", phase: "ended", gesture: "wheel"});
    }
}

// Returns what cancels the fingers and gestures of lost requests at the daemon: their ends may be among them.
export function endsOf(requests) {
    const ends = requests.flatMap(({type, camera, surface, gesture}) => {
        if (type === "touch") return {type, camera, surface, touches: [], cancelled: true};
        return gesture ? {type, camera, gesture, phase: "cancelled"} : [];
    });
    return [...new Map(ends.map((end) => [JSON.stringify(end), end])).values()];
}

const rounded = (value) => Math.round(value * 1000) / 1000;

// Returns the command for a key; null if the key has no meaning here.
export function commandOf(event, camera) {
    if (event.ctrlKey || event.metaKey || event.altKey) return null;
    const {bearing, viewingAngle} = camera.position;
    const step = event.repeat ? 30 : 90;
    const small = event.repeat ? 4 : 10;
    const turn = (by) => ({kind: "set-bearing", bearing: bearing + by});
    const tilt = (by) => ({kind: "set-viewing-angle", viewingAngle: viewingAngle + by});
    const scroll = (x, y) => ({kind: "scroll-by", x, y});
    const zoom = (amount) => ({kind: "zoom-by", amount: event.repeat ? amount / 5 : amount});
    const updates = event.shiftKey
        ? {ArrowLeft: turn(-small), ArrowRight: turn(small), ArrowUp: tilt(small), ArrowDown: tilt(-small)}
        : {
            ArrowLeft: scroll(-step, 0), ArrowRight: scroll(step, 0), ArrowUp: scroll(0, -step), ArrowDown: scroll(0, step),
            n: turn(-bearing), N: turn(-bearing), Home: {kind: "set-camera", position: {...camera.position, bearing: 0, viewingAngle: 0}},
        };
    const update = updates[event.key] ?? {"+": zoom(1), "=": zoom(1), "-": zoom(-1), "_": zoom(-1)}[event.key];
    if (event.key === "Escape") return {type: "stop"};
    if (!update) return null;
    return event.repeat ? {type: "move", update} : {type: "animate", update, durationMs: 180, easing: "ease-out"};
}
