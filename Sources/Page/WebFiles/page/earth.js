// Land, lakes, borders, rivers and cities at 1:10m, in tiles loaded when first seen; ../make-world.py describes them.
// Natural Earth, public domain. Invariant: only a failed tile is requested again; a loaded one never changes.

const UNITS = 8192;
const MARGIN = 64;
const END = UNITS + MARGIN;
// At most this many tiles are drawn; the details of more would be too small to see.
const MOST_TILES = 20;
const AGAIN_MS = 5000;

class Reader {
    constructor(bytes) {
        this.bytes = bytes;
        this.at = 0;
    }

    number() {
        let [value, factor] = [0, 1];
        for (;;) {
            const byte = this.bytes[this.at++];
            value += (byte & 127) * factor;
            if (byte < 128) return value;
            factor *= 128;
        }
    }

    difference() {
        const value = this.number();
        return value % 2 ? -(value + 1) / 2 : value / 2;
    }

    list(read) { return Array.from({length: this.number()}, read); }

    text() {
        const length = this.number();
        this.at += length;
        return new TextDecoder().decode(this.bytes.subarray(this.at - length, this.at));
    }
}

function decode(bytes, count, left, top) {
    const reader = new Reader(bytes);
    const size = count * UNITS;
    const points = (isRing) => () => {
        const rank = reader.number();
        const length = reader.number();
        const points = new Float64Array(2 * length);
        const box = {left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity};
        // The edges of a tile are not coasts.
        const coasts = [];
        let [x, y, coast, edgeBefore, edgeFirst] = [0, 0, [], 0, 0];
        for (let index = 0; index < 2 * length; index += 2) {
            x += reader.difference();
            y += reader.difference();
            const [east, south] = [left / count + x / size, top / count + y / size];
            [points[index], points[index + 1]] = [east, south];
            box.left = Math.min(box.left, east);
            box.right = Math.max(box.right, east);
            box.top = Math.min(box.top, south);
            box.bottom = Math.max(box.bottom, south);
            const edge = (x <= -MARGIN) | (x >= END) << 1 | (y <= -MARGIN) << 2 | (y >= END) << 3;
            if (isRing && edge & edgeBefore) {
                if (coast.length > 2) coasts.push(coast);
                coast = [];
            }
            coast.push(east, south);
            edgeBefore = edge;
            if (index === 0) edgeFirst = edge;
        }
        if (isRing && !(edgeBefore & edgeFirst)) coast.push(points[0], points[1]);
        if (coast.length > 2) coasts.push(coast);
        return {rank, points, box, coasts};
    };
    const [land, lakes, borders, rivers] = [true, true, false, false].map((isRing) => reader.list(points(isRing)));
    const cities = reader.list(() => ({
        x: left / count + reader.difference() / size, y: top / count + reader.difference() / size,
        rank: reader.number(), name: reader.text(),
    }));
    return {land, lakes, borders, rivers, cities};
}

export class Earth {
    // `changed` is called when a tile has loaded.
    constructor(changed) {
        this.changed = changed;
        this.tiles = new Map();
    }

    // Returns the tiles of the visible ground, each with the turn around the world in which it is seen; `null` until
    // they have loaded, and below the zoom `least`.
    seen(box, zoom, least) {
        if (zoom < least) return null;
        return zoom >= 6.5 && this.level(box, 16) || this.level(box, 4);
    }

    level(box, count) {
        const [left, right] = [Math.floor(box.left * count), Math.floor(box.right * count)];
        const top = Math.max(Math.floor(box.top * count), 0);
        const bottom = Math.min(Math.floor(box.bottom * count), count - 1);
        if ((right - left + 1) * (bottom - top + 1) > MOST_TILES) return null;
        const seen = [];
        let isWhole = true;
        for (let x = left; x <= right; x++) {
            const turn = Math.floor(x / count);
            for (let y = top; y <= bottom; y++) {
                const tile = this.tile(count, x - turn * count, y);
                if (tile) seen.push({turn, ...tile}); else isWhole = false;
            }
        }
        return isWhole ? seen : null;
    }

    tile(count, x, y) {
        const path = `/earth/${count}/${x}/${y}`;
        if (this.tiles.has(path)) return this.tiles.get(path);
        this.tiles.set(path, null);
        this.load(path, count, x, y).catch(() => setTimeout(() => this.tiles.delete(path), AGAIN_MS));
        return null;
    }

    async load(path, count, x, y) {
        const response = await fetch(path);
        if (!response.ok) throw new Error(`${path}: ${response.status}`);
        this.tiles.set(path, decode(new Uint8Array(await response.arrayBuffer()), count, x, y));
        this.changed();
    }
}
