"""Measures how far screens are apart that show one camera with `--play-out`: `step.py FOLDER [MILLISECONDS…]`, two rows for each
play-out. One machine has all of it, so the clocks are right; between each bridge and the broker stands a relay that holds every
piece back for up to 30 ms, and in the second row a connection for 0.3 s now and then."""

import contextlib
import json
import random
import select
import socket
import sys
import threading
import time

from machines import BIN, Daemon, Process, clean_up, open_mosquitto, wait_for

MIRRORS = 8


class SlowRelay:
    """A port whose connections go on to another one, late."""

    def __init__(self, port, seed, stall, delay=0.03):
        self.random = random.Random(seed)
        self.target, self.delay, self.stall = port, delay, stall
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            near, _ = self.listener.accept()
            far = socket.create_connection(("127.0.0.1", self.target))
            for one in (near, far):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for source, goal in ((near, far), (far, near)):
                threading.Thread(target=self.carry, args=(source, goal), daemon=True).start()

    def carry(self, source, goal):
        with contextlib.suppress(OSError):
            self.pass_on(source, goal)
        for one in (source, goal):
            one.close()

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
    """A mirror's daemon, as a client that draws sees it."""

    def __init__(self, daemon):
        self.socket = daemon.connection()
        self.lines = self.socket.makefile("rb")
        self.seen = {}
        watcher = daemon.connection()
        watcher.sendall(b'{"type":"subscribe","camera":"copy","events":["camera-changed"]}\n')
        self.watcher = threading.Thread(target=self.watch, args=(watcher.makefile("rb"),), daemon=True)
        self.watcher.start()

    def watch(self, lines):
        for line in lines:
            self.seen.setdefault(line.split(b'"position":')[1], time.monotonic())

    def position(self, wall_time):
        self.socket.sendall(json.dumps({"type": "get-camera", "camera": "copy", "atWallTime": wall_time}).encode() + b"\n")
        return self.lines.readline().split(b'"position":')[1].split(b',"wallTime"')[0]


def feed(daemon, seconds):
    """Hands and commands that move the source's camera: a pan by a hand, a flight, a tour, a rest, and again."""
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


def measure(name, play_out, seconds, stall=0.3):
    """What screens show for one time, and when their daemons tell it."""
    broker, port = open_mosquitto(name)
    source = Daemon(f"{name}-source")
    node = Process(f"{name}-node", BIN / "gimbal-mqtt", "--broker", f"mqtt://127.0.0.1:{SlowRelay(port, 0, stall).port}", "--socket",
                   source.path, "--node", "hand")
    daemons = [Daemon(f"{name}-{number}") for number in range(MIRRORS)]
    mirrors = [
        Process(f"{name}-mirror-{number}", BIN / "gimbal-mqtt", "--broker", f"mqtt://127.0.0.1:{SlowRelay(port, number + 1, stall).port}",
                "--socket", daemon.path, "--follow", "hand/main", "--as", "copy", "--play-out", f"{play_out}ms")
        for number, daemon in enumerate(daemons)]
    source.ask('{"type":"move","id":1,"update":{"kind":"zoom-to","zoom":7.5}}')
    is_there = wait_for(lambda: all('"zoom":7.5,' in daemon.position("copy") for daemon in daemons))
    screens = [Screen(daemon) for daemon in daemons]
    hand = threading.Thread(target=feed, args=(source, seconds))
    hand.start()
    asked = same = 0
    places = set()
    while hand.is_alive():
        # What a screen shows now, or showed a moment ago.
        wall_time = round(time.time() * 1000 - random.uniform(0, 50), 3)
        told = {screen.position(wall_time) for screen in screens}
        asked, same, places = asked + 1, same + (len(told) == 1), places | told
        time.sleep(0.01)
    hand.join()
    rest = wait_for(lambda: source.rests("main") and len({one.position("copy") for one in daemons} | {source.position("main")}) == 1)
    skews = sorted(
        max(times) - min(times)
        for position in screens[0].seen if len(times := [one.seen[position] for one in screens if position in one.seen]) == MIRRORS)
    late = sum("came late" in mirror.log.read_text() for mirror in mirrors)
    for process in (*mirrors, node, broker, *daemons, source):
        process.end()
    return {
        "there": bool(is_there and rest), "asked": asked, "same": same, "places": len(places), "frames": len(skews),
        "late": late, "p50": skews[len(skews) // 2] * 1000 if skews else None,
        "p999": skews[int(len(skews) * 0.999)] * 1000 if skews else None}


if __name__ == "__main__":
    try:
        for milliseconds in [int(word) for word in sys.argv[2:]] or [100]:
            for stall in (0, 0.3):
                told = measure(f"step{milliseconds}-{stall}", milliseconds, 60, stall)
                print(f"play-out {milliseconds} ms, stalls of {stall} s:", told, flush=True)
    finally:
        clean_up(tells=False)
