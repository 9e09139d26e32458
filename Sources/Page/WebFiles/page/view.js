// The chosen camera as its screen sees it: the ground, the fingers on it with their trails, the target, the padding.

import {fit} from "./theme.js";
import {scaleBar} from "./ground.js";

const FINGER = 23;

export class View {
    constructor(canvas, ground, theme) {
        this.canvas = canvas;
        this.frame = canvas.parentElement;
        this.ground = ground;
        this.theme = theme;
        this.grid = "degrees";
        // A map engine that draws the ground below the canvas; and whether there may come one.
        this.styled = null;
        this.isSeenThrough = false;
    }

    // The camera's screen, as large as there is room for; `scale` is a point's pixels.
    layout(camera) {
        const {clientWidth: width, clientHeight: height} = this.frame;
        const {viewport} = camera;
        // Its height is of whole pixels, as a map engine wants it.
        const most = Math.floor(Math.min(width / viewport.width, height / viewport.height) * viewport.height);
        const scale = most / viewport.height;
        this.scale = scale > 0 ? scale : 1;
        this.size = {width: viewport.width * this.scale, height: viewport.height * this.scale};
        const text = `${this.size.width}px ${this.size.height}px`;
        if (this.laidOut !== text) {
            this.laidOut = text;
            this.canvas.style.width = `${this.size.width}px`;
            this.canvas.style.height = `${this.size.height}px`;
        }
    }

    // A point of the camera's screen, of a point of the page.
    pointAt(clientX, clientY) {
        const box = this.canvas.getBoundingClientRect();
        return {x: (clientX - box.left) / this.scale, y: (clientY - box.top) / this.scale};
    }

    paint(camera, now) {
        this.layout(camera);
        const {ratio} = fit(this.canvas);
        const context = this.canvas.getContext("2d", {alpha: this.isSeenThrough});
        const pixels = this.scale * ratio;
        context.setTransform(pixels, 0, 0, pixels, 0, 0);
        const projection = camera.projection;
        const unit = 1 / this.scale;
        // The scale bar's place, with something around it.
        const corner = [0, 40, 80, 120].flatMap((x) => [{x: projection.width - x * unit, y: 22 * unit}]);
        if (this.styled) context.clearRect(0, 0, projection.width, projection.height);
        this.styled?.show(camera, this.size);
        this.ground.paint(context, projection, this.theme, {
            unit, grid: this.grid, taken: corner, isBelow: Boolean(this.styled),
        });
        this.padding(context, camera, unit);
        this.target(context, projection, unit);
        this.bar(context, projection, unit);
        this.fingers(context, camera, now, unit);
    }

    padding(context, camera, unit) {
        const {top, left, bottom, right} = camera.viewport.padding;
        if (!(top || left || bottom || right)) return;
        context.setLineDash([6 * unit, 5 * unit]);
        context.strokeStyle = this.theme.quiet;
        context.lineWidth = 1.5 * unit;
        context.strokeRect(left, top, camera.viewport.width - left - right, camera.viewport.height - top - bottom);
        context.setLineDash([]);
    }

    target(context, {centerX: x, centerY: y}, unit) {
        const arm = 9 * unit;
        context.beginPath();
        context.moveTo(x - arm, y);
        context.lineTo(x + arm, y);
        context.moveTo(x, y - arm);
        context.lineTo(x, y + arm);
        context.lineCap = "round";
        context.strokeStyle = this.theme.halo;
        context.lineWidth = 5 * unit;
        context.stroke();
        context.strokeStyle = this.theme.ink;
        context.lineWidth = 2 * unit;
        context.stroke();
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
        context.strokeStyle = this.theme.halo;
        context.lineWidth = 4 * unit;
        context.stroke();
        context.strokeStyle = this.theme.label;
        context.lineWidth = 1.5 * unit;
        context.stroke();
        this.ground.context = context;
        this.ground.unit = unit;
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
                context.beginPath();
                context.arc(finger.x, finger.y, radius, 0, 2 * Math.PI);
                context.fillStyle = this.theme.finger;
                context.fill();
                context.strokeStyle = this.theme["finger-edge"];
                context.lineWidth = 2 * unit;
                context.stroke();
                context.beginPath();
                context.arc(finger.x, finger.y, 2.5 * unit, 0, 2 * Math.PI);
                context.fillStyle = this.theme["finger-edge"];
                context.fill();
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
