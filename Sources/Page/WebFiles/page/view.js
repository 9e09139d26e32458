// The chosen camera as its screen shows it: the ground, the fingers with their trails, the target, the padding. Around
// the screen the ground continues, faintly, as far as there is room.

import {fillCircle, fit, pathAround, stroke, strokeDashed} from "./theme.js";
import {scaleBar} from "./ground.js";
import {Projection} from "./projection.js";

const FINGER = 23;
const MARGIN = 14;

export class View {
    constructor(canvas, ground, theme) {
        this.canvas = canvas;
        this.frame = canvas.parentElement;
        this.around = this.frame.querySelector("canvas");
        this.ground = ground;
        this.theme = theme;
        this.grid = "metres";
        // The map engine that draws the ground below the canvas, and whether the canvas is transparent for one.
        this.styled = null;
        this.isSeenThrough = false;
    }

    // Makes the camera's screen as large as fits; `scale` is pixels per point.
    layout(camera) {
        const {clientWidth: width, clientHeight: height} = this.frame;
        const {viewport} = camera;
        // Its height is a whole number of pixels, as map engines require.
        const room = Math.min((width - 2 * MARGIN) / viewport.width, (height - 2 * MARGIN) / viewport.height);
        const most = Math.floor(room * viewport.height);
        const scale = most / viewport.height;
        this.scale = scale > 0 ? scale : 1;
        this.size = {width: viewport.width * this.scale, height: viewport.height * this.scale};
        const text = `${this.size.width}px ${this.size.height}px`;
        if (this.laidOut !== text) {
            this.laidOut = text;
            this.canvas.style.width = `${this.size.width}px`;
            this.canvas.style.height = `${this.size.height}px`;
        }
        // Where there is room for a line beside or below the screen.
        const [beside, below] = [(width - this.size.width) / 2, (height - this.size.height) / 2];
        this.frame.style.setProperty("--beside", `${beside}px`);
        this.frame.dataset.room = beside > 150 ? "beside" : below > 26 ? "below" : "none";
    }

    // Converts a point of the page to one of the camera's screen.
    pointAt(clientX, clientY) {
        const box = this.canvas.getBoundingClientRect();
        return {x: (clientX - box.left) / this.scale, y: (clientY - box.top) / this.scale};
    }

    // `ghost` is where the camera was at another time, or `null`.
    paint(camera, now, ghost) {
        this.layout(camera);
        this.surround(camera);
        const {ratio} = fit(this.canvas);
        const context = this.canvas.getContext("2d", {alpha: this.isSeenThrough});
        const pixels = this.scale * ratio;
        context.setTransform(pixels, 0, 0, pixels, 0, 0);
        const projection = camera.projection;
        const unit = 1 / this.scale;
        // The target and the scale bar, with some space around them.
        const {centerX: x, centerY: y} = projection;
        const corner = [{left: x - 12 * unit, right: x + 12 * unit, top: y - 12 * unit, bottom: y + 12 * unit}, {left: projection.width - 150 * unit, right: projection.width, top: 8 * unit, bottom: 40 * unit}];
        if (this.styled) context.clearRect(0, 0, projection.width, projection.height);
        this.styled?.show(camera, this.size);
        this.ground.paint(context, projection, this.theme, {
            unit, grid: this.grid, taken: corner, isBelow: Boolean(this.styled),
        });
        this.padding(context, camera, unit);
        if (ghost) this.ghost(context, projection, new Projection(ghost, camera.viewport), unit);
        this.target(context, projection, unit);
        this.bar(context, projection, unit);
        this.fingers(context, camera, now, unit);
    }

    // Paints what is around the camera's screen, as the same eye sees it; at half sharpness, which saves much work.
    surround({position, viewport, projection}) {
        const {width, height, ratio} = fit(this.around, 0.5);
        const drawn = [position, viewport, width, height, ratio, this.scale, this.theme.version, this.ground.version];
        if (drawn.every((value, index) => value === this.surrounded?.[index])) return;
        this.surrounded = drawn;
        const context = this.around.getContext("2d", {alpha: false});
        const pixels = this.scale * ratio;
        const unit = 1 / this.scale;
        // Up to the canvas's last pixel, which may be a fraction of a page's pixel.
        const all = {width: this.around.width / pixels, height: this.around.height / pixels};
        const wide = Object.assign(Object.create(projection), all);
        const [left, top] = [(width * unit - projection.width) / 2, (height * unit - projection.height) / 2];
        wide.centerX += left;
        wide.centerY += top;
        context.setTransform(pixels, 0, 0, pixels, 0, 0);
        context.save();
        context.beginPath();
        context.rect(0, 0, wide.width, wide.height);
        context.roundRect(left, top, projection.width, projection.height, 12 * unit);
        context.clip("evenodd");
        this.ground.paint(context, wide, this.theme, {unit, grid: "none", labels: false, isFaint: true});
        context.globalAlpha = 0.55;
        context.fillStyle = this.theme.page;
        context.fillRect(0, 0, wide.width, wide.height);
        context.restore();
    }

    // Draws the outline of what the camera saw.
    ghost(context, projection, before, unit) {
        if (!pathAround(context, projection, before.outline(), Math.round(before.x - projection.x))) return;
        strokeDashed(context, [6 * unit, 4 * unit], this.theme.ink, 1.5 * unit);
    }

    padding(context, camera, unit) {
        const {top, left, bottom, right} = camera.viewport.padding;
        if (!(top || left || bottom || right)) return;
        context.beginPath();
        context.rect(left, top, camera.viewport.width - left - right, camera.viewport.height - top - bottom);
        strokeDashed(context, [6 * unit, 5 * unit], this.theme.quiet, 1.5 * unit);
    }

    target(context, {centerX: x, centerY: y}, unit) {
        const arm = 9 * unit;
        context.beginPath();
        context.moveTo(x - arm, y);
        context.lineTo(x + arm, y);
        context.moveTo(x, y - arm);
        context.lineTo(x, y + arm);
        context.lineCap = "round";
        stroke(context, this.theme.halo, 5 * unit);
        stroke(context, this.theme.ink, 2 * unit);
        context.lineCap = "butt";
    }

    bar(context, projection, unit) {
        const {text, width} = scaleBar(projection, 110 * unit);
        const x = projection.width - 14 * unit - width;
        const y = 22 * unit;
        context.beginPath();
        context.moveTo(x, y - 5 * unit);
        context.lineTo(x, y);
        context.lineTo(x + width, y);
        context.lineTo(x + width, y - 5 * unit);
        stroke(context, this.theme.halo, 4 * unit);
        stroke(context, this.theme.label, 1.5 * unit);
        this.ground.text(text, x + width / 2, y + 9 * unit, this.theme, "center");
    }

    fingers(context, camera, now, unit) {
        const radius = FINGER * Math.max(unit, 0.6);
        for (const surface of camera.surfaces.values()) {
            for (const trail of surface.trails.values()) this.trail(context, trail, now, radius);
            const name = surface.surface === "page" ? undefined : surface.surface;
            const [first] = surface.touches;
            if (first && name !== undefined) {
                this.ground.text(String(name), first.x, first.y - radius - 9 * unit, this.theme, "center");
            }
            for (const finger of surface.touches) {
                fillCircle(context, finger.x, finger.y, radius, this.theme.finger);
                stroke(context, this.theme["finger-edge"], 2 * unit);
                fillCircle(context, finger.x, finger.y, 2.5 * unit, this.theme["finger-edge"]);
            }
        }
    }

    trail(context, trail, now, radius) {
        context.lineCap = "round";
        context.strokeStyle = this.theme["finger-edge"];
        for (let index = 1; index < trail.length; index++) {
            const age = Math.min((now - trail[index].at) / 700, 1);
            context.globalAlpha = 0.5 * (1 - age);
            context.lineWidth = radius * 0.55 * (1 - age) + 0.5;
            context.beginPath();
            context.moveTo(trail[index - 1].x, trail[index - 1].y);
            context.lineTo(trail[index].x, trail[index].y);
            context.stroke();
        }
        context.globalAlpha = 1;
        context.lineCap = "butt";
    }
}
