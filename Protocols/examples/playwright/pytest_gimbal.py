"""A pytest plugin: `perform` has a trace's fingers touch a page by Playwright, `gimbald` is a daemon of a test's own.

`pytest_plugins = ["pytest_gimbal"]` in a conftest.py loads it. GIMBAL and GIMBALD name the programs where they are not on the
PATH. `perform` needs Chromium and its DevTools; `gimbald` needs no Playwright.
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
    """What the command line prints; where its status is not 0, the test fails with what it says."""
    result = subprocess.run([os.environ.get("GIMBAL", "gimbal"), *map(str, arguments)], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@contextlib.contextmanager
def running(*command, **options):
    """A program, which is ended behind what uses it."""
    with subprocess.Popen(command, **options) as process:
        try:
            yield process
        finally:
            process.terminate()


class Performance:
    """What a page's camera did: `log`. What Gimbal's camera does by the same fingers: `golden`."""

    def __init__(self, folder):
        self.log, self.golden = folder / "camera.ndjson", folder / "golden.ndjson"

    def expect(self, tolerance, golden=None):
        """Fails where the page's camera is further from a golden file, by default Gimbal's, than a tolerance says."""
        gimbal("expect", self.log, "--golden", golden or self.golden, "--tolerance", tolerance)


def still(page, camera, frames=4):
    """The page's camera, when it has been the same for some frames."""
    seen, end = [], time.monotonic() + PATIENCE
    while len(seen) < frames or any(position != seen[-1] for position in seen[-frames:]):
        assert time.monotonic() < end, f"the page's camera does not rest: {seen[-frames:]}"
        page.evaluate("() => new Promise((done) => requestAnimationFrame(done))")
        seen.append(camera(page))
    return seen[-1]


@pytest.fixture
def perform(tmp_path):
    """`perform(page, trace, camera)` performs a trace or a recording on a page, and gives a `Performance`.

    `camera(page)` reads the page's camera as a dictionary of `target` (`latitude` and `longitude`), `zoom`, `bearing` and
    `viewingAngle`. After each message to Chrome it is read until it rests, and that position has the time of the message: a
    busy machine makes no difference.
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
        """What comes, one after the other."""
        return map(json.loads, self.stream)

    def ask(self, **request):
        """Sends a request, and gives its answer: events before it are passed over. An error fails the test."""
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
    """A daemon on a socket in a temporary folder. It ends with the test."""
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
