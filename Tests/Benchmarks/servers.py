"""The servers that are measured, and the load on them: processes, each pinned to a core, that end with the run.

The cost of a server is the processor time of its process with all threads, as the kernel counts it in nanoseconds."""

import json
import os
import re
import resource
import shutil
import socket
import subprocess
import time

# All servers have one core. The load shares it, or has another: "apart", where each wakeup of a reader crosses cores.
CORE = max(os.sched_getaffinity(0))
OTHER_CORE = min(os.sched_getaffinity(0))


def prepare_child(core=CORE):
    os.sched_setaffinity(0, {core})
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


class Kind:
    """A kind of server: its protocol, its program, and how to start it in its own folder."""

    def __init__(self, name, protocol, program, arguments, port=None, version="--version"):
        self.name, self.protocol, self.arguments, self.port = name, protocol, arguments, port
        self.version_option = version
        self.program = shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")

    def version(self):
        said = subprocess.run([self.program, self.version_option], capture_output=True, text=True).stdout
        number = re.search(r"\d+(\.\d+)+", said)
        return number and number[0]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def kinds(folder):
    """Returns all kinds, the daemon first. A program of None is not installed."""
    gimbald = os.path.join(folder, "release/gimbald")
    relay = os.path.join(folder, "bench/relay")
    daemon = ["--socket", "{socket}", "--max-connections", "12000", "--max-connections-per-user", "12000",
              "--max-cameras", "1024", "--log-level", "error"]
    redis = ["--port", "0", "--unixsocket", "{socket}", "--save", "", "--maxclients", "12000", "--dir", "{folder}",
             "--enable-debug-command", "local"]
    return {
        "gimbal": Kind("gimbal", "gimbal", gimbald, daemon),
        "gimbal, latest": Kind("gimbal, latest", "gimbal", gimbald, daemon),
        "relay": Kind("relay", "relay", relay, ["{socket}"]),
        "echo": Kind("echo", "echo", relay, ["--echo", "{socket}"]),
        "redis": Kind("redis", "redis", "redis-server", redis),
        "nats": Kind("nats", "nats", "nats-server", ["-a", "127.0.0.1", "-p", "{port}"], port=free_port),
        "mosquitto": Kind("mosquitto", "mqtt", "mosquitto", ["-c", "{folder}/mosquitto.conf"], version="-h"),
    }


class Server:
    """A running server."""

    def __init__(self, kind, folder):
        self.name, self.kind = kind.name, kind
        self.folder = os.path.join(folder, f"{kind.name}-{time.monotonic_ns()}")
        os.mkdir(self.folder)
        self.socket = os.path.join(self.folder, "socket")
        port = kind.port() if kind.port else None
        self.address = str(port) if port else self.socket
        with open(os.path.join(self.folder, "mosquitto.conf"), "w") as file:
            file.write(f"listener 0 {self.socket}\nallow_anonymous true\nmax_queued_messages 100000\n")
            if os.getuid() == 0:
                file.write("user root\n")
        values = {"socket": self.socket, "folder": self.folder, "port": port}
        command = [kind.program] + [argument.format(**values) for argument in kind.arguments]
        with open(os.path.join(self.folder, "log"), "w") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, preexec_fn=prepare_child)
        self.pid = self.process.pid
        self.wait()
        if kind.protocol == "redis":
            self.keep_reply_buffers()

    def wait(self):
        deadline = time.monotonic() + 10
        while True:
            if self.kind.name == "echo" and os.path.exists(self.socket):
                return  # It takes one client, which is not this one.
            try:
                self.connect().close()
                return
            except OSError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    with open(os.path.join(self.folder, "log")) as log:
                        raise SystemExit(f"bench: {self.name} did not start:\n{log.read()}") from None
                time.sleep(0.01)

    def keep_reply_buffers(self):
        """Makes Redis keep its buffers: it would shrink them while others are measured, and then take twice as long."""
        with self.connect() as client:
            client.sendall(b"DEBUG REPLYBUFFER RESIZING 0\r\n")
            answer = client.recv(256)
            if answer != b"+OK\r\n":
                raise SystemExit(f"bench: Redis does not keep its buffers: {answer}")

    def connect(self):
        if self.kind.port:
            return socket.create_connection(("127.0.0.1", int(self.address)))
        client = socket.socket(socket.AF_UNIX)
        client.connect(self.socket)
        return client

    def cpu(self):
        """Returns the seconds of processor time so far."""
        return time.clock_gettime(((~self.pid) << 3) | 2)  # clock_getcpuclockid(3)

    def resident(self):
        """Returns the bytes of resident memory."""
        with open(f"/proc/{self.pid}/status") as status:
            for line in status:
                if line.startswith("VmRSS:"):
                    return int(line.split()[1]) * 1024
        raise SystemExit(f"bench: {self.name} ended")

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class Load:
    """The load generator of one server, on the server's core or apart."""

    def __init__(self, program, server, apart=False, **options):
        self.server = server
        if server.name == "gimbal, latest":
            options["d"] = "latest"
        flags = [text for name, value in options.items() for text in (f"-{name}", str(value))]
        command = [program, *flags, server.kind.protocol, server.address, str(server.pid)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            preexec_fn=lambda: prepare_child(OTHER_CORE if apart else CORE))
        self.line_bytes = self.answer()["line"]

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"bench: the load on {self.server.name} ended")
        return json.loads(line)

    def begin(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def ask(self, command):
        self.begin(command)
        return self.answer()

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()
