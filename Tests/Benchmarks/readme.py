#!/usr/bin/env -S python3 -B
"""The README's section on speed, with the figures of the committed results.

`readme.py` writes them between the two markers; `readme.py --check` says whether they are up to date."""

import json
import os
import sys

from report import PLACES, Figures, number

HERE = os.path.dirname(os.path.abspath(__file__))
RESULTS = os.path.join(HERE, "Results")
README = os.path.join(os.path.dirname(os.path.dirname(HERE)), "README.md")
BEGIN, END = "<!-- speed: written by `make bench BENCH=--keep` -->\n", "<!-- /speed -->\n"
TITLES = {"redis": "Redis", "nats": "NATS", "mosquitto": "mosquitto", "relay": "a bare relay in C"}


def section():
    with open(os.path.join(RESULTS, "results.json")) as file:
        results = json.load(file)
    machine, figures = results["machine"], Figures(results["rows"])

    def figure(name, workload, **parameters):
        return figures.get(name, workload, "gimbal", **parameters)

    # Without a second core nothing was apart.
    place = next(place for place in PLACES if figures.row("broadcast", "gimbal", place=place))
    rows = []
    for subscribers in (1, 10, 100, 1000):
        where = {"subscribers": subscribers, "burst": 64, "place": place}
        ratios = [figures.ratio("cpu", "broadcast", peer, "gimbal", **where) for peer in TITLES]
        rows.append([f"{subscribers:,}", f"{figure('cpu', 'broadcast', **where):.2g} µs",
                     *("-" if ratio is None else f"× {float(f'{ratio:.2g}'):g}" for ratio in ratios)])
    head = ["subscribers", "Gimbal", *TITLES.values()]
    table = "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows])
    of_floor = figures.ratio("p50", "latency", "gimbal", "relay")
    megabytes = figure("start", "memory") / 1e6
    others = figure("rate", "stopped", subscribers=110)
    return f"""\
The processor time of one delivery, 64 lines at a time, including our camera's arithmetic; and how many times as much
other servers take for messages of the same size:

{table}

- A single line reaches its subscriber in {number(figure("p50", "latency"))} µs, {of_floor:.2f} times the relay's.
- The daemon is ready after {number(figure("ms", "start"))} ms, with {megabytes:.1f} MB; an idle connection takes \
{figure("each", "idle", connections=10_000):.0f} bytes; no line and no delivery allocates.
- When 100 of 110 subscribers stop reading, the others keep {others:.0%} of their rate, and memory grows by \
{figure("grown", "stopped", subscribers=110) / 1024:.0f} KiB.

![Processor time for a delivery](Tests/Benchmarks/Results/results.svg)

Measured on {machine["date"]} with {machine["cores"]} cores, {machine["processor"]}:
[all figures, and what was run](Tests/Benchmarks/Results/results.md), and \
[how they changed](Tests/Benchmarks/Results/history.svg). `make bench` measures your machine.
"""


def parts():
    """Returns the README before the section, the section, and the rest."""
    with open(README) as file:
        before, _, rest = file.read().partition(BEGIN)
    now, _, after = rest.partition(END)
    if not after:
        raise SystemExit("readme: README.md lacks the markers of its section on speed")
    return before, now, after


def write():
    before, _, after = parts()
    with open(README, "w") as file:
        file.write(before + BEGIN + section() + END + after)


def check():
    if parts()[1] != section():
        raise SystemExit("readme: the figures of README.md are not those of Tests/Benchmarks/Results: run readme.py")


if __name__ == "__main__":
    check() if sys.argv[1:] == ["--check"] else write()
