// The world's land: rings in Mercator turns, from the file beside this one. Natural Earth, public domain.

import {mercatorX, mercatorY} from "./projection.js";

// The square of Web Mercator ends at this latitude; what lies beyond is drawn at its edge.
const LAST_LATITUDE = 85.0511287798066;

function ring(differences) {
    const points = new Float64Array(differences.length);
    const box = {left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity};
    let longitude = 0;
    let latitude = 0;
    for (let index = 0; index < differences.length; index += 2) {
        longitude += differences[index];
        latitude += differences[index + 1];
        const x = mercatorX(longitude / 100);
        const y = mercatorY(Math.min(Math.max(latitude / 100, -LAST_LATITUDE), LAST_LATITUDE));
        points[index] = x;
        points[index + 1] = y;
        box.left = Math.min(box.left, x);
        box.right = Math.max(box.right, x);
        box.top = Math.min(box.top, y);
        box.bottom = Math.max(box.bottom, y);
    }
    return {points, box};
}

// Returns the rings of all countries, and for each its name, and where its largest ring is and how wide.
export async function loadWorld() {
    const response = await fetch("/world.json");
    if (!response.ok) throw new Error(`no world map: ${response.status}`);
    const world = await response.json();
    const shapes = world.countries.map(([name, rings]) => ({name, rings: rings.map(ring)}));
    const countries = shapes.map(({name, rings}) => {
        const [{box}] = [...rings].sort((a, b) => width(b) - width(a));
        return {name, x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2, width: box.right - box.left, rank: box.left - box.right};
    });
    return {rings: shapes.flatMap(({rings}) => rings), countries};
}

const width = ({box}) => box.right - box.left;
