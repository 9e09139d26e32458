// The two channels to the server: a stream of events of all cameras, and requests with lines, one at a time. Invariant:
// lines reach the daemon in the order they were sent here; what cannot be sent in time is reported, not kept forever.
// Nothing outlives its stream: what was sent or queued before an outage does not arrive after it. Each question gets an
// answer, which is an error if the question was lost.

const RETRY = [250, 500, 1000, 2000, 4000];
// The server sends a sign of life every 10 seconds.
const SILENCE = 25_000;
// How long lines may take to be answered, and how many may wait meanwhile: beyond that, the connection is lost.
const ANSWER = 10_000;
const MOST_WAITING = 4096;
// The statuses of refused lines after which the daemon still has this page's fingers, and takes others; 0: no answer.
const GOES_ON = [0, 400, 413, 429, 503];

export class Connection {
    // `receive` gets each object of the stream; `change` gets the connection's state, and a text; `lose` gets requests
    // that were lost, while what they would have ended goes on at the daemon.
    constructor(token, receive, change, lose) {
        this.token = token;
        this.receive = receive;
        this.change = change;
        this.lose = lose;
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
        // What a daemon had been asked, it does not answer after its end.
        if (message.type === "daemon" && !message.connected) this.answerAll("the daemon is gone");
        this.answer(message);
        this.receive(message, line);
    }

    answer(message) {
        const answer = Number.isInteger(message.id) ? this.answers.get(message.id) : undefined;
        if (!answer) return;
        this.answers.delete(message.id);
        answer(message);
    }

    get mayFeed() { return this.page?.role === "feed"; }

    // Sends a request and waits for its answer, which may be an error.
    async ask(request) {
        if (!this.mayFeed) return {type: "error", code: "unavailable", message: "the page has no connection now"};
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
            const {page} = this;
            const lines = this.waiting.splice(0, 256);
            const timer = setTimeout(() => this.stop(new Error("the server does not answer")), ANSWER);
            const status = await this.post("/lines", lines.join("\n") + "\n");
            clearTimeout(timer);
            // The end of a stream answers its questions, and cancels its fingers.
            if (status === 204 || this.page !== page) continue;
            // The daemon has to catch up; what the fingers did meanwhile would only arrive late.
            if (this.waiting.length > 512) lines.push(...this.waiting.splice(0, this.waiting.length - 64));
            const lost = lines.flatMap((line) => JSON.parse(line));
            const error = {type: "error", code: "unavailable", message: "the request was lost"};
            for (const {id} of lost) this.answer({...error, id});
            if (GOES_ON.includes(status)) this.lose(lost);
            await new Promise((resume) => setTimeout(resume, 250));
        }
        this.isSending = false;
    }

    // Returns the status of the answer; 0 without one.
    async post(path, body) {
        try {
            const response = await fetch(path, {
                method: "POST", body, signal: this.control.signal,
                headers: {Authorization: `Bearer ${this.token}`, "Gimbal-Page": this.page.page},
            });
            if (!response.ok) {
                const message = (await response.text()).trim();
                this.receive({type: "refused", message, status: response.status});
            }
            return response.status;
        } catch (error) {
            this.receive({type: "refused", message: error.message});
            return 0;
        }
    }

    fail(message) {
        this.answerAll(message);
        this.waiting = [];
    }

    answerAll(message) {
        for (const answer of this.answers.values()) answer({type: "error", code: "unavailable", message});
        this.answers.clear();
    }
}
