// What the chosen camera did over time: a bar for each gesture, and curves of zoom, bearing and viewing angle, blank
// where nothing is known. Shows a whole replay, or else the last seconds; the wheel and a drag select a part.

import {fillCircle, fit, stroke, strokeDashed} from "./theme.js";

const WINDOW_MS = 20_000;
const LEAST_MS = 20;
const ROWS = [["pan", "pan"], ["pinch", "pinch"], ["rotate", "rotate"], ["tilt", "tilt"], ["one-finger-zoom", "1-finger zoom"]];
const CURVES = [["zoom", "zoom", 1, ""], ["bearing", "bearing", 20, "°"], ["viewingAngle", "angle", 10, "°"]];
const LEFT = 96;
const RIGHT = 74;
const AXIS = 20;

export function clock(milliseconds) {
    const seconds = Math.max(milliseconds, 0) / 1000;
    if (seconds < 59.995) return `${seconds.toFixed(2)} s`;
    const tenths = Math.round(seconds * 10);
    return `${Math.floor(tenths / 600)}:${(tenths % 600 / 10).toFixed(1).padStart(4, "0")}`;
}

// A bearing just below 360 is rounded to 0.
export const degrees = (angle) => angle.toFixed(1).replace("360.0", "0.0");

// Returns the smallest of 1, 2 and 5 times a power of ten that is at least `least`.
function round(least) {
    const power = 10 ** Math.floor(Math.log10(least));
    return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least * 0.999);
}

export class Timeline {
    // `seek` seeks the replay to a time; `changed` is called when something has to be redrawn.
    constructor(canvas, theme, {seek, changed}) {
        this.canvas = canvas;
        this.theme = theme;
        this.seek = seek;
        this.changed = changed;
        // The part that the user has selected, and the time under the pointer; `null` for none.
        this.part = null;
        this.hovered = null;
        this.drag = null;
        canvas.addEventListener("pointerdown", (event) => this.down(event));
        canvas.addEventListener("pointermove", (event) => this.move(event));
        canvas.addEventListener("pointerup", (event) => this.up(event));
        canvas.addEventListener("pointercancel", () => { this.drag = null; });
        canvas.addEventListener("pointerleave", () => this.hover(null));
        canvas.addEventListener("dblclick", () => this.show(null));
        canvas.addEventListener("wheel", (event) => this.scroll(event), {passive: false});
    }

    // MARK: The pointer

    timeAt(event) {
        const box = this.canvas.getBoundingClientRect();
        const {from, to} = this.range;
        const part = (event.clientX - box.left - LEFT) / (box.width - LEFT - RIGHT);
        return from + Math.min(Math.max(part, 0), 1) * (to - from);
    }

    down(event) {
        if (!this.range || event.button !== 0) return;
        this.canvas.setPointerCapture(event.pointerId);
        const isAxis = event.clientY - this.canvas.getBoundingClientRect().top < AXIS;
        // A finger cannot select a part as well: it drags the playhead.
        this.drag = {
            isSeek: this.isReplay && (isAxis || event.pointerType === "touch"), x: event.clientX, from: this.timeAt(event), moved: 0,
        };
        if (this.drag.isSeek) this.seek(this.drag.from);
    }

    move(event) {
        if (!this.range) return;
        this.hover(this.timeAt(event));
        if (!this.drag) return;
        this.drag.moved = Math.max(this.drag.moved, Math.abs(event.clientX - this.drag.x));
        if (this.drag.isSeek) this.seek(this.hovered);
    }

    up(event) {
        const {drag} = this;
        this.drag = null;
        if (!drag || drag.isSeek) return;
        const to = this.timeAt(event);
        if (drag.moved > 4) this.show({from: Math.min(drag.from, to), to: Math.max(drag.from, to)});
        else if (this.isReplay) this.seek(to);
    }

    hover(timeMs) {
        this.hovered = timeMs;
        this.changed();
    }

    scroll(event) {
        if (!this.range) return;
        event.preventDefault();
        const {from, to} = this.range;
        const unit = event.deltaMode === 1 ? 30 : 1;
        const isAlong = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
        if (isAlong) {
            const by = ((event.deltaX || event.deltaY) * unit * (to - from)) / (this.canvas.clientWidth - LEFT - RIGHT);
            return this.show({from: from + by, to: to + by});
        }
        const at = this.timeAt(event);
        const factor = 2 ** ((event.deltaY * unit) / 300);
        this.show({from: at - (at - from) * factor, to: at + (to - at) * factor});
    }

    // Shows a part, limited to what there is; `null` shows all of it.
    show(part) {
        this.part = null;
        if (part) {
            const all = this.all;
            const length = Math.max(part.to - part.from, LEAST_MS);
            const from = Math.max(Math.min(part.from, all.to - length), all.from);
            if (length < (all.to - all.from) * 0.999) this.part = {from, to: from + length};
        }
        this.changed();
    }

    // MARK: Drawing

    // Returns the current time on the camera's clock, extrapolated while a replay plays.
    static now(camera, now) {
        const {replay} = camera;
        if (replay?.state === "playing" && Number.isFinite(replay.speed)) {
            const gone = replay.timeMs + (now - replay.at) * replay.speed;
            return Math.max(Math.min(gone, replay.durationMs ?? Infinity), camera.timeMs ?? 0);
        }
        return replay ? Math.max(replay.timeMs, 0) : camera.timeMs ?? 0;
    }

    // Updates the range that can be shown, and the one that is.
    measure(camera, time) {
        const begin = camera.samples[0]?.timeMs ?? time;
        if (camera !== this.camera || Boolean(camera.replay) !== this.isReplay) this.part = null;
        this.camera = camera;
        this.isReplay = Boolean(camera.replay);
        const end = this.isReplay ? camera.durationMs ?? Math.max(time, camera.samples.at(-1)?.timeMs ?? 0, 1000) : time;
        this.all = this.isReplay ? {from: 0, to: end} : {from: Math.min(begin, Math.max(end - WINDOW_MS, 0)), to: Math.max(end, WINDOW_MS)};
        const {part} = this;
        if (part && camera.replay?.state === "playing" && time > part.to && time - part.to < part.to - part.from) {
            this.part = {from: part.to, to: 2 * part.to - part.from};
        }
        this.range = this.part ?? (this.isReplay ? this.all : {from: this.all.to - WINDOW_MS, to: this.all.to});
    }

    paint(camera, now) {
        const {width, height, ratio} = fit(this.canvas);
        if (!width || !height) return;
        const context = this.canvas.getContext("2d", {alpha: false});
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        const {theme} = this;
        context.fillStyle = theme.panel;
        context.fillRect(0, 0, width, height);
        const time = Timeline.now(camera, now);
        this.measure(camera, time);
        const {from, to} = this.range;
        const x = (at) => LEFT + ((at - from) / (to - from)) * (width - LEFT - RIGHT);
        const size = {width, height, x, time};
        this.axis(context, size);
        const rows = camera.bars.some((bar) => bar.kind === "one-finger-zoom") ? ROWS : ROWS.slice(0, 4);
        const rowHeight = Math.min((height - AXIS) * 0.42 / rows.length, 15);
        this.gestures(context, camera, rows, rowHeight, size);
        const begin = AXIS + rows.length * rowHeight + 6;
        const each = Math.max((height - begin - 2) / CURVES.length, 6);
        for (const [index, curve] of CURVES.entries()) this.curve(context, camera, curve, {...size, y: begin + index * each, each});
        if (this.drag && !this.drag.isSeek && this.hovered !== null) {
            const [a, b] = [x(this.drag.from), x(this.hovered)];
            context.globalAlpha = 0.15;
            context.fillStyle = theme.ink;
            context.fillRect(Math.min(a, b), AXIS, Math.abs(b - a), height);
            context.globalAlpha = 1;
        }
        this.head(context, camera, size);
        if (this.hovered !== null) this.pointer(context, size);
    }

    axis(context, {x, width, height}) {
        const {theme, range: {from, to}} = this;
        const step = round((to - from) / Math.max((width - LEFT - RIGHT) / 80, 2));
        context.font = `10.5px ${theme.font}`;
        context.textAlign = "center";
        context.textBaseline = "middle";
        context.lineWidth = 1;
        context.strokeStyle = theme.line;
        context.fillStyle = theme.quiet;
        context.beginPath();
        for (let at = Math.ceil(from / step) * step; at <= to + 1e-6; at += step) {
            const place = Math.round(x(at)) + 0.5;
            context.moveTo(place, AXIS);
            context.lineTo(place, height);
            const text = at >= 60_000 ? clock(at).replace(/\.0$/, "") : `${+(at / 1000).toFixed(3)} s`;
            context.fillText(text, place, AXIS / 2 + 1);
        }
        context.stroke();
    }

    gestures(context, camera, rows, rowHeight, {x, width, time}) {
        const {theme, range: {from, to}} = this;
        context.font = `11px ${theme.font}`;
        for (const [index, [kind, text]] of rows.entries()) {
            const y = AXIS + 2 + (index + 0.5) * rowHeight;
            context.fillStyle = theme.quiet;
            context.textAlign = "left";
            context.fillText(text, 12, y);
            context.fillStyle = theme[kind];
            for (const bar of camera.bars) {
                if (bar.kind !== kind) continue;
                const end = bar.isActive ? Math.max(bar.to, time) : bar.to;
                const [a, b] = [x(Math.max(bar.from, from)), x(Math.min(end, to))];
                if (b < LEFT || a > width - RIGHT || b < a) continue;
                context.beginPath();
                context.roundRect(a, y - 2, Math.max(b - a, 2), 4, 2);
                context.fill();
            }
        }
    }

    curve(context, camera, [attribute, text, least, unit], {x, y, each, width, time}) {
        const {theme, range: {from, to}} = this;
        const color = theme[attribute === "viewingAngle" ? "angle" : attribute];
        // The known stretches. Bearings take the short way round from one sample to the next.
        const stretches = [];
        const {samples} = camera;
        let [low, high, before] = [Infinity, -Infinity, null];
        for (let index = Math.max(camera.indexAt(from), 0); index < samples.length; index++) {
            const {timeMs, position, isFirst} = samples[index];
            let value = position[attribute];
            if (attribute === "bearing" && before !== null) value += 360 * Math.round((before - value) / 360);
            before = value;
            if (isFirst || !stretches.length) stretches.push([]);
            low = Math.min(low, value);
            high = Math.max(high, value);
            const at = x(timeMs);
            // Of several samples within a pixel, only the first and the last are visible.
            const stretch = stretches.at(-1);
            if (stretch.length > 1 && at - stretch.at(-2).at < 0.5) stretch.pop();
            stretch.push({at, value});
            if (timeMs > to) break;
        }
        // The value stays where it was last reported.
        if (camera.last && camera.last === samples.at(-1) && stretches.length) {
            stretches.at(-1).push({at: x(Math.max(time, camera.last.timeMs)), value: before});
        }
        const value = this.hovered === null ? camera.position[attribute] : camera.positionAt(this.hovered)?.[attribute];
        context.font = `11px ${theme.font}`;
        context.fillStyle = color;
        context.textAlign = "left";
        context.fillText(text, 12, y + each / 2);
        const told = value === undefined ? "–" : attribute === "zoom" ? value.toFixed(2) : `${degrees(value)}°`;
        context.fillText(told, width - RIGHT + 10, y + each / 2);
        if (!stretches.length) return;
        const span = Math.max(high - low, least);
        // An angle is never below 0.
        const middle = Math.max((low + high) / 2, attribute === "viewingAngle" ? span / 2 : -Infinity);
        const height = (some) => y + each / 2 - ((some - middle) / span) * (each - 8);
        this.scale(context, height, {from: middle - span / 2, to: middle + span / 2, each, width}, unit);
        context.save();
        context.beginPath();
        context.rect(LEFT, 0, width - LEFT - RIGHT, 4000);
        context.clip();
        context.beginPath();
        for (const stretch of stretches) {
            for (const [index, {at, value: some}] of stretch.entries()) {
                if (index) context.lineTo(at, height(some)); else context.moveTo(at, height(some));
            }
        }
        context.lineJoin = "round";
        stroke(context, color, 1.5);
        context.restore();
    }

    // Draws the round values in the range of a curve, as many as there is room for.
    scale(context, height, {from, to, each, width}, unit) {
        const {theme} = this;
        const step = round((to - from) / Math.max(Math.floor(each / 13), 1));
        context.font = `9.5px ${theme.font}`;
        context.textAlign = "right";
        context.fillStyle = theme.quiet;
        context.strokeStyle = theme.line;
        context.lineWidth = 1;
        for (let value = Math.ceil(from / step - 1e-9) * step; value <= to + 1e-9; value += step) {
            const y = Math.round(height(value)) + 0.5;
            context.beginPath();
            context.moveTo(LEFT, y);
            context.lineTo(width - RIGHT, y);
            context.stroke();
            const shown = unit ? ((value % 360) + 360) % 360 : value;
            context.fillText(`${+shown.toFixed(2)}${unit}`, LEFT - 6, y);
        }
    }

    head(context, camera, {x, time, height}) {
        const {theme, range: {from, to}} = this;
        context.lineWidth = 1;
        const markers = [...camera.markers, ...(camera.replay?.markers ?? [])];
        for (const {timeMs} of markers) {
            if (timeMs < from || timeMs > to) continue;
            const at = x(timeMs);
            context.fillStyle = context.strokeStyle = theme.marker;
            context.beginPath();
            context.moveTo(at - 4, 2);
            context.lineTo(at + 4, 2);
            context.lineTo(at, 9);
            context.fill();
            context.beginPath();
            context.moveTo(at, 9);
            context.lineTo(at, height);
            context.globalAlpha = 0.4;
            context.stroke();
            context.globalAlpha = 1;
        }
        if (time < from || time > to) return;
        context.beginPath();
        context.moveTo(x(time), 6);
        context.lineTo(x(time), height);
        stroke(context, theme.ink, 1);
        fillCircle(context, x(time), 6, 3.5, theme.ink);
    }

    // Draws the time under the pointer; its values are beside the curves.
    pointer(context, {x, height, width}) {
        const {theme} = this;
        const at = Math.round(x(this.hovered)) + 0.5;
        context.beginPath();
        context.moveTo(at, AXIS);
        context.lineTo(at, height);
        strokeDashed(context, [3, 3], theme.quiet, 1);
        const text = clock(this.hovered);
        context.font = `10.5px ${theme.font}`;
        const half = context.measureText(text).width / 2 + 6;
        const middle = Math.min(Math.max(at, LEFT), width - half);
        context.fillStyle = theme.ink;
        context.beginPath();
        context.roundRect(middle - half, 2, 2 * half, AXIS - 4, 4);
        context.fill();
        context.fillStyle = theme.panel;
        context.textAlign = "center";
        context.fillText(text, middle, AXIS / 2 + 1);
    }
}
