// The stream of events as rows, the newest at the bottom. Fingers and the gestures they make, from first to last, form
// one row that unfolds. The daemon's own lines are kept, so that they can be copied.
// Invariant: at most `MOST` lines are kept, and `SHOWN` rows are in the page, however fast events arrive.

import {degrees} from "./timeline.js";

const MOST = 5000;
const SHOWN = 300;
// A row of fingers with more lines continues in another one.
const MOST_OF_ONE = 1000;

const number = (value, digits, width) => value.toFixed(digits).padStart(width);

function place(position) {
    return `${number(position.target.latitude, 5, 9)} ${number(position.target.longitude, 5, 10)} z ${number(position.zoom, 3, 6)}`
        + ` b ${degrees(position.bearing).padStart(5)} a ${number(position.viewingAngle, 1, 4)}`;
}

function gesture(line) {
    const members = Array.isArray(line) ? line : [line];
    return members.map((member) => {
        if (member.type === "touch") return fingers(member);
        return [member.type, member.phase].filter(Boolean).join(" ");
    }).join(" + ");
}

function fingers({touches = [], cancelled, surface = "page"}) {
    // In a recorded line this is a number, which means nothing to people.
    if (typeof surface === "string" && surface !== "page") return `${surface}: ${fingers({touches, cancelled})}`;
    if (cancelled) return "fingers cancelled";
    return touches.length ? `${touches.length} finger${touches.length > 1 ? "s" : ""}  `
        + touches.map(({x, y}) => `${Math.round(x)},${Math.round(y)}`).join("  ") : "no finger";
}

// The filter that lets each type through, and its text.
const TYPES = {
    "move-started": ["moves", ({position, reason}) => `${place(position)} ${reason}`],
    // The reason is in `move-started`.
    "camera-changed": ["moves", ({position}) => place(position)],
    "idle": ["moves", ({position}) => place(position)],
    "reset": ["moves", ({position}) => place(position)],
    "gesture": ["gestures", ({line}) => gesture(line)],
    "touch": ["fingers", (message) => fingers(message)],
    "marker": ["replay", ({label}) => label],
    "replay": ["replay", ({state, timeMs, speed}) => `${state} at ${(timeMs / 1000).toFixed(2)} s, speed ${speed}`],
    "lease-taken": ["moves", ({label, timeMs, untilMs}) =>
        `${label ?? "another client"} for ${((untilMs - timeMs) / 1000).toFixed(1)} s`],
    "lease-ended": ["moves", ({reason}) => reason],
    "lagged": ["moves", ({missed}) => `${missed} events were missed`],
    "missed": ["moves", ({events}) => `this page was too slow for ${events} events`],
    "error": ["errors", ({code, message}) => `${code}: ${message}`],
    "refused": ["errors", ({message}) => message],
    "trace-ended": ["replay", ({events, rejected, frames, durationMs}) =>
        `${events} lines, ${rejected} rejected, ${frames} frames in ${(durationMs / 1000).toFixed(2)} s`],
    "removed": ["moves", () => ""],
};

// The names of the filters.
export const KINDS = [...new Set(Object.values(TYPES).map(([kind]) => kind))];

// What fingers or reported gestures did, from first to last.
class Hand {
    constructor(camera) {
        this.camera = camera;
        // The fingers that are down and the gestures that are active; the row ends when there are none.
        this.held = new Set();
        this.members = [];
        this.gestures = new Set();
        this.most = 0;
        this.isUnfolded = false;
    }

    // Takes note of a line; returns whether it belongs to the row.
    follow({type, number, touches, line}) {
        const set = (key, isHeld) => { if (isHeld) this.held.add(key); else this.held.delete(key); };
        if (type === "touch") {
            this.most = Math.max(this.most, touches.length);
            set(number, touches.length > 0);
            return true;
        }
        let isOne = false;
        for (const part of [line].flat()) {
            if (part.type === "touch") {
                set("recorded", part.touches?.length > 0);
                this.most = Math.max(this.most, part.touches?.length ?? 0);
            }
            else if (part.phase === undefined) continue;
            else set(`${part.type} ${part.gesture}`, part.phase === "began" || part.phase === "changed");
            if (part.type !== "touch") this.gestures.add(part.type);
            isOne = true;
        }
        return isOne;
    }

    get text() {
        const times = this.members.map(({message}) => message.timeMs).filter((time) => time !== undefined);
        const length = times.length ? `  ${((times.at(-1) - times[0]) / 1000).toFixed(2)} s` : "";
        const fingers = this.most ? `${this.most} finger${this.most > 1 ? "s" : ""}` : "";
        return [fingers, [...this.gestures].join(" + ")].filter(Boolean).join(" → ") + length;
    }
}

export class Log {
    constructor(list) {
        this.list = list;
        this.rows = [];
        this.count = 0;
        this.added = [];
        // The current row of fingers of each camera, and the rows that have changed.
        this.hands = new Map();
        this.changed = new Set();
        this.isStopped = false;
        this.kinds = new Set(KINDS);
        this.camera = null;
        this.text = "";
        this.isAtEnd = true;
        list.addEventListener("scroll", () => {
            this.isAtEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 24;
        }, {passive: true});
        new ResizeObserver(() => { if (this.isAtEnd) list.scrollTop = list.scrollHeight; }).observe(list);
    }

    add(message, line) {
        if (message.type === "active-gestures") {
            const hand = this.hands.get(message.camera);
            for (const gesture of message.gestures) hand?.gestures.add(gesture);
            if (hand) this.changed.add(hand);
        }
        if (message.type === "daemon") this.hands.clear();
        if (["reset", "lagged", "removed"].includes(message.type)) this.hands.delete(message.camera);
        const [kind] = TYPES[message.type] ?? [];
        if (!kind || this.isStopped) return;
        const row = {message, line: line ?? JSON.stringify(message), kind};
        this.count += 1;
        // Where no frames are drawn, nothing else shortens it.
        if (this.count > 2 * MOST) this.paint();
        if (kind === "fingers" || kind === "gestures") {
            const hand = this.hands.get(message.camera) ?? new Hand(message.camera);
            if (hand.follow(message)) {
                if (!hand.members.length) this.added.push(hand);
                hand.members.push(row);
                this.changed.add(hand);
                if (hand.held.size && hand.members.length < MOST_OF_ONE) this.hands.set(message.camera, hand);
                else this.hands.delete(message.camera);
                return;
            }
        }
        this.added.push(row);
    }

    matches({message, kind, line, members}) {
        if (members) return members.some((row) => this.matches(row));
        return this.kinds.has(kind) && (!this.camera || !message.camera || message.camera === this.camera)
            && (!this.text || line.toLowerCase().includes(this.text));
    }

    // Brings the page up to date, at most once per frame.
    paint() {
        if (!this.added.length && !this.changed.size) return;
        const added = this.added;
        this.added = [];
        this.rows.push(...added);
        let gone = 0;
        for (; this.count > MOST && gone < this.rows.length - 1; gone++) this.count -= this.rows[gone].members?.length ?? 1;
        this.rows.splice(0, gone);
        this.append(added.filter((row) => this.matches(row)).slice(-SHOWN));
        for (const hand of this.changed) if (hand.element) this.fill(hand);
        this.changed.clear();
        if (this.isAtEnd) this.list.scrollTop = this.list.scrollHeight;
    }

    append(rows) {
        if (!rows.length) return;
        const fragment = document.createDocumentFragment();
        for (const row of rows) fragment.append(row.members ? this.handRow(row) : this.row(row));
        this.list.append(fragment);
        while (this.list.childElementCount > SHOWN) this.list.firstElementChild.remove();
        if (this.isAtEnd) this.list.scrollTop = this.list.scrollHeight;
    }

    row({message, kind}, type = message.type, text = TYPES[type][1](message)) {
        const row = document.createElement("li");
        row.className = kind;
        for (const [name, value] of [
            ["time", message.timeMs === undefined ? "" : (message.timeMs / 1000).toFixed(3)],
            ["camera", message.camera ?? ""], ["type", type], ["text", text],
        ]) {
            const cell = document.createElement("span");
            cell.className = name;
            cell.textContent = value;
            row.append(cell);
        }
        return row;
    }

    handRow(hand) {
        const row = this.row(hand.members[0], "hand", "");
        row.className = "hand";
        const [time, camera, type, text] = row.children;
        const button = document.createElement("button");
        const list = document.createElement("ol");
        button.append(time, camera, type, text);
        row.append(button, list);
        row.classList.add(hand.members[0].kind);
        button.onclick = () => {
            hand.isUnfolded = !hand.isUnfolded;
            list.replaceChildren();
            this.fill(hand);
        };
        hand.element = row;
        this.fill(hand);
        return row;
    }

    fill(hand) {
        const [button, list] = hand.element.children;
        button.setAttribute("aria-expanded", String(hand.isUnfolded));
        button.querySelector(".type").textContent = hand.most ? "touch" : "gesture";
        button.lastElementChild.textContent = hand.text;
        if (!hand.isUnfolded) return;
        // Recorded fingers only repeat the `touch` events.
        const isTold = ({line}) => this.kinds.has("fingers") && line && [line].flat().every(({type}) => type === "touch");
        const rows = hand.members.filter((row) => this.matches(row) && !isTold(row.message));
        for (const row of rows.slice(list.childElementCount)) list.append(this.row(row));
    }

    // Shows the rows that the filters let through.
    refilter() {
        this.paint();
        this.list.replaceChildren();
        this.isAtEnd = true;
        this.append(this.rows.filter((row) => this.matches(row)).slice(-SHOWN));
    }

    clear() {
        [this.rows, this.added, this.count] = [[], [], 0];
        this.hands.clear();
        this.changed.clear();
        this.list.replaceChildren();
    }

    // The daemon's lines behind what is shown; if gestures are shown, they are a recording.
    get lines() {
        return this.rows.flatMap((row) => row.members ?? [row]).filter((row) => this.matches(row)).map(({line}) => `${line}\n`).join("");
    }
}
