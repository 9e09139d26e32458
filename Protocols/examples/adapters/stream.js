// The cameras of a daemon over gimbal-web's HTTP stream, for any map.
//
//     import { connect } from "./stream.js";
//     const { cameras } = connect({ base, token });    // of the link that `gimbal web --no-open` prints: …/#token=…
//     const camera = cameras.camera("main");
//     camera.addEventListener("change", () => console.log(camera.position, camera.viewport));
//
// `base` is the address of gimbal-web, such as http://127.0.0.1:8117; it accepts pages of its own origin, and those
// that --allow-origin names. A link that only watches is enough to follow; leading takes one that feeds.
//
// It reconnects after a loss. Lines are sent one request at a time, so they arrive in order. A request that fails ends
// the stream, and with it the page's connection to the daemon: no gesture is left without an end.

import { Cameras } from "./cameras.js";

/** How long a stream may be silent before it is lost, and the delays before the next tries; in milliseconds. */
const SILENCE = 25_000;
const DELAYS = [250, 500, 1000, 2000, 4000];

/**
 * Connects, and reconnects until `close()`. `cameras` also has an event `connection`, whose `detail` is `feed` or
 * `watch` while the stream is live, and otherwise what is wrong. `refresh` requests viewports, which gimbal-web sends
 * unasked.
 */
export function connect({ base = "", token, refresh = false } = {}) {
    const cameras = new Cameras(write, { refresh });
    const ending = new AbortController();
    const authorization = { Authorization: `Bearer ${token}` };
    let page = null, waiting = [], isPosting = false;

    const tell = (detail) => cameras.dispatchEvent(new CustomEvent("connection", { detail }));
    const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

    /** Queues a line; lines that come while a request is under way go together in the next. */
    function write(line) {
        const sent = new Promise((resolve, reject) => waiting.push({ line, resolve, reject }));
        post();
        return sent;
    }

    async function post() {
        if (isPosting) return;
        isPosting = true;
        while (waiting.length) {
            const lines = waiting;
            waiting = [];
            try {
                await request(lines.map(({ line }) => `${line}\n`).join(""));
                for (const { resolve } of lines) resolve();
            } catch (error) {
                for (const { reject } of lines) reject(error);
            }
        }
        isPosting = false;
    }

    /** Sends lines until they are accepted or refused, and waits while the server is overloaded. */
    async function request(body) {
        for (;;) {
            if (page?.role !== "feed") throw new Error(page ? "this link may only watch" : "not connected");
            const headers = { ...authorization, "Gimbal-Page": page.page }, { lost } = page;
            const response = await fetch(`${base}/lines`, { method: "POST", body, headers, signal: ending.signal })
                .catch((error) => {
                    lost.abort(error);
                    throw error;
                });
            if (response.ok) return;
            if (response.status !== 429 && response.status !== 503) throw await refusal(response);
            await pause(DELAYS[0]);
        }
    }

    async function follow() {
        const lost = new AbortController();
        let timer;
        const wait = () => {
            clearTimeout(timer);
            timer = setTimeout(() => lost.abort(new Error("the server is silent")), SILENCE);
        };
        wait();
        try {
            const response = await fetch(`${base}/stream`, {
                headers: authorization, cache: "no-store", signal: AbortSignal.any([lost.signal, ending.signal]),
            });
            if (!response.ok) throw await refusal(response);
            let rest = "";
            for await (const piece of pieces(response.body)) {
                wait();
                const lines = (rest + piece).split("\n");
                rest = lines.pop();
                for (const line of lines) hear(line, lost);
            }
        } finally {
            clearTimeout(timer);
            page = null;
        }
    }

    function hear(line, lost) {
        if (line.startsWith('{"type":"page"')) {
            page = { ...JSON.parse(line), lost };
            tell(page.role);
        } else {
            cameras.read(line);
        }
    }

    (async () => {
        for (let attempt = 0; !ending.signal.aborted; attempt += 1) {
            const begun = performance.now();
            let reason = "the stream has ended";
            await follow().catch((error) => { reason = error.message; });
            if (ending.signal.aborted) return;
            if (performance.now() - begun > SILENCE) attempt = 0;
            cameras.lose(reason);
            tell(reason);
            await pause(DELAYS[Math.min(attempt, DELAYS.length - 1)]);
        }
    })();

    return {
        cameras,
        close() {
            ending.abort(new Error("closed"));
            cameras.lose("closed");
        },
    };
}

const refusal = async (response) => new Error((await response.text()).trim() || `status ${response.status}`);

/** Yields a body's text. Not every browser supports `for await` on a stream. */
async function* pieces(body) {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        yield value;
    }
}
