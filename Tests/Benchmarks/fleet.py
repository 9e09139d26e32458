#!/usr/bin/env python3
"""What cameras cost beyond their machine: gimbal-mqtt, mosquitto and NATS on this one.

    fleet.py FOLDER     where gimbald and gimbal-mqtt are, such as .build/release

It prints the figures that Protocols/fleet.md has: processor time is what the kernel counted for a process, latencies are
those of one line at a time, half of them below the first number and 99 of 100 below the second.
"""

import json
import os
import pathlib
import random
import select
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

BIN = pathlib.Path(sys.argv[1]).resolve()
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="gimbal-fleet-figures."))
TICKS = os.sysconf("SC_CLK_TCK")
running = []


def start(*command):
    with open(FOLDER / "log", "ab") as log:
        process = subprocess.Popen([str(word) for word in command], stdout=log, stderr=log)
    running.append(process)
    return process


def cpu(process):
    """Seconds of processor time, by the scheduler's clock where it tells."""
    total = 0
    for task in pathlib.Path(f"/proc/{process.pid}/task").iterdir():
        total += int((task / "schedstat").read_text().split()[0])
    return total / 1e9


def wait(condition):
    end = time.monotonic() + 60
    while not condition():
        if time.monotonic() > end:
            raise SystemExit(f"fleet.py: waited in vain; see {FOLDER}/log")
        time.sleep(0.01)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def listens(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    except OSError:
        return False


# A bare client of MQTT 3.1.1: no library's cost is measured with it.


def text(words):
    return struct.pack(">H", len(words)) + words.encode()


def packet(kind, body):
    length, size = b"", len(body)
    while True:
        size, low = divmod(size, 128)
        length += bytes([low | (0x80 if size else 0)])
        if not size:
            return bytes([kind]) + length + body


def connected(port, name):
    one = socket.create_connection(("127.0.0.1", port))
    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    one.sendall(packet(0x10, text("MQTT") + b"\x04\x02\x00\x00" + text(name)))
    assert one.recv(4)[3] == 0
    return one


def subscribed(port, name, topic, quality=0):
    one = connected(port, name)
    one.sendall(packet(0x82, b"\x00\x01" + text(topic) + bytes([quality])))
    assert one.recv(5)[0] == 0x90
    return one


def published(topic, payload):
    return packet(0x30, text(topic) + payload)


def quantiles(times):
    times = sorted(times)
    return f"{times[len(times) // 2] * 1e6:.0f} / {times[int(len(times) * 0.99)] * 1e6:.0f} µs"


class Daemon:
    def __init__(self, name):
        self.path = FOLDER / f"{name}.sock"
        self.process = start(BIN / "gimbald", "--socket", self.path, "--log-level", "error")
        wait(self.path.exists)

    def connection(self):
        one = socket.socket(socket.AF_UNIX)
        one.connect(str(self.path))
        return one


def latency(port):
    payload = b"x" * 420
    reader, writer = subscribed(port, "reader", "bare"), connected(port, "writer")
    bare = []
    message = published("bare", payload)
    for _ in range(2000):
        begin = time.perf_counter()
        writer.sendall(message)
        left = len(message)
        while left > 0:
            left -= len(reader.recv(65536))
        bare.append(time.perf_counter() - begin)
        time.sleep(0.001)
    here, there = Daemon("here"), Daemon("there")
    node = start(BIN / "gimbal-mqtt", "--broker", f"mqtt://127.0.0.1:{port}", "--node", "here", "--rate", "1000", "--socket", here.path)
    mirror = start(
        BIN / "gimbal-mqtt", "--broker", f"mqtt://127.0.0.1:{port}", "--follow", "here/main", "--as", "main", "--socket", there.path)
    feed, follower = here.connection(), there.connection()
    follower.sendall(b'{"type":"subscribe"}\n')
    follower.recv(65536)
    feed.sendall(b'{"type":"pan","phase":"began"}\n')
    time.sleep(5)
    mirrored = []
    for step in range(2000):
        line = b'{"type":"pan","phase":"changed","translation":{"x":%d,"y":0}}\n' % (step % 300 + 1)
        begin = time.perf_counter()
        feed.sendall(line)
        while b"camera-changed" not in follower.recv(65536):
            pass
        mirrored.append(time.perf_counter() - begin)
        time.sleep(0.002)
    for process in (node, mirror, here.process, there.process):
        process.terminate()
        process.wait()
    print(f"latency: a bare publisher and subscriber {quantiles(bare)}; a gesture to the mirror's socket {quantiles(mirrored)}")
    return sorted(bare)[1000], sorted(mirrored)[1000]


def events(port, broker):
    """Processor time of an event, with and without each of them told."""
    results = {}
    for name, options in (("all events", ["--events", "--rate", "30"]), ("how it stands", ["--rate", "30"])):
        daemon = Daemon("events" + str(len(results)))
        node = start(
            BIN / "gimbal-mqtt", "--broker", f"mqtt://127.0.0.1:{port}", "--node", f"n{len(results)}", "--socket", daemon.path, *options)
        reader = subscribed(port, f"follower{len(results)}", f"gimbal/n{len(results)}/#")
        time.sleep(4)
        feed = daemon.connection()
        feed.sendall(b'{"type":"pan","phase":"began"}\n')
        before, broker_before = cpu(node), cpu(broker)
        count = 6000
        for step in range(count):
            feed.sendall(b'{"type":"pan","phase":"changed","translation":{"x":%d,"y":0}}\n' % (step % 300 + 1))
            # As fast as ten fingers on ten screens.
            time.sleep(1 / 1200)
            while select.select([reader], [], [], 0)[0]:
                reader.recv(65536)
        time.sleep(0.5)
        results[name] = ((cpu(node) - before) / count * 1e6, (cpu(broker) - broker_before) / count * 1e6)
        print(f"an event, {name}: bridge {results[name][0]:.1f} µs, mosquitto {results[name][1]:.1f} µs with one follower")
        node.terminate()
        daemon.process.terminate()
        node.wait()
    return results


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
    """Processor time of one delivery to one of many followers of one camera."""
    payload = b"x" * 420
    count = 600
    sockets = [subscribed(ports[index % len(ports)], f"{name}-{index}", "many") for index in range(count)]
    stop = threading.Event()
    thread = threading.Thread(target=drain, args=(sockets, stop))
    thread.start()
    writer = connected(ports[0], f"{name}-writer")
    time.sleep(1)
    before = [cpu(server) for server in servers]
    messages = 300
    for _ in range(messages):
        writer.sendall(published("many", payload))
        time.sleep(1 / 60)
    time.sleep(1)
    costs = [(cpu(server) - first) / (messages * count / len(servers)) * 1e6 for server, first in zip(servers, before)]
    stop.set()
    thread.join()
    print(f"{name}: {', '.join(f'{cost:.2f}' for cost in costs)} µs for a delivery to one of {count} followers")
    return max(costs)


def memory(process):
    for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1])


def main():
    try:
        port = free_port()
        (FOLDER / "open.conf").write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\nset_tcp_nodelay true\nuser root\n")
        broker = start("mosquitto", "-c", FOLDER / "open.conf")
        wait(lambda: listens(port))
        print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
        latency(port)
        events(port, broker)
        followers([port], [broker], "mosquitto")
        if shutil.which("nats-server"):
            ports = [(free_port(), free_port(), free_port()) for _ in range(3)]
            routes = ", ".join(f"nats://127.0.0.1:{cluster}" for _, cluster, _ in ports)
            servers = []
            for index, (client, cluster, mqtt) in enumerate(ports):
                (FOLDER / f"nats{index}.conf").write_text(
                    f"server_name: n{index}\nlisten: 127.0.0.1:{client}\njetstream {{ store_dir: {FOLDER}/nats{index} }}\n"
                    f"cluster {{ name: f, listen: 127.0.0.1:{cluster}, routes: [{routes}] }}\nmqtt {{ listen: 127.0.0.1:{mqtt} }}\n")
                servers.append(start("nats-server", "-c", FOLDER / f"nats{index}.conf"))
            for _, _, mqtt in ports:
                wait(lambda mqtt=mqtt: listens(mqtt))
            time.sleep(8)
            followers([mqtt for _, _, mqtt in ports], servers, "NATS, three servers")
    finally:
        for process in running:
            if process.poll() is None:
                process.kill()
                process.wait()
        shutil.rmtree(FOLDER, ignore_errors=True)


main()
