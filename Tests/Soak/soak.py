#!/usr/bin/env python3
"""Hostile clients of a daemon: thousands of clients that come and go, flood, stall, send garbage and play traces, on
hundreds of cameras, around a few survivors that follow every event.

usage: soak.py GIMBALD

SOAK_SECONDS (120) is the duration, in rounds that each leave nothing behind; SOAK_SEED (1) seeds the clients. It fails
if the daemon ends, if a survivor misses an event without being told, or if after the last round the daemon has more
descriptors than before the first, or over MEMORY_BOUND more memory than after the first.
"""

import json
import os
import pathlib
import random
import resource
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROUND_SECONDS = 20
MEMORY_BOUND = 2 << 20
GIVING_BACK_SECONDS = 2  # at most, until what clients left is the system's again
SURVIVORS = 8
CAMERAS = 200
CROWD = 400  # clients at one time, the survivors not counted
HISTORY = 6000  # lines that fill a camera's history, which is 1 MiB and at least 4,096 events


class Failure(Exception):
    pass


class Client:
    """A connection that never blocks."""

    def __init__(self, soak):
        self.soak = soak
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.setblocking(False)
        self.output, self.input = bytearray(), bytearray()
        self.is_reading, self.is_open = True, True
        self.ends_at = 0.0
        try:
            self.socket.connect(soak.path)
        except BlockingIOError:  # the daemon's queue of connections is full for now
            self.is_open = False
            self.socket.close()
            return
        soak.clients_made += 1
        soak.selector.register(self.socket, selectors.EVENT_READ, self)

    def send(self, *messages):
        for message in messages:
            self.output += message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"
        self.flush()

    def flush(self):
        try:
            while self.output:
                del self.output[: self.socket.send(self.output)]
        except BlockingIOError:
            pass
        except OSError:
            return self.close()
        self.update()

    def update(self):
        wanted = (selectors.EVENT_READ if self.is_reading else 0) | (selectors.EVENT_WRITE if self.output else 0)
        key = self.soak.selector.get_map().get(self.socket.fileno()) if self.is_open else None
        if key and not wanted:
            self.soak.selector.unregister(self.socket)
        elif key and key.events != wanted:
            self.soak.selector.modify(self.socket, wanted, self)
        elif self.is_open and not key and wanted:
            self.soak.selector.register(self.socket, wanted, self)

    def set_reading(self, is_reading):
        self.is_reading = is_reading
        self.update()

    def ready(self, events):
        if events & selectors.EVENT_WRITE:
            self.flush()
        if events & selectors.EVENT_READ and self.is_open:
            try:
                data = self.socket.recv(1 << 16)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if not data:
                return self.close()
            self.input += data
            *lines, rest = self.input.split(b"\n")
            self.input = rest
            for line in lines:
                self.take(line)

    def take(self, line):
        """Handles a line from the daemon; by default drops it."""

    def act(self):
        """Continues its work; called repeatedly."""

    def half_close(self):
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError:
            self.close()

    def close(self):
        if self.is_open:
            if self.socket.fileno() in self.soak.selector.get_map():
                self.soak.selector.unregister(self.socket)
            self.is_open = False
            self.socket.close()


class Follower(Client):
    """Follows every event of a camera, and checks each seq."""

    def __init__(self, soak, camera):
        super().__init__(soak)
        self.camera, self.next, self.is_anew = camera, None, False
        self.end = None
        if self.is_open:
            self.send({"type": "subscribe", "camera": camera})

    def take(self, line):
        message = json.loads(line)
        kind = message["type"]
        if kind == "subscribed":
            self.next = message["seq"] + 1
        elif kind == "reset":
            self.next, self.is_anew = 1, True
        elif kind == "lagged":
            self.soak.lagged += 1
            self.soak.missed += message["missed"]
            # Directly after a reset the missed events are counted over both epochs.
            self.next = None if self.is_anew or self.next is None else self.next + message["missed"]
        elif kind in ("move-started", "camera-changed", "idle"):
            if self.next not in (None, message["seq"]):
                raise Failure(f"a follower of {self.camera} got seq {message['seq']}, and not {self.next}")
            self.next, self.is_anew = message["seq"] + 1, False
            self.soak.followed += 1
        elif kind == "camera":
            self.end = message["seq"]
        elif kind == "error":
            raise Failure(f"a follower was told {message}")


class SlowFollower(Follower):
    """Stops reading now and then, for longer than the history lasts."""

    changes_at = 0.0

    def act(self):
        if (now := time.monotonic()) > self.changes_at:
            self.changes_at = now + self.soak.random.expovariate(1 / 4)
            self.set_reading(not self.is_reading)


class Feed(Client):
    """Moves a camera: pans, pinches, flings, animations."""

    def __init__(self, soak, camera, lines=20):
        super().__init__(soak)
        self.camera, self.lines, self.way = camera, lines, 0

    def act(self):
        if len(self.output) < 1 << 16:
            self.send(*(self.line() for _ in range(self.lines)))

    def line(self):
        chance, common = self.soak.random.random(), {"camera": self.camera, "focus": {"x": 200, "y": 400}}
        if chance < 0.02:
            self.way = 0
            return {"type": "pan", "phase": "ended", "velocity": {"x": chance * 40000, "y": 300}, **common}
        if chance < 0.03:
            return {"type": "animate", "camera": self.camera, "update": {"kind": "zoom-to", "zoom": chance * 600}}
        if chance < 0.3:
            pinch = {"type": "pinch", "phase": "changed", "scale": 0.5 + chance * 5, **common}
            return [pinch, {"type": "rotate", "phase": "changed", "rotationDeg": chance * 100, **common}]
        self.way += 1
        return {"type": "pan", "phase": "changed", "translation": {"x": self.way % 97, "y": self.way % 89}, **common}


class Flood(Feed):
    """Sends as much as the socket takes, and never reads the answers."""

    def __init__(self, soak, camera):
        super().__init__(soak, camera, lines=200)
        self.set_reading(False)

    def line(self):
        if self.soak.random.random() < 0.5:
            return super().line()
        return {"type": "get-camera", "id": 1, "camera": self.camera}


class Rubbish(Client):
    """Sends lines that violate the protocol."""

    def act(self):
        rng = self.soak.random
        if len(self.output) < 1 << 16:
            self.send(
                rng.choice(
                    [
                        rng.randbytes(rng.randrange(300)) + b"\n",
                        b"[" * rng.randrange(1, 5000) + b"\n",
                        b'{"type":"pan","phase":"' + b"x" * rng.randrange(70000) + b'"}\n',
                        b'{"type":"pan","phase":"changed","translation":{"x":1e999}}\n\r\n\0\n',
                        b'{"type":"subscribe","since":7,"epoch":"no such"}\n{"type":"remove-camera","camera":"?"}\n',
                        b"\n" * rng.randrange(2000),
                    ]
                )
            )


class Stalled(Client):
    """Subscribes to many cameras and reads nothing."""

    def __init__(self, soak):
        super().__init__(soak)
        if self.is_open:
            self.set_reading(False)
            names = soak.random.sample(soak.names, 20) + soak.survivor_names
            self.send(*({"type": "subscribe", "camera": name, "delivery": self.delivery()} for name in names))

    def delivery(self):
        return self.soak.random.choice(["every", "latest"])


class Tracer(Client):
    """Plays a trace, possibly not to its end."""

    def __init__(self, soak, camera):
        super().__init__(soak)
        if not self.is_open:
            return
        rng = soak.random
        self.send({"type": "trace", "version": 1, "camera": camera, "speed": rng.choice(["max", 1, 20])})
        for number in range(rng.randrange(400)):
            pan = {"type": "pan", "phase": "changed", "timeMs": number * 16, "translation": {"x": number, "y": -number}}
            self.send(pan)
        if rng.random() < 0.6:
            self.send({"type": "trace-end"})
        elif rng.random() < 0.5:
            self.half_close()


class Mayfly(Client):
    """Connects, sends a word, and disconnects: politely or not, at once or soon."""

    def __init__(self, soak, camera):
        super().__init__(soak)
        if not self.is_open:
            return
        self.send({"type": "subscribe", "camera": camera}, {"type": "pinch", "phase": "began", "camera": camera})
        if soak.random.random() < 0.3:
            self.half_close()
        elif soak.random.random() < 0.5:
            self.close()


class Quiet(Client):
    """Sends a request now and then, and records its latency beside all the others."""

    def __init__(self, soak):
        super().__init__(soak)
        self.asked, self.waits = None, []

    def act(self):
        if self.asked is None:
            self.asked = time.monotonic()
            self.send({"type": "ping"})

    def take(self, line):
        self.waits.append(time.monotonic() - self.asked)
        self.asked = None


class Janitor(Client):
    """Lists the cameras, and removes those that no survivor follows."""

    def __init__(self, soak):
        super().__init__(soak)
        self.answers = {}

    def take(self, line):
        message = json.loads(line)
        self.answers[message["type"]] = message

    def ask(self, question):
        self.answers.clear()
        self.send({"type": question})
        self.soak.run_until(lambda: question in self.answers, f"an answer to {question}")
        return self.answers[question]

    def remove(self):
        """Removes all cameras but the survivors'; returns whether none was left."""
        names = [name for name in self.ask("cameras")["cameras"] if name not in self.soak.survivor_names]
        self.send(*({"type": "remove-camera", "camera": name} for name in names))
        self.ask("stats")
        return not names


class Soak:
    def __init__(self, gimbald, folder, seconds, seed):
        self.seconds, self.random = seconds, random.Random(seed)
        self.path = str(folder / "gimbal.sock")
        self.selector = selectors.DefaultSelector()
        self.names = [f"camera-{number}" for number in range(CAMERAS)]
        self.survivor_names = [f"survivor-{number}" for number in range(SURVIVORS)]
        self.clients_made = self.followed = self.lagged = self.missed = self.peak = 0
        self.rests = []
        self.crowd = []
        self.daemon = subprocess.Popen([gimbald, "--socket", self.path], stderr=(folder / "log").open("w"))

    # The daemon's resources

    def memory(self):
        for line in pathlib.Path(f"/proc/{self.daemon.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) << 10
        raise Failure("the daemon has ended")

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.daemon.pid}/fd"))

    # The loop

    def turn(self, timeout=0.01):
        if self.daemon.poll() is not None:
            raise Failure(f"the daemon has ended with {self.daemon.returncode}")
        for key, events in self.selector.select(timeout):
            if key.data.is_open:
                key.data.ready(events)

    def run_until(self, is_done, what, seconds=60):
        end = time.monotonic() + seconds
        while not is_done():
            if time.monotonic() > end:
                raise Failure(f"{what} has not come for {seconds} seconds")
            self.turn()

    def newcomer(self):
        name = self.random.choice(self.names)
        kinds = [Mayfly] * 12 + [Feed] * 3 + [Tracer] * 3 + [Follower, SlowFollower, Flood, Rubbish, Stalled]
        kind = self.random.choice(kinds)
        client = kind(self) if kind in (Rubbish, Stalled) else kind(self, name)
        client.ends_at = time.monotonic() + self.random.expovariate(1 / 3)
        return client

    def play(self, seconds):
        """Plays a round: the crowd comes and goes, then all of it leaves."""
        end = time.monotonic() + seconds
        while (now := time.monotonic()) < end:
            self.turn()
            for client in [client for client in self.crowd if client.ends_at < now]:
                client.close()
            self.crowd = [client for client in self.crowd if client.is_open]
            self.crowd += [self.newcomer() for _ in range(min(10, CROWD - len(self.crowd)))]
            for client in self.random.sample(self.crowd, min(20, len(self.crowd))) + self.company:
                if client.is_open:
                    client.act()
            self.peak = max(self.peak, self.memory())
        for client in self.crowd:
            client.close()
        self.crowd = []

    def tidy(self):
        """Waits until a round has left only the survivors, up to date."""
        for client in self.company:
            client.set_reading(True)
        self.run_until(lambda: all(not client.output for client in self.company), "room for what was said")
        self.run_until(lambda: self.janitor.ask("stats")["connections"] == len(self.company) + 1, "the others' end")
        self.run_until(self.janitor.remove, "the end of the cameras")
        for feed in self.feeds:
            feed.send({"type": "stop", "camera": feed.camera})
        self.check_survivors()
        end = time.monotonic() + GIVING_BACK_SECONDS
        self.run_until(lambda: time.monotonic() > end, "memory")
        self.rests.append((self.memory(), self.descriptors()))

    def check_survivors(self):
        """Each sends a request on its own connection: events emitted before the answer must arrive before it."""
        for feed in self.feeds:
            feed.end = None
            feed.take = lambda line, feed=feed: setattr(feed, "end", True)
            feed.send({"type": "ping"})
        self.run_until(lambda: all(feed.end for feed in self.feeds), "an answer to a feed")
        for follower in self.survivors:
            follower.end = None
            follower.send({"type": "get-camera", "camera": follower.camera})
        self.run_until(lambda: all(follower.end is not None for follower in self.survivors), "the survivors' seqs")
        for follower in self.survivors:
            if follower.next != follower.end + 1:
                raise Failure(f"a survivor on {follower.camera} waits for {follower.next} after {follower.end}")

    def is_listening(self):
        """The socket's file exists a moment before the daemon listens on it."""
        with socket.socket(socket.AF_UNIX) as probe:
            return probe.connect_ex(self.path) == 0

    def begin(self):
        self.run_until(self.is_listening, "the daemon's socket")
        self.janitor, self.quiet = Janitor(self), Quiet(self)
        self.survivors = [Follower(self, name) for name in self.survivor_names]
        self.survivors += [SlowFollower(self, name) for name in self.survivor_names]
        self.feeds = [Feed(self, name, lines=4) for name in self.survivor_names]
        self.company = self.survivors + self.feeds + [self.quiet]
        for feed in self.feeds:
            feed.send(*(feed.line() for _ in range(HISTORY)))
        self.tidy()

    def run(self):
        self.begin()
        rounds = max(2, round(self.seconds / ROUND_SECONDS))
        for number in range(1, rounds + 1):
            self.play(self.seconds / rounds)
            self.tidy()
            memory = self.rests[-1][0] / (1 << 20)
            print(f"round {number} of {rounds}: {self.clients_made} clients so far, {memory:.1f} MiB", flush=True)
        stats = self.janitor.ask("stats")
        self.tell(stats)
        self.judge()

    def end(self):
        self.daemon.send_signal(signal.SIGTERM)
        try:
            status = self.daemon.wait(10)
        except subprocess.TimeoutExpired:
            self.daemon.kill()
            raise Failure("the daemon does not end")
        if status != 0:
            raise Failure(f"the daemon ended with {status}")

    # Results

    def tell(self, stats):
        waits = [1000 * wait for wait in sorted(self.quiet.waits)]
        mebibytes = [f"{memory / (1 << 20):.1f}" for memory, _ in self.rests]
        print(f"clients     {self.clients_made} came, {stats['connectionsTotal']} were taken")
        print(f"lines       {stats['lines']} taken, {stats['errors']} errors; {stats['bytesIn'] >> 20} MiB")
        print(f"events      {stats['events']} emitted; {stats['bytesOut'] >> 20} MiB sent")
        print(f"followers   {self.followed} events without a gap; told {self.lagged} times of {self.missed} missed")
        print(f"a ping took {waits[len(waits) // 2]:.2f} ms (half), {waits[len(waits) * 99 // 100]:.2f} ms (99 %)")
        print(f"memory      {', '.join(mebibytes)} MiB between the rounds; {self.peak / (1 << 20):.1f} MiB at most")
        print(f"descriptors {', '.join(str(count) for _, count in self.rests)} between the rounds")

    def judge(self):
        # The first crowd leaves the heap fragmented; the next ones find room in it.
        (_, first_count), (first_memory, _), (memory, count) = self.rests[0], self.rests[1], self.rests[-1]
        if memory > first_memory + MEMORY_BOUND:
            raise Failure(f"memory grew by {(memory - first_memory) >> 10} KiB; {MEMORY_BOUND >> 10} KiB are allowed")
        if count > first_count:
            raise Failure(f"{count - first_count} descriptors were left")


def main(gimbald):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    with tempfile.TemporaryDirectory() as folder:
        seconds, seed = float(os.environ.get("SOAK_SECONDS", 120)), int(os.environ.get("SOAK_SEED", 1))
        soak = Soak(gimbald, pathlib.Path(folder), seconds, seed)
        try:
            soak.run()
            soak.end()
        except Failure as failure:
            print(f"soak: FAILED: {failure}\n{(pathlib.Path(folder) / 'log').read_text()[-2000:]}")
            return 1
        finally:
            if soak.daemon.poll() is None:
                soak.daemon.kill()
    print("soak: passed")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
