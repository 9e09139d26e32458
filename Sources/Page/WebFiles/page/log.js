// The stream of events as rows, the newest at the bottom. What is kept are the daemon's own lines: they can be copied.
// Invariant: at most `MOST` rows are kept, and `SHOWN` are in the page, however fast events come.

const MOST = 5000;
const SHOWN = 300;

const number = (value, digits, width) => value.toFixed(digits).padStart(width);

function place(position) {
    return `${number(position.target.latitude, 5, 9)} ${number(position.target.longitude, 5, 10)}  z ${number(position.zoom, 3, 6)}`
        + `  b ${number(position.bearing, 1, 5)}  a ${number(position.viewingAngle, 1, 4)}`;
}

function gesture(line) {
    const members = Array.isArray(line) ? line : [line];
    return members.map((member) => {
        if (member.type === "touch") return fingers(member);
        return [member.type, member.phase].filter(Boolean).join(" ");
    }).join(" + ");
}

function fingers({touches = [], cancelled, surface = "page"}) {
    // A recorded line has a number there, which says nothing to a person.
    if (typeof surface === "string" && surface !== "page") return `${surface}: ${fingers({touches, cancelled})}`;
    if (cancelled) return "fingers cancelled";
    return touches.length ? `${touches.length} finger${touches.length > 1 ? "s" : ""}  `
        + touches.map(({x, y}) => `${Math.round(x)},${Math.round(y)}`).join("  ") : "no finger";
}

const TEXTS = {
    "move-started": ({position, reason}) => `${place(position)}  ${reason}`,
    "camera-changed": ({position, reason}) => `${place(position)}  ${reason}`,
    "idle": ({position, reason}) => `${place(position)}  ${reason}`,
    "reset": ({position}) => place(position),
    "gesture": ({line}) => gesture(line),
    "touch": (message) => fingers(message),
    "marker": ({label}) => label,
    "replay": ({state, timeMs, speed}) => `${state} at ${(timeMs / 1000).toFixed(2)} s, speed ${speed}`,
    "lagged": ({missed}) => `${missed} events were missed`,
    "missed": ({events}) => `this page was too slow for ${events} events`,
    "error": ({code, message}) => `${code}: ${message}`,
    "refused": ({message}) => message,
    "trace-ended": ({events, rejected, frames, durationMs}) =>
        `${events} lines, ${rejected} rejected, ${frames} frames in ${(durationMs / 1000).toFixed(2)} s`,
    "removed": () => "",
};

// What the filters are called, and the types that each lets through.
export const KINDS = [
    ["moves", ["move-started", "camera-changed", "idle", "reset", "lagged", "missed", "removed"]],
    ["gestures", ["gesture"]],
    ["fingers", ["touch"]],
    ["replay", ["replay", "marker", "trace-ended"]],
    ["errors", ["error", "refused"]],
];

export class Log {
    constructor(list, state) {
        this.list = list;
        this.state = state;
        this.rows = [];
        this.added = [];
        this.dropped = 0;
        this.isStopped = false;
        this.kinds = new Set(KINDS.map(([kind]) => kind));
        this.camera = null;
        this.text = "";
        this.isAtEnd = true;
        list.addEventListener("scroll", () => {
            this.isAtEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 24;
        }, {passive: true});
        new ResizeObserver(() => { if (this.isAtEnd) list.scrollTop = list.scrollHeight; }).observe(list);
    }

    add(message, line) {
        const text = TEXTS[message.type];
        if (!text || this.isStopped) return;
        const kind = KINDS.find(([, types]) => types.includes(message.type))[0];
        this.added.push({message, line: line ?? JSON.stringify(message), kind});
        if (this.added.length > MOST) this.added.splice(0, MOST / 2);
    }

    matches({message, kind, line}) {
        return this.kinds.has(kind) && (!this.camera || !message.camera || message.camera === this.camera)
            && (!this.text || line.toLowerCase().includes(this.text));
    }

    // Brings the page up to date: once a frame at the most.
    paint() {
        if (!this.added.length) return;
        const added = this.added;
        this.added = [];
        this.rows.push(...added);
        if (this.rows.length > MOST) this.rows.splice(0, this.rows.length - MOST);
        this.append(added.filter((row) => this.matches(row)).slice(-SHOWN));
    }

    append(rows) {
        if (!rows.length) return;
        const fragment = document.createDocumentFragment();
        for (const row of rows) fragment.append(this.row(row));
        this.list.append(fragment);
        while (this.list.childElementCount > SHOWN) this.list.firstElementChild.remove();
        if (this.isAtEnd) this.list.scrollTop = this.list.scrollHeight;
    }

    row({message, kind}) {
        const row = document.createElement("li");
        row.className = kind;
        for (const [name, text] of [
            ["time", message.timeMs === undefined ? "" : (message.timeMs / 1000).toFixed(3)],
            ["camera", message.camera ?? ""], ["type", message.type], ["text", TEXTS[message.type](message)],
        ]) {
            const cell = document.createElement("span");
            cell.className = name;
            cell.textContent = text;
            row.append(cell);
        }
        return row;
    }

    // Shows what the filters let through now.
    refilter() {
        this.paint();
        this.list.replaceChildren();
        this.isAtEnd = true;
        this.append(this.rows.filter((row) => this.matches(row)).slice(-SHOWN));
    }

    clear() {
        this.rows = [];
        this.added = [];
        this.list.replaceChildren();
    }

    // The daemon's lines of what is shown: a recording's, if gestures are.
    get lines() { return this.rows.filter((row) => this.matches(row)).map(({line}) => `${line}\n`).join(""); }
}
