// How well the screens of a wall keep in step, live: for each camera whose positions are announced ahead of time, how
// far ahead they arrive, and which arrive too late, so that its screen lags by that much; and how good the clocks are.
// The same of other machines' screens that follow this one's cameras, as the broker's bridge tells it.
// Invariant: positions that came longer than `SPAN` ago are forgotten, and nothing is shown unless positions are
// announced ahead, the server's clock is known not to be synchronized, or other screens are known.

import {wallClockAhead} from "./present.js";

const SPAN = 10_000;
const MOST_ROWS = 8;
// A screen whose clock is further behind the server's than this, in ms, and that one's own error, is not in step.
const FRAME = 17;
// No network's delay is longer, in ms: a clock that seems further ahead is wrong.
const LONGEST_DELAY = 1000;

function amount(ms) {
    const size = Math.abs(ms);
    return size < 0.1 ? `${Math.round(size * 1000)} µs` : `${size < 10 ? size.toFixed(1) : Math.round(size)} ms`;
}

export class Step {
    constructor(root, theme) {
        Object.assign(this, {root, theme});
        [this.rows, this.others] = root.querySelectorAll("ul");
        this.note = root.querySelector("p");
        // By camera name: {at, lead}, when a position arrived and how long before its time; the oldest first.
        this.told = new Map();
        this.clock = null;
        // When the server's clock was at 0, in the page's time, by each of its latest signs of life. The network's
        // delay makes them late, so the least counts.
        this.starts = [];
        // How far this screen's clock is ahead of the server's at most, in ms, when it was last painted; NaN: unknown.
        // If negative, it is behind by at least that.
        this.ahead = NaN;
        // The screens of other machines.
        this.screens = [];
        // Positions due before this came with the cameras' state: they are not late.
        this.beginning = -Infinity;
    }

    // Whether the server's clock is known to be wrong; false while it is unknown.
    get isUnsynchronized() { return this.clock?.synchronized === false; }

    // Takes the server's clock from its signs of life.
    setClock({wallTime, clock}) {
        this.clock = clock ?? null;
        this.starts = [...this.starts, performance.now() - wallTime].slice(-6);
        this.setScreens(this.screens);
    }

    // Whether this screen's clock is too far from the server's to tell when something is due.
    get isOff() { return -this.ahead > FRAME + (this.clock?.errorMs ?? 0) || this.ahead > LONGEST_DELAY; }

    // Records that a position has arrived; times are in ms since 1970, like `presentAt`.
    add(name, {presentAt}, wallTime) {
        if (presentAt < this.beginning) return;
        const leads = this.told.get(name) ?? [];
        leads.push({at: wallTime, lead: presentAt - wallTime});
        if (leads.length > 2048) leads.splice(0, 1024);
        this.told.set(name, leads);
    }

    // Shows the leads of the last seconds; returns whether to redraw even if nothing arrives.
    paint(cameras, wallTime) {
        if (this.starts.length) this.ahead = Math.min(...this.starts) + wallClockAhead();
        for (const [name, leads] of this.told) {
            const kept = leads.findIndex(({at}) => at > wallTime - SPAN);
            if (kept < 0) this.told.delete(name); else leads.splice(0, kept);
        }
        this.root.hidden = this.told.size === 0 && !this.isUnsynchronized && !this.screens.length;
        if (this.root.hidden) return false;
        const names = cameras.map(({name}) => name).filter((name) => this.told.has(name)).slice(0, MOST_ROWS);
        while (this.rows.children.length > names.length) this.rows.lastElementChild.remove();
        while (this.rows.children.length < names.length) this.rows.append(row());
        for (const [index, name] of names.entries()) this.show(this.rows.children[index], name, wallTime);
        const off = this.ahead < 0 ? `at least ${amount(this.ahead)} behind` : `up to ${amount(this.ahead)} ahead of`;
        this.note.textContent = this.isOff ? `This screen's clock is ${off} the server's.`
            : this.isUnsynchronized ? "The server's clock is not synchronized."
                : this.clock?.errorMs === undefined ? "" : `The server's clock is within ${amount(this.clock.errorMs)}.`;
        this.note.dataset.state = this.isOff || this.isUnsynchronized ? "bad" : "good";
        return this.told.size > 0;
    }

    // Lists the screens of other machines, those that are wrong first.
    setScreens(screens) {
        this.screens = screens;
        const rows = screens.map((screen) => [`${screen.node}/${screen.camera}`, ...this.said(screen)]);
        rows.sort((a, b) => a[2] - b[2]);
        const more = rows.splice(MOST_ROWS);
        if (more.length) rows.push(["", `${more.length} more`, more.every(([, , isGood]) => isGood)]);
        this.others.replaceChildren(...rows.map(([name, text, isGood]) => {
            const [part, label, output] = elements("li", "span", "output");
            [label.textContent, label.title, output.textContent] = [name, name, text];
            output.dataset.state = isGood ? "good" : "bad";
            part.append(label, output);
            return part;
        }));
    }

    // What to say of a screen of another machine, and whether that is good.
    said({leadMs, late, silentMs, synchronized, errorMs}) {
        if (silentMs) return [`silent for ${Math.round(silentMs / 1000)} s`, false];
        if (late) return [`${late} late, by up to ${amount(leadMs)}`, false];
        const lead = leadMs === undefined ? "at rest" : `${amount(leadMs)} ahead`;
        if (synchronized === undefined) return [`${lead}, clock unknown`, true];
        if (!synchronized || this.isUnsynchronized) return [`${lead}, clock not synchronized`, false];
        return [`in step, ${lead}, clock within ${amount(errorMs)}`, true];
    }

    show(part, name, wallTime) {
        const [label, canvas, output] = part.children, leads = this.told.get(name);
        const late = leads.filter(({lead}) => lead < 0), latest = Math.min(...leads.map(({lead}) => lead));
        label.textContent = name;
        output.textContent = late.length ? `${late.length} late, by up to ${amount(latest)}`
            : this.isOff ? "not in step"
                : this.isUnsynchronized ? `${amount(latest)} ahead, clock not synchronized`
                    : `in step, ${amount(latest)} ahead`;
        output.dataset.state = this.isOff || late.length || this.isUnsynchronized ? "bad" : "good";
        const {width, height} = canvas, context = canvas.getContext("2d");
        context.clearRect(0, 0, width, height);
        const scale = (height - 2) / Math.max(...leads.map(({lead}) => Math.abs(lead)), 1);
        for (const {at, lead} of leads) {
            context.fillStyle = lead < 0 ? this.theme.bad : this.theme.ink;
            const size = 1 + Math.abs(lead) * scale;
            context.fillRect(width * (1 - (wallTime - at) / SPAN), height - size, 1, size);
        }
    }
}

const elements = (...names) => names.map((name) => document.createElement(name));

function row() {
    const [part, label, canvas, output] = elements("li", "span", "canvas", "output");
    [canvas.width, canvas.height] = [120, 14];
    part.append(label, canvas, output);
    return part;
}
