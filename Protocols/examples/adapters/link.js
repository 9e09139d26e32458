// What all adapters share: a map shows a camera, and a map that leads sends the daemon where its own gestures have
// taken it, as the gesture `position`. A map never reacts to itself:
// - what it does while it shows a camera is not a gesture of its own, and a movement that leaves the camera where it is
//   known to be is not sent;
// - from the first finger or movement to the end, the map shows nothing. Its last line asks for the camera in the same
//   batch, and everything before the answer is an echo. The answer is shown: where a constraint held the camera back,
//   or another client moved it last, the map moves there.
// One batch is under way at a time, and only the newest position waits: a slow network costs bounded memory, and does
// not reorder anything.

import { isSame } from "./projection.js";

/**
 * Makes an engine follow a camera; returns a function that stops it.
 *
 * `engine` has `show(camera)`. To lead, too, it has `read()`, which returns the position it shows, `surface`, the
 * element that fingers touch, and `listen({moved, rested, resized})`, which returns a function that ends it. `rested`
 * returns whether no finger is on the surface. An engine that would draw only in the next frame has `draw()`, which
 * draws in this one: positions announced ahead of their time are meant for the frame that has begun.
 */
export function link(engine, camera, { lead = false } = {}) {
    // Many maps may lead over one connection to the daemon.
    const gesture = `map-${Math.random().toString(36).slice(2, 12)}`;
    const fingers = new Set();
    let isShowing = false, isLeading = false, isMoving = false, isStopped = false;
    let known = null, unanswered = 0, waiting = [], isSending = false;

    function show(event) {
        if (isStopped || isLeading || unanswered || !camera.position) return;
        isShowing = true;
        try {
            engine.show(camera);
            if (event?.detail?.isForFrame) engine.draw?.();
            // As the engine has it, which may support only whole pixels.
            known = engine.read?.() ?? null;
        } finally {
            isShowing = false;
        }
    }

    async function send() {
        if (isSending) return;
        isSending = true;
        while (waiting.length) {
            const batch = waiting;
            waiting = [];
            const ends = batch.some((line) => line.type === "get-camera");
            try {
                await camera.send(...batch);
            } catch {
                // The camera reports it. The next position is absolute anyway.
            }
            if (ends) unanswered -= 1;
        }
        isSending = false;
        show();
    }

    function tell(phase, position) {
        const line = { type: "position", phase, gesture, ...position && { position } };
        if (waiting.at(-1)?.phase === "changed" && phase === "changed") waiting.pop();
        waiting.push(line);
        send();
    }

    function begin() {
        if (isLeading) return;
        isLeading = true;
        // If the end has not been sent yet, the gesture continues.
        if (waiting.at(-1)?.type === "get-camera") {
            waiting.splice(-2);
            unanswered -= 1;
        } else {
            tell("began");
        }
    }

    function end(phase) {
        if (!isLeading) return;
        isLeading = false;
        unanswered += 1;
        waiting.push({ type: "position", phase, gesture }, { type: "get-camera" });
        send();
    }

    const listeners = {
        moved() {
            if (isShowing) return;
            isMoving = true;
            const position = engine.read();
            if (isSame(position, known)) return;
            begin();
            known = position;
            tell("changed", position);
        },
        rested() {
            if (isShowing) return false;
            listeners.moved();
            isMoving = false;
            if (!fingers.size) end("ended");
            return !fingers.size;
        },
        resized: () => show(),
    };

    const pressed = ({ pointerId }) => {
        fingers.add(pointerId);
        // A finger that lands stops what moves by itself.
        begin();
    };
    const lifted = ({ pointerId }) => {
        if (fingers.delete(pointerId) && !fingers.size && !isMoving) end("ended");
    };

    // A finger that lifts over another window is not reported to this one.
    const blurred = ({ target }) => {
        if (target === window) for (const pointerId of [...fingers]) lifted({ pointerId });
    };

    const { moved, rested, resized } = listeners;
    const endListening = engine.listen?.(lead ? { moved, rested, resized } : { moved() {}, rested() {}, resized });
    const surface = lead ? engine.surface : null;
    const events = [
        [surface, "pointerdown", pressed], [window, "pointerup", lifted], [window, "pointercancel", lifted],
        [window, "blur", blurred],
    ];
    if (surface) for (const [target, type, listener] of events) target.addEventListener(type, listener, true);
    camera.addEventListener?.("change", show);
    show();

    return () => {
        endListening?.();
        if (surface) for (const [target, type, listener] of events) target.removeEventListener(type, listener, true);
        camera.removeEventListener?.("change", show);
        end("cancelled");
        isStopped = true;
    };
}
