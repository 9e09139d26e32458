"""What the figures say: medians, a table with ratios, the marks and whether they are reached, JSON lines, a picture."""

import datetime
import json
import math
import os
import platform
import statistics

PEERS = ("gimbal", "gimbal, latest", "relay", "redis", "nats", "mosquitto")
COLOURS = {"gimbal": "#0b6e4f", "gimbal, latest": "#6fb98f", "relay": "#777777", "redis": "#c0392b",
           "nats": "#2471a3", "mosquitto": "#8e44ad"}


# MARK: Figures

def spread(name, values):
    return {name: statistics.median(values), f"{name}_min": min(values)}


def per_million(runs, unit):
    """Seconds for a million of a unit: which is microseconds for one."""
    counted = [run for run in runs if run[unit] > 0]
    if not counted:
        return {"cpu": None, "cpu_min": None, "wall": None, "wall_min": None}
    return {**spread("cpu", [run["cpu"] / run[unit] * 1e6 for run in counted]),
            **spread("wall", [run["wall"] / run[unit] * 1e6 for run in counted])}


def machine(core):
    with open("/proc/cpuinfo") as file:
        models = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
    with open("/proc/meminfo") as file:
        memory = int(file.readline().split()[1]) / (1 << 20)
    return {"date": datetime.date.today().isoformat(), "processor": models[0] if models else platform.machine(),
            "cores": os.cpu_count(), "memory_gib": round(memory), "kernel": platform.release().split("-")[0],
            "core_used": core, "load": os.getloadavg()[0]}


class Figures:
    """Rows, found by what they are of."""

    def __init__(self, rows):
        self.rows = rows

    def row(self, workload, server, **parameters):
        for row in self.rows:
            if row["workload"] == workload and row["server"] == server:
                if all(row.get(name) == value for name, value in parameters.items()):
                    return row
        return None

    def get(self, figure, workload, server, **parameters):
        row = self.row(workload, server, **parameters)
        return row and row.get(figure)

    def servers(self, workload):
        return list(dict.fromkeys(row["server"] for row in self.rows if row["workload"] == workload))

    def ratio(self, figure, workload, over, under, **parameters):
        top = self.get(figure, workload, over, **parameters)
        bottom = self.get(figure, workload, under, **parameters)
        return top / bottom if top is not None and bottom else None


# MARK: Text

def number(value):
    if value is None:
        return "-"
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def table(title, head, rows):
    widths = [max(len(str(row[i])) for row in [head, *rows]) for i in range(len(head))]
    lines = ["  ".join(str(cell).ljust(w) if i == 0 else str(cell).rjust(w)
                       for i, (cell, w) in enumerate(zip(row, widths))).rstrip() for row in [head, *rows]]
    return "\n".join([title, *("  " + line for line in lines), ""])


def broadcast_table(figures):
    parts = []
    servers = figures.servers("broadcast")
    for burst, how in ((64, "64 lines at a time"), (1, "one line at a time")):
        rows = []
        for subscribers in (0, 1, 10, 100, 1000):
            row = [f"{subscribers:,}"]
            for server in servers:
                where = {"subscribers": subscribers, "burst": burst}
                median = figures.get("cpu", "broadcast", server, **where)
                lowest = figures.get("cpu_min", "broadcast", server, **where)
                ratio = figures.ratio("cpu", "broadcast", server, "gimbal", **where)
                text = f"{number(median)} ({number(lowest)})" if median is not None else "-"
                row.append(text if ratio is None or server == "gimbal" else f"{text} x{number(ratio)}")
            rows.append(row)
        title = ("Server's processor time, µs for a delivery (for a line, without subscribers), median (least) and how "
                 f"many times the daemon's; {how}")
        parts.append(table(title, ["subscribers", *servers], rows))
    return "\n".join(parts) if servers else ""


def plain_table(figures, title, workload, columns, **parameters):
    rows = [[server, *(number(figures.get(column, workload, server, **parameters)) for column in columns)]
            for server in figures.servers(workload)]
    return table(title, [workload, *columns], rows) if rows else ""


def growth_table(figures):
    rows = []
    for row in figures.rows:
        if row["workload"] == "growth":
            name = next(n for n in ("cameras", "members", "behind") if n in row)
            rows.append([f"{row[name]:,} {name}", number(row["cpu"]), number(row["cpu_min"])])
    title = "Processor time, µs for a line or for a subscriber that catches up"
    return table(title, ["growth", "cpu", "cpu_min"], rows)


def text(machine, rows):
    figures = Figures(rows)
    parts = [f"\n{machine['date']}, {machine['processor']}, {machine['cores']} cores, Linux {machine['kernel']}; "
             f"all on one core, load average {machine['load']:.1f} at the start\n"]
    parts.append(broadcast_table(figures))
    parts.append(plain_table(figures, "One line, from its writing to a subscriber's reading: µs", "latency",
                             ["p50", "p99", "p999"]))
    parts.append(plain_table(figures, "1,000 lines a second to 100 subscribers: percent of a core", "pace",
                             ["percent", "percent_min"]))
    for subscribers, stopped in ((11, 1), (110, 100)):
        title = f"{stopped} of {subscribers} subscribers stopped: the others' rate, of what it is without; bytes more"
        columns = ["share", "of_before", "wall", "grown", "stalled"]
        parts.append(plain_table(figures, title, "stopped", columns, subscribers=subscribers))
    parts.append(plain_table(figures, "Resident bytes: at start, and for an idle connection", "memory",
                             ["start", "each_of_1000", "each_of_10000"]))
    parts.append(plain_table(figures, "Resident bytes more with 1,000 subscribers under load", "loaded", ["grown"]))
    for workload in ("connect", "connect-subscribe"):
        parts.append(plain_table(figures, f"{workload}: µs for each", workload, ["cpu", "cpu_min", "wall", "wall_min"]))
    parts.append(plain_table(figures, "From start to readiness, ms", "start", ["ms", "ms_min"]))
    parts.append(plain_table(figures, "The parts alone, for one operation (hub: a whole line without the kernel)",
                             "kernel", ["ns", "ns_min", "instructions", "allocations"]))
    for subscribers in (0, 1):
        columns = ["cpu", "cpu_min", "lines", "frames", "session_s", "delivered", "missed"]
        parts.append(plain_table(figures, f"An hour of gestures at max, {subscribers} subscribers: seconds", "replay",
                                 columns, subscribers=subscribers))
    if any(row["workload"] == "growth" for row in rows):
        parts.append(growth_table(figures))
    parts.append(marks_table(figures))
    return "\n".join(part for part in parts if part)


# MARK: Marks

def marks(figures):
    """What is aimed at: words, the figure, the limit, and whether it is an upper one."""
    def broadcast(subscribers, burst=64, figure="cpu", server="gimbal"):
        return figures.get(figure, "broadcast", server, subscribers=subscribers, burst=burst)

    def against(other, subscribers, burst=64, figure="cpu"):
        mine, theirs = broadcast(subscribers, burst), broadcast(subscribers, burst, figure, other)
        return theirs / mine if mine and theirs else None

    def one_by_one(subscribers):
        return floor("broadcast", "cpu", subscribers=subscribers, burst=1)

    def floor(workload, figure, **parameters):
        return figures.ratio(figure, workload, "gimbal", "relay", **parameters)

    connect = floor("connect-subscribe", "wall")
    megabyte = 1 << 20
    start = figures.get("start", "memory", "gimbal")
    loaded = figures.get("grown", "loaded", "gimbal")
    rows = [
        ("a line with 1 subscriber, µs", broadcast(1), 0.7, True),
        ("a delivery with 100, µs", broadcast(100), 0.06, True),
        ("Redis at its best, 100 subscribers, times as much", against("redis", 100, figure="cpu_min"), 2.5, False),
        ("Redis, 10 subscribers, times as much", against("redis", 10), 2, False),
        ("Redis, 100 subscribers, times as much", against("redis", 100), 4, False),
        ("Redis, 1,000 subscribers, times as much", against("redis", 1000), 5, False),
        ("a line at a time, 10 subscribers, of the floor", one_by_one(10), 1.1, True),
        ("a line at a time, 100 subscribers, of the floor", one_by_one(100), 1.1, True),
        ("latency p50, of the floor", floor("latency", "p50"), 1.15, True),
        ("allocations for a line in the hub", figures.get("allocations", "kernel", "hub"), 0.001, True),
        ("resident at start, MiB", start and start / megabyte, 10, True),
        ("an idle connection of 10,000, bytes", figures.get("each_of_10000", "memory", "gimbal"), 512, True),
        ("1,000 loaded subscribers, MiB more", loaded and loaded / megabyte, 4, True),
        ("connect and subscribe, rate of the floor's", connect and 1 / connect, 0.7, False),
        ("ready after, ms (least)", figures.get("ms_min", "start", "gimbal"), 10, True),
    ]
    for subscribers, stopped in ((11, 1), (110, 100)):
        where = {"subscribers": subscribers}
        rows.append((f"{stopped} of {subscribers} stopped, the others' share",
                     figures.get("share", "stopped", "gimbal", **where), 0.95, False))
        grown = figures.get("grown", "stopped", "gimbal", **where)
        rows.append((f"{stopped} of {subscribers} stopped, MiB more", grown and grown / megabyte, 1, True))
    return rows


def marks_table(figures):
    rows = []
    for words, value, limit, is_upper in marks(figures):
        if value is None:
            continue
        reached = value <= limit if is_upper else value >= limit
        rows.append([words, number(value), f"{'<=' if is_upper else '>='} {limit}", "reached" if reached else "MISSED"])
    return table("Marks", ["", "figure", "mark", ""], rows) if rows else ""


# MARK: Files

def write(place, machine, rows):
    with open(f"{place}.ndjson", "w") as file:
        for row in [{"machine": machine}, *rows]:
            file.write(json.dumps({name: round_figure(value) for name, value in row.items()}) + "\n")
    with open(f"{place}.svg", "w") as file:
        file.write(picture(machine, Figures(rows)))


def round_figure(value):
    return float(f"{value:.4g}") if isinstance(value, float) else value


# A picture: two panels, how many listen to the right and what a delivery costs upwards, both logarithmic.
WIDTH, HEIGHT, TOP, LEFT, PANEL = 900, 400, 64, 62, 300
STEP = 420


def picture(machine, figures):
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
             f'font-size="12"><rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
             f'<text x="{LEFT}" y="22" font-size="15">Processor time of the server for one delivery, µs</text>']
    shown = [row for row in figures.rows if row["workload"] == "broadcast" and row["subscribers"] > 0]
    values = [row["cpu"] for row in shown if row["cpu"]]
    if values:
        low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
        for index, (burst, title) in enumerate(((64, "64 lines at a time"), (1, "one line at a time"))):
            parts += panel(figures, burst, title, LEFT + index * STEP, low, high)
    parts.append(f'<text x="{LEFT}" y="{HEIGHT - 10}" fill="#555">{machine["date"]}, {machine["processor"]}, '
                 "all on one core; to the right: subscribers</text></svg>\n")
    return "\n".join(parts)


def panel(figures, burst, title, left, low, high):
    bottom = HEIGHT - 56
    height = bottom - TOP

    def x(subscribers):
        return left + PANEL * math.log10(subscribers) / 3

    def y(value):
        return bottom - height * (math.log10(value) - low) / (high - low)

    parts = [f'<text x="{left}" y="{TOP - 16}">{title}</text>']
    for power in range(low, high + 1):
        parts.append(f'<path d="M{left} {y(10**power):.1f}h{PANEL}" stroke="#ddd"/><text x="{left - 6}" '
                     f'y="{y(10**power) + 4:.1f}" text-anchor="end" fill="#555">{10**power:g}</text>')
    for subscribers in (1, 10, 100, 1000):
        parts.append(f'<text x="{x(subscribers):.1f}" y="{bottom + 18}" text-anchor="middle" fill="#555">'
                     f'{subscribers:,}</text>')
    ends = []
    for server in PEERS:
        points = [(x(s), y(v)) for s in (1, 10, 100, 1000)
                  if (v := figures.get("cpu", "broadcast", server, subscribers=s, burst=burst))]
        if not points:
            continue
        path = "L".join(f"{px:.1f} {py:.1f}" for px, py in points)
        dots = "".join(f'<circle cx="{px:.1f}" cy="{py:.1f}" r="3"/>' for px, py in points)
        parts.append(f'<g fill="{COLOURS[server]}" stroke="{COLOURS[server]}"><path d="M{path}" fill="none" '
                     f'stroke-width="2"/>{dots}</g>')
        ends.append((points[-1][1], server, points[-1][0]))
    return parts + labels(ends)


def labels(ends):
    """Names at the lines' ends, pushed apart where they would lie on each other."""
    parts, lowest = [], -math.inf
    for py, server, px in sorted(ends):
        lowest = max(py, lowest + 14)
        parts.append(f'<text x="{px + 8:.1f}" y="{lowest + 4:.1f}" fill="{COLOURS[server]}">{server}</text>')
    return parts
