// Paints the ground as a projection sees it: sea, land, a grid with labels, a scale bar. It knows no camera and no page.
// Units are the projection's points; `unit` is how many of them a pixel of the page is, for what must not scale along.

import {latitudeOf, longitudeOf, mercatorX, mercatorY} from "./projection.js";

const EARTH = 40_075_016.686;
const DEGREE = 1;
const MINUTE = 1 / 60;
const SECOND = 1 / 3600;
// The distances of a grid's lines, in degrees, each a round number of its unit. Where a second is too much, metres.
const STEPS = [
    45, 30, 15, 10, 5, 2, 1,
    30 * MINUTE, 15 * MINUTE, 10 * MINUTE, 5 * MINUTE, 2 * MINUTE, MINUTE,
    30 * SECOND, 15 * SECOND, 10 * SECOND, 5 * SECOND, 2 * SECOND, SECOND,
];
const METRES = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20];
const LEAST_DISTANCE = 84;
// Labels of metres are longer.
const LEAST_OF_METRES = 116;
const MOST_LINES = 80;

// What of the ground is on the screen, in Mercator turns; it may be wider than the world.
export function visibleBox(projection) {
    const corners = projection.outline();
    const xs = corners.map(({x}) => x);
    const ys = corners.map(({y}) => y);
    return {left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys)};
}

// Points [x, y, x, y …] on one side of a line, by how far each is inside.
function clip(points, inside) {
    const result = [];
    const count = points.length;
    if (!count) return result;
    let ax = points[count - 2];
    let ay = points[count - 1];
    let a = inside(ax, ay);
    for (let index = 0; index < count; index += 2) {
        const bx = points[index];
        const by = points[index + 1];
        const b = inside(bx, by);
        if (a >= 0 !== b >= 0) {
            const part = a / (a - b);
            result.push(ax + (bx - ax) * part, ay + (by - ay) * part);
        }
        if (b >= 0) result.push(bx, by);
        [ax, ay, a] = [bx, by, b];
    }
    return result;
}

function clipToBox(points, box) {
    let result = clip(points, (x) => x - box.left);
    result = clip(result, (x) => box.right - x);
    result = clip(result, (x, y) => y - box.top);
    return clip(result, (x, y) => box.bottom - y);
}

export class Ground {
    constructor(rings) { this.rings = rings; }

    paint(context, projection, theme, {
        unit = 1, grid = "degrees", labels = true, taken = [], isBelow = false,
    } = {}) {
        this.context = context;
        this.projection = projection;
        this.unit = unit;
        // Places of the screen where no label may stand.
        this.taken = [...taken];
        const box = visibleBox(projection);
        if (!isBelow) this.map(context, projection, box, theme);
        if (grid === "degrees" && !this.metres(box, theme, labels)) this.degrees(box, theme, labels);
        if (grid === "tiles") this.tiles(box, theme, labels);
        if (!isBelow && projection.horizon > 0) this.sky(projection.horizon, theme);
    }

    // Sea and land.
    map(context, projection, box, theme) {
        context.fillStyle = theme.beyond;
        context.fillRect(0, 0, projection.width, projection.height);
        // A little more than what is seen: edges of what is cut off stay out of sight.
        const width = box.right - box.left;
        const height = box.bottom - box.top;
        const wide = {
            left: box.left - width / 8, right: box.right + width / 8,
            top: Math.max(box.top - height / 8, 0), bottom: Math.min(box.bottom + height / 8, 1),
        };
        if (wide.top < wide.bottom) {
            context.fillStyle = theme.sea;
            context.beginPath();
            this.polygon([wide.left, wide.top, wide.right, wide.top, wide.right, wide.bottom, wide.left, wide.bottom]);
            context.fill();
            this.land(wide, theme);
        }
    }

    // Adds a polygon of Mercator turns to the path; what lies behind the eye is cut off.
    polygon(points) {
        const p = this.projection;
        const {context} = this;
        if (p.sinTilt > 1e-9) {
            const nearest = (0.9 * p.distance) / p.sinTilt;
            const v = (x, y) => (y - p.y) * p.scale * p.cosTurn - (x - p.x) * p.scale * p.sinTurn;
            for (let index = 0; index < points.length; index += 2) {
                if (v(points[index], points[index + 1]) > nearest) {
                    points = clip(points, (x, y) => nearest - v(x, y));
                    break;
                }
            }
        }
        for (let index = 0; index < points.length; index += 2) {
            const east = (points[index] - p.x) * p.scale;
            const south = (points[index + 1] - p.y) * p.scale;
            const u = east * p.cosTurn + south * p.sinTurn;
            const v = south * p.cosTurn - east * p.sinTurn;
            const factor = p.distance / (p.distance - v * p.sinTilt);
            const x = p.centerX + u * factor;
            const y = p.centerY + v * p.cosTilt * factor;
            if (index) context.lineTo(x, y);
            else context.moveTo(x, y);
        }
        if (points.length) context.closePath();
    }

    land(box, theme) {
        const {context} = this;
        const first = Math.floor(box.left);
        const last = Math.min(Math.floor(box.right), first + 8);
        context.beginPath();
        for (let turn = first; turn <= last; turn++) {
            const here = {left: box.left - turn, right: box.right - turn, top: box.top, bottom: box.bottom};
            for (const {points, box: its} of this.rings) {
                if (its.right < here.left || its.left > here.right || its.bottom < here.top || its.top > here.bottom) continue;
                const isWhole = its.left >= here.left && its.right <= here.right
                    && its.top >= here.top && its.bottom <= here.bottom;
                const seen = isWhole ? points : clipToBox(points, here);
                this.polygon(turn === 0 ? seen : Array.from(seen, (value, index) => index % 2 ? value : value + turn));
            }
        }
        context.fillStyle = theme.land;
        context.fill();
        context.strokeStyle = theme.border;
        context.lineWidth = this.unit;
        context.lineJoin = "round";
        context.stroke();
    }

    sky(horizon, theme) {
        const {context, projection} = this;
        const gradient = context.createLinearGradient(0, 0, 0, horizon);
        gradient.addColorStop(0, theme.sky);
        gradient.addColorStop(1, theme.haze);
        context.fillStyle = gradient;
        context.fillRect(0, 0, projection.width, horizon + this.unit);
    }

    // MARK: Grids

    // A straight line on the ground as one on the screen, cut at the screen's edges; null if it is not seen.
    line(ax, ay, bx, by) {
        const p = this.projection;
        let a = p.ground(ax, ay);
        let b = p.ground(bx, by);
        if (p.sinTilt > 1e-9) {
            const nearest = (0.9 * p.distance) / p.sinTilt;
            if (a.v > nearest && b.v > nearest) return null;
            if (a.v > nearest !== b.v > nearest) {
                const part = (nearest - a.v) / (b.v - a.v);
                const cut = {u: a.u + (b.u - a.u) * part, v: nearest};
                if (a.v > nearest) a = cut; else b = cut;
            }
        }
        const [from, to] = [p.screen(a), p.screen(b)];
        let [start, end] = [0, 1];
        const [dx, dy] = [to.x - from.x, to.y - from.y];
        const top = Math.max(0, p.horizon);
        for (const [way, room] of [[-dx, from.x], [dx, p.width - from.x], [-dy, from.y - top], [dy, p.height - from.y]]) {
            if (way === 0) {
                if (room < 0) return null;
            } else if (way < 0) {
                start = Math.max(start, room / way);
            } else {
                end = Math.min(end, room / way);
            }
        }
        if (start >= end) return null;
        return {
            from: {x: from.x + dx * start, y: from.y + dy * start},
            to: {x: from.x + dx * end, y: from.y + dy * end},
        };
    }

    degrees(box, theme, labels) {
        const p = this.projection;
        const perDegree = p.scale / 360;
        const wanted = LEAST_DISTANCE * this.unit;
        // Far away lines come closer together: the grid must not get too fine there.
        const widest = Math.max(box.right - box.left, box.bottom - box.top) * 360;
        const fits = (step) => step * perDegree >= wanted && widest / step <= MOST_LINES;
        const step = [...STEPS].reverse().find(fits) ?? STEPS[0];
        const lines = [];
        const [west, east] = [longitudeOf(box.left), longitudeOf(box.right)];
        for (let n = Math.ceil(west / step); n * step <= east; n++) {
            const line = this.line(mercatorX(n * step), Math.max(box.top, 0), mercatorX(n * step), Math.min(box.bottom, 1));
            if (line) lines.push({line, text: () => degreesText(turned(n * step), step, "E", "W"), isMeridian: true});
        }
        const [south, north] = [latitudeOf(Math.min(box.bottom, 1)), latitudeOf(Math.max(box.top, 0))];
        // Towards the poles parallels are farther apart than meridians.
        const cosine = Math.cos((p.y < 0 || p.y > 1 ? 85 : latitudeOf(p.y)) * Math.PI / 180);
        const finer = [...STEPS].reverse().find((s) => (s * perDegree) / cosine >= wanted && (north - south) / s <= MOST_LINES)
            ?? STEPS[0];
        const parallels = Math.min(step, finer);
        for (let n = Math.ceil(south / parallels); n * parallels <= north; n++) {
            const y = mercatorY(n * parallels);
            const line = this.line(box.left, y, box.right, y);
            if (line) lines.push({line, text: () => degreesText(n * parallels, parallels, "N", "S"), isMeridian: false});
        }
        this.strokeLines(lines, theme);
        if (labels) this.label(lines, theme);
    }

    // Lines so many metres to the east and north of a full minute; `false` where lines of degrees are fine enough.
    metres(box, theme, labels) {
        const p = this.projection;
        if (p.y < 0 || p.y > 1) return false;
        const perMinute = (degrees) => Math.floor(degrees / MINUTE) * MINUTE;
        const longitude = perMinute(longitudeOf(p.x)), latitude = perMinute(latitudeOf(p.y));
        // Mercator's scale hardly changes within a minute.
        const perMetre = 1 / (EARTH * Math.cos(latitude * Math.PI / 180));
        const widest = Math.max(box.right - box.left, box.bottom - box.top) / perMetre;
        const fits = (step) => step * perMetre * p.scale >= LEAST_OF_METRES * this.unit && widest / step <= MOST_LINES;
        const step = METRES.find(fits);
        if (!step) return false;
        const text = (origin, n) => {
            if (n === 0) return origin;
            return `${origin} ${n < 0 ? "−" : "+"} ${+Math.abs(n * step).toFixed(1)} m`;
        };
        const lines = [];
        const [x, y, turn] = [mercatorX(longitude), mercatorY(latitude), step * perMetre];
        for (let n = Math.ceil((box.left - x) / turn); x + n * turn <= box.right; n++) {
            const line = this.line(x + n * turn, box.top, x + n * turn, box.bottom);
            const origin = () => degreesText(turned(longitude), MINUTE, "E", "W");
            if (line) lines.push({line, text: () => text(origin(), n), isMeridian: true});
        }
        for (let n = Math.ceil((y - box.bottom) / turn); y - n * turn >= box.top; n++) {
            const line = this.line(box.left, y - n * turn, box.right, y - n * turn);
            if (line) lines.push({line, text: () => text(degreesText(latitude, MINUTE, "N", "S"), n), isMeridian: false});
        }
        this.strokeLines(lines, theme);
        if (labels) this.label(lines, theme, 104);
        return true;
    }

    // The tiles of a web map: 256 points wide at a whole zoom.
    tiles(box, theme, labels) {
        const p = this.projection;
        let zoom = Math.max(0, Math.floor(Math.log2(p.scale / 256)));
        const widest = Math.max(box.right - box.left, box.bottom - box.top);
        while (zoom > 0 && widest * 2 ** zoom > MOST_LINES / 2) zoom--;
        const count = 2 ** zoom;
        const lines = [];
        const [left, right] = [Math.floor(box.left * count), Math.ceil(box.right * count)];
        const [top, bottom] = [Math.max(0, Math.floor(box.top * count)), Math.min(count, Math.ceil(box.bottom * count))];
        for (let x = left; x <= right; x++) {
            const line = this.line(x / count, top / count, x / count, bottom / count);
            if (line) lines.push({line});
        }
        for (let y = top; y <= bottom; y++) {
            const line = this.line(left / count, y / count, right / count, y / count);
            if (line) lines.push({line});
        }
        this.strokeLines(lines, theme);
        if (!labels || (right - left) * (bottom - top) > 200) return;
        for (let x = left; x < right; x++) {
            for (let y = top; y < bottom; y++) {
                const point = p.screen(p.ground((x + 0.5) / count, (y + 0.5) / count));
                if (point) this.text(`${zoom}/${((x % count) + count) % count}/${y}`, point.x, point.y, theme, "center");
            }
        }
    }

    strokeLines(lines, theme) {
        const {context} = this;
        context.beginPath();
        for (const {line} of lines) {
            context.moveTo(line.from.x, line.from.y);
            context.lineTo(line.to.x, line.to.y);
        }
        context.strokeStyle = theme.grid;
        context.lineWidth = this.unit;
        context.stroke();
    }

    // Each line's label stands where it leaves the screen: at the bottom, or at the left.
    label(lines, theme, width = 62) {
        const p = this.projection;
        const {taken} = this;
        const margin = 5 * this.unit;
        for (const {line, text, isMeridian} of lines) {
            const {from, to} = line;
            const end = isMeridian ? (from.y > to.y ? from : to) : (from.x < to.x ? from : to);
            const isAtBottom = end.y > p.height - 1;
            const x = Math.min(Math.max(end.x, margin), p.width - margin);
            const y = Math.min(Math.max(end.y, 12 * this.unit), p.height - 8 * this.unit);
            if (taken.some((other) => Math.abs(other.x - x) < width * this.unit && Math.abs(other.y - y) < 14 * this.unit)) continue;
            taken.push({x, y});
            const align = isAtBottom ? "center" : end.x > p.width / 2 ? "right" : "left";
            const isNearEdge = x < width / 2 * this.unit || x > p.width - width / 2 * this.unit;
            this.text(text(), x, y, theme, isNearEdge ? (x < p.width / 2 ? "left" : "right") : align);
        }
    }

    text(text, x, y, theme, align) {
        const {context} = this;
        context.font = `${10.5 * this.unit}px ${theme.font}`;
        context.textAlign = align;
        context.textBaseline = "middle";
        context.lineWidth = 3 * this.unit;
        context.lineJoin = "round";
        context.strokeStyle = theme.halo;
        context.strokeText(text, x, y);
        context.fillStyle = theme.label;
        context.fillText(text, x, y);
    }
}

function turned(longitude) {
    const wrapped = ((((longitude + 180) % 360) + 360) % 360) - 180;
    return wrapped === -180 ? 180 : wrapped;
}

// Degrees as people write them, with no more parts than the step needs.
export function degreesText(value, step, positive, negative) {
    const side = Math.abs(value) < 1e-9 ? "" : value < 0 ? negative : positive;
    if (step >= DEGREE) return `${Math.round(Math.abs(value))}°${side}`;
    const hundredths = Math.round(Math.abs(value) * 360_000);
    const degrees = Math.floor(hundredths / 360_000);
    const minutes = Math.floor((hundredths % 360_000) / 6000);
    if (step >= MINUTE) return `${degrees}°${String(minutes).padStart(2, "0")}′${side}`;
    const seconds = (hundredths % 6000) / 100;
    return `${degrees}°${String(minutes).padStart(2, "0")}′${seconds.toFixed(0).padStart(2, "0")}″${side}`;
}

// A round distance and its width in points, for a scale bar of about `wanted` points at the centre of the screen.
export function scaleBar(projection, wanted) {
    const latitude = latitudeOf(Math.min(Math.max(projection.y, 0), 1)) * Math.PI / 180;
    const metres = (EARTH * Math.cos(latitude)) / projection.scale;
    const most = wanted * metres;
    const power = 10 ** Math.floor(Math.log10(most));
    const round = [5, 2, 1].map((factor) => factor * power).find((length) => length <= most);
    const text = round >= 1000 ? `${(round / 1000).toLocaleString("en")} km`
        : round >= 1 ? `${round} m` : `${Math.round(round * 100)} cm`;
    return {text, width: round / metres};
}
