#!/usr/bin/env -S python3 -B
"""Measures the daemon beside other servers, in the same run: `make bench`, or this with --help.

Rounds of all servers are interleaved, A B C A B C, so that what else the machine does meets all of them; of the rounds
the median counts, and the least stands beside it. Processor time is the main figure: it is the server's alone.
"Apart" is the server on one core and its clients on another; "one" is all of them on one."""

import argparse
import contextlib
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import history
import readme
import report
from servers import CORE, OTHER_CORE, Load, Server, kinds, prepare_child

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
TRACES = os.path.join(ROOT, "Protocols/examples/traces")
PEERS = ("gimbal", "relay", "redis", "nats", "mosquitto")
# This many events of the load fill a camera's history: 4,096, or 1 MiB.
HISTORY = 6000


class Bench:
    def __init__(self, scratch, folder, effort):
        self.scratch, self.folder, self.effort = scratch, folder, effort
        # Without a second core nothing can run apart.
        self.places = ("apart", "one") if OTHER_CORE != CORE else ("one",)
        self.load_program = os.path.join(scratch, "bench/load")
        self.neighbours_program = os.path.join(scratch, "bench/neighbours")
        self.kinds = kinds(scratch)
        self.rows = []
        self.counts_instructions = shutil.which("valgrind") is not None
        if not self.counts_instructions:
            print("valgrind is not installed: no instructions are counted", flush=True)
        for kind in self.kinds.values():
            if kind.program is None:
                print(f"{kind.name} is not installed: left out", flush=True)

    def installed_peers(self):
        return [kind for name, kind in self.kinds.items() if name in ("redis", "nats", "mosquitto") and kind.program]

    # MARK: Tools

    def rounds(self, count):
        return max(1, round(count * self.effort.rounds))

    def run(self, seconds):
        return f"run {seconds * self.effort.seconds}"

    def pace(self, count, microseconds, how="pace"):
        return f"{how} {round(count * self.effort.seconds)} {microseconds}"

    def note(self, workload, server, figures, **parameters):
        self.rows.append({"workload": workload, "server": server, **parameters, **figures})

    @contextlib.contextmanager
    def servers(self, *names):
        """Runs those that are installed."""
        with contextlib.ExitStack() as stack:
            running = []
            for name in names:
                if self.kinds[name].program is not None:
                    running.append(Server(self.kinds[name], self.folder))
                    stack.callback(running[-1].stop)
            yield running

    @contextlib.contextmanager
    def loads(self, servers, **options):
        with contextlib.ExitStack() as stack:
            running = []
            for server in servers:
                running.append(Load(self.load_program, server, **options))
                stack.callback(running[-1].close)
            yield running

    def interleave(self, loads, command, rounds):
        """The answers of each load, in its order."""
        answers = [[] for _ in loads]
        for _ in range(rounds):
            for load, own in zip(loads, answers):
                own.append(load.ask(command))
        return answers

    # MARK: Lines in, events out

    def broadcast(self):
        """A million deliveries, or lines where nobody listens: seconds of the server's processor time, and of time."""
        with self.servers("gimbal", "gimbal, latest", *PEERS[1:]) as servers:
            for subscribers in self.effort.subscribers:
                taking_part = [s for s in servers if subscribers > 0 or s.name != "gimbal, latest"]
                # 1,024 lines fill every buffer on the way, so no side waits for another, as when a recording is fed.
                for burst, place in [(64, place) for place in self.places] + [(1, "one"), (1024, self.places[0])]:
                    with self.loads(taking_part, apart=place == "apart", s=subscribers, b=burst) as loads:
                        self.interleave(loads, self.run(0.03), 1)
                        # A single line is almost all the system's work, which other load on the machine disturbs most.
                        rounds = self.rounds(7 if burst > 1 else 15)
                        for load, runs in zip(loads, self.interleave(loads, self.run(0.08), rounds)):
                            figures = report.per_million(runs, "deliveries" if subscribers else "lines")
                            self.note("broadcast", load.server.name, figures, subscribers=subscribers, burst=burst,
                                      place=place)

    def latency(self):
        """A line at a time, at leisure: from its writing until a subscriber has read the event."""
        with self.servers("echo", *PEERS) as servers, contextlib.ExitStack() as stack:
            readers = {"echo": 0}
            loads = [stack.enter_context(self.loads([x], s=readers.get(x.name, 1)))[0] for x in servers]
            for load, runs in zip(loads, self.interleave(loads, self.pace(1000, 500), self.rounds(11))):
                self.note("latency", load.server.name, report.latencies(runs))

    def fairness(self):
        """The latency of a client at leisure, on a camera or channel of its own, beside one that floods the server."""
        # A relay has no channels: the flood would reach its quiet reader.
        servers = [name for name in PEERS if name != "relay"]
        for name in servers:
            with self.servers(name) as running, self.loads(running, apart=True, s=1) as quiet, \
                    self.loads(running, apart=True, n="f", b=64) as floods:
                if not running:
                    continue
                alone, beside, lines = [], [], []
                for _ in range(self.rounds(3)):
                    alone += self.interleave(quiet, self.pace(1000, 500), 1)[0]
                    floods[0].begin("flood")
                    beside += self.interleave(quiet, self.pace(1000, 500), 1)[0]
                    floods[0].begin("drop")
                    flood = floods[0].answer()
                    floods[0].answer()
                    lines.append(flood["lines"] / flood["wall"])
                figures = {**report.latencies(beside), "flood_lines": statistics.median(lines)}
                figures.update((f"{which}_alone", value) for which, value in report.latencies(alone).items())
                self.note("fairness", name, figures)

    def neighbours(self):
        """The latency of a quiet client of the daemon beside hostile ones of each kind, one, eight and many of them."""
        kinds = subprocess.run([self.neighbours_program, "list"], stdout=subprocess.PIPE, text=True, check=True)
        for kind in kinds.stdout.splitlines():
            for count in (1, 8, 64):
                with self.servers("gimbal") as (server,):
                    alone = self.quiet(server)
                    with self.hostile(server, kind, count):
                        beside = self.quiet(server)
                    figures = {"p50_alone": alone["p50"], "p99_alone": alone["p99"], **beside}
                    self.note("neighbours", kind, figures, count=count)

    def quiet(self, server):
        requests = str(max(50, round(1500 * self.effort.seconds)))
        run = subprocess.run(
            [self.neighbours_program, "quiet", requests, "400", server.socket], stdout=subprocess.PIPE, text=True,
            check=True, preexec_fn=lambda: prepare_child(OTHER_CORE))
        return json.loads(run.stdout)

    @contextlib.contextmanager
    def hostile(self, server, kind, count):
        process = subprocess.Popen(
            [self.neighbours_program, "-n", str(count), kind, server.socket], stdin=subprocess.PIPE,
            preexec_fn=lambda: prepare_child(OTHER_CORE))
        try:
            time.sleep(0.3 * min(self.effort.seconds, 1))
            yield
            if process.poll() is not None:
                raise SystemExit(f"bench: the neighbours ended ({kind})")
        finally:
            process.stdin.close()
            process.wait()

    def paced(self):
        """A thousand lines a second to a hundred subscribers: the share of a core."""
        with self.servers(*PEERS) as servers, self.loads(servers, apart=True, s=100) as loads:
            for load, runs in zip(loads, self.interleave(loads, self.pace(1000, 1000, "stream"), self.rounds(3))):
                shares = [100 * run["cpu"] / run["wall"] for run in runs]
                self.note("paced", load.server.name, report.spread("percent", shares), subscribers=100)

    def stopped(self):
        """Some subscribers read no more: the rate of the others, and memory."""
        # Fewer readers are less work: the others are compared with as many that never had a stopped one beside them.
        for subscribers, stopped in ((11, 1), (110, 100)):
            with self.servers(*PEERS) as servers, self.servers(*PEERS) as controls, \
                    self.loads(servers, apart=True, s=subscribers, b=64) as loads, \
                    self.loads(controls, apart=True, s=subscribers - stopped, b=64) as control_loads:
                before = self.interleave(loads, self.run(0.05), self.rounds(15))
                memory = [load.server.resident() for load in loads]
                for load in loads:
                    load.ask(f"stop {stopped}")
                # Alternately, each next to its control: other load on the machine affects both.
                pairs = [load for both in zip(loads, control_loads) for load in both]
                after = self.interleave(pairs, self.run(0.05), self.rounds(15))
                for load, own, then, control, bytes_before in zip(loads, before, after[::2], after[1::2], memory):
                    figures = {"rate": report.rate(then, "wall") / report.rate(control, "wall"),
                               "of_before": report.rate(then, "wall") / report.rate(own, "wall"),
                               "rate_cpu": report.rate(then, "cpu") / report.rate(control, "cpu"),
                               "grown": load.server.resident() - bytes_before,
                               "stalled": sum(run["stalled"] for run in then)}
                    self.note("stopped", load.server.name, figures, subscribers=subscribers, stopped=stopped)

    # MARK: Connections

    def memory(self):
        """What a server has resident: at start, with idle connections, with a thousand subscribers under load."""
        with self.servers(*PEERS) as servers:
            for server in servers:
                self.note("memory", server.name, {"start": server.resident()})
                with self.loads([server]) as loads:
                    first, connected = server.resident(), 0
                    for connections in self.effort.connections:
                        loads[0].ask(f"connect {connections - connected}")
                        connected = connections
                        each = (server.resident() - first) / connections
                        self.note("idle", server.name, {"each": each}, connections=connections)
        with self.servers(*PEERS) as servers:
            for server in servers:
                start = server.resident()
                with self.loads([server], s=1000, b=64) as loads:
                    loads[0].ask(self.run(0.3))
                    self.note("loaded", server.name, {"grown": server.resident() - start}, subscribers=1000)

    def connects(self):
        """Connections that come, a thousand at a time, and connections that subscribe too."""
        with self.servers(*PEERS) as servers, self.loads(servers, apart=True) as loads:
            for command in ("connect", "connect-subscribe"):
                runs = [[] for _ in loads]
                for _ in range(self.rounds(7)):
                    for load, own in zip(loads, runs):
                        own.append(load.ask(f"{command} 1000"))
                        load.ask("drop")
                for load, own in zip(loads, runs):
                    figures = {**report.per_million(own, "lines"), "per_second": report.rate(own, "wall")}
                    self.note(command, load.server.name, figures)

    def start(self):
        """From the program's start until it tells the service manager that it is ready."""
        times = []
        for _ in range(self.rounds(15)):
            with tempfile.TemporaryDirectory(dir=self.folder) as folder, socket.socket(
                    socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
                manager.bind(f"{folder}/notify")
                manager.settimeout(10)
                command = [self.kinds["gimbal"].program, "--socket", f"{folder}/socket", "--log-level", "error"]
                begun = time.monotonic()
                pid = os.posix_spawn(command[0], command, {"NOTIFY_SOCKET": f"{folder}/notify"})
                if not manager.recv(4096).startswith(b"READY=1"):
                    raise SystemExit("bench: the daemon did not become ready")
                times.append((time.monotonic() - begun) * 1000)
                os.kill(pid, signal.SIGTERM)
                os.waitpid(pid, 0)
        self.note("start", "gimbal", report.spread("ms", times))

    # MARK: Single stages

    def kernels(self):
        """Each part of a line's way alone: nanoseconds, instructions and allocations for one operation."""
        program = os.path.join(self.scratch, "release/kernels")
        count = round(320_000 * self.effort.seconds)
        for part in ("decoder", "camera", "encoder", "hub", "delivery"):
            times = []
            for _ in range(self.rounds(5)):
                times.append(int(self.kernel([program, part, str(count)]).split()[0]) / count)
            figures = report.spread("ns", times)
            figures["allocations"] = self.difference(self.allocations, program, part)
            if self.counts_instructions:
                figures["instructions"] = self.difference(self.instructions, program, part)
            self.note("kernel", part, figures)

    def kernel(self, command, **environment):
        run = subprocess.run(command, check=True, capture_output=True, text=True, preexec_fn=prepare_child,
                             env={**os.environ, **environment})
        return run.stdout

    def difference(self, count, program, part):
        """What one operation costs: of two numbers of them, so that the beginning falls out."""
        number = self.effort.counted
        return (count(program, part, 2 * number) - count(program, part, number)) / number

    def allocations(self, program, part, count):
        counter = os.path.join(self.folder, "allocations")
        library = os.path.join(self.scratch, "bench/allocations.so")
        self.kernel([program, part, str(count)], LD_PRELOAD=library, ALLOCATIONS=counter)
        with open(counter, "rb") as file:
            number = int.from_bytes(file.read(8), sys.byteorder)
        os.remove(counter)
        return number

    def instructions(self, program, part, count):
        # valgrind does not read the debugging information of new compilers.
        stripped = os.path.join(self.folder, "kernels")
        subprocess.run(["strip", "--strip-debug", "-o", stripped, program], check=True)
        out = os.path.join(self.folder, "callgrind")
        self.kernel(["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={out}", stripped, part, str(count)])
        with open(out) as file:
            return next(int(line.split()[1]) for line in file if line.startswith(("summary:", "totals:")))

    # MARK: Long sessions, many cameras, long lines, long histories

    def session(self):
        """The lines of an hour of gestures: the sample traces over and over, on one clock."""
        lines, clock = [], 0.0
        names = sorted(name for name in os.listdir(TRACES) if name.endswith(".ndjson"))
        while clock < 3_600_000 * self.effort.seconds:
            for name in names:
                with open(os.path.join(TRACES, name)) as file:
                    gestures = [json.loads(line) for line in file][1:]
                members = [g[0] if isinstance(g, list) else g for g in gestures]
                times = [member["timeMs"] for member in members if "timeMs" in member]
                shift = clock - times[0]
                for gesture in gestures:
                    for member in gesture if isinstance(gesture, list) else [gesture]:
                        if "timeMs" in member:
                            member["timeMs"] = round(member["timeMs"] + shift, 3)
                    is_end = not isinstance(gesture, list) and gesture["type"] == "trace-end"
                    if not is_end:
                        lines.append(json.dumps(gesture, separators=(",", ":")))
                clock = times[-1] + shift + 3000  # a fling has time to come to rest
        return lines

    def replay(self):
        """A session of an hour at the greatest speed, with nobody and with one subscriber."""
        lines = self.session()
        header = '{"type":"trace","version":1,"speed":"max","id":"session"}'
        text = "\n".join([header, *lines, '{"type":"trace-end"}', ""])
        with self.servers("gimbal") as servers:
            for subscribers in (0, 1):
                times, readers = [], []
                for _ in range(self.rounds(3)):
                    cpu = servers[0].cpu()
                    ended, readers = self.play(servers[0], text.encode(), subscribers)
                    times.append(servers[0].cpu() - cpu)
                if ended["rejected"] > 0:
                    raise SystemExit(f"bench: the replay rejected {ended['rejected']} lines")
                # A reader slower than the replay is told what it missed: the figure covers what was delivered.
                figures = {**report.spread("cpu", times), "lines": ended["events"], "frames": ended["frames"],
                           "session_s": ended["durationMs"] / 1000,
                           "delivered": sum(reader.delivered for reader in readers),
                           "missed": sum(reader.missed for reader in readers)}
                self.note("replay", "gimbal", figures, subscribers=subscribers)

    def play(self, server, text, subscribers):
        readers = [Reader(server) for _ in range(subscribers)]
        with server.connect() as feed:
            sender = threading.Thread(target=feed.sendall, args=[text])
            sender.start()
            answer = read_until(feed, b'"trace-ended"')
            sender.join()
            feed.sendall(b'{"type":"get-camera"}\n')
            seq = json.loads(read_until(feed, b"\n"))["seq"]
        for reader in readers:
            reader.finish(seq)
        return json.loads(answer.splitlines()[-1]), readers

    def growth(self):
        """How a line's cost grows with cameras and with the objects in it; and what catching up costs."""
        for option, name, values in (("c", "cameras", (1, 10, 100, 1000)), ("f", "members", (1, 4, 16, 64))):
            with self.servers("gimbal") as servers, contextlib.ExitStack() as stack:
                loads = [stack.enter_context(self.loads(servers, b=16, **{option: value}))[0] for value in values]
                self.interleave(loads, self.run(0.05), 1)
                if name == "cameras":
                    for value, load in zip(values, loads):
                        self.fill_histories(load, value)
                # The speed of memory that a thousand cameras share with other load on the machine varies.
                for value, load, runs in zip(values, loads, self.interleave(loads, self.run(0.08), self.rounds(25))):
                    figures = {**report.per_million(runs, "lines"), "line_bytes": load.line_bytes}
                    self.note("growth", "gimbal", figures, **{name: value})
        with self.servers("gimbal") as servers:
            self.catch_up(servers[0])

    def fill_histories(self, load, cameras):
        """What a line costs while histories grow, which they do once: the memory of each is new."""
        runs = [load.ask(self.run(0.08))]
        while sum(run["lines"] for run in runs) < HISTORY * cameras * self.effort.seconds:
            runs.append(load.ask(self.run(0.3)))
        self.note("growth", "gimbal", {**report.per_million(runs, "lines"), "line_bytes": load.line_bytes}, new=cameras)

    def catch_up(self, server):
        """What it costs to send a subscriber what it missed."""
        with self.loads([server], b=64) as loads:
            loads[0].ask("run 0.2")  # fills the history
        with server.connect() as client:
            client.sendall(b'{"type":"subscribe"}\n')
            state = json.loads(read_until(client, b"\n"))
            for behind in (0, 16, 256, 4000):
                ask = {"type": "subscribe", "since": state["seq"] - behind, "epoch": state["epoch"]}
                line = (json.dumps(ask) + "\n").encode()
                times = []
                for _ in range(self.rounds(5)):
                    cpu = server.cpu()
                    for _ in range(20):
                        client.sendall(line)
                        read_lines(client, behind + 1)
                    times.append((server.cpu() - cpu) / 20 * 1e6)
                self.note("growth", "gimbal", report.spread("cpu", times), behind=behind)


class Reader:
    """A subscriber that counts: the events that it was sent, and those that it was told it missed."""

    def __init__(self, server):
        self.delivered = self.missed = 0
        self.last_seq = None
        self.client = server.connect()
        self.client.sendall(b'{"type":"subscribe"}\n')
        read_until(self.client, b"\n")
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        lines = self.client.makefile("rb", buffering=1 << 20)
        for line in lines:
            if line.startswith(b'{"type":"lagged"'):
                self.missed += json.loads(line)["missed"]
            elif line.startswith(b'{"type":"reset"'):
                continue
            else:
                self.delivered += 1
            if self.last_seq is not None and self.delivered + self.missed >= self.last_seq:
                return

    def finish(self, last_seq):
        """Waits until nothing more is to come; every event must have been delivered or told of."""
        self.last_seq = last_seq
        # A reader that has read everything gets no further line by which to notice the end; closing ends it.
        self.thread.join(0.5)
        with contextlib.suppress(OSError):
            self.client.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.client.close()
        if self.delivered + self.missed < last_seq:
            raise SystemExit(f"bench: {last_seq} events, but {self.delivered} came and {self.missed} were told missing")


def read_until(client, end):
    text = b""
    while end not in text or not text.endswith(b"\n"):
        part = client.recv(1 << 16)
        if not part:
            raise SystemExit("bench: the daemon closed a connection")
        text += part
    return text


def read_lines(client, count):
    while count > 0:
        count -= client.recv(1 << 20).count(b"\n")


WORKLOADS = ("kernels", "start", "memory", "connects", "latency", "fairness", "neighbours", "paced", "stopped", "replay",
             "growth", "broadcast")


class Effort:
    """How much is done: rounds and seconds, as factors, and numbers of what is measured."""

    def __init__(self, rounds=1.0, seconds=1.0):
        self.rounds, self.seconds = rounds, seconds
        self.subscribers, self.connections = (0, 1, 10, 100, 1000), (1000, 10_000)
        self.counted = 19_200  # a multiple of each kernel's turn

    @staticmethod
    def quick():
        effort = Effort(rounds=0.01, seconds=0.05)
        effort.subscribers, effort.connections, effort.counted = (0, 1, 100), (1000,), 1600
        return effort


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words = f"one of {', '.join(WORKLOADS)} (default: all)"
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=words)
    effort = parser.add_mutually_exclusive_group()
    effort.add_argument("--long", action="store_true", help="five times as many rounds")
    effort.add_argument("--quick", action="store_true", help="only see that it runs: the figures are worth little")
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--into", metavar="FOLDER", help="put the results there (default: below the build's folder)")
    place.add_argument("--keep", action="store_true", help="put the results into the project, its history of them and its README")
    arguments = parser.parse_args()
    for name in arguments.workloads:
        if name not in WORKLOADS:
            parser.error(f"there is no workload {name}")
    if arguments.keep and (arguments.workloads or arguments.quick):
        parser.error("what is kept is measured whole")
    return arguments


def main():
    arguments = parse()
    scratch = os.path.join(ROOT, os.environ.get("SCRATCH", ".build"))
    into = readme.RESULTS if arguments.keep else arguments.into or os.path.join(scratch, "bench/results")
    effort = Effort.quick() if arguments.quick else Effort(rounds=5 if arguments.long else 1)
    with tempfile.TemporaryDirectory(prefix="gimbal-bench-") as folder:
        bench = Bench(scratch, folder, effort)
        machine = report.machine({kind.name: kind.version() for kind in bench.installed_peers()})
        for name in arguments.workloads or WORKLOADS:
            print(f"{name} ...", flush=True)
            getattr(bench, name)()
        print("", report.text(machine, bench.rows), sep="\n")
        report.write(into, machine, bench.rows)
        if arguments.keep:
            history.keep(machine, bench.rows, scratch, folder)
            readme.write()
    print(f"{os.path.relpath(into, ROOT)}/results.md, .json, .svg")


if __name__ == "__main__":
    main()
