// What is tested of the adapters, in a browser's page: adapters.py serves it, calls its functions and asserts what
// they give. Each engine follows a camera by its adapter, as a user's would, and is asked where it shows places.

import * as cesium from "/adapters/cesium.js";
import * as deckgl from "/adapters/deck.js";
import * as earth from "/adapters/earth.js";
import * as google from "/adapters/google.js";
import * as kml from "/adapters/kml.js";
import * as leaflet from "/adapters/leaflet.js";
import * as maplibre from "/adapters/maplibre.js";
import { nearest, positionOf, project, unproject } from "/adapters/projection.js";
import { box } from "/tests/leading.js";

// MARK: The camera cases

/** A camera that is set by hand and records what is sent to it. */
class Puppet extends EventTarget {
    position = null;
    viewport = null;
    sent = [];

    set({ position, viewport }) {
        Object.assign(this, { position, viewport });
        this.dispatchEvent(new Event("change"));
    }

    async send(...messages) {
        this.sent.push(...messages);
    }
}

const place = ({ lat, lng }) => ({ latitude: lat, longitude: lng });
const cameraOf = ({ lat, lng, zoom, bearing, pitch }, { viewport, camera: { padding } }) => ({
    position: {
        target: { latitude: lat, longitude: lng }, zoom, bearing: (bearing % 360 + 360) % 360, viewingAngle: pitch,
    },
    viewport: { ...viewport, padding },
});

/** Returns a case's claims: a camera shows a place at a point, or shows at a point what another shows at its own. */
function claimsOf(test) {
    const { op, exact, viewport: { width, height } } = test, camera = cameraOf(test.camera, test);
    const then = exact.camera && cameraOf(exact.camera, test);
    const around = test.around;
    switch (op) {
    case "project": return [{ camera, place: place(test.latLng), point: exact.point }];
    case "unproject": return [{ camera, place: place(exact.latLng), point: test.point }];
    case "visibleRegion": return Object.entries({
        farLeft: [0, 0], farRight: [width, 0], nearLeft: [0, height], nearRight: [width, height],
    }).map(([name, [x, y]]) => ({ camera, place: place(exact[name]), point: { x, y } }));
    case "setLocationAtPoint": return [{ camera: then, place: place(test.latLng), point: test.point }];
    case "pan": return [{ camera, from: test.from, then, point: test.to }];
    case "zoomAround": case "rotateAround": return [{ camera, from: test.point, then, point: test.point }];
    case "gesture":
        return [{ camera, from: { x: around.x - test.pan.x, y: around.y - test.pan.y }, then, point: around }];
    default: throw new Error(`nothing is known of the case ${op}`);
    }
}

const apart = (one, other) => one && other ? Math.hypot(one.x - other.x, one.y - other.y) : Infinity;

/** Whether the place at a point is a copy of a nearer one, where the world is smaller than the viewport. */
const isCopy = (camera, point) =>
    camera.position.zoom < 5 && apart(project(camera, unproject(camera, point)), point) > 1;

/**
 * The worst errors of an engine over cases, in points. `engineFor(viewport)` gives `show(camera)`, `project(place)` and
 * `unproject(point)`; `isShown` tells which cameras it can show.
 */
async function worst(cases, engineFor, isShown = () => true) {
    const result = { claims: 0, project: 0, unproject: 0, cases: {} };
    const note = (kind, error, test) => {
        if (error > result[kind]) [result[kind], result.cases[kind]] = [error, test.id];
    };
    for (const test of cases) {
        const engine = await engineFor(test.viewport);
        for (const claim of claimsOf(test)) {
            const then = claim.then ?? claim.camera;
            // A daemon's camera cannot be there.
            if (Math.abs(then.position.target.latitude) > 85) continue;
            if (!isShown(claim.camera) || !isShown(then)) continue;
            if (isCopy(then, claim.point) || claim.from && isCopy(claim.camera, claim.from)) continue;
            result.claims += 1;
            engine.show(claim.camera);
            const seen = claim.from ? engine.unproject(claim.from) : claim.place;
            if (claim.then) engine.show(claim.then);
            note("project", apart(engine.project(seen), claim.point), test);
            // The result is compared with the camera's own projection, which is itself compared with the cases.
            const found = engine.unproject(claim.point);
            note("unproject", apart(found && project(then, found), claim.point), test);
        }
    }
    return result;
}

/** Makes one engine for each size of their element. */
function bySize(make) {
    const engines = new Map();
    return async ({ width, height }) => {
        const key = `${width}x${height}`;
        if (!engines.has(key)) engines.set(key, await make(box(0, width, height)));
        return engines.get(key);
    };
}

/** Returns an engine that follows a puppet by its adapter, on a map as large as the viewport. */
function following(follow) {
    const camera = new Puppet();
    follow(camera);
    return { show: (next) => camera.set(next), camera };
}

export const projection = (cases) => worst(cases, async () => {
    let camera;
    return {
        show: (next) => { camera = next; },
        project: (place) => project(camera, place), unproject: (point) => unproject(camera, point),
    };
});

async function mapLibre(element, options = {}) {
    const map = new maplibregl.Map({
        container: element, style: { version: 8, sources: {}, layers: [] }, attributionControl: false, fadeDuration: 0,
        pixelRatio: 0.25, ...options,
    });
    await map.once("load");
    return map;
}

const mapLibreEngine = (map, followed) => ({
    ...followed,
    project: ({ latitude, longitude }) => map.project([nearest(longitude, map.getCenter().lng), latitude]),
    unproject: ({ x, y }) => place(map.unproject([x, y])),
});

export const mapLibreCases = (cases) => worst(cases, bySize(async (element) => {
    const map = await mapLibre(element, { interactive: false });
    return mapLibreEngine(map, following((camera) => maplibre.follow(map, camera)));
}));

/** Flat cases with north up; the places at their points come from the projection that is compared with the cases. */
const northUp = (cases) => cases.filter(({ op, group }) => op === "project" && group === "flat").map((test) => {
    const turned = { ...test, camera: { ...test.camera, bearing: 0 } };
    const { latitude, longitude } = unproject(cameraOf(turned.camera, turned), test.exact.point);
    return { ...turned, latLng: { lat: latitude, lng: longitude } };
});

/** Where Leaflet draws tiles and lines, or, if `rounded`, its markers, which are at whole pixels. */
export const leafletCases = (cases, rounded) => worst(northUp(cases), bySize(async (element) => {
    const map = L.map(element, { zoomSnap: 0, zoomControl: false, attributionControl: false }).setView([0, 0], 1);
    return {
        ...following((camera) => leaflet.follow(map, camera)),
        project({ latitude, longitude }) {
            const spot = L.latLng(latitude, nearest(longitude, map.getCenter().lng));
            return rounded ? map.latLngToContainerPoint(spot) :
                map.layerPointToContainerPoint(map.project(spot).subtract(map.getPixelOrigin()));
        },
        unproject: ({ x, y }) => place(map.containerPointToLatLng([x, y])),
    };
}));

async function deckMap(element, options = {}) {
    const view = await new Promise((resolve) => {
        const view = new deck.Deck({
            parent: element, views: new deck.MapView({ repeat: true }), useDevicePixels: 0.25, layers: [],
            initialViewState: { longitude: 0, latitude: 0, zoom: 1 }, onLoad: () => resolve(view), ...options,
        });
    });
    // It learns its size in its first frame.
    while (view.height !== element.clientHeight) await new Promise(requestAnimationFrame);
    return view;
}

export const deckCases = (cases) => worst(cases, bySize(async (element) => {
    const view = await deckMap(element);
    const followed = following((camera) => deckgl.follow(view, camera));
    const viewport = () => view.getViewports()[0];
    return {
        ...followed,
        project({ latitude, longitude }) {
            const { target } = followed.camera.position;
            const [x, y] = viewport().project([nearest(longitude, target.longitude), latitude]);
            return { x, y };
        },
        unproject({ x, y }) {
            const [longitude, latitude] = viewport().unproject([x, y]);
            return { latitude, longitude };
        },
    };
}));

/**
 * A map that follows before it has loaded, then gets another style. After each step returns the error at the corners
 * of a camera at the edge of the world, which MapLibre by itself would not show.
 */
export async function mapLibreStyles() {
    const element = box(0, 400, 800), errors = [];
    const style = { version: 8, sources: {}, layers: [] };
    const map = new maplibregl.Map({ container: element, style, pixelRatio: 0.25 }), loaded = map.once("load");
    const camera = {
        position: positionOf({ latitude: 84, longitude: 179, zoom: 3, bearing: 20, viewingAngle: 30 }),
        viewport: { width: 400, height: 800 },
    };
    maplibre.follow(map, Object.assign(new EventTarget(), camera));
    const { project: shown } = mapLibreEngine(map, {});
    const worstCorner = () => Math.max(...[[0, 800], [400, 800], [200, 400], [200, 700]].map(([x, y]) =>
        apart(shown(unproject(camera, { x, y })), { x, y })));
    await loaded;
    errors.push(worstCorner());
    const again = map.once("style.load");
    map.setStyle({ ...style, projection: { type: "globe" } }, { diff: false });
    await again;
    const back = map.once("style.load");
    map.setStyle({ ...style, projection: { type: "mercator" } }, { diff: false });
    await back;
    errors.push(worstCorner());
    return errors;
}

/** A map that is larger or smaller than the viewport shows the same picture, scaled to its height. */
export async function mapLibreScaled(cases) {
    const [width, height] = [700, 500];
    const map = await mapLibre(box(0, width, height), { interactive: false });
    const followed = following((camera) => maplibre.follow(map, camera));
    return worst(cases, async (viewport) => {
        const scale = height / viewport.height;
        const engine = mapLibreEngine(map, followed);
        const onMap = ({ x, y }) =>
            ({ x: (x - viewport.width / 2) * scale + width / 2, y: y * scale });
        return {
            ...engine, unproject: (point) => engine.unproject(onMap(point)),
            project(place) {
                const { x, y } = engine.project(place);
                return { x: (x - width / 2) / scale + viewport.width / 2, y: y / scale };
            },
        };
    });
}

/**
 * Compares MapLibre's own flight with a daemon's, whose `frames` are 1/60 s apart: returns the duration of MapLibre's
 * in milliseconds, and the largest differences of the two cameras. MapLibre's clock is set by hand, in even steps.
 */
export async function mapLibreFlight({ from, to, viewport, ...options }, frames) {
    const { width, height } = viewport, element = box(0, width, height);
    const map = await mapLibre(element, { interactive: false });
    // Its limits would move a camera that sees beyond the edge of the world.
    map.setTransformConstrain((lngLat, zoom) => ({ center: lngLat, zoom: zoom ?? 0 }));
    map.setMaxPitch(65);
    const result = { duration: 0, frames: 0, points: 0, zoom: 0, bearing: 0, viewingAngle: 0 };
    let share, isThere = false;
    map.jumpTo(maplibre.jumpOptions({ position: from, viewport }, height));
    map.once("moveend", () => { isThere = true; });
    maplibregl.setNow(0);
    map.flyTo({
        ...maplibre.jumpOptions({ position: to, viewport }, height), ...options, essential: true,
        easing: (part) => (share = part),
    });
    while (!isThere) {
        result.frames += 1;
        const now = result.frames * 1000 / 60, known = frames[result.frames - 1] ?? frames.at(-1);
        maplibregl.setNow(now);
        map.redraw();
        if (share < 1) result.duration = now / share;
        const { lat, lng } = map.getCenter(), turn = Math.abs(map.getBearing() - known.bearing) % 360;
        const flat = { position: { ...known, bearing: 0, viewingAngle: 0 }, viewport: { width, height } };
        const errors = {
            points: apart(project(flat, { latitude: lat, longitude: lng }), { x: width / 2, y: height / 2 }),
            zoom: Math.abs(map.getZoom() + 1 - known.zoom), bearing: Math.min(turn, 360 - turn),
            viewingAngle: Math.abs(map.getPitch() - known.viewingAngle),
        };
        for (const [name, error] of Object.entries(errors)) result[name] = Math.max(result[name], error);
    }
    maplibregl.restoreNow();
    map.remove();
    element.remove();
    return result;
}

// MARK: Numbers of missing engines

/** Google's flat maps, with their documented numbers: a world of 256 · 2^zoom pixels, seen from above. */
export const googleCases = (cases) => worst(cases, async ({ width, height }) => {
    let options;
    const seen = () => ({
        position: { target: { latitude: options.center.lat, longitude: options.center.lng }, zoom: options.zoom,
            bearing: options.heading },
        viewport: { width, height },
    });
    return {
        show: (camera) => { options = google.cameraOptions(camera, height); },
        project: (place) => project(seen(), place), unproject: (point) => unproject(seen(), point),
    };
}, ({ position }) => position.viewingAngle === 0 && position.zoom >= 5);

/** Reads the result of cameraOptions back; returns the largest difference from the position, in screen points. */
export function googleRoundTrip(cases) {
    let largest = 0;
    for (const test of cases) {
        const camera = cameraOf(test.camera, test), { width, height } = test.viewport;
        if (camera.position.zoom < 5) continue;
        for (const size of [height, 500]) {
            const position = google.positionFrom(google.cameraOptions(camera, size), camera.viewport, size);
            for (const point of [{ x: 0, y: height }, { x: width, y: height }])
                largest = Math.max(largest, apart(project({ ...camera, position }, unproject(camera, point)), point));
        }
    }
    return largest;
}

/** Returns the errors of a tilted camera's places on a vector map with a field of view of 25°, in points. */
export function googleTilted() {
    const errors = {};
    for (const viewingAngle of [0, 15, 30, 45, 65]) {
        const position = positionOf({ latitude: 48.8584, longitude: 2.2945, zoom: 16, viewingAngle });
        const camera = { position, viewport: { width: 390, height: 844 } };
        const flat = { ...camera, position: { ...position, viewingAngle: 0 } };
        const distance = 844 / 2 / Math.tan(12.5 * Math.PI / 180), tilt = viewingAngle * Math.PI / 180;
        let largest = 0;
        for (const y of [0.25, 0.5, 0.75, 1]) for (const x of [0, 0.5, 1]) {
            const point = { x: x * 390, y: y * 844 };
            const from = project(flat, unproject(camera, point));
            const [u, v] = [from.x - 195, from.y - 422], depth = distance - v * Math.sin(tilt);
            largest = Math.max(largest, apart(
                { x: 195 + distance * u / depth, y: 422 + distance * v * Math.cos(tilt) / depth }, point));
        }
        errors[viewingAngle] = largest;
    }
    return errors;
}

const minus = (one, other) => one.map((value, axis) => value - other[axis]);
const dot = (one, other) => one.reduce((total, value, axis) => total + value * other[axis], 0);
const cross = ([a, b, c], [d, e, f]) => [b * f - c * e, c * d - a * f, a * e - b * d];

/** A pinhole camera: projects a point of the earth to points of the viewport; `fov` is horizontal. */
function pinhole({ eye, look, up, fov }, { width, height }) {
    const right = cross(look, up), focal = width / 2 / Math.tan(fov * Math.PI / 360);
    return (point) => {
        const ray = minus(point, eye), depth = dot(ray, look);
        return { x: width / 2 + focal * dot(ray, right) / depth, y: height / 2 - focal * dot(ray, up) / depth };
    };
}

const add = (...terms) =>
    [0, 1, 2].map((axis) => terms.reduce((total, [factor, vector]) => total + factor * vector[axis], 0));

/** Cesium's HeadingPitchRange about a target, according to its documentation. */
function cesiumEye(camera) {
    const { longitude, latitude, heading, pitch, range, fov } = cesium.lookAt(camera);
    const degrees = 180 / Math.PI, target = { latitude: latitude * degrees, longitude: longitude * degrees };
    const { east, north, up } = earth.axesAt(target);
    const ahead = add([Math.sin(heading), east], [Math.cos(heading), north]);
    const look = add([Math.cos(pitch), ahead], [Math.sin(pitch), up]);
    const { width, height } = camera.viewport;
    // Cesium's field of view applies to the wider side.
    const focal = Math.max(width, height) / 2 / Math.tan(fov / 2);
    return {
        eye: add([1, earth.pointAt(target)], [-range, look]), look,
        up: add([-Math.sin(pitch), ahead], [Math.cos(pitch), up]), fov: 2 * Math.atan(width / 2 / focal) * degrees,
    };
}

/** A KML Camera: north up, looking down; turned by the heading, then raised by the tilt, then rolled. */
function viewSyncEye(camera) {
    const [, latitude, longitude, altitude, heading, tilt, roll] = kml.viewSync(1, camera).split(",").map(Number);
    const [turn, raise, bank] = [heading, tilt, roll].map((angle) => angle * Math.PI / 180);
    const { east, north, up } = earth.axesAt({ latitude, longitude });
    const ahead = add([Math.sin(turn), east], [Math.cos(turn), north]);
    const level = add([Math.cos(turn), east], [-Math.sin(turn), north]);
    const look = add([Math.sin(raise), ahead], [-Math.cos(raise), up]);
    const above = add([Math.cos(raise), ahead], [Math.sin(raise), up]);
    return {
        eye: earth.pointAt({ latitude, longitude, altitude }), look,
        up: add([Math.cos(bank), above], [-Math.sin(bank), level]), fov: earth.horizontalFieldOfView(camera),
    };
}

/**
 * Returns the worst differences over the ellipsoid in points: of Cesium's camera from the target's place, of
 * ViewSync's eye from Cesium's, and of either from the flat camera, by zoom, at the edges of the viewport that meet
 * the ground.
 */
export function roundEarth(cases) {
    const result = { claims: 0, target: 0, eyes: 0, range: 0, flat: {}, tilted: {} };
    for (const test of cases) {
        const camera = cameraOf(test.camera, test);
        camera.viewport = { ...test.viewport };
        const { width, height } = camera.viewport, { position } = camera;
        const [one, other] = [cesiumEye(camera), viewSyncEye(camera)].map((eye) => pinhole(eye, camera.viewport));
        const center = { x: width / 2, y: height / 2 };
        result.claims += 1;
        result.target = Math.max(result.target, apart(one(earth.pointAt(position.target)), center));
        const { latitude, longitude, heading, tilt, range } = kml.lookAt(camera);
        const back = earth.positionAt({ latitude, longitude, heading, tilt, range }, camera.viewport);
        for (const name of ["zoom", "bearing", "viewingAngle"])
            result.range = Math.max(result.range, Math.abs(back[name] - position[name]));
        for (const [x, y] of [[0, 0.3], [1, 0.3], [0.5, 0.4], [0, 1], [1, 1]]) {
            const point = { x: x * width, y: y * height }, found = unproject(camera, point);
            if (!found) continue;
            const spot = earth.pointAt(found);
            const zoom = Math.floor(position.zoom), errors = position.viewingAngle ? result.tilted : result.flat;
            if (zoom >= 10) result.eyes = Math.max(result.eyes, apart(one(spot), other(spot)));
            errors[zoom] = Math.max(errors[zoom] ?? 0, apart(one(spot), point));
        }
    }
    return result;
}

/** The numbers in README.md, for implementations in other languages. */
export function earthNumbers(cameras) {
    return cameras.map(({ position, viewport }) => ({
        range: earth.rangeOf({ position, viewport }),
        horizFov: earth.horizontalFieldOfView({ viewport }),
        viewSync: kml.viewSync(7, { position, viewport }, new Date("2026-11-22T00:00:00Z")),
    }));
}

/** Returns the KML element as an XML parser reads it. */
export function parsedLookAt(camera) {
    const namespaces = 'xmlns="http://www.opengis.net/kml/2.2" xmlns:gx="http://www.google.com/kml/ext/2.2"';
    const text = kml.lookAtElement(camera).replace("<LookAt>", `<LookAt ${namespaces}>`);
    const root = new DOMParser().parseFromString(text, "application/xml").documentElement;
    return Object.fromEntries([...root.children].map(({ tagName, textContent }) => [tagName, textContent]));
}
