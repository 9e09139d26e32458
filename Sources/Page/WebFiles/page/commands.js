// The forms that send commands to the chosen camera. They are filled with the camera's values when they are opened and
// when another camera is chosen; a field being edited is left alone.

const number = (form, name) => {
    const {value} = form.elements[name];
    return value === "" ? undefined : Number(value);
};

const place = (latitude, longitude) => ({latitude, longitude});

const bounds = (form) => ({
    southWest: place(number(form, "south"), number(form, "west")), northEast: place(number(form, "north"), number(form, "east")),
});

export class Commands {
    constructor(root, {ask, camera, overviewBounds}) {
        this.root = root;
        this.ask = ask;
        this.camera = camera;
        const form = (name) => root.querySelector(`form[data-command="${name}"]`);
        this.forms = Object.fromEntries(["fly", "fit", "limits", "range", "switches", "viewport"].map((name) => [name, form(name)]));
        for (const [name, form] of Object.entries(this.forms)) {
            form.addEventListener("submit", (event) => {
                event.preventDefault();
                this.run(name, form);
            });
        }
        for (const button of root.querySelectorAll("[data-fill=overview]")) {
            button.onclick = () => this.fillBounds(button.closest("form"), overviewBounds());
        }
        root.querySelector("[data-do=no-limits]").onclick = () => this.do({type: "set-target-bounds", bounds: null});
        root.querySelector("[data-do=stop]").onclick = () => this.do({type: "stop"});
        root.querySelector("[data-do=north]").onclick = () => this.do({type: "animate", update: {kind: "set-bearing", bearing: 0}});
        root.querySelector("[data-do=flat]").onclick =
            () => this.do({type: "animate", update: {kind: "set-viewing-angle", viewingAngle: 0}});
        root.querySelector("[data-do=in]").onclick = () => this.do({type: "animate", update: {kind: "zoom-in"}});
        root.querySelector("[data-do=out]").onclick = () => this.do({type: "animate", update: {kind: "zoom-out"}});
        this.forms.switches.addEventListener("change", () => this.run("switches", this.forms.switches));
    }

    run(name, form) {
        switch (name) {
        case "fly": {
            const position = {
                target: place(number(form, "latitude"), number(form, "longitude")), zoom: number(form, "zoom"),
                bearing: number(form, "bearing") ?? 0, viewingAngle: number(form, "viewingAngle") ?? 0,
            };
            const durationMs = number(form, "durationMs") ?? 0;
            const update = {kind: "set-camera", position};
            return this.do(durationMs ? {type: "animate", update, durationMs, easing: "ease-in-out"} : {type: "move", update});
        }
        case "fit":
            return this.do({
                type: "animate", durationMs: 600, easing: "ease-in-out",
                update: {kind: "fit-bounds", bounds: bounds(form), padding: number(form, "padding") ?? 64},
            });
        case "limits": return this.do({type: "set-target-bounds", bounds: bounds(form)});
        case "range":
            return this.do({type: "set-zoom-range", minZoom: number(form, "minZoom"), maxZoom: number(form, "maxZoom")});
        case "switches":
            return this.do({
                type: "set-gestures",
                ...Object.fromEntries([...form.elements].filter(({type}) => type === "checkbox").map((box) => [box.name, box.checked])),
            });
        case "viewport": {
            const padding = Object.fromEntries(["top", "left", "bottom", "right"].map((side) => [side, number(form, side) ?? 0]));
            return this.do({type: "set-viewport", width: number(form, "width"), height: number(form, "height"), padding});
        }
        }
    }

    async do(request) {
        const status = this.root.querySelector("[role=status]");
        const answer = await this.ask(request);
        const isError = answer.type === "error";
        status.textContent = isError ? answer.message : "Done.";
        status.classList.toggle("error", isError);
    }

    // Fills a form with bounds; `null` empties it.
    fillBounds(form, bounds) {
        const {southWest, northEast} = bounds ?? {};
        this.set(form, {
            south: southWest?.latitude, west: southWest?.longitude, north: northEast?.latitude, east: northEast?.longitude,
        }, 4);
    }

    set(form, values, digits = 6) {
        for (const [name, value] of Object.entries(values)) {
            const field = form.elements[name];
            if (!field || document.activeElement === field) continue;
            if (field.type === "checkbox") field.checked = value;
            else field.value = value === undefined || value === null ? "" : String(+Number(value).toFixed(digits));
        }
    }

    // Fills the forms with the camera's values.
    fill() {
        const camera = this.camera();
        if (!camera) return;
        const {position, viewport, settings} = camera;
        this.set(this.forms.fly, {
            latitude: position.target.latitude, longitude: position.target.longitude, zoom: position.zoom,
            bearing: position.bearing, viewingAngle: position.viewingAngle,
        });
        this.fillSettings();
        this.set(this.forms.viewport, {width: viewport.width, height: viewport.height, ...viewport.padding}, 2);
        if (settings) this.fillBounds(this.forms.limits, settings.targetBounds);
    }

    // Fills in the settings, which other clients may have changed meanwhile.
    fillSettings() {
        const settings = this.camera()?.settings;
        if (!settings) return;
        this.set(this.forms.range, {minZoom: settings.minZoom, maxZoom: settings.maxZoom});
        this.set(this.forms.switches, settings.gestures);
    }
}
