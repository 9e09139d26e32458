#!/usr/bin/env python3
"""Traces for every implementation, and what must come of them: `streams.txt` beside this file.

    streams.py make FOLDER        writes the traces, 001.ndjson and so on
    streams.py check COMMAND…     runs a command with each trace's path as its last argument; fails where what it prints
                                  is not what is known, byte for byte
    streams.py record COMMAND…    writes streams.txt anew by what a command prints

A line of streams.txt is a trace's name, how many lines come of it, and the SHA-256 of them, each with its LF, in
hexadecimal. The lines are those that a subscriber to the trace's camera receives of the replay, from `reset` (without
its `epoch`) on, and then the answer `trace-ended`: what `gimbal run TRACE` prints.

The traces are the same wherever this runs: numbers are integers, or integers with a decimal point put in, of SplitMix64
(Steele, Lea, Flood 2014) seeded with the trace's number. There is no floating-point arithmetic in them.
"""
import hashlib
import os
import subprocess
import sys
import tempfile

COUNT = 300
KNOWN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "streams.txt")


def decimal(number, places):
    """An integer as a JSON number with so many decimals."""
    sign, digits = "-" if number < 0 else "", str(abs(number)).rjust(places + 1, "0")
    fraction = digits[len(digits) - places:].rstrip("0")
    text = digits[:len(digits) - places] + ("." + fraction if fraction else "")
    return "0" if text == "0" else sign + text


def members(**values):
    """An object; values are JSON already."""
    return "{" + ",".join(f'"{name}":{value}' for name, value in values.items()) + "}"


def word(text):
    return f'"{text}"'


def point(x, y, places=2):
    """A point in hundredths."""
    return members(x=decimal(x, places), y=decimal(y, places))


class Trace:
    """A trace that is being made. Lengths are hundredths of a point, times thousandths of a millisecond."""

    def __init__(self, number):
        self.state = number
        self.width, self.height = self.one_of((39000, 84400), (128000, 72000), (192000, 108000), (36000, 64000))
        self.time = self.integer(0, 5_000_000)
        header = dict(type=word("trace"), version="1", viewport=self.viewport(), position=self.position())
        if self.chance(4):
            header.update(minZoom=decimal(self.integer(200, 800), 2), maxZoom=decimal(self.integer(1200, 2100), 2))
        if self.chance(5):
            header["targetBounds"] = self.bounds(40)
        if self.chance(2):
            header["gestures"] = members(
                inertia=self.one_of("true", "false"), scrollDuringRotateOrZoom=self.one_of("true", "true", "false"))
        self.lines = [members(**header)]

    # Numbers.

    def integer(self, low, high):
        """A number from low to high, both included; the remainder of a division by far less than 2^64 will do."""
        mask = (1 << 64) - 1
        self.state = (self.state + 0x9E3779B97F4A7C15) & mask
        mixed = self.state
        mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9 & mask
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB & mask
        return low + (mixed ^ (mixed >> 31)) % (high - low + 1)

    def chance(self, of):
        return self.integer(1, of) == 1

    def one_of(self, *choices):
        return choices[self.integer(0, len(choices) - 1)]

    # Parts of lines.

    def viewport(self):
        parts = dict(width=decimal(self.width, 2), height=decimal(self.height, 2))
        if self.chance(3):
            parts["padding"] = members(
                top=str(self.integer(0, 120)), left=str(self.integer(0, 80)), bottom=str(self.integer(0, 160)))
        return members(**parts)

    def place(self):
        return members(
            latitude=decimal(self.integer(-88_000_000, 88_000_000), 6),
            longitude=decimal(self.integer(-180_000_000, 180_000_000), 6))

    def position(self):
        return members(
            target=self.place(), zoom=decimal(self.integer(20_000, 200_000), 4),
            bearing=decimal(self.integer(0, 359_999), 3),
            viewingAngle=self.one_of("0", decimal(self.integer(0, 6500), 2)))

    def bounds(self, span):
        """Bounds of at most so many degrees from south to north, and twice that from west to east."""
        south, west = self.integer(-80_000, 80_000 - span * 1000), self.integer(-180_000, 180_000)
        north, east = south + self.integer(1, span * 1000), west + self.integer(1, span * 2000)
        return members(
            southWest=members(latitude=decimal(south, 3), longitude=decimal(west, 3)),
            northEast=members(
                latitude=decimal(north, 3), longitude=decimal(east - 360_000 if east > 180_000 else east, 3)))

    def spot(self):
        """Somewhere on the screen."""
        return tuple(self.integer(side // 10, side * 9 // 10) for side in (self.width, self.height))

    # Lines.

    def say(self, kind, **values):
        self.lines.append(self.message(kind, timeMs=decimal(self.time, 3), **values))

    @staticmethod
    def message(kind, **values):
        return members(type=word(kind), **values)

    def pause(self, low, high):
        """Milliseconds, with three decimals."""
        self.time += self.integer(low * 1000, high * 1000)

    def way(self):
        """From one spot to another, and a number of steps: now fast, now slow."""
        (x, y), (to_x, to_y), steps = self.spot(), self.spot(), self.integer(4, 24)
        # Faster in the middle, by the squares of integers.
        for step in range(steps + 1):
            near = 2 * step * step if 2 * step <= steps else steps * steps - 2 * (steps - step) * (steps - step)
            yield (
                "began" if step == 0 else "ended" if step == steps else "changed", step,
                x + (to_x - x) * near // (steps * steps), y + (to_y - y) * near // (steps * steps), x, y)
            self.pause(7, 18)

    # Actions.

    def pan(self):
        for phase, step, x, y, from_x, from_y in self.way():
            values = dict(phase=word(phase), focus=point(x, y), translation=point(x - from_x, y - from_y))
            if phase == "ended" and self.chance(2):
                values["velocity"] = point(self.integer(-300_000, 300_000), self.integer(-300_000, 300_000))
            self.say("pan", **values)

    def pair(self):
        """Two fingers: pan, pinch and rotate in one frame."""
        growth, turn = self.integer(-40, 60), self.integer(-900, 900)
        for phase, step, x, y, from_x, from_y in self.way():
            both = dict(phase=word(phase), focus=point(x, y))
            time = dict(timeMs=decimal(self.time, 3))
            frame = [
                self.message("pan", **time, **both, translation=point(x - from_x, y - from_y)),
                self.message("pinch", **both, scale=decimal(max(1000 + growth * step, 100), 3)),
                self.message("rotate", **both, rotationDeg=decimal(turn * step, 2)),
            ]
            self.lines.append("[" + ",".join(frame) + "]")

    def alone(self, kind, low, high):
        """A gesture with one value, which grows by so much with each step."""
        growth = self.integer(low, high)
        for phase, step, x, y, *_ in self.way():
            value = {
                "pinch": dict(scale=decimal(max(1000 + growth * step, 50), 3)),
                "rotate": dict(rotationDeg=decimal(growth * step, 2)),
                "tilt": dict(translation=members(y=decimal(growth * step, 2))),
                "one-finger-zoom": dict(translation=members(y=decimal(growth * step, 2))),
            }[kind]
            focus = dict(focus=point(x, y)) if kind != "tilt" and step % 5 != 4 else {}
            self.say(kind, phase=word(phase), **focus, **value)

    def tap(self):
        self.say(self.one_of("double-tap", "two-finger-tap"), focus=point(*self.spot()))

    def led(self):
        """A camera that something else moves."""
        for phase in ("began", "changed", "changed", "ended"):
            self.say("position", phase=word(phase), position=self.position())
            self.pause(5, 30)

    def one_finger(self):
        for phase, step, x, y, *_ in self.way():
            finger = members(id=str(step // 100), x=decimal(x, 2), y=decimal(y, 2))
            self.say("touch", touches=f"[{finger}]" if phase != "ended" else "[]")

    def two_fingers(self):
        """Fingers on both sides of a way, that come nearer or part and turn."""
        x_arm, y_arm = self.integer(2000, 9000), self.integer(-6000, 6000)
        wider, taller = self.integer(-300, 500), self.integer(-500, 500)
        for phase, step, x, y, *_ in self.way():
            x_part, y_part = x_arm + wider * step, y_arm + taller * step
            fingers = (
                members(id="1", x=decimal(x - x_part, 2), y=decimal(y - y_part, 2)),
                members(id="2", x=decimal(x + x_part, 2), y=decimal(y + y_part, 2)))
            self.say("touch", touches="[" + ",".join(fingers) + "]" if phase != "ended" else "[]")

    def finger_taps(self):
        x, y = self.spot()
        for tap in range(2):
            finger = members(id=str(tap), x=decimal(x, 2), y=decimal(y, 2))
            self.say("touch", touches=f"[{finger}]")
            self.pause(40, 90)
            self.say("touch", touches="[]")
            self.pause(60, 150)

    def update(self):
        return self.one_of(
            lambda: dict(kind="zoom-in"), lambda: dict(kind="zoom-out"),
            lambda: dict(kind="zoom-to", zoom=decimal(self.integer(10_000, 220_000), 4)),
            lambda: dict(kind="zoom-by", amount=decimal(self.integer(-3000, 3000), 3), focus=point(*self.spot())),
            lambda: dict(kind="set-target", target=self.place()),
            lambda: dict(kind="set-camera", position=self.position()),
            lambda: dict(
                kind="scroll-by", x=decimal(self.integer(-40_000, 40_000), 2),
                y=decimal(self.integer(-40_000, 40_000), 2)),
            lambda: dict(kind="fit-bounds", bounds=self.bounds(30), padding=str(self.integer(0, 100))),
            lambda: dict(kind="set-bearing", bearing=decimal(self.integer(-400_000, 400_000), 3)),
            lambda: dict(kind="set-viewing-angle", viewingAngle=decimal(self.integer(0, 7000), 2)),
        )()

    def move(self):
        update = self.update()
        self.say("move", update=members(**{**update, "kind": word(update["kind"])}))

    def animate(self):
        update = self.update()
        self.say(
            "animate", update=members(**{**update, "kind": word(update["kind"])}),
            durationMs=str(self.integer(50, 900)),
            easing=word(self.one_of("default", "linear", "ease-in", "ease-out", "ease-in-out")))

    def set(self):
        self.one_of(
            lambda: self.say(
                "set-zoom-range", minZoom=decimal(self.integer(20, 60), 1), maxZoom=decimal(self.integer(90, 210), 1)),
            lambda: self.say("set-target-bounds", bounds=self.one_of("null", self.bounds(60))),
            lambda: self.say("set-viewport", width=decimal(self.width, 2), height=decimal(self.height - 10_000, 2)),
            lambda: self.say("stop"),
        )()

    def make(self):
        actions = (
            self.pan, self.pan, self.pair, self.pair, self.tap, self.led, self.one_finger, self.two_fingers,
            self.two_fingers, self.finger_taps, self.move, self.animate, self.animate, self.set,
            lambda: self.alone("pinch", -60, 90), lambda: self.alone("rotate", -1200, 1200),
            lambda: self.alone("tilt", -1500, 1000), lambda: self.alone("one-finger-zoom", -1500, 1500),
        )
        for _ in range(12):
            self.one_of(*actions)()
            # Sometimes a fling is caught.
            if self.chance(3):
                self.pause(20, 200)
            else:
                self.pause(300, 3500)
        self.lines.append(members(type=word("trace-end")))
        return "\n".join(self.lines) + "\n"


def make(folder):
    """Writes the traces, and gives their paths."""
    paths = [os.path.join(folder, f"{number:03}.ndjson") for number in range(1, COUNT + 1)]
    for number, path in enumerate(paths, 1):
        with open(path, "w") as file:
            file.write(Trace(number).make())
    return paths


def streams(command):
    """What comes of each trace, as a line of streams.txt."""
    with tempfile.TemporaryDirectory() as folder:
        for path in make(folder):
            found = subprocess.run([*command, path], stdout=subprocess.PIPE, check=True).stdout
            lines, digest = found.count(b"\n"), hashlib.sha256(found).hexdigest()
            yield f"{os.path.basename(path)} {lines} {digest}\n"


def check(command):
    with open(KNOWN) as file:
        known = file.readlines()
    wrong = [line.split()[0] for line, stands in zip(streams(command), known, strict=True) if line != stands]
    for name in wrong:
        print(f"{name}: another stream", file=sys.stderr)
    print(f"{len(known) - len(wrong)} of {len(known)} streams are the known ones")
    return 1 if wrong else 0


def record(command):
    lines = list(streams(command))
    with open(KNOWN, "w") as file:
        file.writelines(lines)
    return 0


def main(arguments):
    if len(arguments) == 2 and arguments[0] == "make":
        make(arguments[1])
        return 0
    if len(arguments) > 1 and arguments[0] in ("check", "record"):
        return {"check": check, "record": record}[arguments[0]](arguments[1:])
    print(__doc__, file=sys.stderr)
    return 64


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
