// Paints the ground that a projection sees: sea, land, names, a labelled grid, a scale bar. It knows no camera and no
// page. Units are the projection's points; `unit` is a page pixel in points, for what must not scale.

import {latitudeOf, longitudeOf, mercatorX, mercatorY, wrapped} from "./projection.js";
import {fillCircle, stroke} from "./theme.js";

const EARTH = 40_075_016.686;
const DEGREE = 1;
const MINUTE = 1 / 60;
const SECOND = 1 / 3600;
// Grid spacings, in degrees: round numbers of degrees, minutes or seconds. Where a second is too coarse, metres.
const STEPS = [
    45, 30, 15, 10, 5, 2, 1,
    30 * MINUTE, 15 * MINUTE, 10 * MINUTE, 5 * MINUTE, 2 * MINUTE, MINUTE,
    30 * SECOND, 15 * SECOND, 10 * SECOND, 5 * SECOND, 2 * SECOND, SECOND,
];
const METRES = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000];
// The largest spacings in metres: counted from a full minute, not a full degree; and used in a grid of degrees.
const LONGEST_OF_MINUTES = 200;
const LONGEST_AMONG_DEGREES = 20;
const TICKS = 5;
const LEAST_OF_COASTS = 6;
const MOST_NAMES = 60;
// Anything smaller than this, in pixels, is not drawn.
const LEAST_SIZE = 4;
// Points closer together than this, in pixels, are merged.
const SMALLEST_STEP = 2.2;
const LEAST_DISTANCE = 84;
// Labels in metres are longer.
const LEAST_OF_METRES = 116;
const MOST_LINES = 80;

// Returns the part of the ground on the screen, in Mercator turns; it may be wider than the world.
export function visibleBox(projection) {
    const corners = projection.outline();
    const xs = corners.map(({x}) => x);
    const ys = corners.map(({y}) => y);
    return {left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys)};
}

// Clips points [x, y, x, y …] to one side of a line; `inside` returns how far inside a point is.
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
    // `earth` is the large-scale map, on pages that have one.
    constructor(world = {rings: [], countries: []}, earth = null) {
        this.world = world;
        this.earth = earth;
        this.widths = new Map();
        // Incremented when there is more to draw.
        this.version = 0;
    }

    paint(context, projection, theme, {
        unit = 1, grid = "degrees", labels = true, taken = [], isBelow = false, isFaint = false, leastOfEarth = 5,
    } = {}) {
        this.context = context;
        this.projection = projection;
        this.unit = unit;
        // Areas of the screen where no label may be placed.
        this.taken = [...taken];
        const box = visibleBox(projection);
        const zoom = Math.log2(projection.scale / 256);
        // A faint ground may be coarse at small scales.
        this.seen = isBelow || isFaint && zoom < LEAST_OF_COASTS ? null : this.earth?.seen(box, zoom, leastOfEarth);
        if (!isBelow) this.map(context, projection, box, theme, isFaint);
        const longest = {metres: Infinity, degrees: LONGEST_AMONG_DEGREES}[grid];
        if (longest && !this.metres(box, theme, labels, longest)) this.degrees(box, theme, labels);
        if (grid === "tiles") this.tiles(box, theme, labels);
        if (!isBelow && labels) this.names(theme);
        if (!isBelow && projection.horizon > 0) this.sky(projection.horizon, theme);
    }

    // Paints sea and land.
    map(context, projection, box, theme, isFaint) {
        context.fillStyle = theme.beyond;
        context.fillRect(0, 0, projection.width, projection.height);
        // A little more than the visible part, so that clipped edges stay out of sight.
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
            if (this.seen) this.earthLand(wide, theme, isFaint);
            else this.land(wide, theme, isFaint);
        }
    }

    // Paints land at a large scale: all tiles are one path, since each overlaps the next. Faint land has no lines.
    earthLand(box, theme, isFaint) {
        const {context, seen} = this;
        const zoom = Math.log2(this.projection.scale / 256);
        const fill = (layer, color) => {
            context.beginPath();
            for (const tile of seen) for (const ring of tile[layer]) this.ring(ring, tile.turn, box);
            context.fillStyle = color;
            context.fill();
        };
        const lines = (layer, color, width, most = Infinity) => {
            context.beginPath();
            for (const tile of seen) {
                for (const {rank, coasts, box: its} of tile[layer]) {
                    if (rank <= most && this.isSeen(its, tile.turn, box)) for (const coast of coasts) this.polyline(coast, tile.turn, box);
                }
            }
            stroke(context, color, width * this.unit);
        };
        context.lineJoin = "bevel";
        fill("land", theme.land);
        if (isFaint) return fill("lakes", theme.sea);
        lines("rivers", theme.river, 1.2, (zoom - 2.5) * 1.3);
        fill("lakes", theme.sea);
        // Where coasts have most points per pixel, colours alone must do: lines would take most of a frame.
        if (zoom >= LEAST_OF_COASTS) lines("land", theme.coast, 1);
        context.setLineDash([5 * this.unit, 3 * this.unit]);
        lines("borders", theme.border, 1.2);
        context.setLineDash([]);
    }

    isSeen(its, turn, box) {
        const least = LEAST_SIZE * this.unit / this.projection.scale;
        return (its.right - its.left > least || its.bottom - its.top > least) && its.right >= box.left - turn
            && its.left <= box.right - turn && its.bottom >= box.top && its.top <= box.bottom;
    }

    // Adds a ring, in a turn around the world, if it is visible there.
    ring({points, box: its}, turn, box) {
        if (!this.isSeen(its, turn, box)) return;
        const here = {left: box.left - turn, right: box.right - turn, top: box.top, bottom: box.bottom};
        const isWhole = its.left >= here.left && its.right <= here.right && its.top >= here.top && its.bottom <= here.bottom;
        const seen = isWhole ? points : clipToBox(points, here);
        this.polygon(turn === 0 ? seen : Array.from(seen, (value, index) => index % 2 ? value : value + turn));
    }

    // Adds a line; parts outside the box or behind the eye are omitted.
    polyline(points, turn, box) {
        const p = this.projection;
        const {context} = this;
        const [left, right] = [box.left - turn, box.right - turn];
        const nearest = p.sinTilt > 1e-9 ? (0.9 * p.distance) / p.sinTilt : Infinity;
        let [sidesBefore, isOpen, hasBefore] = [0, false, false];
        for (let index = 0; index < points.length; index += 2) {
            const [x, y] = [points[index], points[index + 1]];
            const sides = (x < left) | (x > right) << 1 | (y < box.top) << 2 | (y > box.bottom) << 3;
            const before = hasBefore && !isOpen ? index - 2 : null;
            if (sides & sidesBefore) {
                isOpen = false;
            } else {
                if (before !== null) isOpen = this.step(points[before] + turn, points[before + 1], nearest, false);
                isOpen = this.step(x + turn, y, nearest, isOpen);
            }
            [sidesBefore, hasBefore] = [sides, true];
        }
    }

    step(x, y, nearest, isOpen) {
        const p = this.projection;
        const ground = p.ground(x, y);
        if (ground.v > nearest) return false;
        const point = p.screen(ground);
        if (isOpen && Math.abs(point.x - this.last.x) + Math.abs(point.y - this.last.y) < SMALLEST_STEP * this.unit) return true;
        this.last = point;
        if (isOpen) this.context.lineTo(point.x, point.y); else this.context.moveTo(point.x, point.y);
        return true;
    }

    // Paints names of countries or cities, the most important first; names do not overlap.
    names(theme) {
        const p = this.projection;
        const {context} = this;
        const zoom = Math.log2(p.scale / 256);
        const most = (zoom - 3) * 1.6;
        const all = this.seen
            ? this.seen.flatMap(({turn, cities}) => cities.filter(({rank}) => rank <= most).map((city) => ({...city, turn})))
            : zoom < 6 ? this.world.countries.filter(({width}) => width * p.scale > 40 * this.unit)
                .map((country) => ({...country, turn: Math.round(p.x - country.x)})) : [];
        all.sort((a, b) => a.rank - b.rank);
        // Names are measured in it, too.
        const font = context.font = `${this.seen ? "" : "600 "}${11 * this.unit}px ${theme.font}`;
        const nearest = p.sinTilt > 1e-9 ? (0.5 * p.distance) / p.sinTilt : Infinity;
        let count = 0;
        for (const {name, x, y, turn, width: room} of all) {
            if (count >= MOST_NAMES) break;
            const ground = p.ground(x + turn, y);
            const point = ground.v < nearest && p.screen(ground);
            if (!point || point.x < 0 || point.x > p.width || point.y < Math.max(p.horizon, 0) || point.y > p.height) continue;
            const width = this.width(name, context) * this.unit;
            if (room && width > 1.2 * room * p.scale) continue;
            const left = this.seen ? point.x + 6 * this.unit : point.x - width / 2;
            const box = {left: left - 8 * this.unit, right: left + width + 3 * this.unit, top: point.y - 8 * this.unit, bottom: point.y + 8 * this.unit};
            if (box.right > p.width || box.left < 0 || !this.take(box)) continue;
            count += 1;
            if (this.seen) fillCircle(context, point.x, point.y, 2.5 * this.unit, theme.label);
            this.text(name, left, point.y, theme, "left", {font, color: this.seen ? theme.ink : theme.label});
        }
    }

    // Returns the width of a name where a unit is 1; cached, since measuring takes time.
    width(name, context) {
        let width = this.widths.get(name);
        if (width === undefined) this.widths.set(name, width = context.measureText(name).width / this.unit);
        return width;
    }

    // Reserves the space for a text, if it is free.
    take(box) {
        const isFree = !this.taken.some((other) =>
            other.left < box.right && other.right > box.left && other.top < box.bottom && other.bottom > box.top);
        if (isFree) this.taken.push(box);
        return isFree;
    }

    // Adds a polygon in Mercator turns to the path; what is behind the eye is cut off.
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
        let [lastX, lastY] = [0, 0];
        for (let index = 0; index < points.length; index += 2) {
            const east = (points[index] - p.x) * p.scale;
            const south = (points[index + 1] - p.y) * p.scale;
            const u = east * p.cosTurn + south * p.sinTurn;
            const v = south * p.cosTurn - east * p.sinTurn;
            const factor = p.distance / (p.distance - v * p.sinTilt);
            const x = p.centerX + u * factor;
            const y = p.centerY + v * p.cosTilt * factor;
            if (index && Math.abs(x - lastX) + Math.abs(y - lastY) < SMALLEST_STEP * this.unit) continue;
            [lastX, lastY] = [x, y];
            if (index) context.lineTo(x, y);
            else context.moveTo(x, y);
        }
        if (points.length) context.closePath();
    }

    land(box, theme, isFaint) {
        const {context} = this;
        const first = Math.floor(box.left);
        const last = Math.min(Math.floor(box.right), first + 8);
        context.beginPath();
        for (let turn = first; turn <= last; turn++) {
            for (const ring of this.world.rings) this.ring(ring, turn, box);
        }
        context.fillStyle = theme.land;
        context.fill();
        if (isFaint) return;
        context.lineJoin = "bevel";
        stroke(context, theme.border, this.unit);
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

    // Returns a straight line on the ground as one on the screen, cut at its edges; null if it is not visible.
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
        // Distant lines are closer together: the grid must not become too fine there.
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
        // Towards the poles, parallels are farther apart than meridians.
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

    // Draws lines at distances in metres to the east and north of a full minute or degree, with ticks between them at
    // the edges; returns `false` if the lines would be more than `longest` apart.
    metres(box, theme, labels, longest) {
        const p = this.projection;
        if (p.y < 0 || p.y > 1) return false;
        // Mercator's scale hardly changes within a minute, and little within a tenth of a degree.
        const down = (degrees, whole) => Math.floor(degrees / whole) * whole;
        const scaleAt = (latitude) => 1 / (EARTH * Math.cos(latitude * Math.PI / 180));
        const perMetre = scaleAt(down(latitudeOf(p.y), MINUTE));
        const widest = Math.max(box.right - box.left, box.bottom - box.top) / perMetre;
        const fits = (step) => step * perMetre * p.scale >= LEAST_OF_METRES * this.unit && widest / step <= MOST_LINES;
        const step = METRES.find(fits);
        if (!step || step > longest) return false;
        const whole = step > LONGEST_OF_MINUTES ? DEGREE : MINUTE;
        const [longitude, latitude] = [longitudeOf(p.x), latitudeOf(p.y)].map((degrees) => down(degrees, whole));
        const text = (origin, metres) => {
            if (Math.abs(metres) < step / 2) return origin;
            const [distance, unit] = step < 500 ? [metres, "m"] : [metres / 1000, "km"];
            return `${origin} ${metres < 0 ? "−" : "+"} ${+Math.abs(distance).toFixed(1)} ${unit}`;
        };
        const [lines, ticks] = [[], []];
        const add = (n, line, origin, isMeridian) => {
            if (line && n % TICKS) ticks.push({line, isMeridian});
            else if (line) lines.push({line, text: () => text(origin(), n / TICKS * step), isMeridian});
        };
        const [x, turn] = [mercatorX(longitude), step * scaleAt(down(latitudeOf(p.y), whole === MINUTE ? MINUTE : 0.1)) / TICKS];
        const east = () => degreesText(turned(longitude), whole, "E", "W");
        for (let n = Math.ceil((box.left - x) / turn); x + n * turn <= box.right; n++) {
            add(n, this.line(x + n * turn, box.top, x + n * turn, box.bottom), east, true);
        }
        const degrees = step / TICKS * 360 / EARTH;
        const north = () => degreesText(latitude, whole, "N", "S");
        const [south, last] = [latitudeOf(Math.min(box.bottom, 1)), latitudeOf(Math.max(box.top, 0))];
        for (let n = Math.ceil((south - latitude) / degrees); latitude + n * degrees <= last; n++) {
            const y = mercatorY(latitude + n * degrees);
            add(n, this.line(box.left, y, box.right, y), north, false);
        }
        this.strokeLines(lines, theme);
        this.strokeTicks(ticks, theme);
        if (labels) this.label(lines, theme, 104);
        return true;
    }

    // Draws short lines where full ones would leave the screen.
    strokeTicks(ticks, theme) {
        const {context} = this;
        context.beginPath();
        for (const {line: {from, to}, isMeridian} of ticks) {
            const [end, other] = isMeridian === from.y > to.y || !isMeridian === from.x < to.x ? [from, to] : [to, from];
            const length = Math.hypot(other.x - end.x, other.y - end.y);
            const part = Math.min(6 * this.unit / length, 1);
            context.moveTo(end.x, end.y);
            context.lineTo(end.x + (other.x - end.x) * part, end.y + (other.y - end.y) * part);
        }
        stroke(context, theme.label, this.unit);
    }

    // Draws the tiles of a web map: 256 points wide at an integer zoom.
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
        stroke(context, theme.grid, this.unit);
    }

    // Labels each line where it leaves the screen: at the bottom, or at the left.
    label(lines, theme, width = 62) {
        const p = this.projection;
        const margin = 5 * this.unit;
        for (const {line, text, isMeridian} of lines) {
            const {from, to} = line;
            const end = isMeridian ? (from.y > to.y ? from : to) : (from.x < to.x ? from : to);
            const isAtBottom = end.y > p.height - 1;
            const x = Math.min(Math.max(end.x, margin), p.width - margin);
            const y = Math.min(Math.max(end.y, 12 * this.unit), p.height - 8 * this.unit);
            const half = width / 2 * this.unit;
            if (!this.take({left: x - half, right: x + half, top: y - 7 * this.unit, bottom: y + 7 * this.unit})) continue;
            const align = isAtBottom ? "center" : end.x > p.width / 2 ? "right" : "left";
            const isNearEdge = x < width / 2 * this.unit || x > p.width - width / 2 * this.unit;
            this.text(text(), x, y, theme, isNearEdge ? (x < p.width / 2 ? "left" : "right") : align);
        }
    }

    text(text, x, y, theme, align, {color = theme.label, font = `${10.5 * this.unit}px ${theme.font}`} = {}) {
        const {context} = this;
        context.font = font;
        context.textAlign = align;
        context.textBaseline = "middle";
        context.lineWidth = 3 * this.unit;
        context.lineJoin = "round";
        context.strokeStyle = theme.halo;
        context.strokeText(text, x, y);
        context.fillStyle = color;
        context.fillText(text, x, y);
    }
}

// Returns a longitude within one turn, and 180 rather than -180.
const turned = (longitude) => -wrapped(-longitude);

// Formats degrees as people write them, with no more parts than the step needs.
export function degreesText(value, step, positive, negative) {
    // 0° and 180° have no direction.
    const side = Math.abs(value) < 1e-9 || Math.abs(value) > 180 - 1e-9 ? "" : value < 0 ? negative : positive;
    if (step >= DEGREE) return `${Math.round(Math.abs(value))}°${side}`;
    const hundredths = Math.round(Math.abs(value) * 360_000);
    const degrees = Math.floor(hundredths / 360_000);
    const minutes = Math.floor((hundredths % 360_000) / 6000);
    if (step >= MINUTE) return `${degrees}°${String(minutes).padStart(2, "0")}′${side}`;
    const seconds = (hundredths % 6000) / 100;
    return `${degrees}°${String(minutes).padStart(2, "0")}′${seconds.toFixed(0).padStart(2, "0")}″${side}`;
}

// Returns a round distance and its width in points, for a scale bar of at most `wanted` points at the screen's centre.
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
