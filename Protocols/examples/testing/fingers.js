// Performs touches in a page at their own times, with flings and fractions of points, which WebDriver cannot. Takes the
// lines of `gimbal make fling --touches`, `gimbal convert --to web`, or a recording of a page's own touches.
//
//   await performFingers(text);    // in the page, by a script element or a driver's `execute_script`
//
// A script makes the events, so `isTrusted` is false, and the browser itself does not scroll or click on them.
async function performFingers(text) {
    const lines = text.split("\n").filter((line) => line.trim()).map((line) => JSON.parse(line)).filter((line) => line.type);
    const targets = new Map();  // A finger belongs to the element on which it has landed.
    let before = [];
    const began = performance.now() - lines[0].timeStamp;
    for (const { type, timeStamp, touches } of lines) {
        for (let left; (left = began + timeStamp - performance.now()) > 0;)
            if (left > 6) await new Promise((resolve) => setTimeout(resolve, left - 5));
        const now = touches.map(({ identifier, clientX, clientY }) => {
            if (!targets.has(identifier))
                targets.set(identifier, document.elementFromPoint(clientX, clientY) ?? document.documentElement);
            return new Touch({ identifier, target: targets.get(identifier), clientX, clientY });
        });
        const old = new Map(before.map((touch) => [touch.identifier, touch]));
        const ids = new Set(now.map(({ identifier }) => identifier));
        const gone = before.filter(({ identifier }) => !ids.has(identifier));
        const changed = gone.length ? gone : now.filter((touch) => {
            const last = old.get(touch.identifier);
            return !last || last.clientX !== touch.clientX || last.clientY !== touch.clientY;
        });
        const target = (changed[0] ?? now[0])?.target ?? document.documentElement;
        const event = new TouchEvent(type, {
            touches: now, targetTouches: now.filter((touch) => touch.target === target), changedTouches: changed,
            bubbles: true, cancelable: true, composed: true,
        });
        // The speed of a fling must not depend on how busy the machine is.
        Object.defineProperty(event, "timeStamp", { value: began + timeStamp });
        target.dispatchEvent(event);
        for (const { identifier } of gone) targets.delete(identifier);
        before = now;
    }
}
