"""A pytest plugin: `perform` makes a trace's fingers touch a page through Playwright, `gimbald` is a daemon per test.

`pytest_plugins = ["pytest_gimbal"]` in a conftest.py loads it. GIMBAL and GIMBALD name the programs if they are not on
the PATH. `perform` needs Chromium and its DevTools; `gimbald` does not need Playwright.
"""

import contextlib
import json
import os
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

# Machines are slow at times; nothing that works takes this long.
PATIENCE = 30


def gimbal(*arguments):
    """Runs the command line and returns its output; if its status is not 0, the test fails with that output."""
    result = subprocess.run([os.environ.get("GIMBAL", "gimbal"), *map(str, arguments)], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@contextlib.contextmanager
def running(*command, **options):
    """Runs a program, and terminates it when the context ends."""
    with subprocess.Popen(command, **options) as process:
        try:
            yield process
        finally:
            process.terminate()


class Performance:
    """What a page's camera did, `log`, and what Gimbal's camera does with the same fingers, `golden`."""

    def __init__(self, folder):
        self.log, self.golden = folder / "camera.ndjson", folder / "golden.ndjson"

    def expect(self, tolerance, golden=None):
        """Fails if the page's camera differs from a golden file, by default Gimbal's, by more than a tolerance."""
        gimbal("expect", self.log, "--golden", golden or self.golden, "--tolerance", tolerance)


def still(page, camera, frames=4):
    """Returns the page's camera once it has been the same for some frames."""
    seen, end = [], time.monotonic() + PATIENCE
    while len(seen) < frames or any(position != seen[-1] for position in seen[-frames:]):
        assert time.monotonic() < end, f"the page's camera does not rest: {seen[-frames:]}"
        page.evaluate("() => new Promise((done) => requestAnimationFrame(done))")
        seen.append(camera(page))
    return seen[-1]


@pytest.fixture
def perform(tmp_path):
    """`perform(page, trace, camera)` performs a trace or a recording on a page, and returns a `Performance`.

    `camera(page)` reads the page's camera as a dictionary of `target` (`latitude` and `longitude`), `zoom`, `bearing`
    and `viewingAngle`. After each message to Chrome it is read until it rests, and that position gets the time of the
    message, so a busy machine makes no difference.
    """

    def perform(page, trace, camera):
        folder = Path(tempfile.mkdtemp(dir=tmp_path))
        result, script = Performance(folder), folder / "fingers.ndjson"
        gimbal("convert", trace, "--to", "devtools", "--output", script, "--expected", result.golden)
        screen, *touches = map(json.loads, script.read_text().splitlines())
        # A golden file counts from the first gesture, the messages from the first finger.
        gesture = json.loads(gimbal("convert", script).splitlines()[1])
        begin = (gesture if isinstance(gesture, dict) else gesture[0])["timeMs"]
        first, began = touches[0]["params"]["timestamp"], time.time()

        chrome = page.context.new_cdp_session(page)
        chrome.send(screen["method"], {key: value for key, value in screen["params"].items() if key != "trace"})
        with result.log.open("w") as log:
            print(json.dumps({"timeMs": begin, "position": still(page, camera)}), file=log)
            for touch in touches:
                at = touch["params"]["timestamp"] - first
                page.wait_for_timeout(max(began + at - time.time(), 0) * 1000)
                chrome.send(touch["method"], {**touch["params"], "timestamp": began + at})
                position = still(page, camera)
                if at * 1000 >= begin:
                    print(json.dumps({"timeMs": at * 1000, "position": position}), file=log)
        chrome.detach()
        return result

    return perform


class Client:
    """A connection to a daemon. Messages are dictionaries."""

    def __init__(self, path):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(PATIENCE)
            connection.connect(str(path))
            self.stream = connection.makefile("rw", encoding="utf-8")

    def send(self, **request):
        print(json.dumps(request), file=self.stream, flush=True)

    def __iter__(self):
        """Yields the messages that arrive, in order."""
        return map(json.loads, self.stream)

    def ask(self, **request):
        """Sends a request and returns its answer, skipping events before it. An error fails the test."""
        self.send(id=1, **request)
        answer = next(message for message in self if message.get("id") == 1)
        assert answer["type"] != "error", answer["message"]
        return answer


class Daemon:
    """A daemon that listens on `path`. `client()` connects to it."""

    def __init__(self, path, rest):
        self.path, self.rest = path, rest

    def client(self):
        client = Client(self.path)
        self.rest.enter_context(client.stream)
        return client


@pytest.fixture
def gimbald():
    """A daemon on a socket in a temporary folder, which ends with the test."""
    # A socket's path may have at most 107 bytes, and pytest's own folders may be deep.
    with tempfile.TemporaryDirectory(prefix="gimbal-") as folder:
        path, log = Path(folder, "gimbal.sock"), Path(folder, "log")
        program = os.environ.get("GIMBALD", "gimbald")
        with log.open("w") as output, running(program, "--socket", path, stderr=output) as process:
            end = time.monotonic() + PATIENCE
            while " is ready: " not in log.read_text():
                assert process.poll() is None and time.monotonic() < end, log.read_text()
                time.sleep(0.01)
            with contextlib.ExitStack() as rest:
                yield Daemon(path, rest)
        assert process.returncode == 0, log.read_text()
