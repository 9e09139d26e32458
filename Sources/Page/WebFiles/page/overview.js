// All cameras on one map: what each sees, its limits and its path; and the marks of a tour. The map shows them all,
// unless the user has moved it.

import {fillCircle, fit, pathAround, stroke, strokeDashed} from "./theme.js";
import {Projection, latitudeOf, longitudeOf, mercatorX, mercatorY, wrapped} from "./projection.js";

const WAY_MS = 20_000;
const MARGIN = 40;
const MOST_ZOOM = 19;

export class Overview {
    constructor(canvas, ground, theme, choose) {
        this.canvas = canvas;
        this.ground = ground;
        this.theme = theme;
        this.view = null;
        this.backdrop = document.createElement("canvas");
        this.isHeld = false;
        // Has marks on the map that can be dragged: see Tour.
        this.tour = null;
        this.listen(choose);
    }

    // Returns the outlines of a camera's screen and of the part inside its padding: their corners, in Mercator turns.
    static outline(camera) {
        const {padding} = camera.viewport;
        return {
            screen: camera.projection.outline(),
            inner: padding.top || padding.left || padding.bottom || padding.right
                ? camera.projection.outline(
                    padding.left, padding.top, camera.viewport.width - padding.right, camera.viewport.height - padding.bottom)
                : null,
        };
    }

    // Returns the area that the map has to show: all cameras, and the tour.
    wanted(cameras) {
        const box = {left: Infinity, right: -Infinity, top: Infinity, bottom: -Infinity};
        const first = cameras[0] ? mercatorX(cameras[0].position.target.longitude) : 0.5;
        for (const camera of cameras) {
            const shift = Math.round(mercatorX(camera.position.target.longitude) - first);
            for (const {x, y} of Overview.outline(camera).screen) {
                // A camera that sees the whole world does not make the map wider than the world.
                box.left = Math.min(box.left, Math.max(x - shift, first - 1));
                box.right = Math.max(box.right, Math.min(x - shift, first + 1));
                box.top = Math.min(box.top, Math.max(y, 0));
                box.bottom = Math.max(box.bottom, Math.min(y, 1));
            }
        }
        for (const {latitude, longitude} of this.tour?.places ?? []) {
            const x = mercatorX(longitude), near = x - Math.round(x - (box.left + box.right) / 2);
            const y = mercatorY(latitude);
            Object.assign(box, {
                left: Math.min(box.left, near), right: Math.max(box.right, near), top: Math.min(box.top, y), bottom: Math.max(box.bottom, y),
            });
        }
        if (!(box.left < box.right)) Object.assign(box, {left: 0, right: 1, top: 0.2, bottom: 0.7});
        return box;
    }

    // How many points at the top are covered by controls, under which marks could not be dragged.
    get covered() { return this.tour?.places.length ? 44 : 0; }

    // Returns the closest view of a box, with a margin around it.
    enclosing(box) {
        const {width, height} = this.size;
        const scale = Math.min(
            Math.max(width - 2 * MARGIN, 50) / (box.right - box.left),
            Math.max(height - this.covered - 2 * MARGIN, 50) / (box.bottom - box.top));
        return {
            x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2,
            zoom: Math.min(Math.log2(scale / 256), MOST_ZOOM),
        };
    }

    // Moves the map to the cameras in visible steps; returns whether it is still moving.
    follow(cameras, name) {
        if (this.isHeld || this.isMarkHeld || !this.size.width) return false;
        const box = this.wanted(cameras);
        const {x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2} = cameras.find((each) => each.name === name)?.projection ?? {};
        const chosen = {x: x - Math.round(x - (box.left + box.right) / 2), y};
        const goal = this.enclosing(box);
        // In half steps of zoom, so that it does not change with each movement.
        goal.zoom = Math.floor(goal.zoom * 2) / 2;
        goal.y -= this.covered / (512 * 2 ** goal.zoom);
        this.keepWithin(goal);
        if (!this.view) {
            this.view = goal;
            return false;
        }
        // The short way around the world.
        this.view.x += Math.round(goal.x - this.view.x);
        const half = {x: this.size.width / 2, y: this.size.height / 2};
        const scale = 256 * 2 ** this.view.zoom;
        const isInside = (box.left - this.view.x) * scale > -half.x + 8 && (box.right - this.view.x) * scale < half.x - 8
            && (box.top - this.view.y) * scale > -half.y + 8 + this.covered && (box.bottom - this.view.y) * scale < half.y - 8;
        if (isInside && Math.abs(goal.zoom - this.view.zoom) < 1.2 && !this.isGoing) return false;
        const part = this.theme.isStill ? 1 : 0.18;
        this.view.x += (goal.x - this.view.x) * part;
        this.view.y += (goal.y - this.view.y) * part;
        this.view.zoom += (goal.zoom - this.view.zoom) * part;
        const left = Math.abs(goal.zoom - this.view.zoom) + Math.abs(goal.x - this.view.x) * scale / 100
            + Math.abs(goal.y - this.view.y) * scale / 100;
        this.isGoing = left > 0.01;
        const size = 256 * 2 ** this.view.zoom;
        const isLost = Math.abs(chosen.x - this.view.x) * size > half.x - 8 || Math.abs(chosen.y - this.view.y) * size > half.y - 8;
        if (!this.isGoing || isLost) this.view = goal;
        return this.isGoing;
    }

    // Keeps a view within one world and its poles.
    keepWithin(view) {
        const {width, height} = this.size;
        view.zoom = Math.max(view.zoom, Math.log2(Math.max(width, height) / 256));
        const half = height / (512 * 2 ** view.zoom);
        view.y = Math.min(Math.max(view.y, half), 1 - half);
    }

    get projection() {
        return new Projection(
            {
                target: {latitude: latitudeOf(this.view.y), longitude: longitudeOf(this.view.x)}, zoom: this.view.zoom,
                bearing: 0, viewingAngle: 0,
            },
            this.size);
    }

    // Returns whether something is still moving. `ghost` is where the chosen camera was at another time, or `null`.
    paint(cameras, chosen, ghost) {
        const {width, height, ratio} = fit(this.canvas);
        if (!width || !height) return false;
        this.size = {width, height};
        const isGoing = this.follow(cameras, chosen);
        this.keepWithin(this.view);
        const context = this.canvas.getContext("2d", {alpha: false});
        const projection = this.projection;
        this.drawGround(cameras, projection, ratio);
        context.setTransform(1, 0, 0, 1, 0, 0);
        context.drawImage(this.backdrop, 0, 0);
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        const ordered = [...cameras].sort((a, b) => (a.name === chosen) - (b.name === chosen));
        for (const camera of ordered) this.limits(context, projection, camera);
        for (const camera of ordered) this.way(context, projection, camera);
        for (const camera of ordered) this.camera(context, projection, camera, camera.name === chosen);
        const seen = cameras.find(({name}) => name === chosen);
        if (ghost && seen) this.ghost(context, projection, seen, ghost);
        if (seen) this.tour?.paint(context, projection, this.theme, this.color(seen));
        return isGoing;
    }

    // Redraws the ground only if the map has changed, or a name or mark that labels avoid has moved.
    drawGround(cameras, projection, ratio) {
        const {width, height} = this.size;
        const {x, y, zoom} = this.view;
        const context = this.backdrop.getContext("2d", {alpha: false});
        // No labels under the controls and the source.
        const taken = [
            {left: width - 100, right: width, top: height - 20, bottom: height}, {left: 0, right: 310, top: 0, bottom: 44},
        ];
        for (const camera of cameras) {
            const {x, y} = camera.projection;
            const point = projection.screen(projection.ground(x - this.shift(camera), y));
            taken.push({left: point.x - 6, right: point.x + 16 + 7 * camera.name.length, top: point.y - 8, bottom: point.y + 8});
        }
        for (const place of this.tour?.places ?? []) {
            const {x, y} = projection.project(place);
            taken.push({left: x - 12, right: x + 12, top: y - 12, bottom: y + 12});
        }
        const key = [
            x, y, zoom, width, height, ratio, this.theme.version, this.ground.version,
            ...taken.map(({left, top}) => `${Math.round(left / 24)} ${Math.round(top / 24)}`),
        ].join();
        if (key === this.drawn) return;
        this.drawn = key;
        const {canvas} = context;
        [canvas.width, canvas.height] = [this.canvas.width, this.canvas.height];
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        this.ground.paint(context, projection, this.theme, {taken, leastOfEarth: 4});
    }

    ghost(context, projection, camera, position) {
        const before = new Projection(position, camera.viewport);
        pathAround(context, projection, before.outline(), Math.round(before.x - this.view.x));
        strokeDashed(context, [6, 4], this.theme.ink, 1.5);
    }

    color(camera) { return this.theme.cameras[camera.color]; }

    // Returns by how many turns a camera has to be shifted to be visible.
    shift(camera) { return Math.round(mercatorX(camera.position.target.longitude) - this.view.x); }

    limits(context, projection, camera) {
        const bounds = camera.settings?.targetBounds;
        if (!bounds) return;
        const west = mercatorX(bounds.southWest.longitude);
        const east = west + (((mercatorX(bounds.northEast.longitude) - west) % 1) + 1) % 1;
        const whole = bounds.northEast.longitude - bounds.southWest.longitude >= 360 ? west + 1 : east;
        const [top, bottom] = [mercatorY(bounds.northEast.latitude), mercatorY(bounds.southWest.latitude)];
        const shift = Math.round((west + whole) / 2 - this.view.x);
        pathAround(context, projection, [{x: west, y: top}, {x: whole, y: top}, {x: whole, y: bottom}, {x: west, y: bottom}], shift);
        strokeDashed(context, [7, 5], this.color(camera), 1.5);
    }

    way(context, projection, camera) {
        const {samples} = camera;
        const newest = camera.timeMs === null ? samples.length - 1 : camera.indexAt(camera.timeMs);
        if (newest < 1) return;
        const last = samples[newest].timeMs;
        const shift = this.shift(camera);
        let before = null;
        context.beginPath();
        for (let index = newest; index >= 0; index--) {
            const {timeMs, position} = samples[index];
            if (last - timeMs > WAY_MS && !(this.tour?.isOpen && timeMs >= camera.wayFrom)) break;
            const x = mercatorX(position.target.longitude);
            // The short way around the world.
            const near = before === null ? x : x + Math.round(before - x);
            before = near;
            const point = projection.screen(projection.ground(near - shift, mercatorY(position.target.latitude)));
            context.lineTo(point.x, point.y);
            if (samples[index].isFirst) break;
        }
        context.globalAlpha = 0.75;
        stroke(context, this.color(camera), 1.5);
        context.globalAlpha = 1;
    }

    camera(context, projection, camera, isChosen) {
        const color = this.color(camera);
        const shift = this.shift(camera);
        const {screen, inner} = Overview.outline(camera);
        pathAround(context, projection, screen, shift);
        context.fillStyle = color;
        context.globalAlpha = isChosen ? 0.24 : 0.14;
        context.fill();
        context.globalAlpha = 1;
        context.lineJoin = "round";
        stroke(context, color, isChosen ? 2.5 : 1.5);
        if (inner) {
            pathAround(context, projection, inner, shift);
            strokeDashed(context, [3, 3], color, 1);
        }
        const {target} = camera.position;
        const point = projection.screen(projection.ground(mercatorX(target.longitude) - shift, mercatorY(target.latitude)));
        fillCircle(context, point.x, point.y, 3, color);
        context.font = `600 11.5px ${this.theme.font}`;
        context.textAlign = "left";
        context.textBaseline = "middle";
        context.lineWidth = 3.5;
        context.strokeStyle = this.theme.halo;
        context.strokeText(camera.name, point.x + 7, point.y);
        context.fillStyle = this.theme.ink;
        context.fillText(camera.name, point.x + 7, point.y);
    }

    // MARK: Looking around

    listen(choose) {
        const {canvas} = this;
        let drag = null;
        const at = (event) => {
            const box = canvas.getBoundingClientRect();
            return {x: event.clientX - box.left, y: event.clientY - box.top};
        };
        const end = () => {
            drag = null;
            this.isMarkHeld = false;
            this.changed?.();
        };
        canvas.addEventListener("pointerdown", (event) => {
            if (event.button !== 0 || !this.view) return;
            canvas.setPointerCapture(event.pointerId);
            const point = at(event);
            const mark = this.tour?.take(point, event.pointerType === "mouse" ? 12 : 22);
            this.isMarkHeld = Boolean(mark);
            drag = {...point, moved: 0, mark};
        });
        canvas.addEventListener("pointermove", (event) => {
            if (!drag) return;
            const point = at(event);
            drag.moved += Math.hypot(point.x - drag.x, point.y - drag.y);
            if (drag.moved > 4 && drag.mark) {
                this.tour.drag({x: point.x + drag.mark.x, y: point.y + drag.mark.y});
            } else if (drag.moved > 4) {
                const scale = 256 * 2 ** this.view.zoom;
                this.hold({...this.view, x: this.view.x - (point.x - drag.x) / scale, y: this.view.y - (point.y - drag.y) / scale});
            }
            Object.assign(drag, point);
        });
        canvas.addEventListener("pointerup", (event) => {
            if (drag && drag.moved <= 4 && !drag.mark) {
                const name = this.hit?.(at(event));
                if (name) choose(name);
            }
            end();
        });
        canvas.addEventListener("pointercancel", end);
        canvas.addEventListener("wheel", (event) => {
            if (!this.view) return;
            event.preventDefault();
            this.zoom(-event.deltaY / (event.deltaMode === 1 ? 6 : 220), at(event));
        }, {passive: false});
    }

    zoom(amount, point = {x: this.size.width / 2, y: this.size.height / 2}) {
        const before = this.projection.place(this.projection.groundUnder(point));
        const zoom = Math.min(this.view.zoom + amount, MOST_ZOOM);
        const scale = 256 * 2 ** zoom;
        this.hold({
            x: before.x - (point.x - this.size.width / 2) / scale, y: before.y - (point.y - this.size.height / 2) / scale, zoom,
        });
    }

    hold(view) {
        this.view = {x: (((view.x % 1) + 1) % 1), y: view.y, zoom: view.zoom};
        this.keepWithin(this.view);
        this.isHeld = true;
        this.changed?.();
    }

    release() {
        this.isHeld = false;
        this.isGoing = true;
        this.changed?.();
    }

    // Returns the camera whose outline is under a point; of several, the smallest.
    cameraAt(cameras, point) {
        const place = this.projection.place(this.projection.groundUnder(point));
        return cameras.map((camera) => {
            const shift = this.shift(camera);
            const corners = Overview.outline(camera).screen.map(({x, y}) => ({x: x - shift, y}));
            let area = 0;
            let isInside = false;
            for (let i = 0, j = 3; i < 4; j = i++) {
                const [a, b] = [corners[i], corners[j]];
                area += a.x * b.y - b.x * a.y;
                if (a.y > place.y !== b.y > place.y && place.x < ((b.x - a.x) * (place.y - a.y)) / (b.y - a.y) + a.x) {
                    isInside = !isInside;
                }
            }
            return {camera, isInside, area: Math.abs(area)};
        }).filter(({isInside}) => isInside).sort((a, b) => a.area - b.area)[0]?.camera.name;
    }

    // The bounds of what the map shows.
    get bounds() {
        const [topLeft, , bottomRight] = this.projection.outline();
        return {
            southWest: {latitude: latitudeOf(Math.min(bottomRight.y, 1)), longitude: wrapped(longitudeOf(topLeft.x))},
            northEast: {latitude: latitudeOf(Math.max(topLeft.y, 0)), longitude: wrapped(longitudeOf(bottomRight.x))},
        };
    }
}
