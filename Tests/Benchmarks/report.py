"""Reports of the figures: medians, tables with ratios, the marks and whether they are reached, JSON, a picture."""

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
    """Returns the seconds per million units: the microseconds per unit."""
    counted = [run for run in runs if run[unit] > 0]
    if not counted:
        return {"cpu": None, "cpu_min": None, "wall": None, "wall_min": None}
    return {**spread("cpu", [run["cpu"] / run[unit] * 1e6 for run in counted]),
            **spread("wall", [run["wall"] / run[unit] * 1e6 for run in counted])}


def latencies(runs):
    return {name: statistics.median(run[name] for run in runs) for name in ("p50", "p99", "p999")}


def rate(runs, clock):
    """Returns the lines per second of a clock."""
    return statistics.median(run["lines"] / run[clock] for run in runs)


def machine(peers):
    with open("/proc/cpuinfo") as file:
        models = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
    with open("/proc/meminfo") as file:
        memory = int(file.readline().split()[1]) / (1 << 20)
    return {"date": datetime.date.today().isoformat(), "processor": models[0] if models else platform.machine(),
            "cores": os.cpu_count(), "memory_gib": round(memory), "kernel": platform.release().split("-")[0],
            "load": os.getloadavg()[0], "peers": peers}


class Figures:
    """Rows, found by their contents."""

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

    def values(self, parameter, workload):
        return sorted({row[parameter] for row in self.rows if row["workload"] == workload})

    def ratio(self, figure, workload, over, under, **parameters):
        top = self.get(figure, workload, over, **parameters)
        bottom = self.get(figure, workload, under, **parameters)
        return top / bottom if top is not None and bottom else None


# MARK: Text, in Markdown that is readable as it is

PLACES = {"apart": "server and clients on a core each", "one": "server and clients on one core"}
WAYS = ((64, "apart", "64 lines at a time"), (64, "one", "64 lines at a time"), (1, "one", "one line at a time"),
        (1024, "apart", "1,024 lines at a time"))


def number(value):
    if value is None:
        return "-"
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def table(title, head, rows):
    widths = [max(len(str(row[i])) for row in [head, *rows]) for i in range(len(head))]

    def line(cells, fill=" "):
        aligned = (str(cell).ljust(w, fill) if i == 0 else str(cell).rjust(w, fill)
                   for i, (cell, w) in enumerate(zip(cells, widths)))
        return "| " + " | ".join(aligned) + " |"

    rule = "| " + " | ".join("-" * w if i == 0 else "-" * (w - 1) + ":" for i, w in enumerate(widths)) + " |"
    return "\n".join([f"**{title}**", "", line(head), rule, *map(line, rows), ""])


def broadcast_table(figures):
    parts = []
    servers = figures.servers("broadcast")
    for burst, place, how in WAYS:
        rows = []
        for subscribers in figures.values("subscribers", "broadcast"):
            where = {"subscribers": subscribers, "burst": burst, "place": place}
            row = [f"{subscribers:,}"]
            for server in servers:
                median = figures.get("cpu", "broadcast", server, **where)
                lowest = figures.get("cpu_min", "broadcast", server, **where)
                ratio = figures.ratio("cpu", "broadcast", server, "gimbal", **where)
                text = f"{number(median)} ({number(lowest)})" if median is not None else "-"
                row.append(text if ratio is None or server == "gimbal" else f"{text} ×{number(ratio)}")
            if any(cell != "-" for cell in row[1:]):
                rows.append(row)
        title = (f"{how}, {PLACES[place]}: the server's processor time, µs for a delivery (for a line, without "
                 "subscribers), median (least), and how many times the daemon's")
        if rows:
            parts.append(table(title, ["subscribers", *servers], rows))
    return "\n".join(parts)


def plain_table(figures, title, workload, columns, **parameters):
    rows = [[server, *(number(figures.get(column, workload, server, **parameters)) for column in columns)]
            for server in figures.servers(workload)]
    return table(title, [workload, *columns], rows) if rows else ""


def neighbours_table(figures):
    rows = []
    for kind in figures.servers("neighbours"):
        row = [kind]
        for count in figures.values("count", "neighbours"):
            row += [number(figures.get(name, "neighbours", kind, count=count)) for name in ("p50", "p99", "max")]
        rows.append(row)
    columns = [f"{name}, {count}" for count in figures.values("count", "neighbours") for name in ("p50", "p99", "max")]
    title = "A quiet client of the daemon beside hostile ones, so many of each kind: µs from its line to its event"
    return table(title, ["kind", *columns], rows) if rows else ""


def growth_table(figures):
    rows = []
    for row in figures.rows:
        if row["workload"] == "growth":
            words = {"new": "cameras whose histories grow", "cameras": "cameras", "members": "objects in a line",
                     "behind": "events behind"}
            name = next(n for n in words if n in row)
            size = row.get("line_bytes")
            rows.append([f"{row[name]:,} {words[name]}", number(size), number(row["cpu"]), number(row["cpu_min"])])
    title = "How cost grows: processor time, µs for a line, or for a subscriber that catches up"
    return table(title, ["with", "bytes of a line", "cpu", "cpu_min"], rows) if rows else ""


def what_was_run(machine):
    peers = ", ".join(f"{name} {version}" for name, version in machine["peers"].items()) or "no other servers"
    return f"""\
{machine["date"]}: {machine["processor"]}, {machine["cores"]} cores, {machine["memory_gib"]} GiB, Linux \
{machine["kernel"]}; load average {machine["load"]:.1f} at the start; {peers}.

A line is one finger's report on a tilted and turned camera, and each moves it. An event of the daemon is 222 bytes, a
message of the others 220. One client feeds, and sends its next burst when every subscriber has read all of the last.
Redis (its defaults, but nothing is saved) and mosquitto (QoS 0) have a Unix socket, as the daemon has; nats-server has
none, and is reached by TCP. Redis is at its best: its channel has a name of one letter, so that 64 messages just fit
the 16 KiB that it reads at once, and those that it keeps for a subscriber, which it is told not to shrink. `relay` is a
server in C on libevent, of the daemon's shape, without a camera: a log that all subscribers share, and one send for each
subscriber and turn. `echo` is a blocking read and write.
"""


def text(machine, rows):
    figures = Figures(rows)
    parts = [what_was_run(machine), marks_table(figures), broadcast_table(figures)]
    title = "One line, from its writing to a subscriber's reading, on one core: µs"
    parts.append(plain_table(figures, title, "latency", ["p50", "p99", "p999"]))
    columns = ["p50_alone", "p99_alone", "p999_alone", "p50", "p99", "p999", "flood_lines"]
    title = "The same apart, alone and beside a client that floods: µs; the flood's lines in a second"
    parts.append(plain_table(figures, title, "fairness", columns))
    parts.append(neighbours_table(figures))
    parts.append(plain_table(figures, "1,000 lines a second to 100 subscribers: percent of a core", "paced",
                             ["percent", "percent_min"]))
    for subscribers, stopped in ((11, 1), (110, 100)):
        title = (f"{stopped} of {subscribers} subscribers stopped: the others' rate, of that without those and of that "
                 "before; by the server's processor time instead; bytes more")
        columns = ["rate", "of_before", "rate_cpu", "grown", "stalled"]
        parts.append(plain_table(figures, title, "stopped", columns, subscribers=subscribers))
    parts.append(plain_table(figures, "Resident bytes at start", "memory", ["start"]))
    for connections in figures.values("connections", "idle"):
        title = f"Resident bytes for an idle connection, of {connections:,}"
        parts.append(plain_table(figures, title, "idle", ["each"], connections=connections))
    parts.append(plain_table(figures, "Resident bytes more with 1,000 subscribers under load", "loaded", ["grown"]))
    for workload, words in (("connect", "Connections"), ("connect-subscribe", "Connections that subscribe")):
        parts.append(plain_table(figures, f"{words}: µs for each, and how many a second", workload,
                                 ["cpu", "cpu_min", "wall", "per_second"]))
    parts.append(plain_table(figures, "From start to readiness, ms", "start", ["ms", "ms_min"]))
    title = ("The parts alone, for one operation (hub: a whole line, without the system's part, to one subscriber; "
             "delivery: a line to one of 100)")
    parts.append(plain_table(figures, title, "kernel", ["ns", "ns_min", "instructions", "allocations"]))
    for subscribers in (0, 1):
        columns = ["cpu", "cpu_min", "lines", "frames", "session_s", "delivered", "missed"]
        parts.append(plain_table(figures, f"A recorded session at `max`, {subscribers} subscribers: seconds", "replay",
                                 columns, subscribers=subscribers))
    parts.append(growth_table(figures))
    return "\n".join(part for part in parts if part)


# MARK: Marks

def marks(figures):
    """Returns the targets: words, the figure, the limit, and whether it is an upper one."""
    def in_broadcast(subscribers, burst, place):
        return {"subscribers": subscribers, "burst": burst, "place": place}

    def cost(subscribers, place):
        return figures.get("cpu", "broadcast", "gimbal", **in_broadcast(subscribers, 64, place))

    def share(server, subscribers, place):
        return figures.ratio("cpu", "broadcast", "gimbal", server, **in_broadcast(subscribers, 64, place))

    def redis(subscribers, place, figure="cpu"):
        mine = cost(subscribers, place)
        theirs = figures.get(figure, "broadcast", "redis", **in_broadcast(subscribers, 64, place))
        return theirs / mine if mine and theirs else None

    def floor(workload, figure, **parameters):
        return figures.ratio(figure, workload, "gimbal", "relay", **parameters)

    def mebibytes(figure, workload, **parameters):
        bytes = figures.get(figure, workload, "gimbal", **parameters)
        return None if bytes is None else bytes / (1 << 20)

    rows = []
    for place, words in PLACES.items():
        rows += [
            (f"a line to 1 subscriber, µs; {words}", cost(1, place), 0.7, True),
            (f"a delivery to 100, µs; {words}", cost(100, place), 0.06, True),
            (f"Redis, 10 subscribers, times as much; {words}", redis(10, place), 2, False),
            (f"Redis at its least, 100 subscribers; {words}", redis(100, place, "cpu_min"), 2.5, False),
            (f"Redis, 100 subscribers; {words}", redis(100, place), 4, False),
            (f"Redis, 1,000 subscribers; {words}", redis(1000, place), 5, False),
            (f"a delivery to 100, of the relay's; {words}", share("relay", 100, place), 1.1, True),
            (f"a delivery to 1,000, of the relay's; {words}", share("relay", 1000, place), 1.1, True),
        ]
    rows += [(f"{of}, of {name}'s; {PLACES['one']}", share(server, subscribers, "one"), limit, True)
             for of, name, server, subscribers, limit in (
                 ("a line without subscribers", "Redis", "redis", 0, 1), ("a line to 1", "Redis", "redis", 1, 0.8),
                 ("a line to 1", "NATS", "nats", 1, 0.9),
                 ("a delivery to 100", "Redis", "redis", 100, 0.33), ("a delivery to 1,000", "Redis", "redis", 1000, 0.25))]
    for subscribers, limit in ((10, 1.05), (100, 1.1)):
        rows.append((f"a line at a time to {subscribers}, of the relay's",
                     floor("broadcast", "cpu", **in_broadcast(subscribers, 1, "one")), limit, True))
    rows += [(f"1,024 lines at a time to {subscribers:,}, of the relay's",
              floor("broadcast", "cpu", **in_broadcast(subscribers, 1024, "apart")), 1.1, True)
             for subscribers in (100, 1000)]
    thousand, one = (figures.get("cpu", "growth", "gimbal", cameras=cameras) for cameras in (1000, 1))
    rows += [
        ("latency p50, of the relay's", floor("latency", "p50"), 1.1, True),
        ("a line to one of 1,000 cameras, of one's", thousand / one if thousand and one else None, 1.3, True),
        ("instructions for a line", figures.get("instructions", "kernel", "hub"), 4000, True),
        ("allocations for a line", figures.get("allocations", "kernel", "hub"), 0.001, True),
        ("allocations for a delivery", figures.get("allocations", "kernel", "delivery"), 0.001, True),
        ("resident at start, MiB", mebibytes("start", "memory"), 10, True),
        ("an idle connection of 10,000, bytes", figures.get("each", "idle", "gimbal", connections=10_000), 512, True),
        ("1,000 loaded subscribers, MiB more", mebibytes("grown", "loaded"), 4, True),
        ("connect and subscribe, rate of the relay's",
         figures.ratio("per_second", "connect-subscribe", "gimbal", "relay"), 0.7, False),
        ("ready after, ms", figures.get("ms", "start", "gimbal"), 10, True),
    ]
    beside = [row for row in figures.rows if row["workload"] == "neighbours"]
    for count, limit in ((8, 5), (64, 20)):
        worst = max((row["p99"] / 1000 for row in beside if row["count"] == count), default=None)
        rows.append((f"a quiet client's p99 beside {count} hostile ones of any kind, ms", worst, limit, True))
    flooded = next((row["p50"] / row["p50_alone"] for row in beside if row["count"] == 1), None)
    rows.append(("its p50 beside one that floods, of that alone", flooded, 1.1, True))
    for subscribers, stopped in ((11, 1), (110, 100)):
        where = {"subscribers": subscribers}
        rows.append((f"{stopped} of {subscribers} stopped, the others' rate of that without",
                     figures.get("rate", "stopped", "gimbal", **where), 0.95, False))
        rows.append((f"{stopped} of {subscribers} stopped, MiB more", mebibytes("grown", "stopped", **where), 1, True))
    return rows


def marks_table(figures):
    rows = []
    for words, value, limit, is_upper in marks(figures):
        if value is None:
            continue
        reached = value <= limit if is_upper else value >= limit
        mark = f"{'≤' if is_upper else '≥'} {limit}"
        rows.append([words, number(value), mark, "reached" if reached else "missed"])
    return table("What is aimed at", ["", "figure", "mark", ""], rows) if rows else ""


# MARK: Files

def write(folder, machine, rows):
    os.makedirs(folder, exist_ok=True)
    rounded = [json.dumps({name: round_figure(value) for name, value in row.items()}) for row in rows]
    with open(os.path.join(folder, "results.json"), "w") as file:
        file.write('{"machine": ' + json.dumps(machine) + ',\n"rows": [\n' + ",\n".join(rounded) + "\n]}\n")
    with open(os.path.join(folder, "results.md"), "w") as file:
        file.write("# What was measured\n\n" + text(machine, rows))
    with open(os.path.join(folder, "results.svg"), "w") as file:
        file.write(picture(machine, Figures(rows)))


def round_figure(value):
    return float(f"{value:.4g}") if isinstance(value, float) else value


# A picture: a panel for each way, with subscribers to the right and the cost of a delivery upwards, both logarithmic.
HEIGHT, TOP, LEFT, PANEL, STEP = 400, 78, 62, 270, 385
WIDTH = LEFT + STEP * len(WAYS)


def picture(machine, figures):
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
             f'font-size="12"><rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
             f'<text x="{LEFT}" y="24" font-size="15">Processor time of the server for one delivery, µs</text>']
    shown = [row for row in figures.rows if row["workload"] == "broadcast" and row["subscribers"] > 0]
    values = [row["cpu"] for row in shown if row["cpu"]]
    if values:
        low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
        for index, way in enumerate(WAYS):
            parts += panel(figures, way, LEFT + index * STEP, low, high)
    parts.append(f'<text x="{LEFT}" y="{HEIGHT - 10}" fill="#555">to the right: subscribers. {machine["date"]}, '
                 f'{machine["processor"]}, {machine["cores"]} cores, Linux {machine["kernel"]}</text></svg>\n')
    return "\n".join(parts)


def panel(figures, way, left, low, high):
    burst, place, title = way
    bottom = HEIGHT - 56
    height = bottom - TOP

    def x(subscribers):
        return left + PANEL * math.log10(subscribers) / 3

    def y(value):
        return bottom - height * (math.log10(value) - low) / (high - low)

    parts = [f'<text x="{left}" y="{TOP - 28}">{title}</text>',
             f'<text x="{left}" y="{TOP - 12}" fill="#555">{PLACES[place]}</text>']
    for power in range(low, high + 1):
        parts.append(f'<path d="M{left} {y(10**power):.1f}h{PANEL}" stroke="#ddd"/><text x="{left - 6}" '
                     f'y="{y(10**power) + 4:.1f}" text-anchor="end" fill="#555">{10**power:g}</text>')
    for subscribers in (1, 10, 100, 1000):
        parts.append(f'<text x="{x(subscribers):.1f}" y="{bottom + 18}" text-anchor="middle" fill="#555">'
                     f'{subscribers:,}</text>')
    ends = []
    for server in PEERS:
        where = {"burst": burst, "place": place}
        points = [(x(s), y(v)) for s in (1, 10, 100, 1000)
                  if (v := figures.get("cpu", "broadcast", server, subscribers=s, **where))]
        if not points:
            continue
        path = "L".join(f"{px:.1f} {py:.1f}" for px, py in points)
        dots = "".join(f'<circle cx="{px:.1f}" cy="{py:.1f}" r="3"/>' for px, py in points)
        parts.append(f'<g fill="{COLOURS[server]}" stroke="{COLOURS[server]}"><path d="M{path}" fill="none" '
                     f'stroke-width="2"/>{dots}</g>')
        ends.append((points[-1][1], server, points[-1][0], COLOURS[server]))
    return parts + labels(ends)


def labels(ends):
    """Places names at the lines' ends, pushed apart where they would overlap."""
    parts, lowest = [], -math.inf
    for py, name, px, colour in sorted(ends):
        lowest = max(py, lowest + 14)
        parts.append(f'<text x="{px + 8:.1f}" y="{lowest + 4:.1f}" fill="{colour}">{name}</text>')
    return parts
