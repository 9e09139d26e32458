"""A camera whose positions are told ahead of their times, and the frames of a page that show something else."""

import time

# To be run in a page before `window.look` is set, which gives what is drawn. Behind the last call that draws a frame, that is what the
# frame shows; `shown` has it with the time at which that is seen. A reading of both clocks that took long tells neither.
RECORD = """
    window.shown = [];
    const request = requestAnimationFrame;
    let drawn;
    window.requestAnimationFrame = (draw) => request((time) => {
        draw(time);
        if (!window.look) return;
        let before, wallTime;
        do [before, wallTime] = [performance.now(), Date.now()]; while (performance.now() - before > 0.5);
        if (drawn === time) shown.pop();
        drawn = time;
        shown.push([time + wallTime - before + 1000 / 60, look()]);
    });"""

# So many positions, a degree of longitude apart, in steps of so many ms: so long that a busy machine draws enough frames meanwhile.
COUNT, STEP, FIRST = 240, 25, -100
LAST = FIRST + COUNT - 1


def tell_ahead(send, camera):
    """Tells them from a time on that is returned: so far ahead that a busy machine makes nothing late."""
    start = round(time.time() * 1000) + 3000
    for i in range(COUNT):
        send(type="present", camera=camera, presentAt=start + i * STEP, moving=i < COUNT - 1,
             position={"target": {"latitude": 10, "longitude": FIRST + i}, "zoom": 3})
    return start


def wrong_frames(shown, start, tolerance):
    """How many frames were drawn meanwhile, and those whose longitude is not that of their time to 1 ms and some degrees."""
    frames = [(seen, longitude) for seen, longitude in shown if start <= seen <= start + (COUNT - 1) * STEP]
    return len(frames), [
        (seen, longitude) for seen, longitude in frames
        if longitude is None or abs(FIRST + (seen - start) / STEP - longitude) > 1 / STEP + tolerance]
