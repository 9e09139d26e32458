// Tours in files, in Gimbal's own format. The daemon reports what it refuses in them.

export const PATHS = ["smooth", "straight", "flight"];

// Anything longer is not a tour that fits into a request.
const MOST_BYTES = 1 << 20;

export const pathOf = ({path, durationMs}) => path ?? (durationMs === undefined ? "flight" : "smooth");

// Returns a tour as `gimbal tour --to json` writes it: defaults are omitted.
export function written({name, keyframes}) {
    const head = JSON.stringify({type: "gimbal-tour", version: 1, name}).slice(0, -1);
    const lines = keyframes.map(({position, durationMs, waitMs, path, ...more}) => JSON.stringify({
        position, durationMs, waitMs: waitMs || undefined, path: path === pathOf({durationMs}) ? undefined : path, ...more,
    }));
    return `${head},"keyframes":[\n  ${lines.join(",\n  ")}\n]}\n`;
}

// Returns the name and keyframes of a file, or a `message` that says what is wrong; `null` if it is not a tour.
export async function read(file) {
    if (file.size > MOST_BYTES) return null;
    let tour;
    try {
        tour = JSON.parse(await file.text());
    } catch {
        return null;
    }
    if (tour?.type !== "gimbal-tour") return null;
    const {version, name, keyframes} = tour;
    if (version !== 1) return {message: "version must be 1."};
    const wrong = Array.isArray(keyframes) && keyframes.length ? keyframes.findIndex((keyframe) => !isKeyframe(keyframe)) : 0;
    if (wrong >= 0) return {message: `invalid keyframe ${wrong + 1}.`};
    return {name: typeof name === "string" ? name : undefined, keyframes};
}

const isTime = (value) => value === undefined || value >= 0 && Number.isFinite(value);

function isKeyframe(keyframe) {
    const {target, zoom} = keyframe?.position ?? {};
    return [target?.latitude, target?.longitude, zoom].every(Number.isFinite) && PATHS.includes(pathOf(keyframe))
        && isTime(keyframe.durationMs) && isTime(keyframe.waitMs);
}
