// The chosen camera's ground, drawn by MapLibre GL JS in the user's own style. The map follows the camera through the
// same adapter as maps of other pages. Loaded only if the server was given an engine. Invariant: the browser is asked
// to trust only one thing, the engine's worker, a blob of this page.

import {follow} from "./maplibre.js";

const ENGINE = "/map-engine.js";

// Browsers with trusted types ask here before a string becomes a script; nothing else gets through.
globalThis.trustedTypes?.createPolicy("default", {
    createScriptURL(address) {
        if (address.startsWith(`blob:${location.origin}/`)) return address;
        throw new TypeError(`${address} is not the map's worker`);
    },
});

// A camera as the adapters expect one.
class Shown extends EventTarget {
    position = null;
    viewport = null;

    show({position, viewport}) {
        if (position === this.position && viewport === this.viewport) return;
        Object.assign(this, {position, viewport});
        this.dispatchEvent(new Event("change"));
    }
}

export class Styled {
    // `origins` are those that the page's policy allows; `tell` reports errors, `credit` shows whose data is visible.
    static async make(container, {style, origins}, {tell, credit}) {
        const module = await import(ENGINE);
        const engine = module.Map ? module : globalThis.maplibregl;
        if (!engine?.Map) throw new Error("--map-engine is not maplibre-gl.js");
        const map = new engine.Map({
            container, style, interactive: false, attributionControl: false, fadeDuration: 0, maxPitch: 65,
        });
        map.on("error", ({error}) => {
            const origin = URL.canParse(error.url) ? new URL(error.url).origin : null;
            const isKeptOut = origin !== null && !origins.includes(origin);
            tell(isKeptOut ? `The style needs ${origin}: see gimbal-web --map-origin` : `The map: ${error.message}`);
        });
        map.on("sourcedata", ({sourceDataType}) => {
            if (sourceDataType !== "metadata") return;
            const names = Object.keys(map.getStyle().sources).map((id) => map.getSource(id)?.attribution);
            credit([...new Set(names.filter(Boolean)), "MapLibre"].map(plain).join(" | "));
        });
        return new Styled(map);
    }

    constructor(map) {
        this.map = map;
        this.shown = new Shown();
        follow(map, this.shown);
    }

    // Shows the camera on a map as large as its screen is here.
    show(camera, {width, height}) {
        const {style} = this.map.getContainer();
        const size = [`${width}px`, `${height}px`];
        if (style.width !== size[0] || style.height !== size[1]) {
            [style.width, style.height] = size;
            this.map.resize();
        }
        this.shown.show(camera);
    }
}

// Returns the attribution of a source, without its links.
function plain(text) {
    const entities = {amp: "&", copy: "©", lt: "<", gt: ">", quot: '"', nbsp: " ", "#169": "©", "#39": "'"};
    return text.replace(/<[^>]*>/g, "").replace(/&(#?\w+);/g, (all, name) => entities[name] ?? all);
}
