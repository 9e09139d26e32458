"""Machines, brokers, daemons and bridges for the tests of gimbal-mqtt (fleet.py) and its figures (Benchmarks/fleet.py).

The first argument of a program that imports this is the folder of the programs, such as .build/release. Machines are
network namespaces; a wire between two of them may have a delay. Everything is in a separate folder until clean_up().
"""

import collections
import ctypes
import fcntl
import glob
import json
import os
import pathlib
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request

BIN = pathlib.Path(sys.argv[1]).resolve()
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="gimbal-fleet."))
processes = []
machines = []
ports = []


def wait_for(condition, patience=30):
    """Polls until a condition is true or patience is over; returns its value."""
    end = time.monotonic() + patience
    while True:
        result = condition()
        if result or time.monotonic() > end:
            return result
        time.sleep(0.02)


def run(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, **options)


class Process:
    """A program that runs on this machine or another, and its output."""

    def __init__(self, name, *command, machine=None, environment=None):
        self.name = name
        self.log = FOLDER / f"{name}.log"
        if machine:
            # `ip netns exec` replaces itself with the program.
            command = ("ip", "netns", "exec", machine.name, *command)
        if environment:
            # WallClock's preload changes the environment of the first program, where Swift would lose its arguments.
            command = ("env", *command)
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [str(word) for word in command], stdout=log, stderr=log, env=environment and {**os.environ, **environment})
        processes.append(self)

    def said(self, text):
        return text in self.log.read_text(errors="replace")

    def processor_time(self):
        """Returns the seconds counted by the scheduler."""
        total = 0
        for task in pathlib.Path(f"/proc/{self.process.pid}/task").iterdir():
            total += int((task / "schedstat").read_text().split()[0])
        return total / 1e9

    def end(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(15)

    def kill(self):
        return self.end(signal.SIGKILL)


class Daemon(Process):
    def __init__(self, name, *options, **place):
        self.path = FOLDER / f"{name}.sock"
        self.state = FOLDER / f"{name}.state"
        self.state.mkdir(exist_ok=True)
        super().__init__(name, BIN / "gimbald", "--socket", self.path, "--state-dir", self.state, *options, **place)
        if not wait_for(self.listens):
            raise SystemExit(f"{name} does not listen: {self.log.read_text(errors='replace')}")

    def listens(self):
        try:
            self.connection().close()
            return True
        except OSError:
            return False

    def connection(self):
        one = socket.socket(socket.AF_UNIX)
        one.connect(str(self.path))
        return one

    def ask(self, line):
        with self.connection() as one:
            one.settimeout(10)
            one.sendall(line.encode() + b"\n")
            return one.makefile("rb").readline().decode().strip()

    def camera(self, name):
        """Returns a camera's answer about itself, to the digit, without its name and its own event count."""
        return self.ask(json.dumps({"type": "get-camera", "camera": name})).split('"position":', 1)[1]

    def position(self, camera):
        return self.camera(camera).split(',"minZoom"', 1)[0]

    def rests(self, camera):
        return "at-rest" in self.ask(json.dumps({"type": "await-idle", "camera": camera, "timeoutMs": 0}))


class WallClock:
    """A wrong wall clock for programs started with its environment. Time passes at the normal rate."""

    library = "/usr/$LIB/faketime/libfaketimeMT.so.1"

    @staticmethod
    def can_be_wrong():
        return bool(glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1"))

    def __init__(self, name, offset):
        self.file = FOLDER / f"{name}.clock"
        self.set(offset)
        self.environment = {
            "LD_PRELOAD": self.library, "FAKETIME_TIMESTAMP_FILE": str(self.file), "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1"}

    def set(self, offset):
        """Sets an offset such as "+1d". Programs always read a complete file."""
        new = self.file.with_suffix(".new")
        new.write_text(offset + "\n")
        new.replace(self.file)


# Brokers.


def listens(host, port):
    try:
        with socket.create_connection((host, port), 1):
            return True
    except OSError:
        return False


def free_port():
    """Returns a port that is given only once: it stays bound here, and a server may still listen on it."""
    one = socket.socket()
    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    one.bind(("", 0))
    ports.append(one)
    return one.getsockname()[1]


def mosquitto(name, *lines, port):
    """Starts a broker with these lines of configuration, which listens on a port."""
    (FOLDER / f"{name}.conf").write_text("\n".join((*lines, "user root", "")))
    broker = Process(name, "mosquitto", "-c", FOLDER / f"{name}.conf")
    if not wait_for(lambda: listens("127.0.0.1", port)):
        raise SystemExit(f"{name} does not listen: {broker.log.read_text(errors='replace')}")
    return broker


def open_mosquitto(name, *lines):
    """Starts a broker on this machine without passwords; returns it and its port."""
    port = free_port()
    return mosquitto(name, f"listener {port}", "allow_anonymous true", *lines, port=port), port


def nats_server(index):
    """Starts one server of a cluster with its configuration."""
    return Process(f"nats{index}", "nats-server", "-c", FOLDER / f"nats{index}.conf")


def nats_cluster(count=3):
    """Starts servers that form a cluster; returns them and their MQTT ports. The first stored message is replicated to
    as many servers as its server knows, so they wait for each other."""
    ports = [(free_port(), free_port(), free_port(), free_port()) for _ in range(count)]
    routes = ", ".join(f"nats://127.0.0.1:{cluster}" for _, cluster, _, _ in ports)
    servers = []
    for index, (client, cluster, mqtt, monitor) in enumerate(ports):
        (FOLDER / f"nats{index}.conf").write_text(
            f"server_name: n{index}\nlisten: 127.0.0.1:{client}\nhttp: 127.0.0.1:{monitor}\n"
            f"jetstream {{ store_dir: {FOLDER}/nats{index} }}\n"
            f"cluster {{ name: fleet, listen: 127.0.0.1:{cluster}, routes: [{routes}] }}\nmqtt {{ listen: 127.0.0.1:{mqtt} }}\n")
        servers.append(nats_server(index))

    def told(monitor, page):
        with urllib.request.urlopen(f"http://127.0.0.1:{monitor}/{page}", timeout=1) as answer:
            return json.load(answer)

    def knows_all(monitor):
        try:
            # A server may have several routes to another.
            known = {route["remote_id"] for route in told(monitor, "routez")["routes"]}
            return len(known) >= count - 1 and told(monitor, "jsz")["meta_cluster"].get("leader")
        except (OSError, KeyError):
            return False

    if not all(wait_for(lambda monitor=monitor: knows_all(monitor), 60) for _, _, _, monitor in ports):
        raise SystemExit("the servers do not become one cluster")
    return servers, [mqtt for _, _, mqtt, _ in ports]


# Machines.


class Machine:
    """A network namespace with a wire to this one. `router` is this machine's address as seen from there."""

    def __init__(self, name, delay=0):
        number = len(machines)
        self.name = f"gimbal-{name}-{os.getpid()}"
        run("ip", "netns", "add", self.name)
        machines.append(self)
        # The two ends of the wire, here and there.
        self.wire, there = f"gm{number}h{os.getpid() % 100000}", f"gm{number}t{os.getpid() % 100000}"
        # Parts that run at the same time have one parent and different numbers; another run has another parent.
        net = f"10.{100 + os.getppid() % 15 * 10 + int(os.environ.get('FLEET_PART', 9))}.{50 + number}"
        self.router = f"{net}.1"
        if delay:
            self.line = delay_line(self.wire, there, delay)
            run("ip", "link", "set", there, "netns", self.name)
        else:
            run("ip", "link", "add", self.wire, "type", "veth", "peer", "name", there, "netns", self.name)
        run("ip", "address", "add", f"{net}.1/24", "dev", self.wire)
        run("ip", "link", "set", self.wire, "up")
        for words in (("address", "add", f"{net}.2/24", "dev", there), ("link", "set", there, "up"), ("link", "set", "lo", "up")):
            run("ip", "netns", "exec", self.name, "ip", *words)

    def switch(self, state):
        run("ip", "link", "set", self.wire, state)

    def connection(self, port):
        """Returns a connection from that machine to a port of this one."""
        libc = ctypes.CDLL(None, use_errno=True)
        with open("/proc/self/ns/net") as here, open(f"/run/netns/{self.name}") as there:
            if libc.setns(there.fileno(), 0) != 0:
                raise OSError(ctypes.get_errno(), "setns")
            try:
                return socket.create_connection((self.router, port))
            finally:
                libc.setns(here.fileno(), 0)

    def remove(self):
        if hasattr(self, "line"):
            os.kill(self.line, signal.SIGKILL)
            os.waitpid(self.line, 0)
        # A wire outlives its machine for a while unless it is removed.
        for words in (("link", "del", self.wire), ("netns", "del", self.name)):
            subprocess.run(["ip", *words], capture_output=True)


def can_make_machines():
    """Returns why no network namespaces can be made here; `None` if they can."""
    try:
        Machine("trial").remove()
        machines.pop()
    except (subprocess.CalledProcessError, FileNotFoundError) as error:
        remove_machines()
        return (getattr(error, "stderr", b"") or str(error).encode()).decode().strip()


def remove_machines():
    for machine in machines:
        machine.remove()
    machines.clear()


def delay_line(one, other, seconds):
    """Makes two network devices, and a process that carries each packet between them after a delay, like tc's netem."""
    ends = []
    for name in (one, other):
        end = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        tun, without_header = 1, 0x1000
        fcntl.ioctl(end, 0x400454CA, struct.pack("16sH22x", name.encode(), tun | without_header))
        ends.append(end)
    child = os.fork()
    if child:
        for end in ends:
            os.close(end)
        return child
    waiting = collections.deque()
    while True:
        select.select(ends, [], [], max(waiting[0][0] - time.monotonic(), 0) if waiting else None)
        now = time.monotonic()
        for end, way_out in ((ends[0], ends[1]), (ends[1], ends[0])):
            try:
                while True:
                    waiting.append((now + seconds, way_out, os.read(end, 65536)))
            except OSError:
                pass
        while waiting and waiting[0][0] <= now:
            _, way_out, packet = waiting.popleft()
            try:
                os.write(way_out, packet)
            except OSError:
                pass


# A bare MQTT 3.1.1 client, so that no library's cost is measured.


def words(text):
    return struct.pack(">H", len(text)) + text.encode()


def packet(kind, body):
    length, size = b"", len(body)
    while True:
        size, low = divmod(size, 128)
        length += bytes([low | (0x80 if size else 0)])
        if not size:
            return bytes([kind]) + length + body


def connected(port, name, machine=None):
    one = machine.connection(port) if machine else socket.create_connection(("127.0.0.1", port))
    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    one.sendall(packet(0x10, words("MQTT") + b"\x04\x02\x00\x00" + words(name)))
    assert one.recv(4)[3] == 0
    return one


def subscribed(port, name, topic, quality=0, machine=None):
    one = connected(port, name, machine)
    one.sendall(packet(0x82, b"\x00\x01" + words(topic) + bytes([quality])))
    assert one.recv(5)[0] == 0x90
    return one


def published(topic, payload, is_retained=False):
    return packet(0x31 if is_retained else 0x30, words(topic) + payload)


def clean_up(tells=False):
    """Ends everything and removes the folder; first prints the programs' output on request."""
    for process in processes:
        if process.process.poll() is None:
            process.kill()
    remove_machines()
    if tells:
        for log in sorted(FOLDER.glob("*.log")):
            print(f"--- {log.name}", log.read_text(errors="replace")[-3000:], sep="\n")
    shutil.rmtree(FOLDER, ignore_errors=True)
