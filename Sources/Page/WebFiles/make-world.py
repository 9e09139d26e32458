#!/usr/bin/env python3
"""Makes page/world.json: coastlines and borders of the countries, for a map that fetches nothing.

The data is Natural Earth's "Admin 0 - Countries" at 1:110m (naturalearthdata.com), which is in the public domain. The Python
package geopandas 0.12.2 carries it as a shapefile:

    pip download geopandas==0.12.2 --no-deps && unzip geopandas-*.whl 'geopandas/datasets/naturalearth_lowres/*'
    ./make-world.py geopandas/datasets/naturalearth_lowres/naturalearth_lowres.shp > page/world.json

Coordinates are hundredths of a degree, longitude and latitude by turns; each is told as the difference to the one before.
A ring is closed: its first point is not told again.
"""
import json
import struct
import sys


def records(data):
    """The polygons of a shapefile, each a list of rings of (longitude, latitude)."""
    position = 100
    while position < len(data):
        _, words = struct.unpack(">2i", data[position:position + 8])
        record = data[position + 8:position + 8 + 2 * words]
        position += 8 + 2 * words
        kind, = struct.unpack("<i", record[:4])
        if kind != 5:
            raise SystemExit(f"a polygon was expected, and this is shape type {kind}")
        parts, points = struct.unpack("<2i", record[36:44])
        starts = struct.unpack(f"<{parts}i", record[44:44 + 4 * parts]) + (points,)
        numbers = struct.unpack(f"<{2 * points}d", record[44 + 4 * parts:])
        yield [
            [(numbers[2 * i], numbers[2 * i + 1]) for i in range(starts[part], starts[part + 1])]
            for part in range(parts)
        ]


def names(path):
    """The names of the countries, from the table beside the shapes."""
    with open(path, "rb") as file:
        data = file.read()
    count, header, size = struct.unpack("<iHH", data[4:12])
    fields, offset = {}, 1
    for start in range(32, header - 1, 32):
        name = data[start:start + 11].split(b"\0")[0].decode()
        fields[name] = (offset, data[start + 16])
        offset += data[start + 16]
    start, length = fields["name"]
    for row in range(count):
        at = header + row * size + start
        yield data[at:at + length].decode("iso-8859-1").strip()


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


def main():
    path = sys.argv[1]
    with open(path, "rb") as file:
        shapes = list(records(file.read()))
    table = list(names(path[:-3] + "dbf"))
    countries = sorted(
        ([name, [differences(ring) for ring in rings]] for name, rings in zip(table, shapes, strict=True)),
        key=lambda country: country[0])
    print('{"source":"Natural Earth, Admin 0 Countries, 1:110m","licence":"public domain","countries":[')
    print(",\n".join(json.dumps(country, ensure_ascii=False, separators=(",", ":")) for country in countries))
    print("]}")


main()
