// The two channels to the server: a stream of events of all cameras, and requests with lines, one at a time. Invariant:
// lines reach the daemon in the order they were sent here; what cannot be sent in time is reported, not kept forever.
// Nothing outlives its stream: what was sent or queued before an outage does not arrive after it.

const RETRY = [250, 500, 1000, 2000, 4000];
// The server sends a sign of life every 10 seconds.
const SILENCE = 25_000;
// How long lines may take to be answered, and how many may wait meanwhile: beyond that, the connection is lost.
const ANSWER = 10_000;
const MOST_WAITING = 4096;

export class Connection {
    // `receive` gets each object of the stream; `change` gets the connection's state, and a text.
    constructor(token, receive, change) {
        this.token = token;
        this.receive = receive;
        this.change = change;
        this.page = null;
        this.waiting = [];
        this.answers = new Map();
        this.lastID = 0;
        this.isSending = false;
        // A browser may have ended the stream of a page that it froze, without reporting it.
        document.addEventListener("resume", () => this.stop(new Error("the page was asleep")));
    }

    // Ends the stream, and the requests on their way.
    stop(error) {
        this.page = null;
        this.control?.abort(error);
    }

    // Follows the stream and reconnects, until access is refused.
    async run() {
        for (let attempt = 0; ; attempt++) {
            try {
                await this.follow(() => { attempt = 0; });
                this.change("lost", "the server ended the stream");
            } catch (error) {
                if (error.isFinal) return this.change("refused", error.message);
                this.change("lost", error.message);
            }
            this.fail("the connection was lost");
            await new Promise((resume) => setTimeout(resume, RETRY[Math.min(attempt, RETRY.length - 1)]));
        }
    }

    async follow(begun) {
        this.control = new AbortController();
        const {signal} = this.control;
        let timer;
        const wait = () => {
            clearTimeout(timer);
            timer = setTimeout(() => this.stop(new Error("the server is silent")), SILENCE);
        };
        wait();
        try {
            const response = await fetch("/stream", {
                headers: {Authorization: `Bearer ${this.token}`}, signal, cache: "no-store",
            });
            if (!response.ok) {
                const error = new Error((await response.text()).trim());
                error.isFinal = [401, 403, 421].includes(response.status);
                throw error;
            }
            const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
            let rest = "";
            for (;;) {
                const {done, value} = await reader.read();
                if (done) return;
                wait();
                const lines = (rest + value).split("\n");
                rest = lines.pop();
                for (const line of lines) {
                    if (line) this.handle(JSON.parse(line), line, begun);
                }
            }
        } finally {
            clearTimeout(timer);
            this.stop(new Error("the connection was lost"));
        }
    }

    handle(message, line, begun) {
        if (message.type === "page") {
            this.page = message;
            begun();
            this.change("live", message.role);
        }
        const answer = Number.isInteger(message.id) ? this.answers.get(message.id) : undefined;
        if (answer) {
            this.answers.delete(message.id);
            answer(message);
        }
        this.receive(message, line);
    }

    get mayFeed() { return this.page?.role === "feed"; }

    // Sends a request and waits for its answer, which may be an error.
    ask(request) {
        const id = ++this.lastID;
        return new Promise((resume) => {
            this.answers.set(id, resume);
            this.send({...request, id});
        });
    }

    // Sends a line. Lines queued while others are on their way are sent together.
    send(request) {
        if (!this.mayFeed) return;
        this.waiting.push(JSON.stringify(request));
        if (this.waiting.length > MOST_WAITING) this.stop(new Error("the server does not keep up"));
        if (!this.isSending) this.flush();
    }

    async flush() {
        this.isSending = true;
        while (this.waiting.length && this.page) {
            const lines = this.waiting.splice(0, 256);
            const timer = setTimeout(() => this.stop(new Error("the server does not answer")), ANSWER);
            const isAccepted = await this.post("/lines", lines.join("\n") + "\n");
            clearTimeout(timer);
            // The daemon has to catch up; what the fingers did meanwhile would only arrive late.
            if (!isAccepted && this.waiting.length > 512) this.waiting.splice(0, this.waiting.length - 64);
        }
        this.isSending = false;
    }

    async post(path, body) {
        try {
            const response = await fetch(path, {
                method: "POST", body, signal: this.control.signal,
                headers: {Authorization: `Bearer ${this.token}`, "Gimbal-Page": this.page.page},
            });
            if (response.ok) return true;
            const message = (await response.text()).trim();
            this.receive({type: "refused", message, status: response.status});
            if (response.status === 429 || response.status === 503) {
                await new Promise((resume) => setTimeout(resume, 250));
            }
        } catch (error) {
            this.receive({type: "refused", message: error.message});
        }
        return false;
    }

    fail(message) {
        for (const answer of this.answers.values()) answer({type: "error", code: "unavailable", message});
        this.answers.clear();
        this.waiting = [];
    }
}
