#!/usr/bin/env python3
"""The README's pictures of the page, in both themes: two fingers on a camera, in the middle of a replay.

    pictures.py PROGRAMS FOLDER

PROGRAMS is the folder of gimbald, gimbal and gimbal-web; FOLDER gets light.webp and dark.webp.
"""

import base64
import json
import math
import os
import subprocess
import tempfile
import time

from page import FOLDER, PROGRAMS, Daemon, Page, eventually, failures

WIDTH, HEIGHT = 1400, 860
SEEN_MS = 1700  # of the replay


def fingers():
    """Two fingers that turn and spread, and then one that throws the map."""
    yield {"type": "trace", "version": 1, "viewport": {"width": 390, "height": 844}, "position": {
        "target": {"latitude": 45.2, "longitude": 13.4}, "zoom": 7.3, "bearing": 340, "viewingAngle": 35}}
    for frame in range(121):
        part = (1 - math.cos(math.pi * frame / 120)) / 2
        angle, radius = 0.5 - 0.7 * part, 80 + 70 * part
        yield {"type": "touch", "timeMs": frame * 1000 / 60, "touches": [
            {"id": index, "x": round(195 + sign * radius * math.cos(angle), 1), "y": round(440 + sign * radius * math.sin(angle), 1)}
            for index, sign in enumerate((-1, 1))]}
    yield {"type": "touch", "timeMs": 2020, "touches": []}
    for frame in range(12):
        yield {"type": "touch", "timeMs": 2300 + frame * 1000 / 60, "touches": [{"id": 9, "x": 250 - 11 * frame, "y": 500 + 4 * frame}]}
    yield {"type": "touch", "timeMs": 2500, "touches": []}


def main():
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/gimbal.sock"
        server = subprocess.Popen([PROGRAMS / "gimbal", "web", "--no-open"], env={**os.environ, "GIMBAL_SOCKET": path},
                                  stdout=subprocess.PIPE, text=True)
        try:
            link = server.stdout.readline().strip()
            daemon = Daemon(path)
            daemon.ask(type="set-viewport", camera="wall", width=1280, height=720)
            daemon.ask(type="move", camera="wall", update={"kind": "set-camera", "position": {
                "target": {"latitude": 44.2, "longitude": 11.2}, "zoom": 6.8}})
            daemon.ask(type="get-camera")
            page = Page(link, WIDTH, HEIGHT)
            eventually(page.is_shown, "the page is there")
            page.run("""
                const data = new DataTransfer();
                data.items.add(new File([arguments[0]], "fingers.ndjson"));
                dispatchEvent(new DragEvent("drop", {dataTransfer: data}));""", "".join(json.dumps(line) + "\n" for line in fingers()))
            state = lambda: daemon.ask(type="get-replay").get("state")
            eventually(lambda: state() == "at-end", "the fingers are played")
            daemon.ask(type="seek-replay", toMs=0)
            daemon.ask(type="resume-replay")
            eventually(lambda: daemon.ask(type="get-replay")["timeMs"] >= SEEN_MS, "once more")
            daemon.ask(type="pause-replay")
            daemon.ask(type="seek-replay", toMs=SEEN_MS)
            for theme in ("light", "dark"):
                page.size(WIDTH, HEIGHT, dark=theme == "dark")
                time.sleep(1)
                shown = page.devtools("Page.captureScreenshot", format="webp", quality=82)
                (FOLDER / f"{theme}.webp").write_bytes(base64.b64decode(shown["data"]))
            page.close()
        finally:
            server.terminate()
            server.wait()
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
