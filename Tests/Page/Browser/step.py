"""A camera whose positions are sent ahead of their times, and the frames of a page that show something else."""

import math
import time
from collections import deque
from itertools import pairwise

# Runs in a page before `window.look` is set, which returns what is drawn. What the last draw call leaves is what the
# frame shows; `shown` has it with the begin of the frame, by the clock that all pages share and by the wall clock. A
# slow reading of both clocks is discarded.
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
        shown.push([performance.timeOrigin + time, time + wallTime - before, look()]);
    });"""

# Positions, a degree of longitude apart, STEP ms apart: long enough that a busy machine draws enough frames.
COUNT, STEP, FIRST = 240, 25, -100
LAST = FIRST + COUNT - 1


def tell_ahead(send, camera):
    """Sends the positions, beginning at a time that it returns: so far ahead that nothing is late on a busy machine."""
    start = round(time.time() * 1000) + 3000
    for i in range(COUNT):
        send(type="present", camera=camera, presentAt=start + i * STEP, moving=i < COUNT - 1,
             position={"target": {"latitude": 10, "longitude": FIRST + i}, "zoom": 3})
    return start


def displayed(shown):
    """Returns what each frame shows with its display time: one interval of the screen's frames after it began."""
    # Most differences are multiples of it on a busy machine, which leaves frames out.
    latest, seen, before = deque([1000 / 60] * 64, 64), [], math.inf
    for start, begun, what in shown:
        if 2 <= start - before <= 1000 / 23:
            latest.append(start - before)
        before = start
        seen.append((begun + sorted(latest)[3], what))
    return seen


def wrong_frames(shown, start, tolerance):
    """Returns the number of frames, and those whose longitude is off by over 1 ms and the tolerance in degrees."""
    frames = [(seen, longitude) for seen, longitude in displayed(shown) if start <= seen <= start + (COUNT - 1) * STEP]
    return len(frames), [
        (seen, longitude) for seen, longitude in frames
        if longitude is None or abs(FIRST + (seen - start) / STEP - longitude) > 1 / STEP + tolerance]


def apart(one, other, start):
    """Returns by how many ms what two windows show differs, for each pair of frames seen at most half a frame apart."""
    frames = sorted((begun, window, longitude) for window, shown in enumerate((one, other))
                    for (begun, _, longitude), (seen, _) in zip(shown, displayed(shown))
                    if start <= seen <= start + (COUNT - 1) * STEP)
    return [math.inf if None in (before[2], after[2]) else abs(before[2] - after[2]) * STEP
            for before, after in pairwise(frames) if before[1] != after[1] and after[0] - before[0] <= 1000 / 120]
