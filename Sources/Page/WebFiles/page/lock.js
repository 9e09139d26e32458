// The chosen camera's lease, as a lock: which client alone moves the camera, and for how much longer. The page takes
// the lease, renews it as long as the page is visible, and gives it back. Invariant: only the number in the daemon's
// answer makes a lease the page's own.

// How long a lease lasts, and how often it is renewed, in milliseconds.
const LASTS = 60_000;
const PROLONGED = 20_000;

const holder = ({label}) => label ?? "another client";

export class Lock {
    // `ask` sends a request and waits for its answer; `label` names the holder to other clients.
    constructor(root, {ask, cameras, chosen, label, tell, changed}) {
        Object.assign(this, {root, ask, cameras, label, tell, changed});
        [this.who, this.time] = root.querySelectorAll("output");
        this.button = root.querySelector("button");
        // The numbers of the page's own leases, by camera name.
        this.own = new Map();
        this.button.onclick = () => (this.has(chosen()) ? this.end(chosen().name) : this.take(chosen().name));
        setInterval(() => this.prolong(), PROLONGED);
        document.addEventListener("visibilitychange", () => this.prolong());
    }

    // Whether the page holds a camera's lease.
    has(camera) { return Boolean(camera?.lease) && this.own.get(camera.name) === camera.lease.lease; }

    // Returns why the page may not move a camera; `null` if it may.
    refusal(camera) {
        return camera?.lease && !this.has(camera) ? `${holder(camera.lease)} has locked ${camera.name}.` : null;
    }

    take(camera) { return this.request({type: "take-lease", camera, forMs: LASTS, label: this.label()}); }

    // Forgets the lease first: a lease that is about to end is not renewed.
    end(camera) {
        this.own.delete(camera);
        return this.request({type: "end-lease", camera});
    }

    async request(request) {
        const answer = await this.ask(request);
        if (answer.type === "error") this.tell(answer.message);
        if (answer.type === "lease") this.own.set(answer.camera, answer.lease);
        this.changed();
    }

    prolong() {
        if (document.hidden) return;
        for (const camera of this.cameras.all) if (this.has(camera)) this.take(camera.name);
    }

    // Forgets all leases: the connection that held them has ended.
    forget() { this.own.clear(); }

    // Shows a camera's lease, and schedules the next update for the end of its current second.
    show(camera, now, mayFeed) {
        const {lease} = camera ?? {};
        const isOwn = this.has(camera);
        const who = !lease ? "" : isOwn ? "you" : holder(lease);
        const action = isOwn ? "Unlock" : "Lock";
        // Unchanged text is not set again: screen readers would repeat it, and a click on it could be lost.
        if (this.who.textContent !== who) this.who.textContent = who;
        if (this.button.textContent !== action) this.button.textContent = action;
        this.root.dataset.state = !lease ? "open" : isOwn ? "own" : "foreign";
        this.button.disabled = !camera || !mayFeed || Boolean(lease) && !isOwn;
        clearTimeout(this.timer);
        // A trace played by the holder may last longer.
        const left = lease ? Math.max(lease.endsAt - now, 0) : 0;
        const seconds = Math.ceil(left / 1000);
        this.time.textContent = seconds ? `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}` : "";
        if (left) this.timer = setTimeout(this.changed, left % 1000 + 1);
    }
}
