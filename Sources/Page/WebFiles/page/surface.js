// The whole screen as a touch surface for a camera on another screen. The camera's screen is fitted into this one, or
// the camera takes this screen's size.

import {Hands} from "./hands.js";
import {fillCircle, fit, stroke} from "./theme.js";

// The opacity of the map on it.
const FAINT = 0.35;

export class Surface {
    constructor(root, {send, ask, camera, theme, ground}) {
        this.root = root;
        this.canvas = root.querySelector("canvas");
        this.camera = camera;
        this.theme = theme;
        this.ground = ground;
        this.isUsed = false;
        this.ask = ask;
        this.lock = null;
        this.warning = "";
        this.hands = new Hands(this.canvas, (x, y) => this.pointAt(x, y), send, {surface: "surface", isTouchOnly: true});
        this.name = root.querySelector("[data-surface=name]");
        this.name.value = remembered();
        this.name.onchange = () => this.rename();
        this.rename();
        root.querySelector("[data-surface=close]").onclick = () => this.close();
        root.querySelector("[data-surface=size]").onclick = () => this.tellSize();
        document.addEventListener("visibilitychange", () => { if (!document.hidden && this.isOpen) this.keepAwake(); });
        document.addEventListener("fullscreenchange", () => this.changed?.());
    }

    // Other users see who touches. A name identifies a surface: fingers do not continue under another name.
    rename() {
        this.hands.cancel();
        this.hands.surface = this.name.value.trim() || "surface";
        remember(this.name.value);
    }

    get isOpen() { return !this.root.hidden; }

    async open() {
        this.cover(true);
        this.canvas.focus();
        this.changed?.();
        // Full screen requires a touch; without one, as after a link, the page is the surface as it is.
        if (navigator.userActivation?.isActive) {
            await document.documentElement.requestFullscreen?.({navigationUI: "hide"}).catch(() => {});
        }
        await this.keepAwake();
    }

    async close() {
        this.hands.cancel();
        this.cover(false);
        await this.lock?.release();
        this.lock = null;
        if (document.fullscreenElement) await document.exitFullscreen();
        this.changed?.();
    }

    // Covers the page, or uncovers it. What is covered takes no keys.
    cover(isCovered) {
        this.root.hidden = !isCovered;
        document.body.classList.toggle("is-surface", isCovered);
        for (const part of document.body.children) part.inert = isCovered && part !== this.root;
    }

    // Keeps the screen from going dark. Browsers allow that on secure pages only.
    async keepAwake() {
        const lock = await navigator.wakeLock?.request("screen").catch(() => null) ?? null;
        this.lock?.release();
        this.lock = lock;
        // The user may have left meanwhile.
        if (!this.isOpen) return lock?.release();
        this.warning = lock ? "" : "This screen may go dark by itself.";
        this.note("");
    }

    // Shows a text; without one, the warning that stays.
    note(text) { this.root.querySelector("[data-surface=note]").textContent = text || this.warning; }

    // How the camera's screen maps to this one: as large as it fits, and centred.
    get fit() {
        const {clientWidth: width, clientHeight: height} = this.canvas;
        const {viewport} = this.camera() ?? {viewport: {width, height}};
        const scale = Math.max(viewport.width / width, viewport.height / height);
        return {scale, left: (viewport.width - width * scale) / 2, top: (viewport.height - height * scale) / 2};
    }

    pointAt(clientX, clientY) {
        const {scale, left, top} = this.fit;
        const box = this.canvas.getBoundingClientRect();
        return {x: (clientX - box.left) * scale + left, y: (clientY - box.top) * scale + top};
    }

    tellSize() {
        const {clientWidth: width, clientHeight: height} = this.canvas;
        this.ask({type: "set-viewport", width, height});
    }

    // Paints what the camera sees, and what is around it.
    map(context, projection, {scale, left, top, width, height, ratio}) {
        const wide = Object.assign(Object.create(projection), {
            width: width * scale, height: height * scale, centerX: projection.centerX - left, centerY: projection.centerY - top,
        });
        context.setTransform(ratio / scale, 0, 0, ratio / scale, 0, 0);
        this.ground.paint(context, wide, this.theme, {unit: scale, grid: "metres", labels: false, isFaint: true});
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        context.globalAlpha = 1 - FAINT;
        context.fillStyle = this.theme.beyond;
        context.fillRect(0, 0, width, height);
        context.globalAlpha = 1;
    }

    // `refusal` is why touches do not move the camera now, or `null`.
    paint(camera, now, refusal) {
        const {width, height, ratio} = fit(this.canvas);
        const context = this.canvas.getContext("2d", {alpha: false});
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        context.fillStyle = this.theme.beyond;
        context.fillRect(0, 0, width, height);
        if (!camera) return;
        const {scale, left, top} = this.fit;
        this.map(context, camera.projection, {scale, left, top, width, height, ratio});
        this.isUsed ||= this.hands.fingers.size > 0;
        const words = refusal ?? (this.isUsed ? "" : `Drag here to move ${camera.name}`);
        if (words) {
            context.font = `600 20px ${this.theme.font}`;
            context.fillStyle = this.theme.ink;
            context.textAlign = "center";
            context.textBaseline = "middle";
            context.fillText(words, width / 2, height / 2, width - 32);
        }
        context.strokeStyle = this.theme.quiet;
        context.setLineDash([6, 6]);
        context.strokeRect(-left / scale, -top / scale, camera.viewport.width / scale, camera.viewport.height / scale);
        context.setLineDash([]);
        for (const surface of camera.surfaces.values()) {
            for (const trail of surface.trails.values()) {
                for (const {x, y, at} of trail) {
                    context.globalAlpha = Math.max(0.5 - (now - at) / 1400, 0);
                    fillCircle(context, (x - left) / scale, (y - top) / scale, 6, this.theme["finger-edge"]);
                }
            }
            context.globalAlpha = 1;
            for (const {x, y} of surface.touches) {
                fillCircle(context, (x - left) / scale, (y - top) / scale, 38, this.theme.finger);
                stroke(context, this.theme["finger-edge"], 2);
            }
        }
    }
}

// A browser may not let a page store anything.
function remember(name) {
    try {
        localStorage.setItem("surface-name", name);
    } catch {
        // Then the user is asked again.
    }
}

function remembered() {
    try {
        return localStorage.getItem("surface-name") ?? "";
    } catch {
        return "";
    }
}
