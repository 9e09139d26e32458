#!/usr/bin/env python3
"""Tour cases: where a camera must be on flights and tours, computed apart from it, in 50 digits, from the protocol.

    tour-cases.py check FILE          recomputes every case of a file; fails where one is not exact
    tour-cases.py make COUNT SEED     prints that many new cases, another lot for each seed

One case a line. No constraint is applied on the way: a flight may go out below zoom 2, a smooth line over a pole.

- `camera` has lat, lng, zoom, bearing, pitch (the viewing angle): there the tour begins. `viewport` has width, height.
- `stops` are positions with `path` (smooth, straight, flight), `durationMs`, `waitMs`, `turns`, `easing`. A flight may
  lack `durationMs`, and have `curve`, `speed` and `maxDurationMs`.
- `times` are milliseconds since the start.
- `exact` has `durationMs`, and `cameras` at the times, rounded once, to doubles. Bearings and longitudes are to be
  compared modulo 360.

It needs python3-mpmath.
"""
import json
import random
import sys

from mpmath import asinh, atan, atan2, cos, cosh, findroot, log, mp, mpf, pi, sin, sinh, sqrt, tan

from cases import check, main, rounded, wrapped

mp.dps = 50

EASINGS = {"default": (".25", ".1", ".25", "1"), "linear": ("0", "0", "1", "1"), "ease-in": (".42", "0", "1", "1"),
           "ease-out": ("0", "0", ".58", "1"), "ease-in-out": (".42", "0", ".58", "1")}
VALUES = "lat", "lng", "zoom", "bearing", "pitch"


def eased(name, share):
    if name == "linear":
        return share
    x1, y1, x2, y2 = map(mpf, EASINGS[name])

    def bezier(t, a, b):
        return 3 * (1 - t) ** 2 * t * a + 3 * (1 - t) * t * t * b + t ** 3

    # The square of the remainder is below the tolerance.
    parameter = findroot(
        lambda t: bezier(t, x1, x2) - share, (mpf(0), mpf(1)), solver="anderson", tol=mpf(10) ** -90)
    return bezier(parameter, y1, y2)


def northing(latitude):
    return log(tan(pi / 4 + latitude * pi / 360))


# A leg consists of its duration and a function of the share of it.

def blend(start, end, turns, share, way):
    """Everything linear in a share but for zoom and ground, which have their own."""
    zoom, ground = way
    north = northing(start["lat"])
    return {
        "lat": atan(sinh(north + ground * (northing(end["lat"]) - north))) * 180 / pi,
        "lng": wrapped(start["lng"] + ground * wrapped(end["lng"] - start["lng"])),
        "zoom": zoom,
        "bearing": start["bearing"] + share * (wrapped(end["bearing"] - start["bearing"]) + 360 * turns),
        "pitch": start["pitch"] + share * (end["pitch"] - start["pitch"]),
    }


def straight(start, stop):
    def at(share):
        k = eased(stop["easing"], share)
        return blend(start, stop, stop["turns"], k, (start["zoom"] + k * (stop["zoom"] - start["zoom"]), k))

    return mpf(stop["durationMs"]), at


def flight(start, stop, span):
    rho, speed = mpf(stop.get("curve", "1.42")), mpf(stop.get("speed", "1.2"))
    z0, z1 = start["zoom"], stop["zoom"]
    east = wrapped(stop["lng"] - start["lng"]) * pi / 180
    u1 = sqrt(east ** 2 + (northing(stop["lat"]) - northing(start["lat"])) ** 2) * 256 * 2 ** z0 / (2 * pi)
    w0, w1 = span, span * 2 ** (z0 - z1)
    flies = u1 >= mpf("2e-6")
    if flies:
        r0 = -asinh((w1 ** 2 - w0 ** 2 + rho ** 4 * u1 ** 2) / (2 * w0 * rho ** 2 * u1))
        r1 = -asinh((w1 ** 2 - w0 ** 2 - rho ** 4 * u1 ** 2) / (2 * w1 * rho ** 2 * u1))
        length = (r1 - r0) / rho
    else:
        length = abs(z1 - z0) * log(2) / rho
    own = 1000 * length / speed if flies or abs(w1 - w0) >= mpf("1e-6") else mpf(250)
    duration = min(mpf(stop.get("durationMs", own)), mpf(stop.get("maxDurationMs", 3600000)), 3600000)

    def at(share):
        k = eased(stop["easing"], share)
        way = z0 + k * (z1 - z0), k
        if flies:
            x = rho * k * length
            way = z0 + log(cosh(r0 + x) / cosh(r0), 2), w0 / (rho ** 2 * u1) * sinh(x) / cosh(r0 + x)
        return blend(start, stop, stop["turns"], k, way)

    return duration, at


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def plus(a, b, factor=1):
    return tuple(x + factor * y for x, y in zip(a, b))


def times(factor, a):
    return tuple(factor * x for x in a)


def vector(place):
    latitude, longitude = place["lat"] * pi / 180, place["lng"] * pi / 180
    return cos(latitude) * cos(longitude), cos(latitude) * sin(longitude), sin(latitude)


def way(a, b):
    """The angle between two places, and the direction at the first towards the second."""
    across = plus(b, a, -dot(a, b))
    size = sqrt(dot(across, across))
    if size < mpf("1e-12"):
        far = sqrt(a[0] ** 2 + a[1] ** 2)
        return (mpf(0) if dot(a, b) > 0 else pi), (-a[1] / far, a[0] / far, mpf(0))
    return atan2(size, dot(a, b)), times(1 / size, across)


def going(a, step):
    size = sqrt(dot(step, step))
    return a if size == 0 else plus(times(cos(size), a), times(sin(size) / size, step))


def toward(a, b, share):
    angle, direction = way(a, b)
    return going(a, times(share * angle, direction))


def slopes(rises, durations):
    found = [mpf(0)]
    for (r, s), (d, e) in zip(zip(rises, rises[1:]), zip(durations, durations[1:])):
        before, after = r / d, s / e
        turns = before * after <= 0
        found.append(mpf(0) if turns else (3 * d + 3 * e) / ((d + 2 * e) / before + (2 * d + e) / after))
    return found + [mpf(0)]


def cubic(start, rise, duration, first, last, t):
    slope = (1 - t) * first - t * last
    return start + t ** 2 * (3 - 2 * t) * rise + t * (1 - t) * duration * slope


def smooth(start, stops):
    places, durations = [start, *stops], [mpf(stop["durationMs"]) for stop in stops]
    vectors = [vector(place) for place in places]
    roots = [sqrt(way(a, b)[0]) for a, b in zip(vectors, vectors[1:])]
    tangents = []
    for index, here in enumerate(vectors):
        before = roots[index - 1] if index > 0 else 0
        after = roots[index] if index < len(roots) else 0
        x = times(-before, way(here, vectors[index - 1])[1]) if before > 0 else None
        y = times(after, way(here, vectors[index + 1])[1]) if after > 0 else None
        if x and y:
            tangents.append(times(1 / (before + after), plus(times(after, x), y, before)))
        else:
            tangents.append(x or y or (mpf(0),) * 3)
    rises = {name: [b[name] - a[name] for a, b in zip(places, places[1:])] for name in ("zoom", "pitch")}
    rises["bearing"] = [wrapped(b["bearing"] - a["bearing"]) + 360 * b["turns"] for a, b in zip(places, places[1:])]
    paces = {name: slopes(rise, durations) for name, rise in rises.items()}
    pace = slopes(roots, durations)

    def leg(index):
        h, duration = roots[index], durations[index]

        def at(share):
            found = {name: cubic(places[index][name], rise[index], duration, *paces[name][index:index + 2], share)
                     for name, rise in rises.items()}
            points = [vectors[index], going(vectors[index], times(h / 3, tangents[index])),
                      going(vectors[index + 1], times(-h / 3, tangents[index + 1])), vectors[index + 1]]
            along = cubic(mpf(0), h, duration, *pace[index:index + 2], share) / h if h else mpf(0)
            while h and len(points) > 1:
                points = [toward(a, b, along) for a, b in zip(points, points[1:])]
            x, y, z = points[0]
            return {"lat": atan2(z, sqrt(x ** 2 + y ** 2)) * 180 / pi, "lng": atan2(y, x) * 180 / pi, **found}

        return duration, at

    return [leg(index) for index in range(len(stops))]


def exact(case):
    def numbers(place):
        return {**place, **{name: mpf(place[name]) for name in VALUES}}

    here, stops = numbers(case["camera"]), [numbers(stop) for stop in case["stops"]]
    span = mpf(max(case["viewport"]["width"], case["viewport"]["height"]))
    legs, index = [], 0
    while index < len(stops):
        end = index + 1
        if stops[index]["path"] == "smooth":
            while end < len(stops) and stops[end]["path"] == "smooth" and stops[end - 1]["waitMs"] == 0:
                end += 1
            legs += smooth(here, stops[index:end])
        else:
            legs.append(straight(here, stops[index]) if stops[index]["path"] == "straight" else
                        flight(here, stops[index], span))
        index, here = end, stops[end - 1]
    spans, start = [], mpf(0)
    for (duration, at), stop in zip(legs, stops):
        spans.append((start, duration, at, stop))
        start += duration + stop["waitMs"]

    def camera(time):
        begin, duration, at, stop = [span for span in spans if span[0] <= time][-1]
        found = at((time - begin) / duration) if time < begin + duration else stop
        return {**{name: found[name] for name in VALUES}, "bearing": wrapped(found["bearing"])}

    return {"durationMs": start, "cameras": [camera(mpf(time)) for time in case["times"]]}


def make(count, seed):
    generator = random.Random(seed)

    def number(low, high, digits):
        return round(generator.uniform(low, high), digits)

    def position(group, before):
        """A place of the group, somewhere else than the one before."""
        place = {"lat": number(-80, 80, 7), "lng": number(-180, 180, 7), "zoom": number(3, 20, 4),
                 "bearing": number(0, 360, 4), "pitch": number(0, 30, 4)}
        if group == "near":
            place.update(lat=number(40, 40.1, 7), lng=number(10, 10.1, 7), zoom=number(12, 16, 4))
        if group == "pole":
            place["lat"] = generator.choice((-1, 1)) * number(83, 85, 7) if before is None else (
                before["lat"] / abs(before["lat"]) * number(83, 85, 7))
        if group == "antipode" and before is not None:
            # Between nearly antipodal places a double determines the way less precisely.
            place["lat"] = round(-before["lat"] + generator.choice((-1, 1)) * number(0.01, 0.5, 7), 7)
            place["lng"] = round(wrapped(before["lng"] + 180 + number(-0.5, 0.5, 7)), 7)
        if group == "antimeridian":
            place["lng"] = generator.choice((-1, 1)) * number(175, 180, 7)
        if group == "still" and before is not None:
            place.update(lat=before["lat"], lng=before["lng"])
            if generator.random() < 0.4:
                place["zoom"] = before["zoom"]
        return {key: float(value) for key, value in place.items()}

    groups = "world", "near", "antimeridian", "pole", "antipode", "still"
    kinds = "flight", "smooth", "straight", "mixed"
    for index in range(count):
        group, kind = groups[index % len(groups)], kinds[index // len(groups) % len(kinds)]
        case = {"id": f"{kind}-{group}-{seed}-{index}", "group": group, "camera": position(group, None),
                "viewport": generator.choice(({"width": 400, "height": 800}, {"width": 1920, "height": 1080})),
                "stops": []}
        before = case["camera"]
        for _ in range(1 if kind == "flight" else generator.randrange(2, 6)):
            stop = position(group, before)
            path = generator.choice(("smooth", "smooth", "straight", "flight")) if kind == "mixed" else kind
            stop.update(path=path, waitMs=0, turns=0, easing=generator.choice(tuple(EASINGS)))
            if path != "flight" or generator.random() < 0.4:
                stop["durationMs"] = number(100, 3000, 2)
            if path == "flight" and kind == "flight":
                for name, low, high in (("curve", 0.5, 3), ("speed", 0.5, 4), ("maxDurationMs", 500, 9000)):
                    if generator.random() < 0.4:
                        stop[name] = number(low, high, 2)
            if generator.random() < (0.4 if kind == "mixed" else 0.1):
                stop["waitMs"] = number(50, 500, 2)
            if generator.random() < 0.3:
                stop["turns"] = generator.randrange(-2, 3)
            case["stops"].append(stop)
            before = stop
        case["times"] = [0.0]
        duration = float(exact(case)["durationMs"])
        case["times"] = sorted(number(0.001 * duration, 0.999 * duration, 3) for _ in range(6))
        case["exact"] = rounded(exact(case))
        print(json.dumps(case, separators=(",", ":")))
    return 0


if __name__ == "__main__":
    sys.exit(main(__doc__, lambda path: check(path, exact), make))
