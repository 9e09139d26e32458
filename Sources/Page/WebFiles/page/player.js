// The controls of the replay that moves the chosen camera; hidden if there is none.

import {Timeline, clock} from "./timeline.js";

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4, 8];

export class Player {
    constructor(root, send, canSteer) {
        this.root = root;
        this.send = send;
        this.canSteer = canSteer;
        this.camera = null;
        const part = (name) => root.querySelector(`[data-player="${name}"]`);
        this.parts = Object.fromEntries(
            ["play", "step", "back", "forward", "previous", "next", "speed", "place", "time", "end", "mark"]
                .map((name) => [name, part(name)]));
        for (const speed of SPEEDS) this.parts.speed.append(new Option(`${speed}×`, speed));
        this.parts.speed.append(new Option("max", "max"));
        this.parts.play.onclick = () => this.toggle();
        this.parts.step.onclick = () => this.send({type: "step-replay"});
        this.parts.back.onclick = () => this.send({type: "seek-replay", byMs: -5000});
        this.parts.forward.onclick = () => this.send({type: "seek-replay", byMs: 5000});
        this.parts.previous.onclick = () => this.toMarker(-1);
        this.parts.next.onclick = () => this.toMarker(1);
        this.parts.end.onclick = () => this.send({type: "end-replay"});
        this.parts.mark.onclick = () => this.mark();
        this.parts.speed.onchange = () => {
            const {value} = this.parts.speed;
            this.send({type: "set-replay-speed", speed: value === "max" ? "max" : Number(value)});
        };
        this.parts.place.oninput = () => this.seek(Number(this.parts.place.value));
    }

    toggle() { this.send({type: this.camera?.replay?.isPaused ? "resume-replay" : "pause-replay"}); }

    seek(toMs) { this.send({type: "seek-replay", toMs: Math.round(toMs)}); }

    toMarker(way) {
        const {replay, markers} = this.camera;
        const at = Timeline.now(this.camera, performance.now());
        const times = [...new Set([...(replay.markers ?? []), ...markers].map(({timeMs}) => timeMs))].sort((a, b) => a - b);
        const time = way > 0 ? times.find((time) => time > at + 1) : times.findLast((time) => time < at - 300);
        if (time !== undefined) this.send({type: "seek-replay", toMs: time});
        else if (way < 0) this.seek(0);
    }

    mark() {
        const label = this.root.querySelector("[data-player=label]").value.trim() || `mark ${new Date().toLocaleTimeString()}`;
        this.send({type: "marker", label});
    }

    show(camera, now) {
        this.camera = camera;
        const replay = camera?.replay;
        this.root.hidden = !replay;
        if (!replay) return;
        const {parts} = this;
        const canSteer = this.canSteer();
        for (const part of Object.values(parts)) if ("disabled" in part) part.disabled = !canSteer;
        const {isPaused} = replay;
        const isAtEnd = replay.state === "at-end";
        parts.play.textContent = isAtEnd ? "↻" : isPaused ? "▶" : "❚❚";
        const label = isAtEnd ? "Play again" : isPaused ? "Play" : "Pause";
        parts.play.setAttribute("aria-label", label);
        parts.play.title = label;
        const time = Timeline.now(camera, now);
        parts.time.textContent = clock(time) + (camera.durationMs ? ` of ${clock(camera.durationMs)}` : "");
        parts.place.disabled = !canSteer || !replay.durationMs;
        if (replay.durationMs) {
            parts.place.max = camera.durationMs;
            if (document.activeElement !== parts.place) parts.place.value = time;
            parts.place.setAttribute("aria-valuetext", parts.time.textContent);
        }
        const speed = String(replay.speed);
        if (document.activeElement !== parts.speed) {
            if (![...parts.speed.options].some((option) => option.value === speed)) {
                parts.speed.append(new Option(`${speed}×`, speed));
            }
            parts.speed.value = speed;
        }
    }
}
