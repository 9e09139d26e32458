// The lease of the chosen camera, as a lock: who alone moves it, and for how long still. The page takes it, prolongs it as
// long as the page is seen, and gives it back. Invariant: a lease is the page's own only by the number that the daemon has
// answered.

// How long a lease lasts, and how often it is prolonged, in milliseconds.
const LASTS = 60_000;
const PROLONGED = 20_000;

const holder = ({label}) => label ?? "another client";

export class Lock {
    // `ask` sends a request and waits for its answer; `label` is what others are told of who holds the lease.
    constructor(root, {ask, cameras, chosen, label, tell, changed}) {
        Object.assign(this, {root, ask, cameras, label, tell, changed});
        [this.who, this.time] = root.querySelectorAll("output");
        this.button = root.querySelector("button");
        // The page's own leases: their numbers, by the cameras' names.
        this.own = new Map();
        this.button.onclick = () => (this.has(chosen()) ? this.end(chosen().name) : this.take(chosen().name));
        setInterval(() => this.prolong(), PROLONGED);
        document.addEventListener("visibilitychange", () => this.prolong());
    }

    // Whether the page holds a camera's lease.
    has(camera) { return Boolean(camera?.lease) && this.own.get(camera.name) === camera.lease.lease; }

    // Why the page may not move a camera; `null` where it may.
    refusal(camera) {
        return camera?.lease && !this.has(camera) ? `${holder(camera.lease)} has locked ${camera.name}.` : null;
    }

    take(camera) { return this.request({type: "take-lease", camera, forMs: LASTS, label: this.label()}); }

    // What is on its way to its end is not prolonged.
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

    // The connection that held them has ended.
    forget() { this.own.clear(); }

    // Shows a camera's lease, and has itself shown again when the next second of it is over.
    show(camera, now, mayFeed) {
        const {lease} = camera ?? {};
        const isOwn = this.has(camera);
        const who = !lease ? "" : isOwn ? "you" : holder(lease);
        const action = isOwn ? "Unlock" : "Lock";
        // What has not changed is not said again to those who listen, nor taken away under a click.
        if (this.who.textContent !== who) this.who.textContent = who;
        if (this.button.textContent !== action) this.button.textContent = action;
        this.root.dataset.state = !lease ? "open" : isOwn ? "own" : "foreign";
        this.button.disabled = !camera || !mayFeed || Boolean(lease) && !isOwn;
        clearTimeout(this.timer);
        // A trace of its holder's may last longer.
        const left = lease ? Math.max(lease.endsAt - now, 0) : 0;
        const seconds = Math.ceil(left / 1000);
        this.time.textContent = seconds ? `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}` : "";
        if (left) this.timer = setTimeout(this.changed, left % 1000 + 1);
    }
}
