#!/usr/bin/env python3
"""What cameras cost beyond their machine, measured on one: gimbal-mqtt, mosquitto and NATS.

   fleet.py FOLDER [latency|events|followers]…     the folder of gimbald and gimbal-mqtt, such as .build/release

Prints the figures in Protocols/fleet.md: processor time is what the kernel counted for a process; latencies are those
of one line at a time, with half of them below the first number and 99 % below the second. Latencies are measured in
alternation, so that other load on the machine affects all of them. Machines are network namespaces here; delayed wires
between them need root and /dev/net/tun.
"""

import os
import pathlib
import select
import shutil
import sys
import threading
import time
from statistics import median_high

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "Broker" / "Fleet"))

from machines import (
    BIN, Daemon, Machine, Process, can_make_machines, clean_up, connected, nats_cluster, open_mosquitto, published, remove_machines,
    subscribed)

# As long as the payload of a moving camera.
PAYLOAD = b"x" * 300


def quantiles(times):
    times = sorted(times)
    return f"{times[len(times) // 2] * 1e6:6.0f} / {times[int(len(times) * 0.99)] * 1e6:6.0f} µs"


class Bare:
    """A bare publisher and subscriber. The broker keeps retained messages, as it does for cameras."""

    def __init__(self, port, guide, wall, is_retained=False):
        # Its own topic, for which the broker has retained nothing yet.
        name = f"bare-{time.monotonic_ns()}"
        self.reader, self.writer = subscribed(port, f"{name}-reader", name, 1, wall), connected(port, f"{name}-writer", guide)
        self.message = published(name, PAYLOAD, is_retained)
        self.length = len(self.message)

    def time(self):
        begin = time.perf_counter()
        self.writer.sendall(self.message)
        left = self.length
        while left > 0:
            left -= len(self.reader.recv(65536))
        return time.perf_counter() - begin


class Gestures:
    """Gestures at one daemon, and the resulting events there or at another."""

    def __init__(self, feed, follower):
        self.feed, self.follower, self.step = feed, follower.connection(), 0
        self.follower.sendall(b'{"type":"subscribe"}\n')
        self.follower.recv(65536)

    def time(self):
        self.step += 1
        line = b'{"type":"pan","phase":"changed","translation":{"x":%d,"y":0}}\n' % (self.step % 300 + 1)
        begin = time.perf_counter()
        self.feed.sendall(line)
        while b"camera-changed" not in self.follower.recv(65536):
            pass
        return time.perf_counter() - begin


def bridge(name, port, machine, *options):
    host = machine.router if machine else "127.0.0.1"
    return Process(name, BIN / "gimbal-mqtt", "--broker", f"mqtt://{host}:{port}", *options, machine=machine)


def latency(port, delay):
    """Sends one line at a time from one machine to another, by a broker on a third; all on one if `delay` is None."""
    guide, wall = (Machine("guide", delay), Machine("wall", delay)) if delay is not None else (None, None)
    here, there = Daemon("here"), Daemon("there")
    node = bridge("node", port, guide, "--node", "here", "--rate", "1000", "--socket", here.path)
    mirror = bridge("mirror", port, wall, "--follow", "here/main", "--as", "main", "--socket", there.path)
    feed = here.connection()
    feed.sendall(b'{"type":"pan","phase":"began"}\n')
    bare, kept = Bare(port, guide, wall), Bare(port, guide, wall, is_retained=True)
    mirrored = Gestures(feed, there)
    time.sleep(5)
    mirrored.time()
    times = {"bare": [], "kept": [], "mirrored": [], "local": []}
    for _ in range(10):
        for name, what in (("bare", bare), ("kept", kept), ("mirrored", mirrored)):
            for _ in range(100):
                times[name].append(what.time())
                time.sleep(0.002)
    # Beside the mirror, so that no other client waits for that daemon.
    local = Gestures(feed, here)
    for _ in range(500):
        times["local"].append(local.time())
        time.sleep(0.002)
    for process in (node, mirror, here, there):
        process.end()
    remove_machines()
    place = "all on one machine" if delay is None else f"between machines, {delay * 1000:g} ms to the broker, and as far on"
    print(f"latency, {place} (load {os.getloadavg()[0]:.1f}):")
    print(f"    a bare publisher and subscriber       {quantiles(times['bare'])}")
    print(f"    the same, and the broker keeps it     {quantiles(times['kept'])}")
    print(f"    a gesture to the mirror's socket      {quantiles(times['mirrored'])}")
    print(f"    a gesture to its own daemon's socket  {quantiles(times['local'])}")
    ratios = (median_high(times["mirrored"]) / median_high(times[name]) for name in ("bare", "kept"))
    print("    the mirror beside the bare ones: {:.2f}, {:.2f} times".format(*ratios), flush=True)


def events(port, broker):
    """Measures the processor time of an event, with and without publishing each of them."""
    for number, (name, options) in enumerate((("all events", ["--events"]), ("how it stands", []))):
        daemon = Daemon(f"events{number}")
        node = bridge(f"node{number}", port, None, "--node", f"n{number}", "--socket", daemon.path, *options)
        reader = subscribed(port, f"follower{number}", f"gimbal/n{number}/#")
        time.sleep(4)
        feed = daemon.connection()
        feed.sendall(b'{"type":"pan","phase":"began"}\n')
        before, broker_before = node.processor_time(), broker.processor_time()
        count = 6000
        for step in range(count):
            feed.sendall(b'{"type":"pan","phase":"changed","translation":{"x":%d,"y":0}}\n' % (step % 300 + 1))
            # As fast as ten fingers on ten screens.
            time.sleep(1 / 1200)
            while select.select([reader], [], [], 0)[0]:
                reader.recv(65536)
        time.sleep(0.5)
        costs = [(after - first) / count * 1e6 for after, first in (
            (node.processor_time(), before), (broker.processor_time(), broker_before))]
        print("an event, {}: bridge {:.1f} µs, mosquitto {:.1f} µs with one follower".format(name, *costs), flush=True)
        node.end()
        daemon.end()


def drain(sockets, stop):
    poll = select.epoll()
    for one in sockets:
        one.setblocking(False)
        poll.register(one, select.EPOLLIN)
    while not stop.is_set():
        for number, _ in poll.poll(0.1):
            try:
                os.read(number, 1 << 16)
            except BlockingIOError:
                pass


def followers(ports, servers, name):
    """Measures the processor time of one delivery to one of many followers of one camera."""
    count = 600
    sockets = [subscribed(ports[index % len(ports)], f"{name}-{index}", "many") for index in range(count)]
    stop = threading.Event()
    thread = threading.Thread(target=drain, args=(sockets, stop))
    thread.start()
    writer = connected(ports[0], f"{name}-writer")
    time.sleep(1)
    before = [server.processor_time() for server in servers]
    messages = 300
    for _ in range(messages):
        writer.sendall(published("many", PAYLOAD))
        time.sleep(1 / 60)
    time.sleep(1)
    costs = [
        (server.processor_time() - first) / (messages * count / len(servers)) * 1e6 for server, first in zip(servers, before)]
    stop.set()
    thread.join()
    print(f"{name}: {', '.join(f'{cost:.2f}' for cost in costs)} µs for a delivery to one of {count} followers", flush=True)


def main():
    chosen = sys.argv[2:] or ["latency", "events", "followers"]
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
    try:
        broker, port = open_mosquitto("open", "set_tcp_nodelay true")
        if "latency" in chosen:
            latency(port, None)
            obstacle = can_make_machines()
            for delay in () if obstacle else (0, 0.001, 0.005):
                latency(port, delay)
            if obstacle:
                print(f"latency between machines: skipped: {obstacle}")
        if "events" in chosen:
            events(port, broker)
        if "followers" in chosen:
            followers([port], [broker], "mosquitto")
            if shutil.which("nats-server"):
                servers, ports = nats_cluster()
                followers(ports, servers, "NATS, three servers")
    finally:
        clean_up()


main()
