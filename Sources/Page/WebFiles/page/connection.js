// The two ways to the server: one stream that tells of all cameras, and requests with lines, one after the other. Invariant:
// lines reach the daemon in the order in which they were sent here; what cannot be sent in time is told, never kept for ever.

const RETRY = [250, 500, 1000, 2000, 4000];
// The server says that it is there every 10 seconds.
const SILENCE = 25_000;

export class Connection {
    // `receive` gets each object of the stream; `change` is told a word about the connection.
    constructor(token, receive, change) {
        this.token = token;
        this.receive = receive;
        this.change = change;
        this.page = null;
        this.waiting = [];
        this.answers = new Map();
        this.lastID = 0;
        this.isSending = false;
        // A browser may have ended the stream of a page that it had frozen, and not say so.
        document.addEventListener("resume", () => this.stop?.(new Error("the page was asleep")));
    }

    // Follows the stream for ever.
    async run() {
        for (let attempt = 0; ; attempt++) {
            try {
                await this.follow(() => { attempt = 0; });
                this.change("lost", "the server ended the stream");
            } catch (error) {
                if (error.isFinal) return this.change("refused", error.message);
                this.change("lost", error.message);
            }
            this.page = null;
            this.fail("the connection was lost");
            await new Promise((resume) => setTimeout(resume, RETRY[Math.min(attempt, RETRY.length - 1)]));
        }
    }

    async follow(begun) {
        const control = new AbortController();
        this.stop = (error) => control.abort(error);
        let timer;
        const wait = () => {
            clearTimeout(timer);
            timer = setTimeout(() => control.abort(new Error("the server is silent")), SILENCE);
        };
        wait();
        try {
            const response = await fetch("/stream", {
                headers: {Authorization: `Bearer ${this.token}`}, signal: control.signal, cache: "no-store",
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
            control.abort();
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

    // Sends a request and waits for its answer, an error too.
    ask(request) {
        const id = ++this.lastID;
        return new Promise((resume) => {
            this.answers.set(id, resume);
            this.send({...request, id});
        });
    }

    // Sends a line. Lines that come while others are on their way go together.
    send(request) {
        if (!this.mayFeed) return;
        this.waiting.push(JSON.stringify(request));
        if (!this.isSending) this.flush();
    }

    async flush() {
        this.isSending = true;
        while (this.waiting.length && this.page) {
            const lines = this.waiting.splice(0, 256);
            const isAccepted = await this.post("/lines", lines.join("\n") + "\n");
            // The daemon has to catch up; what fingers did meanwhile would only come late.
            if (!isAccepted && this.waiting.length > 512) this.waiting.splice(0, this.waiting.length - 64);
        }
        this.isSending = false;
    }

    async post(path, body) {
        try {
            const response = await fetch(path, {
                method: "POST", body,
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
