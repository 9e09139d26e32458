#!/usr/bin/env -S python3 -B
"""Measures how far screens that show one camera with `--play-out` are apart: `step.py FOLDER [MILLISECONDS…]`, five
rows for each play-out: normal, daemons that precede all else, stalling connections, a broker that is killed, and
motions with a killed broker and late screens. The screens are machines of their own, network namespaces, if those can
be made; they share one clock, except in the last row, where the screens' drift. Between each bridge and the broker a
relay delays every piece by up to 30 ms, and in the third row a connection by 0.3 s now and then."""

import collections
import contextlib
import ctypes
import itertools
import json
import math
import multiprocessing
import os
import random
import select
import signal
import socket
import sys
import threading
import time

from machines import (
    BIN, Daemon, Machine, Process, WallClock, can_make_machines, clean_up, mosquitto, open_mosquitto, remove_machines, wait_for)

MIRRORS = 8
PROCESSES = multiprocessing.get_context("fork")


def end_with_parent():
    """Ends this process when the one that made it ends, however that does."""
    set_signal_of_parents_death = 1
    ctypes.CDLL(None).prctl(set_signal_of_parents_death, signal.SIGKILL)


class SlowRelay:
    """A port whose connections are forwarded to another one with a delay, by a process."""

    def __init__(self, port, host, seed, stall, delay=0.03):
        self.random = random.Random(seed)
        self.target, self.delay, self.stall = port, delay, stall
        self.listener = socket.create_server((host, 0))
        self.port = self.listener.getsockname()[1]
        self.process = PROCESSES.Process(target=self.accept, daemon=True)
        self.process.start()

    def accept(self):
        end_with_parent()
        while True:
            near, _ = self.listener.accept()
            try:
                far = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                near.close()
                continue
            for one in (near, far):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for source, goal in ((near, far), (far, near)):
                threading.Thread(target=self.carry, args=(source, goal), daemon=True).start()

    def carry(self, source, goal):
        with contextlib.suppress(OSError):
            self.pass_on(source, goal)
        # The other direction's thread is blocked on one of them, and would keep it open.
        for one in (source, goal):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def pass_on(self, source, goal):
        waiting, due = [], 0.0
        while True:
            left = max(waiting[0][0] - time.monotonic(), 0) if waiting else None
            if select.select([source], [], [], left)[0]:
                piece = source.recv(65536)
                if not piece:
                    return
                hold = self.random.uniform(0, self.delay) + (self.stall if self.random.random() < 0.002 else 0)
                due = max(due, time.monotonic() + hold)
                waiting.append((due, piece))
            while waiting and waiting[0][0] <= time.monotonic():
                goal.sendall(waiting.pop(0)[1])


class Screen:
    """A mirror's daemon, as seen by a client that draws."""

    def __init__(self, daemon):
        self.socket = daemon.connection()
        self.lines = self.socket.makefile("rb")

    def position(self, wall_time):
        self.socket.sendall(json.dumps({"type": "get-camera", "camera": "copy", "atWallTime": wall_time}).encode() + b"\n")
        return self.lines.readline().split(b'"position":')[1].split(b',"wallTime"')[0]


def prefer(process, priority):
    """Lets a process run before all others, if that is allowed, as CPUSchedulingPolicy=rr does in a unit of systemd."""
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(process, os.SCHED_RR, os.sched_param(priority))


class Watcher:
    """A process that notes when each position appears at each socket. A thread would wait for this process's others."""

    def __init__(self, daemons):
        watchers = [daemon.connection() for daemon in daemons]
        for watcher in watchers:
            watcher.sendall(b'{"type":"subscribe","camera":"copy","events":["camera-changed"]}\n')
        self.results, theirs = PROCESSES.Pipe()
        self.process = PROCESSES.Process(target=self.watch, args=(watchers, theirs), daemon=True)
        self.process.start()

    @staticmethod
    def watch(watchers, results):
        end_with_parent()
        poll, pieces = select.epoll(), []
        for one in (*watchers, results):
            poll.register(one, select.EPOLLIN)
        while not results.poll():
            for number, _ in poll.poll():
                if number == results.fileno():
                    continue
                pieces.append((number, os.read(number, 65536), time.monotonic()))
                if not pieces[-1][1]:
                    poll.unregister(number)
        seen, rest = {one.fileno(): {} for one in watchers}, collections.defaultdict(bytes)
        for number, piece, now in pieces:
            *lines, rest[number] = (rest[number] + piece).split(b"\n")
            for line in lines:
                seen[number].setdefault(line.split(b'"position":')[1], now)
        results.send(list(seen.values()))

    def seen(self):
        """Ends the process; returns the time of each position for each daemon."""
        self.results.send(None)
        return self.results.recv()


def feed(daemon, seconds):
    """Moves the source's camera by hand and by command: a pan by hand, a flight, a tour, a rest, and again."""
    hand = daemon.connection()

    def send(message):
        hand.sendall(json.dumps(message).encode() + b"\n")

    end, chance = time.monotonic() + seconds, random.Random(1)
    while time.monotonic() < end:
        send({"type": "pan", "phase": "began"})
        x = 0
        for _ in range(120):
            x += chance.uniform(-4, 8)
            send({"type": "pan", "phase": "changed", "translation": {"x": x, "y": x / 2}})
            time.sleep(1 / 120)
        send({"type": "pan", "phase": "ended"})
        time.sleep(0.6)
        place = {"target": {"latitude": chance.uniform(-60, 60), "longitude": chance.uniform(-180, 180)}, "zoom": chance.uniform(4, 12)}
        send({"type": "animate", "path": "flight", "durationMs": 1500, "update": {"kind": "set-camera", "position": place}})
        time.sleep(1.8)
        near = {**place, "zoom": place["zoom"] + 2, "bearing": 90}
        send({"type": "tour", "keyframes": [{"position": near, "durationMs": 700, "path": "smooth"},
                                           {"position": place, "durationMs": 700, "path": "smooth"}]})
        time.sleep(1.7)
    hand.close()


class Wall:
    """A broker, a node with a moving camera, and mirrors of it, each with its own daemon and relay, on a machine of its
    own and with a drifting wall clock if possible."""

    def __init__(self, name, play_out, stall=0.0, *options, drifts=False):
        self.name, self.play_out, self.stall = name, play_out, stall
        self.drifts, self.clocks, self.has_ended = drifts and WallClock.can_be_wrong(), [], threading.Event()
        if self.drifts:
            threading.Thread(target=self.drift, daemon=True).start()
        self.has_machines = not can_make_machines()
        self.broker, self.port = open_mosquitto(name)
        self.source = Daemon(f"{name}-source")
        self.processes, self.relays = [self.source], []
        self.bridge("node", self.source, "--node", "hand", "--skew", *options)
        self.daemons, self.mirrors = [], []
        for _ in range(MIRRORS):
            self.add_mirror()
        self.source.ask('{"type":"move","id":1,"update":{"kind":"zoom-to","zoom":7.5}}')
        self.is_there = wait_for(lambda: all('"zoom":7.5,' in daemon.position("copy") for daemon in self.daemons))
        self.screens = [Screen(daemon) for daemon in self.daemons]

    def drift(self):
        """Lets the screens' clocks drift by up to 100 ppm; every five seconds sets them, up to 2 ms wrong."""
        chance, began, drifts = random.Random(3), time.monotonic(), {}
        while not self.has_ended.wait(0.1):
            elapsed = time.monotonic() - began
            if elapsed > 5:
                began, elapsed, drifts = began + elapsed, 0, {}
            for number, clock in enumerate(self.clocks):
                error, rate = drifts.setdefault(number, (chance.uniform(-2e-3, 2e-3), chance.uniform(-1e-4, 1e-4)))
                clock.set(f"{error + rate * elapsed:+.6f}")

    def bridge(self, name, daemon, *options, machine=None, **place):
        host = machine.router if machine else "127.0.0.1"
        relay = SlowRelay(self.port, host, len(self.processes), self.stall)
        self.relays.append(relay.process)
        bridge = Process(
            f"{self.name}-{name}", BIN / "gimbal-mqtt", "--broker", f"mqtt://{host}:{relay.port}", "--socket", daemon.path, *options,
            machine=machine, **place)
        self.processes.insert(0, bridge)
        return bridge

    def add_mirror(self):
        number = len(self.daemons)
        place = {"machine": Machine(f"{self.name}-{number}")} if self.has_machines else {}
        if self.drifts:
            self.clocks.append(WallClock(f"{self.name}-{number}", "+0"))
            place["environment"] = self.clocks[-1].environment
        daemon = Daemon(f"{self.name}-{number}", **place)
        self.daemons.append(daemon)
        self.processes.append(daemon)
        # The first one is also a node, and so tells the source how well its screen keeps in step.
        node = () if number else ("--node", "screen")
        self.mirrors.append(
            self.bridge(f"mirror-{number}", daemon, "--follow", "hand/main", "--as", "copy", "--play-out", f"{self.play_out}ms",
                        *node, **place))
        return daemon

    def told_screens(self):
        """Returns what the source's daemon tells its clients about screens."""
        abouts = [json.loads(client.get("about", "{}")) for client in json.loads(self.source.ask('{"type":"clients"}'))["clients"]]
        return [screen for about in abouts if about.get("type") == "screens" for screen in about["screens"]]

    def positions(self, *others):
        """Returns what each screen shows now, or showed a moment ago."""
        wall_time = round(time.time() * 1000 - random.uniform(0, 50), 3)
        return {screen.position(wall_time) for screen in (*self.screens, *others)}

    def restart_broker(self):
        self.broker = mosquitto(f"{self.name}-again", f"listener {self.port}", "allow_anonymous true", port=self.port)

    def rests(self):
        return wait_for(lambda: self.source.rests("main") and len(
            {one.position("copy") for one in self.daemons} | {self.source.position("main")}) == 1)

    def end(self):
        self.has_ended.set()
        for process in (*self.processes, self.broker):
            process.end()
        for relay in self.relays:
            relay.terminate()
        remove_machines()


def points_apart(places):
    """Returns how far two of the positions, as JSON, are apart on a screen of 390 by 844 points: at most, in points."""
    def one(text):
        position = json.loads(text)
        latitude, longitude = (math.radians(position["target"][key]) for key in ("latitude", "longitude"))
        bearing, angle = (math.radians(position[key]) for key in ("bearing", "viewingAngle"))
        return longitude, math.asinh(math.tan(latitude)), position["zoom"], bearing, angle

    corner, most = math.hypot(390, 844) / 2, 0.0
    for here, there in itertools.combinations(map(one, places), 2):
        scale = 256 * 2 ** max(here[2], there[2]) / math.tau
        east, north, zoom, turn, tilt = (abs(a - b) for a, b in zip(here, there))
        east, turn = (min(angle, math.tau - angle) for angle in (east, turn))
        most = max(most, scale * math.hypot(east, north) + corner * (2 ** zoom - 1 + turn + tilt))
    return most


def measure(name, play_out, seconds, stall=0.3, drifts=False, outages=False, prefers=False):
    """Measures what screens show at the same time, and when their daemons report it. In an outage, every 20 s, the
    broker is killed, and comes back empty after 1.5 s. The daemons may be preferred to all else that runs here."""
    wall = Wall(name, play_out, stall, drifts=drifts)
    watcher = Watcher(wall.daemons)
    for process, priority in [(daemon.process, 20) for daemon in wall.daemons if prefers] + [(watcher.process, 30)]:
        prefer(process.pid, priority)
    hand = threading.Thread(target=feed, args=(wall.source, seconds))
    hand.start()
    due = [(start + after, act) for start in range(10, seconds, 20) if outages
           for after, act in ((0, lambda: wall.broker.kill()), (1.5, wall.restart_broker))]
    began, asked, same, near = time.monotonic(), 0, 0, 0
    places = set()
    while hand.is_alive():
        told = wall.positions()
        asked, same, places = asked + 1, same + (len(told) == 1), places | told
        near += points_apart(told) <= 0.1
        if due and time.monotonic() - began > due[0][0]:
            due.pop(0)[1]()
        time.sleep(0.01)
    hand.join()
    rest = wall.rests()
    seen = watcher.seen()
    skews = sorted(
        max(times) - min(times) for position in seen[0] if len(times := [one[position] for one in seen if position in one]) == MIRRORS)
    screens = wait_for(wall.told_screens)
    late = sum("came late" in mirror.log.read_text() for mirror in wall.mirrors)
    wall.end()
    return {
        "there": bool(wall.is_there and rest), "asked": asked, "same": same, "near": near, "places": len(places),
        "frames": len(skews), "late": late, "screens": screens, "p50": skews[len(skews) // 2] * 1000 if skews else None,
        "p999": skews[int(len(skews) * 0.999)] * 1000 if skews else None}


def measure_motions(name, play_out, rounds):
    """Measures what screens show of tours that are sent once. During the first one a new screen joins; during the next
    the broker is killed and comes back empty; and so on. Tours take eight seconds."""
    wall = Wall(name, play_out, 0.0, "--motions", drifts=True)
    chance = random.Random(2)
    asked = same = 0
    places, joined = set(), []

    def come():
        """Adds a screen, which counts from its first right answer."""
        began, screen = time.monotonic(), Screen(wall.add_mirror())
        while len(wall.positions(screen)) != 1:
            time.sleep(0.01)
        # In seconds, and whether its source moves.
        joined.append((time.monotonic() - began, not wall.source.rests("main")))
        # It has no position for the moment before it came.
        time.sleep(0.06)
        wall.screens.append(screen)

    for number in range(rounds):
        frames = [{
            "position": {"target": {"latitude": chance.uniform(-60, 60), "longitude": chance.uniform(-180, 180)}, "zoom": 4 + step},
            "durationMs": 2000, "path": "smooth"} for step in range(4)]
        wall.source.ask(json.dumps({"type": "tour", "id": 1, "keyframes": frames}))
        began = time.monotonic()
        due = [(3, lambda: wall.broker.kill()), (4.5, wall.restart_broker)] if number % 2 else [(3, come)]
        # All have it after the play-out delay plus the delays of network and machine.
        time.sleep(1 + play_out / 1000)
        while (elapsed := time.monotonic() - began) < 7.5:
            told = wall.positions()
            asked, same, places = asked + 1, same + (len(told) == 1), places | told
            if due and elapsed > due[0][0]:
                due.pop(0)[1]()
            time.sleep(0.01)
        if not wall.rests():
            raise SystemExit(f"step: round {number} comes to no rest")
    wall.end()
    return {"there": bool(wall.is_there), "asked": asked, "same": same, "places": len(places), "joined": joined}


if __name__ == "__main__":
    try:
        for milliseconds in [int(word) for word in sys.argv[2:]] or [100]:
            for kind, options in (("normal", {"stall": 0}), ("daemons first", {"stall": 0, "prefers": True}), ("stalls", {}),
                                  ("outages", {"stall": 0, "outages": True})):
                told = measure(f"step{milliseconds}-{kind}", milliseconds, 60, **options)
                print(f"play-out {milliseconds} ms, {kind}:", told, flush=True)
            print(f"play-out {milliseconds} ms, motions:", measure_motions(f"motions{milliseconds}", milliseconds, 8), flush=True)
    finally:
        clean_up(tells=False)
