#!/usr/bin/env python3
"""Camera cases: what the camera must give, computed apart from it, in 60 digits, from the closed form of the protocol.

    camera-cases.py check FILE            recomputes every case of a file; fails where one is not exact
    camera-cases.py make COUNT SEED       prints that many new cases, another lot for each seed

One case a line. No constraint is applied: viewing angles up to 60 occur at every zoom, latitudes up to 80.

- `camera` has lat, lng, zoom, bearing, pitch (the viewing angle) and maybe padding; `viewport` has width and height.
- `project` latLng gives a point, `unproject` point a latLng, `visibleRegion` the four corners.
- The others give a camera: `setLocationAtPoint` shows latLng at point; `pan` brings the place under `from` to `to`;
  `zoomAround` and `rotateAround` keep the place under `point`; `gesture` brings the place under `around` less `pan` to
  `around`, with another zoom and bearing.
- `exact` is rounded once, to doubles. Bearings and longitudes are to be compared modulo 360.

It needs python3-mpmath.
"""
import json
import random
import sys

from mpmath import mp, mpf, atan, cos, log, pi, sin, sinh, tan

from cases import check, main, rounded, wrapped

mp.dps = 60


def mercator(place):
    """Radians east and north on Mercator's plane."""
    return mpf(place["lng"]) * pi / 180, log(tan(pi / 4 + mpf(place["lat"]) * pi / 360))


def coordinate(plane):
    east, north = plane
    return {"lat": atan(sinh(north)) * 180 / pi, "lng": wrapped(east * 180 / pi)}


class View:
    """A camera without its target: between the screen and the ground, whose origin is the target."""

    def __init__(self, case, zoom_by=0, rotate_by=0):
        camera, viewport = case["camera"], case["viewport"]
        padding = camera.get("padding", {})
        top, left, bottom, right = (mpf(padding.get(side, 0)) for side in ("top", "left", "bottom", "right"))
        width, height = mpf(viewport["width"]), mpf(viewport["height"])
        self.center = (left + width - right) / 2, (top + height - bottom) / 2
        self.distance = height * 3 / 2
        self.zoom, self.bearing = mpf(camera["zoom"]) + mpf(zoom_by), mpf(camera["bearing"]) + mpf(rotate_by)
        self.pitch = mpf(camera["pitch"])
        self.scale = 256 * mpf(2) ** self.zoom / (2 * pi)

    def offset(self, point):
        """What lies under a point of the screen, from the target, on Mercator's plane; None above the horizon."""
        x, y = mpf(point["x"]) - self.center[0], mpf(point["y"]) - self.center[1]
        tilt, bearing = self.pitch * pi / 180, self.bearing * pi / 180
        # Where the ray from the eye through the point meets the ground, tilted about the screen's horizontal axis.
        along = self.distance / (self.distance * cos(tilt) + y * sin(tilt))
        if along <= 0:
            return None
        right, down = x * along * cos(tilt), y * along
        east, south = right * cos(bearing) - down * sin(bearing), right * sin(bearing) + down * cos(bearing)
        return east / self.scale, -south / self.scale

    def point(self, offset):
        """Where an offset on Mercator's plane is seen."""
        tilt, bearing = self.pitch * pi / 180, self.bearing * pi / 180
        east, south = offset[0] * self.scale, -offset[1] * self.scale
        right, down = east * cos(bearing) + south * sin(bearing), south * cos(bearing) - east * sin(bearing)
        nearer = self.distance / (self.distance - down * sin(tilt))
        return {"x": self.center[0] + right * nearer, "y": self.center[1] + down * cos(tilt) * nearer}


def under(case, view, point):
    """The place under a point, on Mercator's plane."""
    east, north = mercator(case["camera"])
    offset = view.offset(point)
    return offset and (east + offset[0], north + offset[1])


def showing(view, place, point):
    """The camera that shows a place at a point."""
    offset = view.offset(point)
    target = coordinate((place[0] - offset[0], place[1] - offset[1]))
    return {"camera": {**target, "zoom": view.zoom, "bearing": wrapped(view.bearing), "pitch": view.pitch}}


def exact(case):
    view, op = View(case), case["op"]
    after = View(case, case.get("dz", 0), case.get("dBearing", 0))
    if op == "project":
        (east, north), (target_east, target_north) = mercator(case["latLng"]), mercator(case["camera"])
        nearest = wrapped((east - target_east) * 180 / pi) * pi / 180
        return {"point": view.point((nearest, north - target_north))}
    if op == "unproject":
        return {"latLng": coordinate(under(case, view, case["point"]))}
    if op == "visibleRegion":
        width, height = case["viewport"]["width"], case["viewport"]["height"]
        corners = {"farLeft": (0, 0), "farRight": (width, 0), "nearLeft": (0, height), "nearRight": (width, height)}
        return {
            name: coordinate(under(case, view, {"x": x, "y": y})) for name, (x, y) in corners.items()
        }
    if op == "setLocationAtPoint":
        return showing(view, mercator(case["latLng"]), case["point"])
    if op == "pan":
        return showing(view, under(case, view, case["from"]), case["to"])
    if op in ("zoomAround", "rotateAround"):
        return showing(after, under(case, view, case["point"]), case["point"])
    around, pan = case["around"], case["pan"]
    before = {axis: mpf(around[axis]) - mpf(pan[axis]) for axis in "xy"}
    return showing(after, under(case, view, before), around)


def make(count, seed):
    generator = random.Random(seed)

    def number(low, high, digits):
        return round(generator.uniform(low, high), digits)

    def within(viewport, view):
        """A point of the screen that shows the ground, well below the horizon."""
        while True:
            point = {"x": number(0, viewport["width"], 3), "y": number(0, viewport["height"], 3)}
            tilt = view.pitch * pi / 180
            if view.distance * cos(tilt) + (mpf(point["y"]) - view.center[1]) * sin(tilt) > view.distance / 20:
                return point

    operations = ("project", "unproject", "visibleRegion", "setLocationAtPoint", "pan", "zoomAround", "rotateAround",
                  "gesture")
    for index in range(count):
        op, is_tilted = operations[index % len(operations)], generator.random() < 0.5
        camera = {
            "lat": number(-80, 80, 7), "lng": number(-180, 180, 7), "zoom": number(3, 20, 4),
            "bearing": number(0, 360, 4), "pitch": number(0, 60, 4) if is_tilted else 0,
        }
        if generator.random() < 0.25:
            camera["padding"] = {side: generator.randrange(0, 120) for side in ("top", "left", "bottom", "right")}
        viewport = generator.choice(({"width": 400, "height": 800}, {"width": 1920, "height": 1080}))
        group = "tilted" if is_tilted else "flat"
        case = {"id": f"{op}-{group}-{seed}-{index}", "group": group, "op": op, "camera": camera, "viewport": viewport}
        view = View(case)
        if op == "visibleRegion" and is_tilted:
            camera["pitch"] = number(0, 30, 4)
        if op in ("project", "setLocationAtPoint"):
            place = coordinate(under(case, view, within(viewport, view)))
            case["latLng"] = {key: round(float(value), 10) for key, value in place.items()}
        if op in ("unproject", "setLocationAtPoint", "zoomAround", "rotateAround"):
            case["point"] = within(viewport, view)
        if op == "pan":
            case["from"], case["to"] = within(viewport, view), within(viewport, view)
        if op in ("zoomAround", "gesture"):
            case["dz"] = number(-2, 2, 4)
        if op in ("rotateAround", "gesture"):
            case["dBearing"] = number(-180, 180, 4)
        if op == "gesture":
            before, case["around"] = within(viewport, view), within(viewport, view)
            case["pan"] = {axis: round(case["around"][axis] - before[axis], 3) for axis in "xy"}
        case["exact"] = rounded(exact(case))
        print(json.dumps(case, separators=(",", ":")))
    return 0


if __name__ == "__main__":
    sys.exit(main(__doc__, lambda path: check(path, exact), make))
