// The style sheet's colours for canvases, which cannot inherit them.

const NAMES = [
    "beyond", "sea", "land", "coast", "border", "river", "grid", "label", "halo", "sky", "haze", "ink", "quiet", "finger", "finger-edge",
    "zoom", "bearing", "angle", "pan", "pinch", "rotate", "tilt", "one-finger-zoom", "marker", "page", "panel", "line", "bad",
];

export class Theme {
    constructor(changed) {
        this.read();
        matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
            this.read();
            changed();
        });
    }

    read() {
        const style = getComputedStyle(document.documentElement);
        // Anything drawn with other colours is outdated.
        this.version = (this.version ?? 0) + 1;
        for (const name of NAMES) this[name] = style.getPropertyValue(`--${name}`).trim();
        this.cameras = Array.from({length: 6}, (_, index) => style.getPropertyValue(`--camera-${index}`).trim());
        this.font = style.getPropertyValue("--font").trim() || "sans-serif";
    }

    get isStill() { return matchMedia("(prefers-reduced-motion: reduce)").matches; }
}

// Makes a canvas as sharp as its screen, or a fraction of that.
export function fit(canvas, sharpness = 1) {
    const ratio = Math.min(devicePixelRatio || 1, 3) * sharpness;
    const {clientWidth: width, clientHeight: height} = canvas;
    const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== w || canvas.height !== h) {
        canvas.width = w;
        canvas.height = h;
    }
    return {width, height, ratio};
}

// Makes places of the ground, shifted by turns around the world, a canvas's path; returns whether all of them are visible.
export function pathAround(context, projection, places, turns) {
    const points = places.map(({x, y}) => projection.screen(projection.ground(x - turns, y)));
    context.beginPath();
    for (const point of points) if (point) context.lineTo(point.x, point.y);
    context.closePath();
    return points.every(Boolean);
}

// Fills a circle, which is then the canvas's path.
export function fillCircle(context, x, y, radius, color) {
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fillStyle = color;
    context.fill();
}

// Strokes a canvas's path.
export function stroke(context, color, width) {
    context.strokeStyle = color;
    context.lineWidth = width;
    context.stroke();
}

// Strokes a canvas's path with dashes.
export function strokeDashed(context, dash, color, width) {
    context.setLineDash(dash);
    stroke(context, color, width);
    context.setLineDash([]);
}
