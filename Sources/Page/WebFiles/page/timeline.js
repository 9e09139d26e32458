// What the chosen camera did over time: a bar for each gesture, and curves of zoom, bearing and viewing angle. Where a replay
// tells how long it is, the whole of it; else the last seconds.

import {fit} from "./theme.js";

const WINDOW_MS = 20_000;
const ROWS = [["pan", "pan"], ["pinch", "pinch"], ["rotate", "rotate"], ["tilt", "tilt"], ["one-finger-zoom", "1-finger zoom"]];
const CURVES = [["zoom", "zoom"], ["bearing", "bearing"], ["viewingAngle", "angle"]];
const LEFT = 96;
const RIGHT = 74;

export function clock(milliseconds) {
    const seconds = Math.max(milliseconds, 0) / 1000;
    const minutes = Math.floor(seconds / 60);
    return minutes ? `${minutes}:${(seconds % 60).toFixed(1).padStart(4, "0")}` : `${seconds.toFixed(2)} s`;
}

export class Timeline {
    constructor(canvas, theme, seek) {
        this.canvas = canvas;
        this.theme = theme;
        this.seek = seek;
        canvas.addEventListener("pointerdown", (event) => {
            if (!this.range || !this.isReplay) return;
            canvas.setPointerCapture(event.pointerId);
            this.isDragging = true;
            this.go(event);
        });
        canvas.addEventListener("pointermove", (event) => { if (this.isDragging) this.go(event); });
        for (const type of ["pointerup", "pointercancel"]) {
            canvas.addEventListener(type, () => { this.isDragging = false; });
        }
    }

    go(event) {
        const box = this.canvas.getBoundingClientRect();
        const part = (event.clientX - box.left - LEFT) / (box.width - LEFT - RIGHT);
        const {from, to} = this.range;
        this.seek(from + Math.min(Math.max(part, 0), 1) * (to - from));
    }

    // When it is now on the camera's clock: it goes on between events while something moves or is held.
    static now(camera, now) {
        const {replay} = camera;
        if (replay?.state === "playing" && Number.isFinite(replay.speed)) {
            const gone = replay.timeMs + (now - replay.at) * replay.speed;
            return Math.max(Math.min(gone, replay.durationMs ?? Infinity), camera.timeMs ?? 0);
        }
        return replay ? Math.max(replay.timeMs, 0) : camera.timeMs ?? 0;
    }

    paint(camera, now) {
        const {width, height, ratio} = fit(this.canvas);
        if (!width || !height) return;
        const context = this.canvas.getContext("2d", {alpha: false});
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        const {theme} = this;
        context.fillStyle = theme.panel;
        context.fillRect(0, 0, width, height);
        this.isReplay = Boolean(camera.replay);
        const time = Timeline.now(camera, now);
        const length = camera.replay?.durationMs;
        this.range = length > 0 ? {from: 0, to: length} : {from: Math.max(time - WINDOW_MS, 0), to: Math.max(time, WINDOW_MS)};
        const {from, to} = this.range;
        const x = (at) => LEFT + ((at - from) / (to - from)) * (width - LEFT - RIGHT);

        const axis = 16;
        const room = height - axis - 6;
        const hasFingerZoom = camera.bars.some((bar) => bar.kind === "one-finger-zoom");
        const rows = hasFingerZoom ? ROWS : ROWS.slice(0, 4);
        const rowHeight = Math.min((room * 0.5) / rows.length, 18);
        const top = axis + 4;
        this.axis(context, x, {from, to, width, height, axis});

        context.textBaseline = "middle";
        context.font = `11px ${theme.font}`;
        for (const [index, [kind, text]] of rows.entries()) {
            const y = top + index * rowHeight;
            context.fillStyle = theme.quiet;
            context.textAlign = "right";
            context.fillText(text, LEFT - 10, y + rowHeight / 2);
            context.fillStyle = theme.gesture;
            for (const bar of camera.bars) {
                if (bar.kind !== kind) continue;
                const [a, b] = [x(Math.max(bar.from, from)), x(Math.min(bar.to ?? time, to))];
                if (b < LEFT || a > width - RIGHT || b < a) continue;
                context.beginPath();
                context.roundRect(a, y + 2, Math.max(b - a, 2), Math.max(rowHeight - 4, 3), 2.5);
                context.fill();
            }
        }
        const begin = top + rows.length * rowHeight + 4;
        const each = Math.max((height - begin - 4) / CURVES.length, 6);
        for (const [index, [attribute, text]] of CURVES.entries()) {
            this.curve(context, camera, attribute, text, {x, from, to, y: begin + index * each, height: each, width, time});
        }
        this.head(context, camera, x(time), {top: 2, height, x, from, to});
    }

    axis(context, x, {from, to, width, height, axis}) {
        const {theme} = this;
        const wanted = (to - from) / Math.max((width - LEFT - RIGHT) / 80, 2);
        const power = 10 ** Math.floor(Math.log10(wanted));
        const step = [1, 2, 5, 10].map((factor) => factor * power).find((s) => s >= wanted);
        context.font = `10.5px ${theme.font}`;
        context.textAlign = "center";
        context.textBaseline = "middle";
        context.lineWidth = 1;
        for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
            const place = Math.round(x(at)) + 0.5;
            context.strokeStyle = theme.line;
            context.beginPath();
            context.moveTo(place, axis);
            context.lineTo(place, height);
            context.stroke();
            context.fillStyle = theme.quiet;
            const seconds = at / 1000;
            const text = seconds >= 60 ? clock(at).replace(/\.0$/, "") : `${+seconds.toFixed(2)} s`;
            if (place > LEFT + 12 && place < width - RIGHT - 12 || at === from) context.fillText(text, place, axis / 2 + 1);
        }
    }

    curve(context, camera, attribute, text, {x, from, to, y, height, width, time}) {
        const {theme} = this;
        const color = theme[attribute === "viewingAngle" ? "angle" : attribute];
        const now = camera.position[attribute];
        context.font = `11px ${theme.font}`;
        context.textAlign = "right";
        context.fillStyle = color;
        context.fillText(text, LEFT - 10, y + height / 2);
        context.textAlign = "left";
        context.fillText(attribute === "zoom" ? now.toFixed(2) : `${now.toFixed(1)}°`, width - RIGHT + 10, y + height / 2);

        // Bearings go the short way round, from one to the next.
        const points = [];
        let before = null;
        const {samples} = camera;
        let first = samples.findIndex(({timeMs}) => timeMs >= from);
        if (first < 0) first = samples.length;
        if (first > 0) first--;
        for (let index = first; index < samples.length && samples[index].timeMs <= to; index++) {
            let value = samples[index].position[attribute];
            if (attribute === "bearing" && before !== null) value += 360 * Math.round((before - value) / 360);
            before = value;
            points.push({at: Math.max(samples[index].timeMs, from), value});
        }
        if (!points.length) points.push({at: from, value: now});
        points.push({at: Math.max(Math.min(time, to), points[points.length - 1].at), value: points[points.length - 1].value});
        const values = points.map(({value}) => value);
        const least = {zoom: 1, bearing: 20, viewingAngle: 10}[attribute];
        const [low, high] = [Math.min(...values), Math.max(...values)];
        const span = Math.max(high - low, least);
        const middle = (low + high) / 2;
        const place = (value) => y + height / 2 - ((value - middle) / span) * (height - 5);
        context.save();
        context.beginPath();
        context.rect(LEFT, 0, width - LEFT - RIGHT, 4000);
        context.clip();
        context.beginPath();
        for (const [index, {at, value}] of points.entries()) {
            if (index) context.lineTo(x(at), place(value));
            else context.moveTo(x(at), place(value));
        }
        context.strokeStyle = color;
        context.lineWidth = 1.5;
        context.lineJoin = "round";
        context.stroke();
        context.restore();
    }

    head(context, camera, place, {top, height, x, from, to}) {
        const {theme} = this;
        context.lineWidth = 1;
        const markers = [...camera.markers, ...(camera.replay?.markers ?? [])];
        for (const {timeMs} of markers) {
            if (timeMs < from || timeMs > to) continue;
            const at = x(timeMs);
            context.fillStyle = theme.angle;
            context.beginPath();
            context.moveTo(at - 4, top);
            context.lineTo(at + 4, top);
            context.lineTo(at, top + 7);
            context.fill();
            context.strokeStyle = theme.angle;
            context.beginPath();
            context.moveTo(at, top + 7);
            context.lineTo(at, height);
            context.globalAlpha = 0.4;
            context.stroke();
            context.globalAlpha = 1;
        }
        context.strokeStyle = theme.ink;
        context.fillStyle = theme.ink;
        context.beginPath();
        context.moveTo(place, top + 4);
        context.lineTo(place, height);
        context.stroke();
        context.beginPath();
        context.arc(place, top + 4, 3.5, 0, 2 * Math.PI);
        context.fill();
    }
}
