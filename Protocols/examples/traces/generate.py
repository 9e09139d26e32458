#!/usr/bin/env python3
"""Generates the sample traces beside this file, or in the folder named by the only argument.

It simulates fingers and writes what a recognizer would report: values since `began`, the centroid as `focus`, and the
velocity of the last 100 ms as `velocity`. A finger moves from one place to the next on a minimum-jerk path, with a
little tremor, and is sampled about 100 times a second. Everything comes from seeded generators, so a second run writes
the same bytes.
"""

import json
import math
import random
import sys
from pathlib import Path

TREMOR = 0.25  # points
STEP_MS = 10
JITTER_MS = 1.5
REST_MS = 120  # for how long a finger that is to stop lies still before it lifts
VELOCITY_WINDOW_MS = 100


class Finger:
    """A finger that moves through places: (milliseconds since it landed, x, y)."""

    def __init__(self, noise, *places):
        self.places = places
        self.waves = [
            (noise.uniform(7, 12), noise.uniform(0, 2 * math.pi), noise.uniform(0.4, 1) * TREMOR) for _ in range(4)
        ]
        self.duration = places[-1][0]

    def lifted(self, ms):
        """Makes the finger lift on the way, and returns it."""
        self.duration = ms
        return self

    def at(self, ms):
        """Returns where the finger is: on the minimum-jerk path between two places, plus the tremor."""
        for (begin, *start), (end, *goal) in zip(self.places, self.places[1:]):
            if ms <= end:
                part = max(ms - begin, 0) / (end - begin)
                break
        else:
            start, goal, part = self.places[-1][1:], self.places[-1][1:], 1
        way = part**3 * (10 - 15 * part + 6 * part**2)
        trembling = min(ms / 80, 1)  # It sets down firmly.
        return tuple(
            a + (b - a) * way + trembling * sum(self.tremble(ms, wave) for wave in waves)
            for a, b, waves in zip(start, goal, (self.waves[:2], self.waves[2:]))
        )

    @staticmethod
    def tremble(ms, wave):
        hertz, phase, amplitude = wave
        return amplitude * math.sin(2 * math.pi * hertz * ms / 1000 + phase)


class Trace:
    """The lines of one trace, and its clock."""

    def __init__(self, name, seed, **header):
        self.name = name
        self.noise = random.Random(seed)
        self.ms = 1000 + self.noise.uniform(0, 500)
        self.lines = [{"type": "trace", "id": name, "version": 1, "speed": 1, **header}]

    def finger(self, *places):
        return Finger(self.noise, *places)

    def pause(self, ms):
        self.ms += ms

    def times(self, duration):
        """Yields sampling times from 0 to the duration, each with its phase."""
        ms = 0
        while ms < duration - STEP_MS / 2:
            yield ms, "began" if ms == 0 else "changed"
            ms += STEP_MS + self.noise.uniform(-JITTER_MS, JITTER_MS)
        yield duration, "ended"

    def add(self, *members):
        """Adds one line: a message, or a batch whose first member has the time."""
        self.lines.append(members[0] if len(members) == 1 else list(members))

    def pan(self, finger, says_velocity=True):
        """Adds the drag of one finger. It flings if the finger is still moving when it lifts."""
        origin, begin, ways = finger.at(0), self.ms, []
        for ms, phase in self.times(finger.duration):
            self.ms = begin + ms
            way = difference(finger.at(ms), origin)
            ways.append((ms, way))
            message = dict(type="pan", phase=phase, timeMs=thousandths(self.ms), focus=point(finger.at(ms)))
            if phase != "began":
                message["translation"] = point(way)
            if phase == "ended" and says_velocity:
                message["velocity"] = point(velocity(ways))
            self.add(message)

    def two_fingers(self, first, second, kinds=("pan", "pinch", "rotate")):
        """Adds two fingers that drag, spread and turn at once: for each sample, a batch of several gestures."""
        centre, span, angle = self.pose(first, second, 0)
        begin, turned, before, ways = self.ms, 0, angle, []
        for ms, phase in self.times(first.duration):
            self.ms = begin + ms
            now = self.pose(first, second, ms)
            turned += math.remainder(now[2] - before, 2 * math.pi)
            before = now[2]
            ways.append((ms, difference(now[0], centre)))
            time = dict(timeMs=thousandths(self.ms))
            members = {
                kind: dict(type=kind, phase=phase, **(time if kind == kinds[0] else {}), focus=point(now[0]))
                for kind in kinds
            }
            values = {
                "pan": dict(translation=point(ways[-1][1])),
                "pinch": dict(scale=whole(round(now[1] / span, 6))),
                "rotate": dict(rotationDeg=hundredths(math.degrees(turned))),
            }
            if phase == "ended":
                values["pan"]["velocity"] = point(velocity(ways))
            for kind in kinds if phase != "began" else ():
                members[kind].update(values[kind])
            self.add(*members.values())

    @staticmethod
    def pose(first, second, ms):
        """Returns the centroid of two fingers, their distance, and the angle of their line, clockwise on the screen."""
        (x1, y1), (x2, y2) = first.at(ms), second.at(ms)
        return ((x1 + x2) / 2, (y1 + y2) / 2), math.hypot(x2 - x1, y2 - y1), math.atan2(y2 - y1, x2 - x1)

    def tilt(self, first, second):
        """Adds a movement of two fingers side by side, up or down."""
        (_, origin), _, _ = self.pose(first, second, 0)
        begin = self.ms
        for ms, phase in self.times(first.duration):
            self.ms = begin + ms
            (_, y), _, _ = self.pose(first, second, ms)
            message = dict(type="tilt", phase=phase, timeMs=thousandths(self.ms))
            if phase != "began":
                message["translation"] = {"y": hundredths(y - origin)}
            self.add(message)

    def text(self):
        lines = [*self.lines, {"type": "trace-end"}]
        return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)


def difference(a, b):
    return a[0] - b[0], a[1] - b[1]


def velocity(ways):
    """Returns the velocity over the last 100 ms, in points per second."""
    end, last = ways[-1]
    begin, first = next(sample for sample in ways if sample[0] >= end - VELOCITY_WINDOW_MS)
    return tuple(1000 * way / (end - begin) for way in difference(last, first))


def whole(number):
    """Returns 3 for 3.0 and 0 for -0.0, as people write them."""
    return int(number) if number == int(number) else number


def hundredths(number):
    return whole(round(number, 2))


def thousandths(number):
    return whole(round(number, 3))


def point(xy):
    return {"x": hundredths(xy[0]), "y": hundredths(xy[1])}


def place(latitude, longitude):
    return {"latitude": latitude, "longitude": longitude}


VIEWPORT = {"width": 390, "height": 844}


def pinch_and_rotate():
    """Two fingers over Paris that lift at rest, then one that flings."""
    trace = Trace(
        "pinch-and-rotate",
        seed=1,
        viewport=VIEWPORT,
        position={"target": place(48.8584, 2.2945), "zoom": 14},
    )
    trace.two_fingers(
        trace.finger((0, 150, 480), (900, 95, 438), (900 + REST_MS, 95, 438)),
        trace.finger((0, 240, 360), (900, 325, 352), (900 + REST_MS, 325, 352)),
    )
    trace.pause(160)
    # The whole movement would take 400 ms; the finger lifts in the middle, where it is fastest.
    trace.pan(trace.finger((0, 280, 520), (400, 70, 440)).lifted(230))
    return trace


def pan_fling():
    """Flicks of one finger: a fling that runs out, one that the next touch stops, and a drag that does not fling."""
    trace = Trace("pan-fling", seed=2, viewport=VIEWPORT, position={"target": place(41.8902, 12.4922), "zoom": 12})
    trace.pan(trace.finger((0, 300, 460), (420, 60, 410)).lifted(250))
    trace.pause(3200)
    # No velocity here: the receiver computes it from the samples.
    trace.pan(trace.finger((0, 120, 600), (380, 210, 260)).lifted(220), says_velocity=False)
    trace.pause(350)
    trace.pan(trace.finger((0, 200, 420), (500, 240, 500), (500 + REST_MS, 240, 500)))
    return trace


def tilt():
    """Two fingers up and down again, and a fling under tilt in between."""
    trace = Trace(
        "tilt",
        seed=3,
        viewport=VIEWPORT,
        position={"target": place(45.9763, 7.6586), "zoom": 16, "bearing": 30, "viewingAngle": 0},
    )
    trace.tilt(trace.finger((0, 140, 560), (700, 146, 452)), trace.finger((0, 250, 566), (700, 252, 455)))
    trace.pause(250)
    trace.pan(trace.finger((0, 190, 430), (440, 215, 640)).lifted(260))
    trace.pause(900)
    trace.tilt(trace.finger((0, 142, 420), (600, 139, 486)), trace.finger((0, 248, 424), (600, 250, 489)))
    return trace


def antimeridian():
    """Over the antimeridian within bounds that cross it: along the eastern edge, and back to the western one."""
    trace = Trace(
        "antimeridian",
        seed=4,
        viewport=VIEWPORT,
        position={"target": place(-41.2866, 174.7756), "zoom": 6},
        targetBounds={"southWest": place(-50, 165), "northEast": place(-30, -175)},
    )
    trace.pan(trace.finger((0, 340, 420), (650, 90, 400), (650 + REST_MS, 90, 400)))
    trace.pause(200)
    trace.pan(trace.finger((0, 345, 380), (700, 45, 470), (700 + REST_MS, 45, 470)))
    trace.pause(200)
    trace.pan(trace.finger((0, 50, 450), (420, 350, 430)).lifted(250))
    trace.pause(3000)
    trace.pan(trace.finger((0, 60, 450), (420, 340, 500)).lifted(240))
    return trace


def limits():
    """Beyond the zoom range on both sides, and beyond the ceiling of the viewing angle, which zooming out lowers."""
    trace = Trace(
        "limits",
        seed=5,
        viewport=VIEWPORT,
        position={"target": place(35.3606, 138.7274), "zoom": 15.5},
        minZoom=12,
        maxZoom=16,
    )
    # In beyond 16, and back with the same fingers: the way back counts from the limit.
    trace.two_fingers(
        trace.finger((0, 175, 450), (450, 110, 610), (900, 165, 480)),
        trace.finger((0, 225, 390), (450, 290, 230), (900, 230, 360)),
        kinds=("pinch",),
    )
    trace.pause(250)
    trace.tilt(trace.finger((0, 140, 640), (600, 144, 440)), trace.finger((0, 250, 646), (600, 251, 444)))
    trace.pause(250)
    for _ in range(3):
        trace.two_fingers(
            trace.finger((0, 90, 650), (400, 178, 460)), trace.finger((0, 300, 200), (400, 222, 388)), kinds=("pinch",)
        )
        trace.pause(250)
    return trace


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent)
    for make in (pinch_and_rotate, pan_fling, tilt, antimeridian, limits):
        trace = make()
        (folder / f"{trace.name}.ndjson").write_bytes(trace.text().encode())


if __name__ == "__main__":
    main()
