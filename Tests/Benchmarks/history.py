#!/usr/bin/env -S python3 -B
"""The kept results, version by version: a line for each in Results/history.ndjson, and a picture of them.

`bench.py --keep` adds a line. `history.py` redraws the picture; `history.py --check` compares it with the lines."""

import json
import math
import os
import subprocess
import sys

import report
from report import Figures

RESULTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Results")
LINES, PICTURE = os.path.join(RESULTS, "history.ndjson"), os.path.join(RESULTS, "history.svg")
PROGRAMS = ("gimbald", "gimbal")

# The figures of a line, and the panels of the picture: a title, and for each curve its name and its figure.
PANELS = (
    ("Instructions of a line, by part", (("hub, whole", "hub"), ("decoder", "decoder"), ("encoder", "encoder"),
                                         ("delivery", "delivery"), ("camera", "camera"))),
    ("Times what others take", (("latency / relay", "latency_relay"), ("delivery / relay", "delivery_relay"),
                                ("delivery / NATS", "delivery_nats"), ("delivery / Redis", "delivery_redis"))),
    ("KiB", (("gimbald, stripped", "gimbald_kib"), ("gimbal, stripped", "gimbal_kib"), ("memory at start", "start_kib"),
             ("idle connection", "idle_kib"))),
)


def figures(rows):
    """Selects instructions, ratios (bursts of 64 delivered to 100 subscribers, first place measured) and memory."""
    found = Figures(rows)
    values = {row["server"]: row.get("instructions") for row in rows if row["workload"] == "kernel"}
    values["latency_relay"] = found.ratio("p50", "latency", "gimbal", "relay")
    places = [place for place in report.PLACES if found.row("broadcast", "gimbal", place=place)]
    for peer in ("relay", "nats", "redis") if places else ():
        where = {"subscribers": 100, "burst": 64, "place": places[0]}
        values[f"delivery_{peer}"] = found.ratio("cpu", "broadcast", "gimbal", peer, **where)
    start, idle = found.get("start", "memory", "gimbal"), found.get("each", "idle", "gimbal", connections=10_000)
    values["start_kib"], values["idle_kib"] = start and start / 1024, idle and idle / 1024
    return {name: report.round_figure(value) for name, value in values.items() if value is not None}


def sizes(scratch, folder):
    """Returns the programs' sizes, stripped as in packages."""
    values = {}
    for name in PROGRAMS:
        stripped = os.path.join(folder, f"{name}.stripped")
        subprocess.run(["strip", "-o", stripped, os.path.join(scratch, "release", name)], check=True)
        values[f"{name}_kib"] = os.path.getsize(stripped) // 1024
    return values


def keep(machine, rows, scratch, folder):
    def said(*command):
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1]

    line = {"version": said(os.path.join(scratch, "release/gimbald"), "--version"),
            "commit": said("git", "-C", RESULTS, "rev-parse", "--short=9", "HEAD"), "date": machine["date"],
            "processor": machine["processor"], **figures(rows), **sizes(scratch, folder)}
    with open(LINES, "a") as file:
        file.write(json.dumps(line) + "\n")
    draw()


# MARK: The picture: panels side by side; results from left to right, figures upwards, logarithmic

HEIGHT, TOP, BOTTOM, LEFT, PANEL, STEP = 400, 60, 340, 62, 220, 460
COLOURS = ("#0b6e4f", "#2471a3", "#c0392b", "#8e44ad", "#777777")


def picture():
    with open(LINES) as file:
        kept = [json.loads(line) for line in file]
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {STEP * len(PANELS)} {HEIGHT}" font-family="sans-serif" '
             f'font-size="12"><rect width="{STEP * len(PANELS)}" height="{HEIGHT}" fill="white"/>']
    for index, (title, curves) in enumerate(PANELS):
        parts += panel(kept, title, curves, LEFT + index * STEP)
    return "\n".join(parts) + "</svg>\n"


def panel(kept, title, curves, left):
    values = [line[name] for line in kept for _, name in curves if line.get(name)]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))

    def x(index):
        return left + PANEL * index / max(len(kept) - 1, 1)

    def y(value):
        return BOTTOM - (BOTTOM - TOP) * (math.log10(value) - low) / (high - low)

    parts = [f'<text x="{left}" y="24" font-size="15">{title}</text>']
    for power in range(low, high + 1):
        parts.append(f'<path d="M{left} {y(10**power):.1f}h{PANEL}" stroke="#ddd"/><text x="{left - 6}" '
                     f'y="{y(10**power) + 4:.1f}" text-anchor="end" fill="#555">{10**power:g}</text>')
    versions = [line["version"] for line in kept]
    for index, version in enumerate(versions):
        if version not in versions[:index]:
            parts.append(f'<text x="{x(index):.1f}" y="{BOTTOM + 18}" text-anchor="middle" fill="#555">{version}</text>')
    ends = []
    for colour, (name, figure) in zip(COLOURS, curves):
        points = [(x(index), y(line[figure])) for index, line in enumerate(kept) if line.get(figure)]
        path = "L".join(f"{px:.1f} {py:.1f}" for px, py in points)
        dots = "".join(f'<circle cx="{px:.1f}" cy="{py:.1f}" r="3"/>' for px, py in points)
        if points:
            parts.append(f'<g fill="{colour}" stroke="{colour}"><path d="M{path}" fill="none" stroke-width="2"/>{dots}</g>')
            ends.append((points[-1][1], f"{name}: {kept[-1].get(figure, '-'):g}", points[-1][0], colour))
    return parts + report.labels(ends)


def draw():
    with open(PICTURE, "w") as file:
        file.write(picture())


def check():
    with open(PICTURE) as file:
        if file.read() != picture():
            raise SystemExit("history: Results/history.svg is not the picture of history.ndjson: run history.py")


if __name__ == "__main__":
    check() if sys.argv[1:] == ["--check"] else draw()
